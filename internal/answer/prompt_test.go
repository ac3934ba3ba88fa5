package answer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

// keeping has w's engine keep prompts.
func (w *world) keeping(model Model, b builder.Options) {
	b.Citations, b.Window = true, 10_000
	w.engine = w.over(w.store, model, b, Options{KeepPrompts: true})
}

func TestThePromptIsKeptAsItWasSent(t *testing.T) {
	t.Parallel()
	for _, layout := range []builder.Layout{builder.LayoutSections, builder.LayoutPlain, builder.LayoutChat} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			model := &scripted{pieces: []string{"It is swordfish [1]."}}
			w := newWorld(t, nil)
			w.keeping(model, builder.Options{Layout: layout})
			const dora, teller memory.UserID = 31, 32
			for id, name := range map[memory.UserID]string{dora: "Dora", teller: "Teller", 33: "Stranger"} {
				w.apply(memory.PersonSeen{Person: memory.Person{ID: id, Guild: guild, Name: name}})
			}
			w.apply(memory.FactTold{Guild: guild, User: dora,
				Fact: memory.Fact{ID: 1, Text: "keeps the lighthouse", By: teller}},
				memory.LoreTold{Lore: memory.Lore{ID: 2, Guild: guild, Name: "lighthouse",
					Text: "is older than the harbor", By: cleo, At: noon.Add(-day)}})
			w.says(day, harbor, ben, "The lighthouse password is swordfish")
			w.says(day-time.Minute, harbor, cleo, "swordfish, really")
			w.gives(w.asks(lobby, "Who keeps the lighthouse?"), -time.Second) // is in the session then
			q := w.asks(lobby, "What is the lighthouse password, Dora and <@34>?")
			q.Mentions = []memory.UserID{dora, 34} // of whom nothing is known
			id := w.gives(q, -3*time.Second)
			got := w.promptOf(lobby, id)
			if len(got.Messages) != len(model.got) || time.Since(got.Built) > time.Hour {
				t.Fatalf("kept %d messages of %d, built at %v", len(got.Messages), len(model.got), got.Built)
			}
			all := ""
			for i, m := range model.got {
				all += m.Content
				if got.Messages[i] != (memory.PromptMessage{Role: m.Role, Content: m.Content}) {
					t.Errorf("message %d is kept as %+v, and was %+v", i, got.Messages[i], m)
				}
			}
			trace, err := memory.TraceOf(t.Context(), w.store, lobby, id)
			if err != nil || !slices.Contains(trace.Named, 34) {
				t.Errorf("whom the question mentions isn't among %v", trace.Named)
			}
			for name, who := range map[string]memory.UserID{"Ann": ann, "Ben": ben, "Cleo": cleo,
				"Dora": dora, "Teller": teller, "Stranger": 33} {
				there := strings.Contains(all, name) || strings.Contains(all, "<@"+who.String()+">")
				if in := slices.Contains(trace.Named, who); there && !in {
					t.Errorf("%s is in the prompt, and not among %v:\n%s", name, trace.Named, all)
				}
			}
			if slices.Contains(trace.Named, 33) || slices.Contains(trace.Named, 0) || !slices.IsSorted(trace.Named) {
				t.Errorf("the people are %v", trace.Named)
			}
			if last := got.Boundaries[len(got.Boundaries)-1]; last.Section != "instruction" ||
				last.Message != len(model.got)-1 || last.End != len(model.got[last.Message].Content) {
				t.Errorf("the last boundary is %+v", last)
			}
			if trace.Layout != string(layout) || trace.Window != 10_000 ||
				trace.MaxTokens != builder.DefaultMaxTokens || trace.Tokens == 0 ||
				trace.Use() != float64(trace.Tokens)/10_000 {
				t.Errorf("the trace is %+v", trace)
			}
		})
	}
}

// What wasn't made from a prompt that was sent, or from what isn't logged, keeps none.
func TestAnswersThatKeepNoPrompt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model  Model
		change func(*world, *Question)
	}{
		"no model":            {nil, func(*world, *Question) {}},
		"a model that's away": {&scripted{err: errors.New("away")}, func(*world, *Question) {}},
		"a session that isn't logged": {&scripted{pieces: []string{"Yes."}}, func(_ *world, q *Question) {
			q.Session = []memory.Message{{ID: q.ID - 1, Guild: guild, Channel: lobby, Author: ben, Content: "canary"}}
		}},
		"a direct message": {&scripted{pieces: []string{"Yes."}}, func(w *world, q *Question) {
			*q = w.asks(annsDM, "What is the lighthouse password?")
		}},
		"taken back": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			source := w.says(day, harbor, ben, "The lighthouse password is swordfish")
			if c.change == nil {
				c.model = &scripted{pieces: []string{"It is."}, before: func() {
					w.apply(memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{source}})
				}}
				c.change = func(*world, *Question) {}
			}
			w.keeping(c.model, builder.Options{})
			q := w.asks(lobby, "What is the lighthouse password?")
			c.change(w, &q)
			if a := w.answer(q); a.Trace.Prompt != nil {
				t.Errorf("it keeps %+v", a.Trace.Prompt)
			}
		})
	}
}

func TestPromptsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 60 {
		w.says(day-time.Duration(i)*time.Minute, harbor, ben,
			fmt.Sprintf("the lighthouse password of day %d is word%d ", i, i*i)+strings.Repeat("again ", 20+i%7*40))
	}
	model := &scripted{pieces: []string{"Well."}}
	w.engine = w.over(w.store, model, builder.Options{MaxTokens: 900, Window: 1800, Answer: 900}, Options{})
	var history, dropped int
	for range 2 {
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		for _, s := range a.Trace.Sections {
			if s.Section == "history" {
				history, dropped = history+s.Tokens, dropped+s.Dropped
				if s.Floor == 0 || s.Ceiling < s.Tokens || s.Included == 0 || s.Why == "" {
					t.Errorf("history is %+v", s)
				}
			}
		}
		if a.Trace.Use() < memory.NearlyFull {
			t.Fatalf("%d of 1800 tokens, and 900 for the answer", a.Trace.Tokens)
		}
	}
	got := w.counted()
	for key, want := range map[string]int{
		"hark_prompts_total": 2, "hark_prompt_tokens": 2, "hark_prompt_window_warnings_total": 2, "hark_prompt_section_tokens_total history": history,
	} {
		if got[key] != want || want == 0 {
			t.Errorf("%s is %d, want %d", key, got[key], want)
		}
	}
	counted := 0
	for key, n := range got {
		if strings.HasPrefix(key, "hark_prompt_dropped_total ") && strings.HasSuffix(key, " history") {
			counted += n
		}
	}
	if counted != dropped || dropped == 0 {
		t.Errorf("%d left out, counted %d", dropped, counted)
	}
}
