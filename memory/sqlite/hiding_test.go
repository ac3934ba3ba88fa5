package sqlite

import (
	"slices"
	"testing"

	"hark/memory"
	"hark/memory/sqlstore"
)

// thirtyMessages is a store with thirty messages by three authors, whose engine is hooked.
func thirtyMessages(t *testing.T) (*Store, *hooked) {
	t.Helper()
	s, h := openHooked(t)
	for n := range 30 {
		apply(t, s, posted(general, n, "apples"))
	}
	return s, h
}

var hides = map[string]memory.Event{
	"a forgetting":         memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyMember, At: id(900).Time()},
	"opting out":           memory.Opted{Guild: guild, User: 1, Out: true, At: id(900).Time()},
	"a channel's deletion": memory.ChannelDeleted{Guild: guild, Channel: general, At: id(900).Time()},
}

func wantHidden(t *testing.T, s *Store, what string) {
	t.Helper()
	must(t, s.MessagesBy(bg, guild, 1, func(m memory.Message) error {
		t.Errorf("%s: message %d is read still", what, m.ID)
		return nil
	}))
}

// Repeating a forgetting, after a failure or while another process hides it, hides it as well.
func TestWhatIsToldAgainIsHiddenBeforeItIsDone(t *testing.T) {
	t.Parallel()
	const begins = "INSERT INTO pending_deletion (guild, row, forgetting) SELECT ?, value, ? FROM json_each(?)"
	for what, e := range hides {
		s, _ := thirtyMessages(t)
		breakStatement(t, s, begins)
		if s.Apply(bg, e) == nil {
			t.Errorf("%s: the failure isn't told", what)
		}
		delete(s.engine.writer.statements, begins)
		apply(t, s, e)
		wantHidden(t, s, what+" after a failure")

		s, h := thirtyMessages(t)
		h.then = func() { // the list of what has begun is read without a snapshot
			apply(t, s, e)
			wantHidden(t, s, what+" meanwhile")
		}
		apply(t, s, e)
		must(t, goOn(s))
		checkSound(t, s)
	}
}

// What is made of a message after its forgetting began goes with it, also if it comes with the order or
// before the hiding.
func TestWhatIsMadeOfMessagesThatAreBeingHiddenGoes(t *testing.T) {
	t.Parallel()
	for made, m := range map[string]memory.Event{
		"lore": memory.LoreTold{Lore: memory.Lore{ID: 7, Guild: guild, Name: "quinces", Text: "quinces", By: 2,
			At: id(950).Time(), Sources: []memory.MessageRef{{Channel: general, Message: id(3)}}}},
		"a fact": memory.FactTold{Guild: guild, User: 2, Fact: memory.Fact{ID: 9, Text: "quinces", By: 2,
			Channel: general, Message: id(3)}},
		"a record": recorded("quinces", 3, 2),
	} {
		for what, e := range hides {
			s, _ := thirtyMessages(t)
			apply(t, s, e, m)
			wantNoSource(t, s, made+" with "+what)
			s, h := thirtyMessages(t)
			h.then = func() { apply(t, s, m) }
			apply(t, s, e)
			wantNoSource(t, s, made+" after "+what)
			must(t, goOn(s))
			wantNowhere(t, s.engine.dir, "quinces")
			checkSound(t, s)
		}
	}
}

func wantNoSource(t *testing.T, s *Store, what string) {
	t.Helper()
	n := 0
	must(t, s.engine.read.QueryRow("SELECT count(*) FROM source WHERE kind = 0 AND id = ?", id(3)).Scan(&n))
	if n > 0 {
		t.Errorf("%s stays", what)
	}
}

// If a channel's deletion comes with the news that a thread is in it, all of the thread goes too, with what
// was made of it.
func TestWhatIsMadeOfAThreadThatIsPlacedLateGoes(t *testing.T) {
	t.Parallel()
	const thread = general + 9
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "apples"), posted(thread, 3, "quinces"), posted(secret, 4, "quinces"),
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: secret, Answer: id(4), Sources: from(thread, 3)}},
		posted(thread, 5, "pears"), memory.Answered{Trace: memory.Trace{Guild: guild, Channel: thread, Answer: id(5),
			Sources: from(secret, 6), Model: "quinces"}},
		memory.LoreTold{Lore: memory.Lore{ID: 7, Guild: guild, Channel: thread, Name: "quinces", Text: "quinces", By: 2,
			At: id(5).Time()}},
		memory.SettingChosen{Guild: guild, Channel: thread, Key: memory.SettingPersona, Value: "quinces",
			At: id(6).Time()})
	apply(t, s, memory.ChannelDeleted{Guild: guild, Channel: general, At: id(900).Time()}, memory.ChannelSeen{
		Channel: memory.Channel{ID: thread, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "t"}})
	wantNoSource(t, s, "an answer")
	must(t, goOn(s))
	wantNowhere(t, s.engine.dir, "quinces")
	checkSound(t, s)
}

// Another channel may reuse the number of a segment that went while its messages were hidden.
func TestSegmentsThatWentWhileHidingArentContinued(t *testing.T) {
	t.Parallel()
	s, h := openHooked(t)
	say := func(channel memory.ChannelID, n int, author memory.UserID, to memory.MessageID) memory.Posted {
		p := posted(channel, n, "apples")
		p.Message.Author, p.Message.ReplyTo = author, to
		return p
	}
	apply(t, s, say(general, 1, 5, 0), say(secret, 2, 6, 0), say(general, 300, 1, 0))
	h.then = func() { apply(t, s, say(general, 301, 5, id(1))) }
	apply(t, s, memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyMember, At: id(900).Time()})
	apply(t, s, say(secret, 600, 6, 0), say(general, 601, 5, id(300)))
	checkSound(t, s)
}

// A vector made before a message was hidden is neither found nor kept, stored or not.
func TestVectorsOfWhatIsHiddenGo(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{true, false} {
		s := openIn(t, t.TempDir(), newSpace)
		apply(t, s, posted(general, 0, "apples"), posted(general, 1, "apples"), posted(secret, 2, "pears"))
		onTheWay := pendingIn(t, s, 2)
		embedAll(t, s, 1)
		wantFound(t, s, newSpace, 1) // which loads them
		forget(t, s, memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyMember, At: id(900).Time()})
		if !stored {
			must(t, s.Embedded(bg, onTheWay, slices.Repeat([][]float32{pointing(1).vector("x",
				newSpace.Dimensions)}, 2)))
		}
		wantFound(t, s, newSpace, 0)
		if n := sqlstore.Index(s.Store).Stats().Rows; n != 1 { // the other channel's
			t.Errorf("%d vectors are in memory", n)
		}
		pendingIn(t, s, 1) // what is left is embedded anew
		checkSound(t, s)
	}
}

// Another process may reuse the row of a message to hide, if it was deleted meanwhile.
func TestWhatHasTheRowOfAMessageThatWasToBeHiddenStays(t *testing.T) {
	t.Parallel()
	for _, n := range []int{40, 903} { // somebody else's, and one from after the order
		s, h := thirtyMessages(t)
		h.then = func() {
			apply(t, s, deleted(general, 27, 28, 29))
			apply(t, open(t, s.engine.dir), posted(general, n, "quinces"))
		}
		apply(t, s, hides["a forgetting"])
		must(t, goOn(s))
		if got := find(t, s, in(general), "quinces"); !slices.Equal(got, []memory.MessageID{id(n)}) {
			t.Errorf("found %v, not %d", got, id(n))
		}
		checkSound(t, s)
	}
}
