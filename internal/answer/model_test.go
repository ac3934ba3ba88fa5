package answer

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

func TestModelGetsThePromptAndStreams(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: []string{"It is ", "swordfish", " [1], not tuna [9]. `a[9]`"}}
	w := newWorld(t, model)
	said := w.says(day, harbor, ben, "The lighthouse password is swordfish")
	q := w.asks(lobby, "What is the lighthouse password?")
	var streamed []string
	a, err := w.engine.Answer(t.Context(), q, func(s string) { streamed = append(streamed, s) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"It is ", "It is swordfish", "It is swordfish [1], not tuna [9]. `a[9]`"}; !slices.Equal(streamed, want) {
		t.Errorf("streamed %q", streamed)
	}
	if want := "It is swordfish [1], not tuna. `a[9]`"; a.Text != want {
		t.Errorf("got %q", a.Text)
	}
	r, err := w.engine.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(model.got, asMessages(r.Prompt.Messages)) {
		t.Errorf("the model got %q", model.got)
	}
	want := Source{Number: 1, Guild: guild, Channel: harbor, Message: said, Author: "Ben", Place: "harbor", Time: said.Time()}
	if len(a.Sources) != 1 || a.Sources[0] != want {
		t.Errorf("sources %+v, want %+v", a.Sources, want)
	}
	if a.Model != "parrot-1" || a.Trace.Model != a.Model || a.Away != nil || a.Instead != nil || a.Unranked != nil {
		t.Errorf("model %q, trace %q, away %v", a.Model, a.Trace.Model, a.Away)
	}
	model.instead = errors.New("it is away")
	w.engine.search = &faultySearch{Searcher: w.engine.search, unranked: errDisk}
	a = w.answer(q)
	if a.Model != "spare" || a.Trace.Model != a.Model || a.Away != nil || !errors.Is(a.Instead, model.instead) || !errors.Is(a.Unranked, errDisk) {
		t.Errorf("with another model and no reranker: %+v", a)
	}
	w.engine.model = nil
	if a = w.answer(q); !errors.Is(a.Unranked, errDisk) || len(a.Sources) != 1 {
		t.Errorf("quoted without a reranker: %+v", a)
	}
}

// The prompt shows mention tags of members' as ‹@1›; what a model repeats of them shows a name again.
func TestRepeatedTagsAreDiscords(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: []string{"Ask ‹@", "12› or ‹@&34› [1], not ‹@x› or `‹@12›`."}}
	w := newWorld(t, model)
	w.says(day, harbor, ben, "The lighthouse password? Ask <@12>.")
	a, err := w.engine.Answer(t.Context(), w.asks(lobby, "What is the lighthouse password?"), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Ask <@12> or <@&34> [1], not ‹@x› or `‹@12›`."; a.Text != want {
		t.Errorf("got %q, want %q", a.Text, want)
	}
	if sent := model.got[1].Content; !strings.Contains(sent, ": The lighthouse password? Ask ‹@12›.") {
		t.Errorf("the model got %q", sent)
	}
}

func TestTraceHoldsIdsAndNumbersOnly(t *testing.T) {
	t.Parallel()
	for _, citations := range []bool{true, false} {
		w := newWorld(t, nil)
		w.engine = w.over(w.store, &scripted{pieces: []string{"canary [1]"}}, builder.Options{Citations: citations}, Options{Persona: "a canary"})
		hit := w.says(day, harbor, ben, "The canary password is canary1")
		neighbour := w.says(day-time.Minute, harbor, cleo, "canary2, really")
		session := w.says(time.Minute, lobby, ben, "canary3")
		q := w.asks(lobby, "What is the canary password?")
		a := w.answer(q)
		body, err := json.Marshal(a.Trace)
		if err != nil {
			t.Fatal(err)
		}
		hasNot(t, string(body), "canary", "Ann", "Ben", "harbor", "password")
		if a.Trace.Question != q.ID || a.Trace.Asker != ann || a.Trace.Channel != lobby || a.Trace.Guild != guild || a.Trace.Total < a.Trace.Search {
			t.Errorf("trace %+v", a.Trace)
		}
		for _, id := range []memory.MessageID{hit, neighbour, session} {
			i := slices.IndexFunc(a.Trace.Recalled, func(h memory.TraceHit) bool { return h.Message == id })
			if i < 0 || !a.Trace.Recalled[i].Context {
				t.Fatalf("%d isn't a source in %s", id, body)
			}
			if h := a.Trace.Recalled[i]; id == hit && (h.Cited != citations || (h.Number == 1) != citations || h.Relevance == 0 || len(h.Why) == 0) {
				t.Errorf("hit %+v with citations %v", h, citations)
			}
		}
		i := slices.IndexFunc(a.Trace.Sections, func(s memory.TraceUse) bool { return s.Section == "history" })
		if i < 0 || a.Trace.Sections[i].Tokens == 0 {
			t.Errorf("sections %+v", a.Trace.Sections)
		}
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
		{"after a space", scripted{pieces: []string{" \n"}, err: broken}, "> The lighthouse password is swordfish", true, nil},
		{"in the middle", scripted{pieces: []string{"It is [1] [7]"}, err: broken}, "It is [1]", false, broken},
		{"writing nothing", scripted{}, "", false, ErrEmpty},
		{"writing nothing but inventions", scripted{pieces: []string{" [7]"}}, "", false, ErrEmpty},
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
				if !errors.Is(a.Away, broken) || a.Model != "" || a.Trace.Model != "" {
					t.Errorf("away %v, model %q", a.Away, a.Model)
				}
			} else if a.Text != tt.text || a.Away != nil || a.Model != "parrot-1" {
				t.Errorf("got %q by %q, away %v", a.Text, a.Model, a.Away)
			}
		})
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
		if !errors.Is(err, context.Canceled) || a.Text != "" || a.Away != nil {
			t.Errorf("answer %q, away %v, error %v", a.Text, a.Away, err)
		}
	}
	if _, err := w.engine.Recall(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("recall: %v", err)
	}
}
