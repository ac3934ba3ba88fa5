package answer

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/memory"
)

// An answer that was stopped, or that the model failed to write, is looked at again too.
func TestPartsOfAnswersAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		for _, failed := range []error{errors.New("down"), context.Canceled} {
			ctx, stop := context.WithCancel(t.Context())
			w := newWorld(t, nil)
			w.says(day, harbor, ben, "The lighthouse password is swordfish")
			w.engine.model = &scripted{err: failed, pieces: []string{"It is swordfish"}}
			a, err := w.engine.Answer(ctx, w.asks(lobby, "What is the lighthouse password?"), func(string) {
				if closed {
					w.structure(memory.ViewChannel)
				}
				if failed == context.Canceled {
					stop()
				}
			})
			if (a.Text == withdrawn) != closed || (a.Text == "It is swordfish") == closed ||
				(err == nil) != closed || closed && !errors.Is(a.Away, failed) {
				t.Errorf("closed: %v, %v: answered %q, %v, %v", closed, failed, a.Text, a.Away, err)
			}
		}
	}
}

// In a channel whose past isn't for all, those present have seen the session.
func TestTheSessionOfAClosedPastHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(time.Minute, kiosk, ben, "The lighthouse password is swordfish")
	model := &scripted{pieces: []string{"It is swordfish [1]."}}
	a, q := w.alter(model, Options{}), w.asks(kiosk, "What is the lighthouse password?")
	has(t, w.answer(q).Text, "It is swordfish")
	model.before = func() { a.guild = choose(kiosk, memory.Ignore) }
	if got := w.answer(q).Text; got != withdrawn {
		t.Errorf("where nothing is remembered any more: %q", got)
	}
}
