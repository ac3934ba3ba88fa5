package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

const (
	canary                     = "Quetzalcoatl" // which nothing else says
	mentioned    memory.UserID = 41             // in a prompt and a record, without having written anything
	harks        memory.UserID = 42
	bystander    memory.UserID = 51 // named in a prompt, otherwise unknown
	promptsBuilt               = 800
)

// loreOf is lore of user 5, or a version of it of the nth moment.
func loreOf(id int64, n int, word string, sources ...memory.MessageRef) memory.LoreTold {
	return memory.LoreTold{Lore: memory.Lore{ID: id, Guild: guild, Name: word + "a", Text: "about " + word + "b",
		Own: []string{word + "c"}, By: 5, At: idAt(n), Sources: sources}}
}

// summary is summed with a word in it, made from messages.
func summary(n int, word string, sources ...int) memory.Summarised {
	e := summed(general, n)
	e.Summary.Text, e.Summary.Topics, e.Summary.Model = "about "+word+"a", []string{word + "b"}, word+"c"
	e.Summary.Sources = nil
	for _, n := range sources {
		e.Summary.Sources = append(e.Summary.Sources, memory.SummarySource{Message: id(n)})
	}
	return e
}

func persona(of memory.GuildID, n int, text string) memory.SettingChosen {
	return memory.SettingChosen{Guild: of, Channel: general, Key: memory.SettingPersona, Value: text, At: idAt(n)}
}

// recorded is a call that came of message n, or of none, asked by somebody a minute after that.
func recorded(call string, n int, asker memory.UserID) memory.Recorded {
	r := memory.Record{CallID: call, Timestamp: idAt(n + 6), Speaker: memory.SpeakerTool, Method: "search_memory",
		Outcome: "3 messages", Guild: guild, Channel: general, Asker: asker}
	if n != 0 {
		r.Question = id(n)
	}
	return memory.Recorded{Record: r}
}

// sentPrompt holds a word in each of its messages, so often that it takes several pages.
func sentPrompt(word string) *memory.Prompt {
	return &memory.Prompt{Built: idAt(promptsBuilt), Messages: []memory.PromptMessage{
		{Role: "system", Content: word + "a"}, {Role: "user", Content: strings.Repeat(word+"b <@41> said, ", 700)},
	}, Boundaries: []memory.Boundary{{Section: "history", Message: 1, End: 9}}}
}

// One of each kind of thing kept besides messages contains the word canary, among others of its kind on the
// same pages.

func lored() []memory.Event {
	events := []memory.Event{posted(general, 1, "a source"), posted(general, 2, "another"),
		posted(general, 3, "the usual"), loreOf(121, 1, canary, memory.MessageRef{Channel: general, Message: id(1)},
			memory.MessageRef{Channel: general, Message: id(2)})}
	for n := range 40 {
		events = append(events, loreOf(int64(100+2*n), 1, "the usual"))
		events[len(events)-1].(memory.LoreTold).Lore.Own[0] = "and more"
	}
	return events
}

func summarised() (events []memory.Event) {
	for n := range 60 {
		events = append(events, posted(general, n+1, "one of many"), summary(n+1, "the usual", n+1))
	}
	return append(events, posted(general, 101, "a source"), summary(101, canary, 101, 7))
}

func condensing() (events []memory.Event) {
	for n := 1; n <= 60; n++ {
		events = append(events, posted(general, n, "one of many"))
	}
	return append(events, condensed(general, "about "+canary, 1, 2))
}

// recording is an answer, number 20, to number 10, and a call's record that holds the word, as no record
// should.
func recording() []memory.Event {
	called := recorded("told", 10, 2)
	called.Record.Answer, called.Record.Outcome = id(20), canary
	called.Record.Kwargs = map[string]any{"user": mentioned, "text": canary + "b"}
	told := answered(20, memory.Trace{Question: id(10), Asker: 2,
		Sources: append(from(general, 10, 1), from(secret, 2)...)})
	events := slices.Concat([]memory.Event{posted(general, 1, "a source"), posted(secret, 2, "another source"),
		posted(general, 10, "a question")}, told, []memory.Event{called})
	for n := range 200 {
		beside := recorded(fmt.Sprintf("beside%d", n), 0, 77)
		beside.Record.Guild, beside.Record.Channel, beside.Record.Timestamp = 200, 2500, idAt(990)
		events = append(events, beside)
	}
	return events
}

// prompting is an answer, number 20, whose prompt holds the word.
func prompting() []memory.Event {
	told := answered(20, memory.Trace{Question: id(10), Asker: 2, Prompt: sentPrompt(canary),
		Sources: slices.Concat(from(general, 10, 1, 3), from(secret, 2), fromFacts(7, 8), fromLore(9)),
		Named:   []memory.UserID{2, 3, mentioned, bystander}})
	events := slices.Concat([]memory.Event{
		memory.PersonSeen{Person: memory.Person{Guild: guild, ID: mentioned, Name: "Zoe"}},
		posted(general, 1, "a source"), posted(secret, 2, "another source"), ofHark(3),
		memory.Starred{Guild: guild, Channel: secret, ID: id(2), On: true, At: idAt(4)},
		posted(general, 10, "a question"),
		memory.FactTold{Guild: guild, User: mentioned, Fact: memory.Fact{ID: 7, Text: "sails"}},
		memory.FactTold{Guild: guild, User: mentioned,
			Fact: memory.Fact{ID: 8, Text: "rows", Channel: general, Message: id(1)}},
		loreOf(9, 1, "Project X"),
	}, told)
	for n := range 6 { // of a channel of their own
		question := memory.Message{ID: id(30 + 2*n), Guild: 200, Channel: 2500, Author: 77, Content: "a question"}
		trace := memory.Trace{Guild: 200, Channel: 2500, Answer: id(31 + 2*n), Question: question.ID,
			Sources: from(2500, 30+2*n), Asker: 77, Prompt: sentPrompt("the usual")}
		trace.Prompt.Built = idAt(990)
		events = append(events, memory.Posted{Message: question}, memory.Answered{Trace: trace})
	}
	return events
}

func expiring(e memory.Expiry) func(*testing.T, *Store) {
	return func(t *testing.T, s *Store) { t.Helper(); must(t, s.Expire(bg, e)) }
}

type ways = map[string]func(*testing.T, *Store)

// Whatever deletes what holds a word, or its source, erases the word from the file.
func TestForgottenDerivedDataLeavesTheFile(t *testing.T) {
	t.Parallel()
	forget, tell := forgetting, telling
	later := summary(101, "something else", 101)
	later.Summary.Made = idAt(999)
	reposted := posted(general, 1, "a source, as it was edited")
	reposted.Message.Edited = idAt(700)
	opt := func(user memory.UserID) func(*testing.T, *Store) {
		return tell(memory.Opted{Guild: guild, User: user, Out: true, At: idAt(900)})
	}
	member := func(user memory.UserID) func(*testing.T, *Store) {
		return forget(memory.Forgetting{Guild: guild, User: user, Why: memory.WhyMember})
	}
	left := forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft})
	closing := func(channel memory.ChannelID) func(*testing.T, *Store) {
		return tell(memory.ChannelDeleted{Guild: guild, Channel: channel, At: idAt(900)})
	}
	for kind, c := range map[string]struct {
		given  []memory.Event
		beside string // which stays
		ways   ways
	}{
		"lore": {lored(), "the usual", ways{
			"it is removed":             tell(memory.LoreGone{Guild: guild, ID: 121}),
			"it is changed":             tell(loreOf(121, 2, "Something else")),
			"a source is deleted":       tell(deleted(general, 1)),
			"a source is edited":        tell(edited(general, 2, "and changed")),
			"who told a source is gone": member(2),
			"who told it opts out":      opt(5),
			"its channel's past is purged": forget(memory.Forgetting{Guild: guild, Channel: general,
				Before: idAt(2), Why: memory.WhyAge}),
		}},
		"a summary": {summarised(), "one of many", ways{
			"a source is deleted": tell(deleted(general, 101)),
			"a source is edited":  tell(edited(general, 7, "and changed")),
			"it is made again":    tell(later),
			"it makes room": tell(memory.Summarised{Guild: guild, Channel: general,
				Until: id(900), Evicted: []memory.MessageID{id(101)}}),
			"who said a source is gone":  member(1 + 7%3),
			"who said a source opts out": opt(1 + 101%3),
		}},
		"what a session was condensed to": {condensing(), "one of many", ways{
			"a source is deleted":       tell(deleted(general, 1)),
			"a source is edited":        tell(edited(general, 2, "and changed")),
			"it is condensed again":     tell(condensed(general, "something else", 1, 2, 9)),
			"the session ends":          tell(memory.CondensedGone{Guild: guild, Channel: general, Until: id(5)}),
			"who said a source is gone": member(1 + 2%3),
		}},
		"a persona": {[]memory.Event{posted(general, 1, "hello"), persona(guild, 2, "You are "+canary+"."),
			persona(200, 2, "You are kind.")}, "You are kind.", ways{
			"it is changed":          tell(persona(guild, 5, "You are calm.")),
			"it is taken back":       tell(persona(guild, 5, "")),
			"the channel is deleted": closing(general),
			"the channel is forgotten": forget(memory.Forgetting{Guild: guild, Channel: general,
				Why: memory.WhyPurge}),
			"the guild is forgotten": left,
		}},
		"a record": {recording(), "beside7", ways{
			"the question is deleted":          tell(deleted(general, 10)),
			"the answer is deleted":            tell(deleted(general, 20)),
			"a source of the answer is edited": tell(edited(general, 1, "another text")),
			"the asker opts out":               opt(2),
			"the asker is forgotten":           member(2),
			"who is named is forgotten": forget(memory.Forgetting{Guild: memory.Everywhere,
				User: mentioned, Why: memory.WhyPurge}),
			"who answered is forgotten": member(harks),
			"the channel is deleted":    closing(general),
			"the guild was left":        left,
			"the question is too old": forget(memory.Forgetting{Guild: guild, Before: idAt(11),
				Why: memory.WhyAge}),
			"it is too old": expiring(memory.Expiry{Records: memory.RecordLimits{Before: idAt(17)}}),
		}},
		"a prompt": {prompting(), "the usual", ways{
			"a source is deleted":             tell(deleted(general, 1)),
			"a source in another channel is":  tell(deleted(secret, 2)),
			"the question is deleted":         tell(deleted(general, 10)),
			"the answer is deleted":           tell(deleted(general, 20)),
			"Hark's answer before is deleted": tell(deleted(general, 3)),
			"a source is edited":              tell(edited(general, 1, "another text")),
			"the question is edited":          tell(edited(general, 10, "another question")),
			"Hark's answer before grows":      tell(edited(general, 3, "so I said, and more")),
			"a source is imported anew":       tell(reposted),
			"the asker opts out":              opt(2),
			"an author opts out":              opt(3),
			"somebody mentioned opts out":     opt(mentioned), // whose facts are in it
			"an author is forgotten":          member(3),
			"who only appears is forgotten":   member(bystander),
			"an author is forgotten in a place": forget(memory.Forgetting{Guild: guild, Channel: secret,
				User: 3, Why: memory.WhyPurge}),
			"the channel is deleted":        closing(general),
			"a source's channel is deleted": closing(secret),
			"the guild was left":            left,
			"a source is too old": forget(memory.Forgetting{Guild: guild, Before: idAt(2),
				Why: memory.WhyAge}),
			"what was said before is purged": forget(memory.Forgetting{Guild: memory.Everywhere,
				Before: idAt(3), Why: memory.WhyPurge}),
			"lore is removed":                tell(memory.LoreGone{Guild: guild, ID: 9}),
			"lore is edited":                 tell(loreOf(9, 2, "Project Y")),
			"who told the lore is forgotten": member(5),
			"a fact is removed":              tell(memory.FactGone{Guild: guild, User: mentioned, Fact: 7}),
			"a fact is told anew": tell(memory.FactTold{Guild: guild, User: mentioned,
				Fact: memory.Fact{ID: 7, Text: "sailed"}}),
			"it is too old": expiring(memory.Expiry{Prompts: idAt(promptsBuilt).Add(time.Millisecond)}),
		}},
	} {
		for way, do := range c.ways {
			t.Run(kind+", when "+way, func(t *testing.T) {
				t.Parallel()
				s := open(t, emptyDir(t))
				apply(t, s, c.given...)
				leaves(t, s, do, canary)
				if len(holding(t, s.engine.dir, c.beside)) == 0 {
					t.Errorf("%q went as well", c.beside)
				}
			})
		}
	}
}
