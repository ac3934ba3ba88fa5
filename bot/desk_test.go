package bot

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hark/memory"
)

// clerk notes what a desk has done.
type clerk struct {
	answered, refused []memory.MessageID
}

func TestDeskAnswersAChannelInOrderAndRefusesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c clerk
		d := newDesk(func(a *ask) {
			c.answered = append(c.answered, a.id)
			time.Sleep(time.Second)
		}, func(a *ask) { c.refused = append(c.refused, a.id) })
		for id := range memory.MessageID(10) {
			d.put(&ask{id: id + 1, channel: 1})
			d.put(&ask{id: id + 1, channel: 1}) // told twice
			synctest.Wait()
		}
		d.wait(t.Context())
		if !slices.Equal(c.answered, []memory.MessageID{1, 2, 3, 4, 5, 6}) || !slices.Equal(c.refused, []memory.MessageID{7}) {
			t.Errorf("answered %v, refused %v", c.answered, c.refused)
		}
		d.put(&ask{id: 11, channel: 1})
		d.wait(t.Context())
		if len(c.answered) != 7 || len(d.lines) != 0 {
			t.Error("a line stays when it is empty")
		}
	})
}

func TestDeskAnswersChannelsSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun, ended := make(chan int, 100), make(chan struct{})
		d := newDesk(func(*ask) {
			begun <- 1
			<-ended
		}, nil)
		for id := range 2 * parallelAnswers {
			d.put(&ask{id: memory.MessageID(id + 1), channel: memory.ChannelID(id + 1)})
		}
		synctest.Wait()
		if len(begun) != parallelAnswers {
			t.Errorf("%d answers at the same time, want %d", len(begun), parallelAnswers)
		}
		close(ended)
		d.wait(t.Context())
		if len(begun) != 2*parallelAnswers {
			t.Errorf("%d answers in all", len(begun))
		}
	})
}

func TestDeskForgetsWhatWaitsWhenItCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answered := 0
		d := newDesk(func(*ask) {
			answered++
			time.Sleep(time.Second)
		}, nil)
		for id := range memory.MessageID(4) {
			d.put(&ask{id: id + 1, channel: 1})
		}
		synctest.Wait()
		if dropped := d.close(); dropped != 3 {
			t.Errorf("%d dropped, want 3", dropped)
		}
		d.put(&ask{id: 9, channel: 2})
		d.wait(t.Context())
		if answered != 1 {
			t.Errorf("%d answered, want the one begun", answered)
		}
	})
}
