package answer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/builder"
	"hark/internal/embed"
	"hark/internal/guildtest"
	"hark/memory"
)

// marked finds the words that tell where something was said, and kindOf what kind of thing.
var (
	marked = regexp.MustCompile(`zq\w+`)
	kindOf = regexp.MustCompile(`^zq([a-z]+)`)
)

// castle is a drawn guild with much talk, and facts, summaries and answers made from it.
type castle struct {
	guildtest.World
	t      *rapid.T
	base   int64
	events []memory.Event
	serial memory.MessageID
	said   []memory.Message                         // by members
	old    map[memory.ChannelID][]memory.MessageRef // Hark's answers of long ago, and what was said then
	words  map[string]func(audience) bool           // each marked word, and whether an audience may know it
}

// audience is a place, and the channels whose past its readers may know.
type audience struct {
	at  memory.ChannelID
	may map[memory.ChannelID]bool
}

// origin is what an answer of Hark's was made from.
type origin struct {
	memory.MessageRef
	known func(audience) bool // by who reads it now
}

// castle draws a guild, logs what is said there, and gives it vectors.
func (w *world) castle(t *rapid.T) *castle {
	c := newCastle(t, bases.Add(1)*1000)
	index := memory.Indexer{Queue: w.store, Embedder: embed.Builtin{}}
	if err := errors.Join(w.store.Apply(t.Context(), c.events...), index.Drain(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	return c
}

// newCastle fills a drawn guild. Two people talk in all channels, days ago and just now.
func newCastle(t *rapid.T, base int64) *castle {
	c := &castle{World: guildtest.Draw(t, base, 8), t: t, base: base, old: map[memory.ChannelID][]memory.MessageRef{},
		words: map[string]func(audience) bool{}}
	g := c.Guild
	for i := range g.Channels {
		g.Channels[i].Name = c.word("name", g.Channels[i].ID, c.anywhere(g.Channels[i].ID))
	}
	c.tell(memory.GuildSeen{Guild: g})
	for _, ch := range g.Channels {
		if ch.Unplaced {
			c.tell(memory.ChannelGone{Guild: g.ID, Channel: ch.ID})
		}
	}
	for _, p := range c.People {
		c.tell(memory.PersonSeen{Person: p})
	}
	for i, who := range c.speakers() {
		c.tell(memory.PersonSeen{Person: memory.Person{ID: who, Guild: g.ID,
			Name: fmt.Sprintf("Speaker%d", i), RolesKnown: true}})
	}
	past, now := map[memory.ChannelID]origin{}, map[memory.ChannelID]origin{}
	for i, ch := range g.Channels {
		there := c.anywhere(ch.ID)
		for j, who := range c.speakers() {
			word := c.word(fmt.Sprintf("past%d", j), ch.ID, there)
			id := c.says(time.Duration(2*i+j+2)*day, memory.Message{Channel: ch.ID, Author: who,
				Content: "The password of the lighthouse, of lantern 0 and of lantern 1, is " + word})
			past[ch.ID] = origin{memory.MessageRef{Channel: ch.ID, Message: id}, there}
			c.old[ch.ID] = append(c.old[ch.ID], memory.MessageRef{Channel: ch.ID, Message: id})
			c.fact(who, id, ch.ID, false)
			c.fact(who, id, ch.ID, true)
		}
		c.sums(past[ch.ID].MessageRef)
		seen := func(a audience) bool { return a.at == ch.ID || there(a) }
		replied := rapid.SampledFrom(c.old[ch.ID]).Draw(c.t, "replied to").Message
		id := c.says(9*time.Minute, memory.Message{Channel: ch.ID, Author: c.speakers()[0], ReplyTo: replied,
			Content: "Today's lighthouse password: " + c.word("now", ch.ID, seen)})
		now[ch.ID] = origin{memory.MessageRef{Channel: ch.ID, Message: id}, seen}
	}
	for i, ch := range g.Channels {
		c.forwards(day-time.Duration(i)*time.Minute, ch.ID, c.origin(past))
		c.starts(ch)
		c.condenses(ch.ID, c.origin(past))
		for _, ago := range []time.Duration{time.Duration(40+i) * day, 8 * time.Minute} {
			one, other := c.origin(past), c.origin(past)
			first := c.answers(ago, ch.ID, "one", one)
			c.answers(ago, ch.ID, "both", one, other)
			second := c.answers(ago, ch.ID, "again", first)
			c.answers(ago, ch.ID, "more", second, other)
		}
		c.answers(7*time.Minute, ch.ID, "present", now[ch.ID])
		c.answers(7*time.Minute, ch.ID, "unknown")
	}
	c.tellLore()
	return c
}

func (c *castle) tell(events ...memory.Event) { c.events = append(c.events, events...) }

func (c *castle) speakers() []memory.UserID {
	return []memory.UserID{memory.UserID(c.base + 14), memory.UserID(c.base + 90)}
}

// origin draws what an answer is made from.
func (c *castle) origin(from map[memory.ChannelID]origin) origin {
	return from[rapid.SampledFrom(c.Guild.Channels).Draw(c.t, "source").ID]
}

// word is a new word that who satisfies known may know.
func (c *castle) word(kind string, channel memory.ChannelID, known func(audience) bool) string {
	w := fmt.Sprintf("zq%s%dn%d", kind, channel, len(c.words))
	c.words[w] = known
	return w
}

// anywhere is whether the past of a channel may be known.
func (c *castle) anywhere(channel memory.ChannelID) func(audience) bool {
	return func(a audience) bool { return a.may[channel] }
}

func (c *castle) says(ago time.Duration, m memory.Message) memory.MessageID {
	c.serial++
	m.Guild, m.ID = c.Guild.ID, memory.FirstMessageID(noon.Add(-ago))+c.serial
	c.tell(memory.Posted{Message: m})
	if m.Kind == memory.FromMember {
		c.said = append(c.said, m)
	}
	return m.ID
}

// forwards says in a channel what was said in another. Who reads only the copy may not know where from.
func (c *castle) forwards(ago time.Duration, channel memory.ChannelID, from origin) {
	c.says(ago, memory.Message{
		Channel:  channel,
		Author:   c.speakers()[1],
		Content:  "[forwarded] The password of the lighthouse was " + c.word("forward", channel, c.anywhere(channel)),
		Original: memory.Original{Guild: c.Guild.ID, Channel: from.Channel, Message: from.Message},
	})
}

// fact is told of somebody by what they said.
func (c *castle) fact(who memory.UserID, id memory.MessageID, channel memory.ChannelID, alias bool) {
	c.serial++
	f := memory.Fact{ID: c.base + int64(c.serial), Text: c.word("fact", channel, c.anywhere(channel)),
		Alias: alias, By: who, Channel: channel, Message: id}
	c.tell(memory.FactTold{Guild: c.Guild.ID, User: who, Fact: f})
}

// sums tells of a summary, which is shown in its channel only, where its past may be read.
func (c *castle) sums(source memory.MessageRef) {
	known := func(a audience) bool { return a.at == source.Channel && a.may[source.Channel] }
	c.tell(memory.Summarised{Guild: c.Guild.ID, Channel: source.Channel, Until: source.Message,
		Summary: &memory.Summary{
			ID: source.Message, Guild: c.Guild.ID, Channel: source.Channel,
			Text: "The password of the lighthouse was " + c.word("summary", source.Channel, known),
			Kind: memory.SummaryFact, Made: noon, Sources: []memory.SummarySource{{Message: source.Message}},
		}})
}

// starts says what a thread began from, in its parent channel.
func (c *castle) starts(thread memory.Channel) {
	if thread.Kind.IsThread() {
		m := memory.Message{
			ID: memory.MessageID(thread.ID), Guild: c.Guild.ID, Channel: thread.Parent, Author: c.speakers()[0],
			Content: "Shall we? " + c.word("starter", thread.Parent, c.anywhere(thread.Parent)),
		}
		c.said = append(c.said, m)
		c.tell(memory.Posted{Message: m})
	}
}

// condenses says what a channel's session was condensed to: a message and an answer of Hark's.
func (c *castle) condenses(channel memory.ChannelID, from origin) {
	said := c.says(11*time.Minute, memory.Message{Channel: channel, Author: c.speakers()[1], Content: "Tell me."})
	told := c.answers(10*time.Minute, channel, "told", from)
	c.tell(memory.SessionCondensed{Condensed: memory.Condensed{
		Guild: c.Guild.ID, Channel: channel, Until: told.Message,
		Text: "The password of the lighthouse was said to be " + c.word("condensed", channel,
			func(a audience) bool { return a.at == channel && told.known(a) }),
		Made: noon, Model: "toy", Sources: []memory.SummarySource{{Message: said}, {Message: told.Message}},
	}})
}

// answers is an answer of Hark's, which may be repeated to those who may know all its sources; to nobody if there
// are none.
func (c *castle) answers(ago time.Duration, channel memory.ChannelID, kind string, from ...origin) origin {
	recent := ago < day
	known := func(a audience) bool {
		for _, o := range from {
			if !o.known(a) {
				return false
			}
		}
		return len(from) > 0 && (recent && a.at == channel || a.may[channel])
	}
	id := c.says(ago, memory.Message{
		Channel: channel, Author: memory.UserID(c.base +
			95), Kind: memory.FromHark, Content: "The password of the lighthouse is " + c.word(kind, channel, known)})
	trace := memory.Trace{Guild: c.Guild.ID, Channel: channel, Answer: id, Asker: c.speakers()[0]}
	for _, o := range from {
		trace.Sources = append(trace.Sources, source(o.Channel, o.Message))
	}
	if len(from) > 0 {
		unread := rapid.SampledFrom(c.Guild.Channels).Draw(c.t, "found, and not shown to the model").ID
		trace.Recalled = append(trace.Recalled, memory.TraceHit{Channel: unread, Message: c.old[unread][0].Message})
		c.tell(memory.Answered{Trace: trace})
	}
	c.calls(trace, func(a audience) bool { return known(a) && a.at == channel && a.may[channel] })
	if !recent {
		c.old[channel] = append(c.old[channel], memory.MessageRef{Channel: channel, Message: id})
	}
	return origin{memory.MessageRef{Channel: channel, Message: id}, known}
}

// calls is the record of a call for an answer, which is told in its channel only, where its past may be read.
func (c *castle) calls(t memory.Trace, known func(audience) bool) {
	c.tell(memory.Recorded{Record: memory.Record{
		CallID: t.Channel.String() + "-" +
			t.Answer.String(), Timestamp: t.Answer.Time(), Speaker: memory.SpeakerTool, Method: "search_memory",
		Guild: t.Guild, Channel: t.Channel, Asker: t.Asker,
		Answer: t.Answer, Outcome: c.word("record", t.Channel, known),
	}})
}

// history is what a model may read of the calls, with what their messages say.
func (c *castle) history(e *Engine, q Question, a audience) string {
	out, err := e.history(c.t.Context(), q, `{"limit":50,"fields":["outcome_summary","text"]}`)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, m := range out.Shown {
		if m.Channel != a.at || !a.may[m.Channel] {
			c.t.Fatalf("message %d of channel %d is shown in %d, where may be known %v", m.ID, m.Channel, a.at, a.may)
		}
	}
	return out.Text
}

// question is one asked in a channel for viewer alone, or by a speaker if that is nil.
func (c *castle) question(at memory.ChannelID, viewer *guildtest.Member) Question {
	q := Question{Guild: c.Guild.ID, Channel: at, Asker: c.speakers()[1], Name: "Asker",
		Text: "What is the password of the lighthouse, Speaker0? What of Lantern 0 and Lantern 1?", Now: noon,
		Attended: attendedSince(0)}
	q.Mentions = c.speakers()[:rapid.IntRange(0, 1).Draw(c.t, "mentions")]
	if viewer != nil {
		q.Asker, q.Roles, q.OnlyAsker = viewer.ID, viewer.Roles, true
		return q
	}
	q.ID = memory.FirstMessageID(noon)
	if rapid.Bool().Draw(c.t, "reply") {
		q.ReplyTo = rapid.SampledFrom(c.old[at]).Draw(c.t, "to").Message
	}
	return q
}

func (c *castle) wrote(who memory.UserID, a audience) memory.Presence {
	var p memory.Presence
	for _, m := range c.said {
		if m.Author == who && a.may[m.Channel] {
			p.Messages++
			if m.Time().After(p.Last) {
				p.Last = m.Time()
			}
		}
	}
	return p
}

// counts are how much was looked at.
type counts struct {
	guilds, checks, readable, people int
	shown, may, heldBack             map[string]int // by kind of word: shown, to be known, and not to be known
}

func newCounts() *counts {
	return &counts{shown: map[string]int{}, may: map[string]int{}, heldBack: map[string]int{}}
}

func (c *castle) check(e *Engine, a audience, viewer *guildtest.Member, n *counts) {
	q := c.question(a.at, viewer)
	r, err := e.Recall(c.t.Context(), q)
	if err != nil {
		c.t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, word := range marked.FindAllString(fmt.Sprintf("%s\n%+v\n%s", r.Prompt.String(), r.Result,
		c.history(e, q, a)), -1) {
		known, there := c.words[word]
		if !there {
			c.t.Fatalf("%q is nothing that was said, or a part of it", word)
		}
		if !known(a) {
			c.t.Fatalf("%q in channel %d, where may be known %v\n%+v\n%s", word, a.at, a.may, q, r.Prompt.String())
		}
		shown[word] = true
	}
	for _, p := range r.Result.People {
		n.people++
		if want := c.wrote(p.Person.ID, a); p.Presence.Messages != want.Messages || !p.Presence.Last.Equal(want.Last) {
			c.t.Fatalf("person %d in channel %d, where may be known %v: %+v, want %+v", p.Person.ID, a.at,
				a.may, p.Presence, want)
		}
	}
	n.checks += len(c.Guild.Channels)
	n.readable += len(a.may)
	for word, known := range c.words {
		kind := kindOf.FindStringSubmatch(word)[1]
		switch {
		case shown[word]:
			n.shown[kind]++
			fallthrough
		case known(a):
			n.may[kind]++
		default:
			n.heldBack[kind]++
		}
	}
}

func (c *castle) audience(members []guildtest.Member, at memory.Channel, viewer *guildtest.Member) audience {
	a := audience{at.ID, map[memory.ChannelID]bool{}}
	for _, from := range c.Guild.Channels {
		if c.Allowed(members, at, from, viewer) {
			a.may[from.ID] = true
		}
	}
	return a
}

var bases atomic.Int64

// TestNothingDerivedLeaks asks in every channel of many guilds, aloud and for one person alone.
func TestNothingDerivedLeaks(t *testing.T) {
	t.Parallel()
	n := newCounts()
	deriveMuch(t, n)
	t.Logf("%d guilds, %d pairs of a place and a channel, %d of them allowed; %d people", n.guilds, n.checks,
		n.readable, n.people)
	if !long {
		return // too few are drawn for all kinds to be among them
	}
	for kind, may := range n.may {
		t.Logf("%s: %d shown of %d that may be known, %d held back", kind, n.shown[kind], may, n.heldBack[kind])
		switch shown := n.shown[kind]; {
		case shown == 0 && kind != "told" || n.heldBack[kind] == 0: // what is told of in a summary isn't shown itself
			t.Errorf("nothing is tested about words of the kind %q", kind)
		case slices.Contains([]string{"past", "now", "fact"}, kind) && shown < may*9/10,
			kind == "record" && shown < may,
			kind == "summary" && shown < may/4, // not where what it is from is shown itself, as a message replied to
			kind == "condensed" && shown < may*9/10, kind == "starter" && shown < may*9/10:
			t.Errorf("words of the kind %q aren't found", kind)
		}
	}
	if len(n.may) != 16 || n.heldBack["unknown"] == 0 {
		t.Errorf("words of these kinds: %v and %v", n.may, n.heldBack)
	}
}

func deriveMuch(t *testing.T, n *counts) {
	w := newWorld(t, nil)
	e := w.over(w.store, nil, builder.Options{Citations: true},
		Options{Policy: memory.Policy{AgeLimited: true, Direct: true}, Long: w.notice})
	rapid.Check(t, func(t *rapid.T) {
		c := w.castle(t)
		n.guilds++
		members := c.Everybody()
		viewers := []*guildtest.Member{nil, c.DrawViewer(t), c.DrawViewer(t)}
		for _, at := range c.Guild.Channels {
			for _, viewer := range viewers {
				c.check(e, c.audience(members, at, viewer), viewer, n)
			}
		}
	})
}
