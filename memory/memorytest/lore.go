package memorytest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

// note is lore told so many minutes after the beginning.
func note(id int64, by memory.UserID, channel memory.ChannelID, minutes int, sources ...memory.Spot) memory.Lore {
	return memory.Lore{
		ID: id, Guild: guild, Name: "Project X", Text: "is due on Friday", Own: []string{"the big one"}, By: by, Channel: channel,
		At: began.Add(time.Duration(minutes) * time.Minute), Sources: sources,
	}
}

// told tells lore.
func (t *trial) told(all ...memory.Lore) {
	t.Helper()
	for _, l := range all {
		t.apply(memory.LoreTold{Lore: l})
	}
}

// lore is what a guild was told, as the store has it.
func (t *trial) lore(guild memory.GuildID) []memory.Lore {
	t.Helper()
	return plainLore(got(t.store.Lore(t.ctx, guild))(t))
}

// loreIDs are those of a guild's lore.
func (t *trial) loreIDs(guild memory.GuildID) []int64 {
	t.Helper()
	var ids []int64
	for _, l := range t.lore(guild) {
		ids = append(ids, l.ID)
	}
	return ids
}

var lorePromises = []promise{
	{"lore is told, changed and taken away for good", func(t *trial) {
		first, second := note(7, ada, general, 1, memory.Spot{Channel: general, Message: id(1)}, memory.Spot{Channel: staff, Message: id(1)}), note(3, 0, 0, 1)
		t.post(said(general, id(1), ada, "due on Friday"), said(staff, id(1), ada, "on Friday"))
		elsewhere := note(7, ben, square, 1)
		elsewhere.Guild = village
		t.told(first, second, elsewhere)
		t.same("by id", t.lore(guild), []memory.Lore{second, first})
		t.same("elsewhere", t.lore(village), []memory.Lore{elsewhere})
		changed := note(7, ada, staff, 3, memory.Spot{Channel: staff, Message: id(1)})
		changed.Name, changed.Text, changed.Own = "Project Y", "is off", nil
		t.told(changed, note(7, ben, general, 2), first)
		t.same("the last version by time", t.lore(guild), []memory.Lore{second, changed})
		t.apply(memory.LoreGone{Guild: guild, ID: 7}, memory.LoreGone{Guild: guild, ID: 11})
		t.told(note(7, ada, general, 9), note(11, ada, general, 9), first)
		t.same("what is gone stays gone, and so does what was gone before it came", t.lore(guild), []memory.Lore{second})
		t.same("elsewhere it stays", t.lore(village), []memory.Lore{elsewhere})
	}},
	{"lore that can't be is refused", func(t *trial) {
		for _, spoil := range []func(*memory.Lore){
			func(l *memory.Lore) { l.Name = " " }, func(l *memory.Lore) { l.Text = strings.Repeat("x", memory.MaxLoreText+1) }, func(l *memory.Lore) { l.ID = 0 },
		} {
			l := note(1, ada, general, 1)
			spoil(&l)
			if err := t.store.Apply(t.ctx, memory.LoreTold{Lore: l}); !errors.Is(err, memory.ErrRefused) {
				t.Fatalf("%+v: %v", l, err)
			}
		}
		l := note(1, ada, general, 1)
		l.Text = "clean\x00\xff"
		t.told(l)
		l.Text = "clean\uFFFD"
		t.same("cleaned", t.lore(guild), []memory.Lore{l})
	}},
	{"lore goes with any of its sources, and when the text of one changes, whichever comes first", func(t *trial) {
		sources := []memory.Message{said(general, id(1), ada, "one"), said(staff, id(1), ada, "two"), said(general, id(2), ada, "three"), said(general, id(3), ada, "four")}
		t.post(sources...)
		at := func(channel memory.ChannelID, seconds int) memory.Spot {
			return memory.Spot{Channel: channel, Message: id(seconds)}
		}
		t.told(note(1, ben, general, 1, at(general, 1), at(staff, 1)), note(2, ben, general, 1, at(staff, 1)), note(3, ben, general, 1, at(general, 2)),
			note(4, ben, general, 1, at(general, 3)), note(5, ben, general, 1))
		trace := t.answers(20, loreSource(3))
		t.delete(general, id(1))
		t.same("after one of two was deleted", t.loreIDs(guild), []int64{2, 3, 4, 5})
		t.post(edited(sources[2], 5, "changed"))
		t.same("after one was edited", t.loreIDs(guild), []int64{2, 4, 5})
		t.answerGone(trace)
		t.same("withdrawn", len(t.withdrawn()), 1)
		t.apply(memory.Starred{Guild: guild, Channel: general, ID: id(3), On: true, At: later})
		t.told(note(6, ben, general, 1, at(general, 1)), note(1, ben, general, 9))
		t.same("with a source that is gone", t.loreIDs(guild), []int64{2, 4, 5})
	}},
	{"an answer is deleted with any of the lore that it used, and when that changes", func(t *trial) {
		elsewhere := note(4, ada, square, 1)
		elsewhere.Guild = village
		t.told(note(1, ada, general, 1), note(2, ada, general, 1), note(3, ben, general, 1), elsewhere)
		gone, kept, changed, far := t.answers(20, loreSource(5), loreSource(1)), t.answers(21, loreSource(2)),
			t.answers(22, note(3, ben, general, 1).AsSource(true)), t.answersIn(memory.LocalGuild, general, 23, loreSource(4))
		t.apply(memory.LoreGone{Guild: guild, ID: 1})
		t.answerGone(gone)
		if all := t.withdrawn(); len(all) != 1 || !all[0].First {
			t.Fatalf("withdrawn: %v", all)
		}
		next := note(3, ben, general, 2)
		next.Text = "is due on Monday"
		t.told(next, note(3, ben, general, 1))
		t.answerGone(changed)
		t.answerGone(t.answers(25, note(3, ben, general, 1).AsSource(true))) // it was on its way when the lore was changed
		t.same("withdrawn, when it was changed", len(t.withdrawn()), 3)
		t.apply(memory.LoreGone{Guild: village, ID: 4})
		t.answerGone(far)
		t.answerGone(t.answers(24, loreSource(1))) // it was on its way when the lore went
		if _, ok := t.trace(general, kept.Answer); !ok {
			t.Fatalf("an answer went with other lore")
		}
		r := t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later})
		t.same("lore and answers in the receipt", []int{r.Lore, r.Answers}, []int{1, 1})
		t.answerGone(kept)
	}},
	{"lore of somebody who opts out goes, and none is kept until they opt in", func(t *trial) {
		t.told(note(1, ada, general, 1), note(2, ben, general, 1))
		t.apply(memory.Opted{Guild: guild, User: ada, Out: true, At: began.Add(time.Hour)})
		t.told(note(3, ada, general, 90))
		t.same("after the opt-out", t.loreIDs(guild), []int64{2})
		t.same("lore in the receipt", t.carryOut(t.oneUnfinished().ID).Lore, 1)
		t.apply(memory.Opted{Guild: guild, User: ada, At: began.Add(2 * time.Hour)})
		t.told(note(4, ada, general, 90), note(5, ada, general, 150))
		t.same("told meanwhile, and later", t.loreIDs(guild), []int64{2, 5})
	}},
	{"lore goes with a channel that is deleted", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town(), At: began})
		t.told(note(1, ada, staff, 1), note(2, ada, general, 1))
		t.apply(memory.ChannelDeleted{Guild: guild, Channel: staff, At: later})
		t.told(note(3, ada, staff, 9000))
		t.same("what stays", t.loreIDs(guild), []int64{2})
	}},
}

// loreForgottenPromises are one for each kind of forgetting.
func loreForgottenPromises() []promise {
	var all []promise
	for name, c := range map[string]struct {
		f    memory.Forgetting
		stay []int64
	}{
		"somebody":                    {memory.Forgetting{Guild: guild, User: ada}, []int64{2, 5, 8, 9}},
		"somebody everywhere":         {memory.Forgetting{Guild: memory.Everywhere, User: ada}, []int64{2, 5, 8, 9}},
		"somebody in another guild":   {memory.Forgetting{Guild: village, User: ada}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		"somebody in a channel":       {memory.Forgetting{Guild: guild, User: ada, Channel: staff}, []int64{1, 2, 4, 5, 6, 7, 8, 9}},
		"a channel with its threads":  {memory.Forgetting{Guild: guild, Channel: general}, []int64{3, 5, 8, 9}},
		"what is old":                 {memory.Forgetting{Guild: guild, Before: began.Add(3 * time.Minute)}, []int64{4, 9}},
		"what somebody said long ago": {memory.Forgetting{Guild: guild, User: ben, Before: began.Add(3 * time.Minute)}, []int64{1, 3, 4, 6, 8, 9}},
		"a guild":                     {memory.Forgetting{Guild: guild}, []int64{9}},
		"a guild that was left":       {memory.Forgetting{Guild: guild, Why: memory.WhyLeft}, []int64{9}},
	} {
		if c.f.At = later; c.f.Why == "" {
			c.f.Why = memory.WhyPurge
		}
		all = append(all, promise{"lore is forgotten as a message would be, and with its sources: " + name, func(t *trial) { t.forgetsLore(c.f, c.stay) }})
	}
	return all
}

// forgetsLore fails the test unless after a forgetting the lore with the ids stays, and no other comes back.
func (t *trial) forgetsLore(f memory.Forgetting, stay []int64) {
	t.Helper()
	t.apply(memory.GuildSeen{Guild: town(), At: began},
		memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "thread"}})
	t.post(said(general, id(1), ada, "apricots"), said(general, id(2), ben, "barley"))
	all := []memory.Lore{
		note(1, ada, general, 1), note(2, ben, general, 2), note(3, ada, staff, 2), note(4, ada, general, 3), note(5, ben, 0, 1),
		note(6, ada, thread, 1), note(7, ben, staff, 1, memory.Spot{Channel: general, Message: id(1)}), note(8, 0, 0, 2), note(9, ben, staff, 3000*60),
	}
	t.told(all...)
	r := t.forget(f)
	t.same("what stays", t.loreIDs(guild), stay)
	t.same("lore in the receipt", r.Lore, len(all)-len(stay))
	t.told(all...)
	t.same("what stays, told again", t.loreIDs(guild), stay)
	fresh := note(10, f.User, f.Channel, 1)
	fresh.At = later
	t.told(fresh, note(11, f.User, f.Channel, 1))
	stay = append(slices.Clone(stay), 10)
	if f.Guild == village {
		stay = append(stay, 11)
	}
	t.same("what is told since, and what was told before and comes late", t.loreIDs(guild), stay)
}
