package answer

import (
	"context"
	"errors"
	"testing"
)

func TestNothingIsUsedBeforeItIsKnownWhoMayReadIt(t *testing.T) {
	t.Parallel()
	later := errors.New("ask again in a moment")
	for _, tt := range []struct {
		name    string
		settles int // how often it is known
		text    string
		err     error
	}{
		{"known", 2, "So it is [1].", nil},
		{"not known yet", 0, "", later},
		{"not known any more once the model has written", 1, withdrawn, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := &scripted{pieces: []string{"So it is [1]."}}
			w := newWorld(t, model)
			w.says(day, harbor, ben, "The lighthouse password is swordfish")
			q := w.asks(lobby, "What is the lighthouse password?")
			asked := 0
			q.Settled = func(context.Context) error {
				if asked++; asked > tt.settles {
					return later
				}
				w.structure(0) // what is read must come after this
				return nil
			}
			a, err := w.engine.Answer(t.Context(), q, nil)
			if !errors.Is(err, tt.err) || a.Text != tt.text {
				t.Errorf("answered %q, %v", a.Text, err)
			}
			if tt.settles == 0 && model.got != nil {
				t.Error("the model was asked")
			}
			if tt.text == withdrawn && !errors.Is(a.Away, later) {
				t.Errorf("away: %v", a.Away)
			}
		})
	}
}
