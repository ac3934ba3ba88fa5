package answer

import (
	"slices"
	"testing"
	"time"

	"hark/memory"
)

func TestFilterNarrowsWhatIsRecalled(t *testing.T) {
	t.Parallel()
	const thread, sealed memory.ChannelID = 906, 907
	w := newWorld(t, nil)
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Name: "boats",
		Kind: memory.PublicThread, Parent: harbor}},
		memory.ChannelSeen{Channel: memory.Channel{ID: sealed, Guild: guild, Name: "keys",
			Kind: memory.PublicThread, Parent: vault}})
	const said = "The lighthouse password is "
	old := w.says(9*day, lobby, ben, said+"tuna")
	bens := w.says(5*day, harbor, ben, said+"cod")
	boats := w.says(4*day, thread, cleo, said+"eel")
	late := w.says(2*day, lobby, cleo, said+"ray")
	w.says(3*day, vault, ben, said+"crab")
	w.says(3*day, sealed, ben, said+"squid")
	w.tells(1, "Lighthouse password", "is for everybody", ben, 0)
	w.tells(2, "Lighthouse password of the harbor", "is for sailors", ben, harbor)
	q := w.asks(lobby, "What is the lighthouse password?")
	for _, tt := range []struct {
		name   string
		filter Filter
		want   []memory.MessageID
		held   int
	}{
		{"nothing", Filter{}, []memory.MessageID{old, bens, boats, late}, 2},
		{"since", Filter{Since: noon.Add(-5 * day)}, []memory.MessageID{bens, boats, late}, 2},
		{"until", Filter{Until: noon.Add(-5*day + time.Hour)}, []memory.MessageID{old, bens}, 0},
		{"a span", Filter{Since: noon.Add(-6 * day), Until: noon.Add(-3*day - time.Hour)},
			[]memory.MessageID{bens, boats}, 0},
		{"from", Filter{From: []memory.UserID{ben}}, []memory.MessageID{old, bens}, 2},
		{"from nobody known", Filter{From: []memory.UserID{4711}}, nil, 0},
		{"in", Filter{In: []memory.ChannelID{lobby}}, []memory.MessageID{old, late}, 0},
		{"in, with its threads", Filter{In: []memory.ChannelID{harbor}}, []memory.MessageID{bens, boats}, 0},
		{"in a thread", Filter{In: []memory.ChannelID{thread}}, []memory.MessageID{boats}, 0},
		{"in what may not be read", Filter{In: []memory.ChannelID{vault}}, nil, 2},
		{"all of it", Filter{Since: noon.Add(-6 * day), From: []memory.UserID{cleo},
			In: []memory.ChannelID{lobby}}, []memory.MessageID{late}, 0},
	} {
		q.Filter = tt.filter
		r := w.recalled(q)
		for _, h := range r.Result.Lore {
			if len(tt.filter.In) > 0 && !slices.Contains(tt.filter.In, h.Lore.Channel) {
				t.Errorf("%s: recalled lore of %d", tt.name, h.Lore.Channel)
			}
		}
		var got []memory.MessageID
		for _, h := range r.Result.Hits {
			got = append(got, h.Message.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: recalled %d, want %d", tt.name, got, tt.want)
		}
		a := w.answer(q)
		for _, s := range a.Sources {
			if !slices.Contains(tt.want, s.Message) {
				t.Errorf("%s: quoted %d", tt.name, s.Message)
			}
		}
		if a.Trace.HeldBack != tt.held {
			t.Errorf("%s: %d held back, want %d", tt.name, a.Trace.HeldBack, tt.held)
		}
	}
}
