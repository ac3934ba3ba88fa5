package memorytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"hark/memory"

	"pgregory.net/rapid"
)

// Replay tests that what was decided after a copy was made holds in the copy once replay has applied it there: what was
// deleted, forgotten or edited in from is so in to, and the settings and choices of from hold. open is as in Run.
// Unless HARK_LONG is set, it tries one in so many of rapid's checks.
func Replay(t *testing.T, oneIn int, open func(t testing.TB) memory.Opened,
	replay func(t testing.TB, from, to memory.Opened)) {
	if os.Getenv("HARK_LONG") != "" {
		oneIn = 1
	}
	rapid.Check(t, func(rt *rapid.T) {
		if between(rt, "tried?", 1, oneIn) > 1 {
			return
		}
		both := &copying{Opened: open(t), copy: open(t)}
		m := &machine{harness: newHarness(rt, context.Background(), both)}
		actions := m.actions()
		delete(actions, "expire") // what is too old goes from the copy later
		m.settle(rt)
		rt.Repeat(actions)
		restored := both.copy
		both.copy = nil
		rt.Repeat(actions)
		m.carryOut()
		replay(t, both.Opened, restored)
		r := &replayed{harness: m.harness, to: restored}
		r.compare()
		for _, s := range []memory.Opened{restored, both.Opened} {
			err := s.Close()
			if err != nil {
				rt.Fatalf("close: %v", err)
			}
		}
	})
}

// copying is a store of which a copy is made for a time: it gets the same.
type copying struct {
	memory.Opened
	copy memory.Opened // nil: no more
}

func (c *copying) Apply(ctx context.Context, events ...memory.Event) error {
	if c.copy != nil {
		err := c.copy.Apply(ctx, events...)
		if err != nil {
			return err
		}
	}
	return c.Opened.Apply(ctx, events...)
}

func (c *copying) Forget(ctx context.Context, f memory.Forgetting,
	progress func(done, total int)) (memory.DeletionReport, error) {
	if c.copy != nil {
		_, err := c.copy.Forget(ctx, f, nil)
		if err != nil {
			return memory.DeletionReport{}, err
		}
	}
	return c.Opened.Forget(ctx, f, progress)
}

// replayed compares a copy, in which decisions were replayed, with the store where they were made.
type replayed struct {
	*harness
	to memory.Opened
}

func (r *replayed) compare() {
	r.Helper()
	isTold := true
	for _, channel := range channels {
		isTold = r.compareMessages(channel) && isTold
	}
	for _, g := range []memory.GuildID{guild, memory.LocalGuild} {
		r.compareKnowledge(g)
		r.compareChoices(g)
	}
	if isTold {
		r.compareMade()
	}
	lists := listOf(r, func(s memory.Opened) (at []memory.MessageRef, err error) {
		all, err := s.Withdrawn(r.ctx, 999)
		for _, w := range all {
			at = append(at, memory.MessageRef{Channel: w.Channel, Message: w.Message})
		}
		return at, err
	})
	r.isPart("withdrawn answers that the copy lacks:", [2][]string{lists[1], lists[0]})
}

// compareMade compares what was made from messages.
func (r *replayed) compareMade() {
	r.Helper()
	r.isPart("answers", listOf(r, func(s memory.Opened) (at []memory.MessageRef, err error) {
		all, err := s.Traces(r.ctx, memory.TraceQuery{Limit: 999})
		for _, t := range all {
			at = append(at, memory.MessageRef{Channel: t.Channel, Message: t.Answer})
		}
		return at, err
	}))
	for _, channel := range channels {
		r.isPart("summaries", listOf(r, func(s memory.Opened) (ids []memory.MessageID, err error) {
			all, err := s.Summaries(r.ctx, channel)
			for _, summary := range all {
				ids = append(ids, summary.ID)
			}
			return ids, err
		}))
	}
}

// compareMessages compares what both have of a channel. It reports whether what else belongs to the texts is the same:
// decisions don't tell of changed files and links.
func (r *replayed) compareMessages(channel memory.ChannelID) (isTold bool) {
	r.Helper()
	texts := map[memory.MessageID]string{}
	isTold = true
	r.isPart("messages", listOf(r, func(s memory.Opened) ([]memory.Message, error) {
		log, err := s.Log(r.ctx, channel, -1<<62, 1<<62, 9999)
		for i, m := range log {
			text, known := texts[m.ID]
			isTold = isTold && (!known || text == m.Text())
			texts[m.ID] = m.Text()
			log[i] = memory.Message{Channel: m.Channel, ID: m.ID, Author: m.Author, Content: m.Content}
		}
		return log, err
	}))
	return isTold
}

// compareKnowledge compares what both know of a guild and its people.
func (r *replayed) compareKnowledge(g memory.GuildID) {
	r.Helper()
	r.isPart("lore", listOf(r, func(s memory.Opened) ([]memory.Lore, error) { return s.Lore(r.ctx, g) }))
	r.isPart("facts", listOf(r, func(s memory.Opened) (ids []int64, err error) {
		people, err := s.People(r.ctx, g)
		for _, p := range people {
			for _, f := range p.Facts {
				ids = append(ids, f.ID)
			}
		}
		return ids, err
	}))
	for _, user := range append([]memory.UserID{ada, ben, 503, 504}, 601, 602) {
		members := listOf(r, func(s memory.Opened) ([]memory.Member, error) {
			m, err := s.Member(r.ctx, g, user)
			return []memory.Member{m}, err
		})
		r.same(fmt.Sprintf("what user %d decided", user), members[1], members[0])
	}
}

// compareChoices compares what admins chose. The copy may have more of a guild that Hark had left when all of it was
// forgotten, and returned to.
func (r *replayed) compareChoices(g memory.GuildID) {
	r.Helper()
	settings := listOf(r, func(s memory.Opened) ([]string, error) {
		now, err := r.guild(s, g)
		lines := []string{}
		for key, value := range now.Settings {
			lines = append(lines, fmt.Sprint("of the server: ", key, value))
		}
		for _, c := range now.Channels {
			for key, value := range c.Settings {
				lines = append(lines, fmt.Sprint("of channel ", c.ID, ": ", key, value))
			}
		}
		return lines, err
	})
	r.isPart("settings", settings)
	r.isPart("settings that the copy lacks:", [2][]string{settings[1], settings[0]})
	choices := listOf(r, func(s memory.Opened) ([]string, error) {
		now, err := r.guild(s, g)
		lines := []string{}
		if now.Choice != memory.Undecided {
			lines = append(lines, fmt.Sprint("the server is ", now.Choice))
		}
		for _, limit := range now.Limits {
			lines = append(lines, fmt.Sprintf("limit %+v", limit))
		}
		for _, c := range now.Channels {
			if c.Choice != memory.Undecided {
				lines = append(lines, fmt.Sprintf("channel %d is %v", c.ID, c.Choice))
			}
		}
		return lines, err
	})
	r.isPart("choices that the copy lacks:", [2][]string{choices[1], choices[0]})
}

// guild returns a guild of a store; an empty one if all of it was forgotten.
func (r *replayed) guild(s memory.Opened, g memory.GuildID) (*memory.Guild, error) {
	now, err := s.Guild(r.ctx, g)
	if errors.Is(err, memory.ErrNotFound) {
		return &memory.Guild{}, nil
	}
	return now, err
}

// listOf returns what a store lists, from both stores, each thing as text.
func listOf[T any](r *replayed, list func(memory.Opened) ([]T, error)) (both [2][]string) {
	r.Helper()
	for i, s := range []memory.Opened{r.store, r.to} {
		for _, one := range got(list(s))(r.harness) {
			both[i] = append(both[i], fmt.Sprintf("%+v", one))
		}
	}
	return both
}

// isPart fails the test unless all that the second lists, the first lists too.
func (r *replayed) isPart(what string, both [2][]string) {
	r.Helper()
	for _, one := range both[1] {
		if !slices.Contains(both[0], one) {
			r.Fatalf("%s: the replayed copy has\n%s\nand the other only\n%v", what, one, both[0])
		}
	}
}
