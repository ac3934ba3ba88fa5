package answer

import (
	"context"
	"errors"
	"strings"
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

// What happens to the sources while the model writes is obeyed.
func TestAnswersAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		taken bool
		err   error
		do    func(w *world, source, session memory.MessageID)
	}{
		{"nothing happens", false, nil, func(*world, memory.MessageID, memory.MessageID) {}},
		{"something else is deleted", false, nil, func(w *world, source, _ memory.MessageID) {
			w.apply(memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{source + 1}})
		}},
		{"the source is deleted", true, nil, func(w *world, source, _ memory.MessageID) {
			w.apply(memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{source}})
		}},
		{"the source is edited", true, nil, func(w *world, source, _ memory.MessageID) {
			w.apply(memory.Edited{Guild: guild, Channel: harbor, ID: source, Content: "never mind", At: noon})
		}},
		{"the channel is closed", true, nil, func(w *world, _, _ memory.MessageID) { w.structure(memory.ViewChannel) }},
		{"the session is deleted", true, nil, func(w *world, _, session memory.MessageID) {
			w.apply(memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{session}})
		}},
		{"the channel is closed and the model fails", true, errors.New("down"), func(w *world, _, _ memory.MessageID) {
			w.structure(memory.ViewChannel)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			source := w.says(day, harbor, ben, "The lighthouse password is swordfish")
			session := w.says(time.Minute, lobby, cleo, "somebody should know")
			model := meanwhile{happens: func() { c.do(w, source, session) }, err: c.err}
			w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{})
			a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
			if taken := a.Text == withdrawn; taken != c.taken || taken == strings.Contains(a.Text, "swordfish") {
				t.Errorf("the answer is %q", a.Text)
			}
			if c.taken && (len(a.Sources) > 0 || len(a.Trace.Recalled) > 0) {
				t.Errorf("its sources are still told: %+v, %+v", a.Sources, a.Trace.Recalled)
			}
			if !errors.Is(a.Away, c.err) {
				t.Errorf("the model's failure is told as %v", a.Away)
			}
			if c.err != nil {
				return
			}
			w = newWorld(t, nil)
			source = w.says(day, harbor, ben, "The lighthouse password is swordfish")
			session = w.says(time.Minute, lobby, cleo, "somebody should know")
			ctx, stop := context.WithCancel(t.Context())
			stopped := meanwhile{happens: func() { c.do(w, source, session); stop() }, err: context.Canceled, half: true}
			w.engine = w.over(w.store, stopped, builder.Options{Citations: true}, Options{})
			half, err := w.engine.Answer(ctx, w.asks(lobby, "What is the lighthouse password?"), nil)
			if taken := half.Text == withdrawn; taken != c.taken || taken == strings.Contains(half.Text, "swordfish") || taken != (err == nil) {
				t.Errorf("the answer that was stopped is %q, %v", half.Text, err)
			}
		})
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

// When the store can't be asked again, the answer is taken back, whatever was streamed of it.
func TestNothingIsSaidUnseen(t *testing.T) {
	t.Parallel()
	for n := 1; n < 10; n++ {
		w := newWorld(t, nil)
		w.says(day, harbor, ben, "The lighthouse password is swordfish")
		log := &faulty{Log: w.store}
		model := meanwhile{happens: func() { log.n = n }}
		w.engine = w.over(log, model, builder.Options{Citations: true}, Options{})
		a, err := w.engine.Answer(t.Context(), w.asks(lobby, "What is the lighthouse password?"), nil)
		if log.n > 0 { // so many calls aren't made
			if n < 4 || err != nil {
				t.Errorf("only %d calls after the model, %v", n-1, err)
			}
			return
		}
		if err != nil || a.Text != withdrawn || !errors.Is(a.Away, errDisk) {
			t.Errorf("call %d failed: %q, %v, %v", n, a.Text, a.Away, err)
		}
	}
}

// A trace tells which version of a text was used, so that an answer from an edited message is kept.
func TestTracesTellTheVersion(t *testing.T) {
	t.Parallel()
	for _, model := range []Model{nil, meanwhile{happens: func() {}}} {
		w := newWorld(t, nil)
		id := w.says(day, harbor, ben, "The lighthouse password is tuna")
		w.apply(memory.Edited{Guild: guild, Channel: harbor, ID: id, Content: "The lighthouse password is swordfish", At: noon.Add(-time.Hour)})
		w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{})
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		a.Trace.Answer = w.says(0, lobby, oracle, a.Text)
		if err := w.store.KeepTrace(t.Context(), a.Trace); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.Trace(t.Context(), lobby, a.Trace.Answer); err != nil {
			t.Errorf("an answer made from an edited message: %v", err)
		}
	}
}

// An answer that is still being sent grows in the log; one that is taken back vanishes.
func TestOwnAnswersMayGrowMeanwhile(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		w := newWorld(t, nil)
		said := w.says(9*day, lobby, ben, "The lighthouse password is swordfish")
		own := w.answered(time.Minute, "It is", source(lobby, said))
		w.engine = w.over(w.store, meanwhile{happens: func() {
			if gone {
				w.apply(memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{own}})
			} else {
				w.apply(memory.Edited{Guild: guild, Channel: lobby, ID: own, Content: "It is swordfish [1].", At: noon})
			}
		}}, builder.Options{Citations: true}, Options{})
		q := w.asks(lobby, "What is the lighthouse password?")
		has(t, w.prompt(q), "It is")
		if a := w.answer(q); (a.Text == withdrawn) != gone {
			t.Errorf("gone: %v, answered %q", gone, a.Text)
		}
	}
}
