package answer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hark/internal/chat"
)

func TestModelGetsThePromptAndStreams(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: []string{"It is ", "swordfish", " [1], not tuna [9]. ", "Ask ‹@",
		"12› or ‹@&34›, not ‹@x›. `a[9] ‹@12›`"}}
	w := newWorld(t, model)
	said := w.says(day, harbor, ben, "The lighthouse password is swordfish")
	q := w.asks(lobby, "What is the lighthouse password?")
	var streamed []string
	a, err := w.engine.Answer(t.Context(), q, func(s string) { streamed = append(streamed, s) })
	if err != nil {
		t.Fatal(err)
	}
	if streamed[1] != "It is swordfish" || streamed[len(streamed)-1] != strings.Join(model.pieces, "") {
		t.Errorf("streamed %q", streamed)
	}
	// The prompt shows mention tags as ‹@1›; what a model repeats of them shows a name again.
	if want := "It is swordfish [1], not tuna. Ask <@12> or <@&34>, not ‹@x›. `a[9] ‹@12›`"; a.Text != want {
		t.Errorf("got %q", a.Text)
	}
	r := w.recalled(q)
	if !reflect.DeepEqual(model.got, asMessages(r.Prompt.Messages)) {
		t.Errorf("the model got %q", model.got)
	}
	want := Source{Number: 1, Guild: guild, Channel: harbor, Message: said, Author: "Ben", Place: "harbor",
		Time: said.Time()}
	if len(a.Sources) != 1 || a.Sources[0] != want {
		t.Errorf("sources %+v, want %+v", a.Sources, want)
	}
	if a.Model != "parrot-1" || a.Trace.Model != a.Model || a.ModelError != nil || a.FallbackReason != nil ||
		a.Unranked != nil {
		t.Errorf("model %q, trace %q, away %v", a.Model, a.Trace.Model, a.ModelError)
	}
	model.instead = errors.New("it is away")
	w.spied().unranked = errDisk
	a = w.answer(q)
	if a.Model != "spare" || a.Trace.Model != a.Model || a.ModelError != nil ||
		!errors.Is(a.FallbackReason, model.instead) || !errors.Is(a.Unranked, errDisk) {
		t.Errorf("with another model and no reranker: %+v", a)
	}
	w.engine.model = nil
	if a = w.answer(q); !errors.Is(a.Unranked, errDisk) || len(a.Sources) != 1 {
		t.Errorf("quoted without a reranker: %+v", a)
	}
}

func TestModelThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("out of order")
	tests := []struct {
		name  string
		model scripted
		text  string
		away  bool
		err   error
	}{
		{"before it wrote", scripted{err: broken}, "> The lighthouse password is swordfish", true, nil},
		{"after a space", scripted{pieces: []string{" \n"}, err: broken},
			"> The lighthouse password is swordfish", true, nil},
		{"in the middle", scripted{pieces: []string{"It is [1] [7]"}, err: broken}, "It is [1]", false, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &tt.model)
			w.says(day, harbor, ben, "The lighthouse password is swordfish")
			a, err := w.engine.Answer(t.Context(), w.asks(lobby, "What is the lighthouse password?"), nil)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v", err)
			}
			if tt.away {
				has(t, a.Text, tt.text, modelAway)
				hasNot(t, a.Text, noModel)
				if !errors.Is(a.ModelError, broken) || a.Model != "" || a.Trace.Model != "" {
					t.Errorf("away %v, model %q", a.ModelError, a.Model)
				}
			} else if a.Text != tt.text || a.ModelError != nil || a.Model != "parrot-1" {
				t.Errorf("got %q by %q, away %v", a.Text, a.Model, a.ModelError)
			}
		})
	}
}

// unwell is a model's error that says what is wrong.
type unwell struct{ loading, empty bool }

func (unwell) Error() string   { return "no answer" }
func (f unwell) Loading() bool { return f.loading }
func (f unwell) Empty() bool   { return f.empty }

// Without an answer there are quotes. One note says why, also where nothing was found.
func TestWhyThereAreOnlyQuotes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		model        scripted
		quotes, none string
	}{
		"away":                       {scripted{err: errors.New("out of order")}, modelAway, awayNone},
		"another failure":            {scripted{err: unwell{}}, modelAway, awayNone},
		"loading":                    {scripted{err: fmt.Errorf("sorry: %w", unwell{loading: true})}, modelLoading, loadingNone},
		"an empty answer":            {scripted{err: unwell{empty: true}}, modelEmpty, emptyNone},
		"writing nothing":            {scripted{}, modelEmpty, emptyNone},
		"writing spaces":             {scripted{pieces: []string{" ", "\n"}}, modelEmpty, emptyNone},
		"writing but inventions":     {scripted{pieces: []string{" [7]"}}, modelEmpty, emptyNone},
		"writing but a bad citation": {scripted{pieces: []string{"[9]: https://example.org"}}, modelEmpty, emptyNone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &tt.model)
			for _, question := range []string{"What is the lighthouse password?", "hello"} {
				if a := w.answer(w.asks(lobby, question)); a.Text != tt.none || a.ModelError == nil || a.Model != "" {
					t.Errorf("with nothing to quote: %q, %v", a.Text, a.ModelError)
				}
			}
			w.says(day, harbor, ben, "The lighthouse password is swordfish")
			a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
			if !strings.HasPrefix(a.Text, "> The lighthouse password is swordfish") || !strings.HasSuffix(a.Text, tt.quotes) {
				t.Errorf("with quotes: %q", a.Text)
			}
		})
	}
}

// A text that ends at the model's longest answer is known to be cut.
func TestAnswersAtTheirLongest(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"length", "stop", ""} {
		w := newWorld(t, nil)
		w.says(day, lobby, ben, "The lighthouse password is swordfish")
		w.withTools().then = func(chat.Request) (chat.Reply, error) {
			return chat.Reply{Text: "It is sword", FinishReason: reason}, nil
		}
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		c := w.missed(lobby, noon.Add(-2*day))
		if want := reason == "length"; a.Cut != want || c.Cut != want || a.Text != "It is sword" || c.Text != a.Text {
			t.Errorf("%q: answered %q, cut %v; caught up by %q, cut %v", reason, a.Text, a.Cut, c.Text, c.Cut)
		}
		if n := w.counted()["hark_answers_cut_total"]; (n == 2) != (reason == "length") {
			t.Errorf("%q: counted %d", reason, n)
		}
	}
}

func TestCancelledAnswers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	model := &scripted{pieces: []string{"never"}, before: cancel}
	w := newWorld(t, model)
	w.says(day, harbor, ben, "The lighthouse password is swordfish")
	q := w.asks(lobby, "What is the lighthouse password?")
	for range 2 { // while the model writes, then before
		a, err := w.engine.Answer(ctx, q, nil)
		if !errors.Is(err, context.Canceled) || a.Text != "" || a.ModelError != nil {
			t.Errorf("answer %q, away %v, error %v", a.Text, a.ModelError, err)
		}
	}
	if _, err := w.engine.Recall(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("recall: %v", err)
	}
}
