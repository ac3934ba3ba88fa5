package answer

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/builder"
)

func TestRecordsHoldNoText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The canary password is canary1")
	q := w.asks(lobby, "What is the canary password?")
	steps := []step{
		uses("search_memory", `{"query":" The  canary","since":"2024-01-02","author":"Ben Canary","limit":3}`,
			"canary", `{"x":"canary"}`, "search_memory", `{"canary":1}`),
		uses("echo", `{"mode":"fast","n":4,"f":0.5,"b":true,"list":["canary",2],"deep":{"canary":1,"day":"2024-02-03"},"free":[1]}`, "search_memory", `{"query":"THE CANARY"}`), writes("It is canary [1]."),
	}
	tool := echo(`{"type":"object","properties":{"mode":{"type":"string","enum":["fast","slow"]},"n":{"type":"integer"},"f":{"type":"number","minimum":0.5},"b":{"type":"boolean"},
		"list":{"type":"array","items":{"type":"string"}},"free":{"type":"array"},"deep":{"type":"object","properties":{"canary":{"type":"number","maximum":3},"day":{"type":"string","format":"date"}}}}}`,
		func(turn *Turn, _ context.Context) (Outcome, error) {
			return Outcome{Text: turn.r.voice.builder.Safe("=== canary ===\nyes and no", 18), Summary: "echoed"}, nil
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
