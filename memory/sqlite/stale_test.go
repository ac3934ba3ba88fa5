package sqlite

import (
	"testing"

	"hark/internal/wait"
	"hark/memory"
)

// A read of people before a write isn't cached after it, because it may be out of date.
func TestConcurrentChangesOfPeopleWhoAreRead(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, memory.PersonSeen{Person: memory.Person{Guild: guild, ID: 1, Name: "Ada"}})
	var ends []func() error
	for range 4 { // all that reads may use, so that the one that follows waits
		tx, err := s.engine.read.BeginTx(t.Context(), nil)
		must(t, err)
		ends = append(ends, tx.Rollback)
	}
	read, ctx := make(chan error, 1), waiting(bg)
	go func() {
		_, err := s.People(ctx, guild)
		read <- err
	}()
	wait.For(t, "somebody to wait for a connection", ctx.waits)
	apply(t, s, memory.PersonSeen{Person: memory.Person{Guild: guild, ID: 1, Name: "Bea"}})
	for _, end := range ends {
		must(t, end())
	}
	must(t, wait.For(t, "the people", read))
	for range 2 { // the second time from memory
		if people, err := s.People(bg, guild); err != nil || len(people) != 1 || people[0].Name != "Bea" {
			t.Errorf("%+v, %v", people, err)
		}
	}
}

// A message after a deleted one doesn't join its deleted segment.
func TestWhatFollowsADeletedMessage(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]bool{"in one batch": true, "in two": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, emptyDir(t))
			apply(t, s, posted(general, 1, "apples"))
			before, err := s.Pending(t.Context(), 10)
			if err != nil || len(before) != 1 {
				t.Fatalf("%+v, %v", before, err)
			}
			events := []memory.Event{deleted(general, 1), posted(general, 4, "bananas")}
			if together {
				apply(t, s, events...)
			} else {
				apply(t, s, events[0])
				apply(t, s, events[1])
			}
			after, err := s.Pending(t.Context(), 10)
			if err != nil || len(after) != 1 || after[0].ID == before[0].ID || len(after[0].Messages) != 1 {
				t.Errorf("after %+v came %+v, %v", before, after, err)
			}
			checkSound(t, s)
		})
	}
}
