package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

const (
	mentioned memory.UserID    = 41 // in the prompt without having written anything
	harks     memory.UserID    = 42
	promptEnd memory.MessageID = 1 << 62
)

// builtAt is when the prompts of these tests are built.
var builtAt = idAt(800)

// sentPrompt holds a word in each of its messages, so often that it takes several pages.
func sentPrompt(word string) *memory.Prompt {
	return &memory.Prompt{Built: builtAt, Messages: []memory.PromptMessage{
		{Role: "system", Content: word + "a"}, {Role: "user", Content: strings.Repeat(word+"b <@41> said, ", 700)},
	}, Boundaries: []memory.Boundary{{Section: "history", Message: 1, End: 9}}}
}

// prompting is a store with an answer, number 20, whose prompt holds a word that is nowhere else, and with
// answers beside it.
func prompting(t *testing.T, dir, word string) *Store {
	t.Helper()
	s := open(t, dir)
	earlier, answer := posted(general, 3, "so I said"), posted(general, 20, "so it is")
	earlier.Message.Kind, answer.Message.Kind = memory.FromHark, memory.FromHark
	earlier.Message.Author, answer.Message.Author = harks, harks
	apply(t, s, memory.PersonSeen{Person: memory.Person{Guild: guild, ID: mentioned, Name: "Zoe"}},
		posted(general, 1, "a source"), posted(secret, 2, "another source"), earlier, posted(general, 10,
			"a question"), answer,
		memory.FactTold{Guild: guild, User: mentioned, Fact: memory.Fact{ID: 7, Text: "sails"}},
		memory.FactTold{Guild: guild, User: mentioned,
			Fact: memory.Fact{ID: 8, Text: "rows", Channel: general, Message: id(1)}},
		memory.LoreTold{Lore: memory.Lore{ID: 9, Guild: guild, Name: "Project X", Text: "is due", By: 5, At: idAt(1)}})
	apply(t, s, memory.Answered{Trace: memory.Trace{
		Guild: guild, Channel: general, Answer: id(20), Question: id(10), Asker: 2,
		Sources: slices.Concat(from(general, 10, 1, 3), from(secret, 2), fromFacts(7, 8), fromLore(9)),
		Named:   []memory.UserID{2, 3, mentioned}, Prompt: sentPrompt(word),
	}})
	for n := range 6 { // on the same pages, of a channel of their own
		question := memory.Message{ID: id(30 + 2*n), Guild: 200, Channel: 2500, Author: 77, Content: "a question"}
		trace := memory.Trace{Guild: 200, Channel: 2500, Answer: id(31 + 2*n), Question: question.ID,
			Sources: from(2500, 30+2*n), Asker: 77, Prompt: sentPrompt("the usual")}
		trace.Prompt.Built = idAt(990)
		apply(t, s, memory.Posted{Message: question}, memory.Answered{Trace: trace})
	}
	if n := len(holding(t, dir, word+"a")); n == 0 {
		t.Fatal("the words aren't in the file in the first place")
	}
	return s
}

// Whatever takes something in a prompt away takes the prompt's words out of the file.
func TestForgottenPromptsLeaveTheFile(t *testing.T) {
	t.Parallel()
	forget, tell := forgetting, telling
	again := posted(general, 1, "a source, as it was edited")
	again.Message.Edited = idAt(700)
	for name, c := range map[string]struct {
		do    func(*testing.T, *Store)
		stays bool // whether the answer does
	}{
		"a source is deleted":             {tell(deleted(general, 1)), false},
		"a source in another channel is":  {tell(deleted(secret, 2)), false},
		"the question is deleted":         {tell(deleted(general, 10)), false},
		"the answer is deleted":           {tell(deleted(general, 20)), false},
		"Hark's answer before is deleted": {tell(deleted(general, 3)), false},
		"a source is edited":              {tell(edited(general, 1, "another text")), false},
		"the question is edited":          {tell(edited(general, 10, "another question")), false},
		"Hark's answer before grows":      {tell(edited(general, 3, "so I said, and more")), true},
		"a source is imported anew":       {tell(again), false},
		"the asker opts out": {tell(memory.Opted{Guild: guild, User: 2, Out: true,
			At: idAt(900)}), false},
		"an author opts out": {tell(memory.Opted{Guild: guild, User: 3, Out: true,
			At: idAt(900)}), false},
		// their facts are in it
		"somebody mentioned opts out": {tell(memory.Opted{Guild: guild, User: mentioned, Out: true,
			At: idAt(900)}), false},
		"an author is forgotten": {forget(memory.Forgetting{Guild: guild, User: 3,
			Why: memory.WhyMember}), false},
		"an author is forgotten in a place": {forget(memory.Forgetting{Guild: guild, Channel: secret, User: 3,
			Why: memory.WhyPurge}), false},
		"the channel is deleted": {tell(memory.ChannelDeleted{Guild: guild, Channel: general,
			At: idAt(900)}), false},
		"a source's channel is deleted": {tell(memory.ChannelDeleted{Guild: guild, Channel: secret,
			At: idAt(900)}), false},
		"the guild was left": {forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft}), false},
		"a source is too old": {forget(memory.Forgetting{Guild: guild, Before: idAt(2),
			Why: memory.WhyAge}), false},
		"what was said before is purged": {forget(memory.Forgetting{Guild: memory.Everywhere, Before: idAt(3),
			Why: memory.WhyPurge}), false},
		"lore is removed": {tell(memory.LoreGone{Guild: guild, ID: 9}), false},
		"lore is edited": {tell(memory.LoreTold{Lore: memory.Lore{ID: 9, Guild: guild,
			Name: "Project X", Text: "is done", At: idAt(2)}}), false},
		"who told the lore is forgotten": {forget(memory.Forgetting{Guild: guild, User: 5,
			Why: memory.WhyMember}), false},
		"a fact is removed": {tell(memory.FactGone{Guild: guild, User: mentioned, Fact: 7}), false},
		"a fact is told anew": {tell(memory.FactTold{Guild: guild, User: mentioned,
			Fact: memory.Fact{ID: 7, Text: "sailed"}}), true},
		"it is too old": {func(t *testing.T, s *Store) {
			must(t, s.Expire(bg, memory.Expiry{Prompts: builtAt.Add(time.Millisecond)}))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const word = "Quetzalcoatl"
			dir := emptyDir(t)
			s := prompting(t, dir, word)
			c.do(t, s)
			for _, when := range []string{"", "after closing "} {
				wantNowhere(t, dir, canaries(word)...)
				if when != "" {
					return
				}
				if _, err := memory.TraceOf(bg, s, general, id(20)); err != nil == c.stays {
					t.Errorf("the answer's trace: %v", err)
				}
				if p, err := promptOf(s, 2500, id(31)); err != nil ||
					!strings.Contains(p.Messages[1].Content, "the usual") {
					t.Errorf("a prompt beside it: %v", err)
				}
				checkSound(t, s)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// promptOf is the prompt of an answer; nil if none is kept.
func promptOf(s *Store, channel memory.ChannelID, answer memory.MessageID) (memory.Prompt, error) {
	all, err := s.Traces(bg, memory.TraceQuery{Channel: channel, Answer: answer, Prompts: true})
	if err == nil && (len(all) == 0 || all[0].Prompt == nil) {
		return memory.Prompt{}, memory.ErrNotFound
	}
	if err != nil {
		return memory.Prompt{}, err
	}
	return *all[0].Prompt, nil
}

// carryOutAll carries out what was begun to be forgotten.
func carryOutAll(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.carryOutAll(bg, func(string, int64, int64) {}); err != nil {
		t.Fatal(err)
	}
}

// A name in a prompt goes with the person, even where they wrote nothing in it and nothing else of them is in it.
func TestPromptsGoWithPeopleWhoOnlyAppear(t *testing.T) {
	t.Parallel()
	const word = "Xochimilco"
	dir := emptyDir(t)
	s := prompting(t, dir, word)
	const bystander memory.UserID = 51
	trace, err := memory.TraceOf(bg, s, general, id(20))
	if err != nil {
		t.Fatal(err)
	}
	trace.Prompt, trace.Named = sentPrompt(word), []memory.UserID{2, bystander}
	if err := s.Apply(bg, memory.Answered{Trace: trace}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forget(bg, memory.Forgetting{Guild: guild, User: bystander, Why: memory.WhyMember,
		At: idAt(900)}, nil); err != nil {
		t.Fatal(err)
	}
	wantNowhere(t, dir, canaries(word)...)
}

// Backups hold prompts, and bring back none that was taken away since.
func TestRestoredPrompts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		since func(*testing.T, *Store)
		stays bool
	}{
		"nothing": {func(*testing.T, *Store) {}, true},
		"a source was edited": {func(t *testing.T, s *Store) {
			apply(t, s, edited(general, 1, "another text"))
		}, false},
		"Hark's answer grew":   {func(t *testing.T, s *Store) { apply(t, s, edited(general, 3, "and more")) }, false},
		"a source was deleted": {func(t *testing.T, s *Store) { apply(t, s, deleted(secret, 2)) }, false},
		"somebody opted out": {func(t *testing.T, s *Store) {
			apply(t, s, memory.Opted{Guild: guild, User: mentioned, Out: true, At: idAt(900)})
		}, false},
		"somebody was forgotten": {func(t *testing.T, s *Store) {
			if _, err := s.Forget(bg, memory.Forgetting{Guild: guild, User: mentioned, Why: memory.WhyMember,
				At: idAt(900)}, nil); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const word = "Popocatepetl"
			dir := emptyDir(t)
			s := prompting(t, dir, word)
			backup := backUp(t, s)
			c.since(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			got, _ := restored(t, dir, backup)
			p, err := promptOf(got, general, id(20))
			if err == nil != c.stays || c.stays && !strings.Contains(p.Messages[0].Content, word) {
				t.Errorf("the prompt is %v, %v", p, err)
			}
			if !c.stays {
				wantNowhere(t, dir, canaries(word)...)
			}
			if _, err := promptOf(got, 2500, id(31)); err != nil {
				t.Errorf("a prompt beside it: %v", err)
			}
		})
	}
}

// Many prompts go in steps, between which others write, and a context that ends stops it.
func TestOldPromptsGoInSteps(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	const n = 403 // of which a step takes 200
	var events []memory.Event
	for i := range n {
		trace := memory.Trace{Guild: guild, Channel: general, Answer: id(2*i + 1), Question: id(2 * i),
			Sources: from(general, 2*i), Asker: 1, Prompt: &memory.Prompt{Built: idAt(i)}}
		events = append(events, posted(general, 2*i, "a question"), memory.Answered{Trace: trace})
	}
	apply(t, s, events...)
	steps := s.engine.writer.removals
	must(t, s.Expire(bg, memory.Expiry{Prompts: idAt(n - 1)}))
	if steps = s.engine.writer.removals - steps; steps != 3 {
		t.Errorf("in %d steps", steps)
	}
	if _, err := promptOf(s, general, id(2*n-1)); err != nil {
		t.Errorf("the newest: %v", err)
	}
	ended, end := context.WithCancel(bg)
	end()
	if err := s.Expire(ended, memory.Expiry{Prompts: idAt(n)}); !errors.Is(err, context.Canceled) {
		t.Errorf("when it is told to end: %v", err)
	}
	traces, err := s.Traces(bg, memory.TraceQuery{Limit: 3})
	if err != nil || len(traces) != 3 || traces[0].Answer != id(2*n-1) || traces[2].Answer != id(2*n-5) {
		t.Errorf("the last are %v, %v", traces, err)
	}
}

// Forgetting prompts reports a reader that keeps their text in the write-ahead log.
func TestOldPromptsBesideAReaderThatStays(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	if err := prompting(t, dir, "Coyolxauhqui").Close(); err != nil {
		t.Fatal(err)
	}
	s, err := quick(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	reading(t, s)
	wantError(t, s.Expire(bg, memory.Expiry{Prompts: promptEnd.Time()}))
}

// A file of prompts that can't be read is told of, and what was sent isn't part of what a trace tells.
func TestTracesHoldNoPrompt(t *testing.T) {
	t.Parallel()
	s := prompting(t, emptyDir(t), "Tlaltecuhtli")
	trace, err := memory.TraceOf(bg, s, general, id(20))
	if err != nil {
		t.Fatal(err)
	}
	var body string
	if err := s.engine.read.QueryRow("SELECT group_concat(body) FROM trace").Scan(&body); err != nil ||
		strings.Contains(body, "Tlaltecuhtli") || strings.Contains(fmt.Sprint(trace), "Tlaltecuhtli") {
		t.Errorf("%v, %v", body, err)
	}
}

// Taking a prompt away counts as taking text away, so that its copies are overwritten; finding none doesn't.
func TestTakingPromptsAwayIsTold(t *testing.T) {
	t.Parallel()
	s := prompting(t, emptyDir(t), "Tezcatlipoca")
	for _, want := range []bool{true, false} {
		removals := s.engine.writer.removals
		must(t, s.Expire(bg, memory.Expiry{Prompts: promptEnd.Time()}))
		if told := s.engine.writer.removals > removals; told != want {
			t.Errorf("text was taken away: %t, want %t", told, want)
		}
	}
}
