package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/answer/tools"
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
				trace.MaxTokens != layout.DefaultTokens() || trace.Tokens == 0 ||
				trace.Use() != float64(trace.Tokens)/10_000 {
				t.Errorf("the trace is %+v", trace)
			}
		})
	}
}

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
				c.model = &scripted{pieces: []string{"It is."}, before: func() { w.deletes(harbor, source) }}
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
		"hark_prompts_total": 2, "hark_prompt_tokens": 2, "hark_prompt_window_warnings_total": 2,
		"hark_prompt_section_tokens_total history": history,
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

func TestRecordsHoldNoText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The canary password is canary1")
	q := w.asks(lobby, "What is the canary password?")
	steps := []step{
		uses("search_memory", `{"query":" The  canary","since":"2024-01-02","author":"Ben Canary","limit":3}`,
			"canary", `{"x":"canary"}`, "search_memory", `{"canary":1}`),
		uses("echo", `{"mode":"fast","n":4,"f":0.5,"b":true,"list":["canary",true],"deep":{"canary":1,"day":"2024-02-03"},"free":[1]}`, "search_memory", `{"query":"THE CANARY"}`), writes("It is canary [1]."),
	}
	tool := echo(`{"type":"object","properties":{"mode":{"type":"string","enum":["fast","slow"]},"n":{"type":"integer"},"f":{"type":"number","minimum":0.5},"b":{"type":"boolean"},
		"list":{"type":"array","items":{"type":"string"}},"free":{"type":"array"},"deep":{"type":"object","properties":{"canary":{"type":"number","maximum":3},"day":{"type":"string","format":"date"}}}}}`,
		func(turn *tools.Turn, _ context.Context) (tools.Outcome, error) {
			return tools.Outcome{Text: turn.Builder.Safe("=== canary ===\nyes and no", 18), Summary: "echoed"}, nil
		})
	var m *caller
	ask := func(key string) Answer {
		m = &caller{steps: steps}
		w.engine = w.over(w.store, m, builder.Options{Citations: true},
			Options{ToolRounds: 4, RecordKey: []byte(key)}, tool)
		return w.answer(q)
	}
	a := ask("k")
	body, err := json.Marshal(a.Records)
	if err != nil {
		t.Fatal(err)
	}
	// "canary" is the name of a field that a tool has, not anybody's words.
	hasNot(t, strings.ReplaceAll(string(body), `"canary":1`, ""), "canary", "Canary", "CANARY", "Ben", "password")
	ids := map[string]bool{}
	for _, r := range a.Records {
		ids[r.CallID] = true
		if r.Guild != guild || r.Channel != lobby || r.Question != q.ID || r.Asker != ann ||
			r.Timestamp.IsZero() || r.Args == nil || r.Kwargs == nil ||
			!strings.HasPrefix(r.CallID, q.ID.String()+"-") {
			t.Errorf("record %+v", r)
		}
	}
	var methods []string
	for _, r := range a.Records {
		methods = append(methods, string(r.Speaker)+" "+r.Method+": "+r.Outcome)
	}
	want := []string{"user ask: ", "tool search_memory: 0 messages", "tool unknown: unknown tool",
		"tool search_memory: bad arguments",
		"tool echo: bad arguments", "tool search_memory: 0 messages", "agent answer: answered, 1 source"}
	if !slices.Equal(methods, want) || len(ids) != len(want) {
		t.Fatalf("recorded %q under %v", methods, ids)
	}
	k := a.Records[1].Kwargs
	if k["since"] != "2024-01-02" || k["limit"] != 3.0 {
		t.Errorf("arguments %v", k)
	}
	query := k["query"].(map[string]any)
	if query["chars"] != 12 || query["words"] != 2 ||
		!regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(query["fingerprint"].(string)) {
		t.Errorf("the query is recorded as %v", query)
	}
	again := a.Records[5].Kwargs["query"].(map[string]any)
	if again["fingerprint"] != query["fingerprint"] ||
		k["author"].(map[string]any)["fingerprint"] == query["fingerprint"] {
		t.Errorf("the same query is recorded as %v and %v", query, again)
	}
	last := a.Records[6].Kwargs
	if last["rounds"] != 2 || last["tool_calls"] != 5 || last["model"] != "caller-1" || last["model_calls"] != 3 {
		t.Errorf("the answer is recorded as %v", last)
	}
	// Another key gives other fingerprints, and the same question asked again other ids.
	b := ask("other")
	if b.Records[1].Kwargs["query"].(map[string]any)["fingerprint"] == query["fingerprint"] ||
		ids[b.Records[1].CallID] {
		t.Errorf("asked again, recorded is %+v", b.Records[1])
	}
	// What fits the schema is recorded as it says.
	steps = []step{uses("echo", `{"mode":"fast","n":4,"f":0.5,"b":true,"list":["canary"],"deep":{"canary":1,"day":"2024-02-03"},"free":[1]}`)}
	r := ask("k").Records[1]
	list := r.Kwargs["list"].([]any)
	if r.Outcome != "echoed" || r.Kwargs["mode"] != "fast" || r.Kwargs["n"] != 4.0 || r.Kwargs["f"] != 0.5 ||
		r.Kwargs["b"] != true || list[0].(map[string]any)["words"] != 1 ||
		r.Kwargs["deep"].(map[string]any)["day"] != "2024-02-03" || len(r.Kwargs["free"].([]any)) != 1 {
		t.Errorf("recorded is %+v", r)
	}
	if got := m.outcomes()[0]; got != "› = = = canary = = = ⏎ ye…" {
		t.Errorf("told %q", got)
	}
}
