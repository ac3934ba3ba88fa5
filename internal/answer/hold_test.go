package answer

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/memory"
)

// meanwhile is a model during whose writing something happens.
type meanwhile struct {
	happens func()
	err     error
	half    bool // err comes after a part of the answer
}

func (meanwhile) Name() string { return "slow-1" }

func (m meanwhile) Chat(_ context.Context, _ chat.Request, delta func(string)) (chat.Reply, error) {
	m.happens()
	if m.half {
		delta("It is swordfish")
		return chat.Reply{Text: "It is swordfish"}, m.err
	}
	if m.err != nil {
		return chat.Reply{}, m.err
	}
	delta("It is swordfish [1].")
	return chat.Reply{Text: "It is swordfish [1]."}, nil
}

// An answer that was stopped, or that the model failed to write, is looked at again too.
func TestPartsOfAnswersAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		for _, failed := range []error{errors.New("down"), context.Canceled} {
			ctx, stop := context.WithCancel(t.Context())
			w := newWorld(t, nil)
			w.says(day, harbor, ben, "The lighthouse password is swordfish")
			model := meanwhile{err: failed, half: true, happens: func() {
				if closed {
					w.structure(memory.ViewChannel)
				}
				if failed == context.Canceled {
					stop()
				}
			}}
			w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{})
			a, err := w.engine.Answer(ctx, w.asks(lobby, "What is the lighthouse password?"), nil)
			if (a.Text == withdrawn) != closed || (a.Text == "It is swordfish") == closed || (err == nil) != closed || closed && !errors.Is(a.Away, failed) {
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
	w.engine = w.over(w.store, meanwhile{happens: func() {}}, builder.Options{Citations: true}, Options{})
	has(t, w.answer(w.asks(kiosk, "What is the lighthouse password?")).Text, "It is swordfish")
}
