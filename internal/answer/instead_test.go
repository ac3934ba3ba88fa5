package answer

import (
	"context"
	"errors"
	"testing"

	"hark/internal/chat"
)

// replaced is a model for which another stands in.
type replaced struct{ why error }

func (replaced) Name() string { return "parrot-1" }

func (r replaced) Chat(_ context.Context, _ chat.Request, delta func(string)) (chat.Reply, error) {
	delta("It is so.")
	return chat.Reply{Text: "It is so.", Model: "spare", Instead: r.why}, nil
}

// An answer and its trace name the model that wrote it, and say why that is another than the one that was asked.
func TestAnotherModelIsNamed(t *testing.T) {
	t.Parallel()
	for why, name := range map[error]string{nil: "parrot-1", errors.New("it is away"): "spare"} {
		w := newWorld(t, replaced{why})
		a := w.answer(w.asks(lobby, "Is it so?"))
		if a.Model != name || a.Trace.Model != name || !errors.Is(a.Instead, why) || a.Away != nil {
			t.Errorf("model %q, trace %q, instead %v, away %v; want %s", a.Model, a.Trace.Model, a.Instead, a.Away, name)
		}
	}
}
