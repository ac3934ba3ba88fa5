package memorytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/memory"

	"pgregory.net/rapid"
)

// condensedTo is what a session of general was condensed to, made so many minutes after the beginning from messages that
// were never edited.
func condensedTo(text string, minutes int, sources ...memory.MessageID) memory.Condensed {
	c := memory.Condensed{
		Guild: guild, Channel: general, Until: sources[len(sources)-1], Text: text, Made: began.Add(time.Duration(minutes) * time.Minute), Model: "toy",
	}
	for _, id := range sources {
		c.Sources = append(c.Sources, memory.SummarySource{Message: id})
	}
	return c
}

func (t *trial) condenses(all ...memory.Condensed) {
	t.Helper()
	for _, c := range all {
		t.apply(memory.SessionCondensed{Condensed: c})
	}
}

func (t *trial) condensed(channel memory.ChannelID) []memory.Condensed {
	t.Helper()
	return plainCondensed(got(t.store.Condensed(t.ctx, channel))(t))
}

// talkedTwice is what sessions in two channels were condensed to.
func (t *trial) talkedTwice() (here, there memory.Condensed) {
	t.apply(memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "thread"}})
	t.post(said(general, id(1), ada, "one"), said(general, id(2), ben, "two"), said(general, id(3), ada, "three"), said(thread, id(1), ben, "four"))
	here, there = condensedTo("Ada said one, Ben two.", 1, id(1), id(2)), condensedTo("Ben said four.", 1, id(1))
	there.Channel = thread
	t.condenses(here, there)
	return here, there
}

var condensedPromises = []promise{
	{"what a session was condensed to is kept by channel, the last version", func(t *trial) {
		here, there := t.talkedTwice()
		t.same("here", t.condensed(general), []memory.Condensed{here})
		t.same("everywhere", t.condensed(0), []memory.Condensed{here, there})
		t.same("nowhere", t.condensed(nowhere), []memory.Condensed{})
		next := condensedTo("Ada said one and three, Ben two.", 2, id(1), id(2), id(3))
		t.condenses(next, here)
		t.same("the last version by time", t.condensed(general), []memory.Condensed{next})
		t.delete(general, id(3))
		t.same("with a source that only the last has", t.condensed(0), []memory.Condensed{there})
		c := condensedTo("nowhere", 1, id(1))
		c.Channel = nowhere
		t.condenses(c)
		t.same("of a channel that isn't known", t.condensed(0), []memory.Condensed{there})
	}},
	{"what a session can't be condensed to is refused", func(t *trial) {
		t.post(said(general, id(1), ada, "one"))
		for _, spoil := range []func(*memory.Condensed){
			func(c *memory.Condensed) { c.Text = " " }, func(c *memory.Condensed) { c.Text = strings.Repeat("x", memory.MaxCondensedText+1) },
			func(c *memory.Condensed) { c.Sources = nil }, func(c *memory.Condensed) { c.Until++ },
			func(c *memory.Condensed) { c.Channel = 0 }, func(c *memory.Condensed) { c.Made = time.Time{} },
			func(c *memory.Condensed) {
				for n := range memory.MaxCondensedSources {
					c.Sources = append(c.Sources, memory.SummarySource{Message: id(1) - memory.MessageID(n+1)})
				}
			},
		} {
			c := condensedTo("one", 1, id(1))
			if spoil(&c); !errors.Is(t.store.Apply(t.ctx, memory.SessionCondensed{Condensed: c}), memory.ErrRefused) {
				t.Fatalf("%+v isn't refused", c)
			}
		}
		c := condensedTo("one\x00\xff ", 1, id(1))
		t.condenses(c)
		c.Text = "one\uFFFD"
		t.same("cleaned", t.condensed(general), []memory.Condensed{c})
	}},
	{"what a session was condensed to goes with any source, when the text of one changes, and when the session is over", func(t *trial) {
		here, there := t.talkedTwice()
		t.apply(memory.Starred{Guild: guild, Channel: general, ID: id(1), On: true, At: later})
		t.same("after a star", t.condensed(general), []memory.Condensed{here})
		t.delete(general, id(1))
		t.same("after a deletion", t.condensed(0), []memory.Condensed{there})
		here.Made = later
		t.condenses(here)
		t.same("of what is gone", t.condensed(general), []memory.Condensed{})
		rest := condensedTo("Ben said two.", 3, id(2))
		t.condenses(rest)
		t.same("made anew", t.condensed(general), []memory.Condensed{rest})
		t.post(edited(said(general, id(2), ben, "two"), 5, "changed"))
		t.same("after an edit", t.condensed(general), []memory.Condensed{})
		rest.Made = later
		t.condenses(rest)
		t.same("of an older text", t.condensed(general), []memory.Condensed{})
		rest.Sources[0].Edited = began.Add(5 * time.Minute).UnixMilli()
		t.condenses(rest)
		t.same("of the new one", t.condensed(general), []memory.Condensed{rest})
		t.apply(memory.CondensedGone{Guild: guild, Channel: general, Until: id(2) - 1}, memory.CondensedGone{Guild: guild, Channel: staff, Until: id(9)})
		t.same("after an earlier session's end", t.condensed(0), []memory.Condensed{rest, there})
		t.apply(memory.CondensedGone{Guild: guild, Channel: general, Until: id(2)})
		t.same("after its end", t.condensed(0), []memory.Condensed{there})
	}},
}

// someCondensing condenses what was said in a channel, mostly as it is, or says that a session is over.
func (m *machine) someCondensing(t *rapid.T) {
	channel, until := drawSlot(t)
	if rapid.IntRange(0, 7).Draw(t, "over?") == 0 {
		m.both(memory.CondensedGone{Guild: guildOf(channel), Channel: channel, Until: slotID(until)})
		return
	}
	sources := m.drawSources(t, channel, -1, until)
	if len(sources) == 0 {
		return
	}
	made := drawTime(t, "condensed at")
	m.both(memory.SessionCondensed{Condensed: memory.Condensed{
		Guild: guildOf(channel), Channel: channel, Until: sources[len(sources)-1].Message, Text: fmt.Sprintf("condensed %d of %d", made.Minute(), until),
		Sources: slices.Clone(sources), Made: made, Model: "toy",
	}})
}
