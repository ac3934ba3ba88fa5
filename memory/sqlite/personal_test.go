package sqlite

import (
	"testing"

	"hark/memory"
)

// storied is a store in which messages of user 2, with numbers 3n+1, are a source of everything possible.
func storied(t *testing.T) *Store {
	t.Helper()
	s := open(t, emptyDir(t))
	for n := 1; n <= 12; n++ {
		apply(t, s, posted(general, n, "one of many"))
	}
	apply(t, s, posted(secret, 13, "hidden"), memory.Starred{Guild: guild, Channel: general, ID: id(4),
		On: true, At: idAt(20)},
		memory.FactTold{Guild: guild, User: 2, Fact: memory.Fact{ID: 1, Text: "plays the tuba", By: 2,
			Channel: general, Message: id(4)}},
		memory.FactTold{Guild: guild, User: 2, Fact: memory.Fact{ID: 2, Text: "likes tea", By: 3}},
		memory.LoreTold{Lore: memory.Lore{ID: 1, Guild: guild, Name: "Project X", Text: "is due", By: 3,
			At: idAt(9), Sources: []memory.MessageRef{{Channel: general, Message: id(4)}}}},
		memory.LoreTold{Lore: memory.Lore{ID: 2, Guild: guild, Name: "Project Y", Text: "is late", By: 2, At: idAt(9)}},
		summed(general, 4), condensed(general, "so far", 4, 5))
	for n, trace := range []memory.Trace{
		{Question: id(4), Asker: 2, Sources: from(general, 4)},    // asked by user 2
		{Question: id(5), Asker: 3, Sources: from(general, 5, 4)}, // made from what they said
		// and from what is known of them
		{Question: id(5), Asker: 3, Sources: append(from(general, 5, 6), fromFacts(2)...)},
		{Question: id(5), Asker: 3, Sources: append(from(general, 5, 6), fromLore(2)...)}, // or was told by them
		{Question: id(5), Asker: 3, Sources: from(general, 5, 6)},                         // nothing of theirs
	} {
		answer := posted(general, 30+n, "an answer")
		answer.Message.Kind, answer.Message.Author = memory.FromHark, 99
		trace.Guild, trace.Channel, trace.Answer = guild, general, answer.Message.ID
		apply(t, s, answer, memory.Answered{Trace: trace})
	}
	return s
}

// The report of a forgetting that somebody asked for can be read again, by nobody else.
func TestForgottenIsToldAgain(t *testing.T) {
	t.Parallel()
	s := storied(t)
	r := forget(t, s, memory.Forgetting{Guild: guild, User: 2, Why: memory.WhyMember, At: idAt(900)})
	again, err := s.Forgettings(bg, guild, 2)
	if err != nil || len(again) != 1 || again[0] != r {
		t.Errorf("%+v, %v; want %+v", again, err, r)
	}
	for _, other := range []struct {
		guild memory.GuildID
		user  memory.UserID
	}{{guild, 1}, {5, 2}} {
		if all, err := s.Forgettings(bg, other.guild, other.user); err != nil || len(all) > 0 {
			t.Errorf("%+v: %+v, %v", other, all, err)
		}
	}
}

// A dry run works for single messages and for some channels alone, and ignores what is elsewhere or comes
// from there.
func TestExtent(t *testing.T) {
	t.Parallel()
	s := storied(t)
	of := func(channel memory.ChannelID, ns ...int) memory.DryRunQuery {
		q := memory.DryRunQuery{Forgetting: memory.Forgetting{Guild: guild, Channel: channel},
			Messages: []memory.MessageID{}}
		for _, n := range ns {
			q.Messages = append(q.Messages, id(n))
		}
		return q
	}
	within := func(channels ...memory.ChannelID) memory.DryRunQuery {
		return memory.DryRunQuery{Forgetting: memory.Forgetting{Guild: guild, User: 2, Why: memory.WhyMember,
			At: idAt(900)}, Within: append([]memory.ChannelID{}, channels...)}
	}
	check := func(q memory.DryRunQuery, want memory.DryRun) {
		t.Helper()
		if got, err := s.DryRun(bg, q); err != nil || got != want {
			t.Errorf("%+v: %+v, %v; want %+v", q, got, err, want)
		}
	}
	check(of(general, 4), memory.DryRun{Messages: 1, Channels: 1, Facts: 1, Lore: 1, Summaries: 2, Answers: 2})
	check(of(general, 5, 6), memory.DryRun{Messages: 2, Channels: 1, Summaries: 1, Answers: 4})
	check(of(general, 31), memory.DryRun{Messages: 1, Channels: 1}) // an answer itself
	check(of(secret, 4), memory.DryRun{})
	check(of(general), memory.DryRun{})
	check(within(general), memory.DryRun{Messages: 4, Channels: 1, Facts: 2, Lore: 2, Summaries: 2, Answers: 4})
	check(within(secret), memory.DryRun{Messages: 1, Channels: 1, Facts: 1, Lore: 1})
	check(within(), memory.DryRun{Facts: 1, Lore: 1})
	check(within(general, secret),
		memory.DryRun{Messages: 5, Channels: 2, Facts: 2, Lore: 2, Summaries: 2, Answers: 4})
	apply(t, s, deleted(general, 4))
	check(of(general, 4), memory.DryRun{})
}
