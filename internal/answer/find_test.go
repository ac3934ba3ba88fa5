package answer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/memory"
	"hark/search"
)

// found is what a search finds.
func (w *world) found(q Question) FindResult {
	w.t.Helper()
	f, err := w.engine.Find(w.t.Context(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// finds are the messages that a search finds, in order.
func (w *world) finds(q Question) []memory.MessageID {
	w.t.Helper()
	return sorted(w.found(q).Found, func(f FoundMessage) memory.MessageID { return f.Message })
}

// sorted are the ids of all, in order.
func sorted[T any](all []T, id func(T) memory.MessageID) (ids []memory.MessageID) {
	for _, one := range all {
		ids = append(ids, id(one))
	}
	slices.Sort(ids)
	return ids
}

func (w *world) looks(q Question, found []FoundMessage) []memory.MessageID {
	w.t.Helper()
	seen, err := w.engine.Inspect(w.t.Context(), q, found)
	if err != nil {
		w.t.Fatal(err)
	}
	return sorted(seen, func(s InspectedMessage) memory.MessageID { return s.Message.ID })
}

// seeks is a search of Ann's that no message asks.
func seeks(text string) Question {
	return Question{Guild: guild, Channel: lobby, Asker: ann, Name: "Ann", Text: text,
		Now: noon.Add(time.Second), Roles: []memory.RoleID{}}
}

func TestFindIsForTheAskerAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	open := w.says(5*day, harbor, ben, "The lighthouse password is cod")
	kept := w.says(4*day, vault, ben, "The lighthouse password is crab")
	w.says(3*day, bensDM, ben, "The lighthouse password is squid")
	anns := w.says(3*day, annsDM, ann, "The lighthouse password is eel")
	now := w.says(time.Minute, lobby, ben, "The lighthouse password is ray")
	for name, c := range map[string]struct {
		change func(*Question)
		want   []memory.MessageID
	}{
		"Ann": {func(*Question) {}, []memory.MessageID{open, now}},
		"a keeper": {func(q *Question) { q.Asker, q.Roles = cleo, []memory.RoleID{keepers} },
			[]memory.MessageID{open, kept, now}},
		"who isn't one any more": {func(q *Question) { q.Asker = cleo }, []memory.MessageID{open, now}},
		"an operator's rights": {func(q *Question) {
			q.Operator, q.Everywhere, q.OnlyAsker = true, true, false
		}, []memory.MessageID{open, now}},
		"in a direct message": {func(q *Question) { q.Guild, q.Channel = memory.DirectGuild, annsDM },
			[]memory.MessageID{anns}},
		"what nobody spoke of": {func(q *Question) { q.Text = "zyzzyva" }, nil},
		"what was said then": {func(q *Question) {
			q.Filter = Filter{In: []memory.ChannelID{harbor}, From: []memory.UserID{ben},
				Since: noon.Add(-6 * day), Until: noon.Add(-4 * day)}
		}, []memory.MessageID{open}},
		"where Ann may not read": {func(q *Question) { q.Filter.In = []memory.ChannelID{vault} }, nil},
	} {
		q := seeks("lighthouse password")
		c.change(&q)
		if got := w.finds(q); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %d, want %d", name, got, c.want)
		}
	}
}

// What is like a message is neither itself nor what stands beside it.
func TestFindWhatIsLikeAMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	other := w.says(5*day, harbor, ben, "The password of the lighthouse was cod last year")
	w.says(2*day+time.Minute, lobby, cleo, "Which lighthouse password do we need?")
	id := w.says(2*day, lobby, ben, "The lighthouse password is crab")
	w.says(2*day-time.Minute, lobby, cleo, "A good lighthouse password, that")
	q := seeks("The lighthouse password is crab")
	q.ID = id
	if got, want := w.finds(q), []memory.MessageID{other}; !slices.Equal(got, want) {
		t.Errorf("found %d, want %d", got, want)
	}
}

func TestLookObeysWhatHoldsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	asked := w.says(5*day+time.Minute, harbor, cleo, "What was the lighthouse password again?")
	gone := w.says(5*day, harbor, ben, "The lighthouse password is cod")
	kept := w.says(4*day, vault, ben, "The lighthouse password is crab")
	cleos := w.says(3*day, lobby, cleo, "The lighthouse password is eel")
	q := seeks("lighthouse password")
	q.Asker, q.Name, q.Roles = cleo, "Cleo", []memory.RoleID{keepers}
	f := w.found(q)
	for _, m := range f.Found {
		if m.Message == gone && m.Before != asked {
			t.Errorf("before it stood %d, want %d", m.Before, asked)
		}
	}
	f.Found = append(f.Found, FoundMessage{Channel: bensDM, Message: 1}, FoundMessage{Channel: harbor, Message: 4711})
	if got, want := w.looks(q, f.Found),
		[]memory.MessageID{gone, kept, cleos}; !slices.Equal(without(got, asked), want) {
		t.Errorf("seen %d, want %d", got, want)
	}
	w.apply(memory.Edited{Guild: guild, Channel: harbor, ID: gone, Content: "The password is secret", At: noon})
	seen, err := w.engine.Inspect(t.Context(), q, []FoundMessage{{Channel: harbor, Message: gone,
		Before: asked, Relevance: 0.7}})
	if err != nil || len(seen) != 1 || seen[0].Message.Content != "The password is secret" ||
		seen[0].Relevance != 0.7 || seen[0].Before == nil || seen[0].Before.ID != asked {
		t.Errorf("after an edit %+v, %v", seen, err)
	}
	w.deletes(harbor, gone)
	q.Roles = []memory.RoleID{}
	if got, want := w.looks(q, f.Found), []memory.MessageID{cleos}; !slices.Equal(without(got, asked), want) {
		t.Errorf("after a deletion, and without the role, %d, want %d", got, want)
	}
	w.optsOut(cleo)
	if got := w.looks(q, f.Found); len(got) > 0 {
		t.Errorf("after an opt-out %d", got)
	}
	w.structure(memory.ViewChannel)
	if got := w.looks(q, []FoundMessage{{Channel: harbor, Message: asked}}); len(got) > 0 {
		t.Errorf("of a closed channel %d", got)
	}
	w.apply(memory.GuildLeft{Guild: guild, At: noon})
	if got := w.looks(q, f.Found); len(got) > 0 {
		t.Errorf("after the guild was left %d", got)
	}
}

func without(ids []memory.MessageID, id memory.MessageID) []memory.MessageID {
	return slices.DeleteFunc(ids, func(i memory.MessageID) bool { return i == id })
}

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
		got := sorted(r.Result.Hits, func(h search.Hit) memory.MessageID { return h.Message.ID })
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

func TestTraceCountsWhatWasHeldBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		asked memory.ChannelID
		asker memory.UserID
		only  bool
		said  map[memory.ChannelID]int
		want  int
	}{
		{"nothing is closed that matters", lobby, ann, false, map[memory.ChannelID]int{lobby: 2, harbor: 1}, 0},
		{"some is", lobby, ann, false, map[memory.ChannelID]int{lobby: 1, vault: 3}, 3},
		{"without a readable past", lobby, ann, false, map[memory.ChannelID]int{vault: 1, kiosk: 2}, 3},
		{"direct messages don't count", lobby, ann, false, map[memory.ChannelID]int{annsDM: 1, bensDM: 1}, 0},
		{"the one who asks may read it", lobby, cleo, true, map[memory.ChannelID]int{vault: 3}, 0},
		{"everybody there may read it", vault, cleo, false, map[memory.ChannelID]int{vault: 1, lobby: 2}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, model := range []Model{nil, &scripted{pieces: []string{"So it is."}}} {
				w := newWorld(t, model)
				for channel, n := range tt.said {
					for i := range n {
						w.says(time.Duration(i+1)*day, channel, ben,
							fmt.Sprintf("The lighthouse password is %s%d", []string{"tuna", "cod", "eel"}[i], channel))
					}
				}
				q := w.asks(tt.asked, "What is the lighthouse password?")
				q.OnlyAsker, q.Asker = tt.only, tt.asker
				if tt.asker == cleo {
					q.Roles = []memory.RoleID{keepers}
				}
				if got := w.answer(q).Trace.HeldBack; got != tt.want {
					t.Errorf("%d were held back, want %d", got, tt.want)
				}
			}
		})
	}
}
