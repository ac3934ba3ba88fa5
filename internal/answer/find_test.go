package answer

import (
	"slices"
	"testing"
	"time"

	"hark/memory"
)

// finds is what Ann finds in the lobby.
func (w *world) finds(q Question) []memory.MessageID {
	w.t.Helper()
	f, err := w.engine.Find(w.t.Context(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []memory.MessageID
	for _, found := range f.Found {
		ids = append(ids, found.Message)
	}
	slices.Sort(ids)
	return ids
}

func (w *world) looks(q Question, found []Found) []memory.MessageID {
	w.t.Helper()
	seen, err := w.engine.Look(w.t.Context(), q, found)
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []memory.MessageID
	for _, s := range seen {
		ids = append(ids, s.Message.ID)
	}
	slices.Sort(ids)
	return ids
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

// What was found is shown as it is and to whom it may be shown when it is looked at.
func TestLookObeysWhatHoldsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	asked := w.says(5*day+time.Minute, harbor, cleo, "What was the lighthouse password again?")
	gone := w.says(5*day, harbor, ben, "The lighthouse password is cod")
	kept := w.says(4*day, vault, ben, "The lighthouse password is crab")
	cleos := w.says(3*day, lobby, cleo, "The lighthouse password is eel")
	q := seeks("lighthouse password")
	q.Asker, q.Name, q.Roles = cleo, "Cleo", []memory.RoleID{keepers}
	f, err := w.engine.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Found {
		if f.Found[i].Message == gone && f.Found[i].Before != asked {
			t.Errorf("before it stood %d, want %d", f.Found[i].Before, asked)
		}
	}
	f.Found = append(f.Found, Found{Channel: bensDM, Message: 1}, Found{Channel: harbor, Message: 4711})
	if got, want := w.looks(q, f.Found),
		[]memory.MessageID{gone, kept, cleos}; !slices.Equal(without(got, asked), want) {
		t.Errorf("seen %d, want %d", got, want)
	}
	w.apply(memory.Edited{Guild: guild, Channel: harbor, ID: gone, Content: "The password is secret", At: noon})
	seen, err := w.engine.Look(t.Context(), q, []Found{{Channel: harbor, Message: gone, Before: asked, Relevance: 0.7}})
	if err != nil || len(seen) != 1 || seen[0].Message.Content != "The password is secret" ||
		seen[0].Relevance != 0.7 || seen[0].Before == nil || seen[0].Before.ID != asked {
		t.Errorf("after an edit %+v, %v", seen, err)
	}
	w.apply(memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{gone}})
	q.Roles = []memory.RoleID{}
	if got, want := w.looks(q, f.Found), []memory.MessageID{cleos}; !slices.Equal(without(got, asked), want) {
		t.Errorf("after a deletion, and without the role, %d, want %d", got, want)
	}
	w.apply(memory.Opted{Guild: guild, User: cleo, Out: true, At: noon})
	if got := w.looks(q, f.Found); len(got) > 0 {
		t.Errorf("after an opt-out %d", got)
	}
	w.structure(memory.ViewChannel)
	if got := w.looks(q, []Found{{Channel: harbor, Message: asked}}); len(got) > 0 {
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
