package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hark/builder"
	"hark/memory"
)

// What is looked up at its source before it is used, and isn't there, isn't used; what was edited is used as it is now.
func TestWhatIsUsedIsLookedUpFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	gone := w.says(2*day, harbor, ben, "The lighthouse password is swordfish")
	edited := w.says(day, harbor, cleo, "The lighthouse password will be changed")
	session := w.says(time.Minute, lobby, cleo, "who knows about swordfish?")
	model := &talker{name: "small"}
	w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{})
	w.engine.LookUpBy(func(ctx context.Context, messages []memory.Message, _ time.Duration) ([]memory.Message, error) {
		if ctx.Value(lookUpLeft{}) == nil {
			t.Error("look-ups of one answer don't share their time")
		}
		var now []memory.Message
		for _, m := range messages {
			switch m.ID {
			case gone, session:
				continue
			case edited:
				m.Content = "The lighthouse password is a haddock"
			}
			now = append(now, m)
		}
		return now, nil
	})
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	sent := fmt.Sprint(model.got[len(model.got)-1].Messages)
	if strings.Contains(sent, "swordfish") || !strings.Contains(sent, "haddock") {
		t.Errorf("the model was sent %q", sent)
	}
	if slices.ContainsFunc(a.Trace.Recalled, func(h memory.TraceHit) bool { return h.Message == gone }) {
		t.Error("what is gone was recalled")
	}
	found, err := w.engine.Find(t.Context(), w.asks(lobby, "lighthouse password"))
	if err != nil || slices.ContainsFunc(found.Found, func(f Found) bool { return f.Message == gone }) {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestLookUpsOfOneAnswerShareTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given []time.Duration
		slow := &upstream{func(_ context.Context, messages []memory.Message,
			patience time.Duration) ([]memory.Message, error) {
			given = append(given, patience)
			time.Sleep(5 * time.Second)
			return messages, nil
		}}
		ctx := withLookUps(t.Context())
		for range 3 {
			if _, err := slow.now(ctx, make([]memory.Message, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if want := []time.Duration{lookUpTime, lookUpTime - 5*time.Second, 0}; !slices.Equal(given, want) {
			t.Errorf("look-ups were given %v, not %v", given, want)
		}
	})
}
