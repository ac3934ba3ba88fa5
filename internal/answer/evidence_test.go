package answer

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// callsFor are the records of one question: each text is a tool's method, its kwargs and, after an arrow, its outcome.
func callsFor(t *testing.T, question int, calls ...string) []memory.Record {
	t.Helper()
	id := memory.FirstMessageID(noon.Add(time.Duration(question) * time.Hour))
	at := id.Time()
	record := func(speaker memory.Speaker, method, kwargs string) memory.Record {
		at = at.Add(time.Second)
		r := memory.Record{CallID: fmt.Sprintf("%d-%d", question, at.Unix()), Timestamp: at, Speaker: speaker, Method: method, Guild: guild, Channel: lobby, Asker: ann, Question: id, Answer: id + 1}
		if err := json.Unmarshal([]byte(kwargs), &r.Kwargs); err != nil {
			t.Fatalf("%s: %v", kwargs, err)
		}
		r, err := r.Checked()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := []memory.Record{record(memory.SpeakerUser, MethodAsk, "{}")}
	for _, c := range calls {
		method, kwargs, _ := strings.Cut(c, " ")
		if method == "history" {
			method = HistoryMethod
		}
		kwargs, outcome, _ := strings.Cut(kwargs, " -> ")
		r := record(memory.SpeakerTool, method, kwargs)
		r.Outcome = outcome
		all = append(all, r)
	}
	return append(all, record(memory.SpeakerAgent, "answer", "{}"))
}

func textOf(fingerprint string) string {
	return fmt.Sprintf(`{"chars":9,"words":2,"fingerprint":%q}`, fingerprint)
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		questions [][]string
		want      Evidence // without shares
	}{
		"nothing":       {nil, Evidence{}},
		"without tools": {[][]string{{}, {}}, Evidence{Questions: 2}},
		"tools, and no history": {[][]string{{`search_memory {"query":` + textOf("aa") + `}`}, {`current_time {}`}},
			Evidence{Questions: 2, WithTools: 2, Tools: []Counted{{"current_time", 1}, {"search_memory", 1}}}},
		"shapes": {[][]string{{
			`history {"filter":{"text":` + textOf("aa") + `,"speaker":"user"},"fields":["text","args"],"order":"oldest","limit":5}`,
			`history {}`,
		}, {`history {"filter":{"speaker":"tool","text":` + textOf("bb") + `},"fields":["args","text"],"order":"newest","limit":50}`}},
			Evidence{Questions: 2, WithTools: 2, Reached: 2, Accesses: 3, Tools: []Counted{{HistoryMethod, 3}},
				Shapes: []Counted{{"filter(speaker,text) fields(args,text) order limit", 2}, {"filter()", 1}}}},
		"the same query for one question": {[][]string{{`history {"limit":5}`, `search_memory {}`, `history {"limit":5}`, `history {"limit":6}`}, {`history {"limit":5}`}},
			Evidence{Questions: 2, WithTools: 2, Reached: 2, Accesses: 4, Tools: []Counted{{HistoryMethod, 4}, {"search_memory", 1}},
				Shapes: []Counted{{"filter() limit", 4}}, Repeated: Pattern{Calls: 1, Questions: 1}}},
		"loops": {[][]string{{`current_time {}`, `current_time {}`, `current_time {}`}, {`current_time {"zone":"UTC"}`, `current_time {}`}},
			Evidence{Questions: 2, WithTools: 2, Tools: []Counted{{"current_time", 5}}, Loops: Pattern{Calls: 2, Questions: 1}}},
		"asked again": {[][]string{
			{`search_memory {"query":` + textOf("aa") + `,"limit":5}`, `search_memory {"query":` + textOf("bb") + `}`},
			{`search_memory {"limit":9,"query":` + textOf("aa") + `}`},
			{`recall_lore {"query":` + textOf("aa") + `}`},
		}, Evidence{Questions: 3, WithTools: 3, Tools: []Counted{{"search_memory", 3}, {"recall_lore", 1}}, AskedAgain: Pattern{Calls: 1, Questions: 1}}},
		"a filter, a zone and a name aren't alike": {[][]string{
			{`current_time {"zone":` + textOf("aa") + `}`, `search_memory {"query":` + textOf("aa") + `,"author":` + textOf("cc") + `}`, `history {"filter":{"text":` + textOf("aa") + `}}`, `get_participant {"name":` + textOf("aa") + `}`},
			{`current_time {"zone":` + textOf("aa") + `}`, `search_memory {"query":` + textOf("bb") + `,"author":` + textOf("cc") + `}`, `history {"filter":{"text":` + textOf("aa") + `}}`, `get_participant {"name":` + textOf("aa") + `}`},
		}, Evidence{Questions: 2, WithTools: 2, Reached: 2, Accesses: 2, Shapes: []Counted{{"filter(text)", 2}},
			Tools:      []Counted{{HistoryMethod, 2}, {"current_time", 2}, {"get_participant", 2}, {"search_memory", 2}},
			AskedAgain: Pattern{Calls: 1, Questions: 1}}},
		"calls that weren't made": {[][]string{
			{`unknown {"arguments":` + textOf("aa") + `} -> unknown tool`, `search_memory {"query":` + textOf("aa") + `} -> failed`, `recall_lore {"name":` + textOf("aa") + `} -> too many at once`},
			{`unknown {"arguments":` + textOf("aa") + `} -> unknown tool`, `search_memory {"query":` + textOf("aa") + `} -> 3 messages`, `recall_lore {"name":` + textOf("aa") + `} -> no time`},
			{`unknown {"name":` + textOf("aa") + `} -> unknown tool`, `search_memory {"query":` + textOf("aa") + `} -> bad arguments`, `recall_lore {"name":` + textOf("aa") + `} -> asked already`},
			{`unknown {"name":` + textOf("aa") + `} -> unknown tool`, `search_memory {"query":` + textOf("aa") + `} -> ok`, `recall_lore {"name":` + textOf("aa") + `} -> no room`},
		}, Evidence{Questions: 4, WithTools: 4, Tools: []Counted{{"recall_lore", 4}, {"search_memory", 4}, {"unknown", 4}}, AskedAgain: Pattern{Calls: 1, Questions: 1}}},
		"narrowed down": {[][]string{{
			`search_memory {"query":` + textOf("aa") + `}`, `search_memory {"query":` + textOf("aa") + `,"author":5}`,
			`search_memory {"query":` + textOf("aa") + `,"author":5,"since":"2024-05-01"}`,
		}}, Evidence{Questions: 1, WithTools: 1, Tools: []Counted{{"search_memory", 3}}, AskedAgain: Pattern{Calls: 2, Questions: 1}, Decomposed: Pattern{Calls: 3, Questions: 1}}},
		"narrowed in time": {[][]string{{`history {"filter":{"from":"2024-05-01"}}`, `history {"filter":{"from":"2024-05-02"}}`, `history {"filter":{"from":"2024-05-03","until":"2024-06-01"}}`}},
			Evidence{Questions: 1, WithTools: 1, Reached: 1, Accesses: 3, Tools: []Counted{{HistoryMethod, 3}}, Shapes: []Counted{{"filter(from)", 2}, {"filter(from,until)", 1}},
				Decomposed: Pattern{Calls: 3, Questions: 1}}},
		"piece by piece in time": {[][]string{{
			`search_memory {"query":` + textOf("aa") + `,"since":"2024-05-01","until":"2024-06-01"}`, `search_memory {"query":` + textOf("aa") + `,"since":"2024-03-01","until":"2024-04-01"}`,
			`search_memory {"query":` + textOf("aa") + `,"since":"2024-04-01","until":"2024-05-01"}`,
		}}, Evidence{Questions: 1, WithTools: 1, Tools: []Counted{{"search_memory", 3}}, AskedAgain: Pattern{Calls: 2, Questions: 1}, Decomposed: Pattern{Calls: 3, Questions: 1}}},
		"person by person": {[][]string{{`get_participant {"user":5}`, `current_time {}`, `get_participant {"user":6}`, `get_participant {"user":7}`}},
			Evidence{Questions: 1, WithTools: 1, Tools: []Counted{{"get_participant", 3}, {"current_time", 1}}, Decomposed: Pattern{Calls: 3, Questions: 1}}},
		"another text is no part": {[][]string{{`search_memory {"query":` + textOf("aa") + `}`, `search_memory {"query":` + textOf("bb") + `}`, `search_memory {"query":` + textOf("cc") + `}`}},
			Evidence{Questions: 1, WithTools: 1, Tools: []Counted{{"search_memory", 3}}}},
		"two are no parts": {[][]string{{`get_participant {"user":5}`, `get_participant {"user":6}`}, {`get_participant {"user":7}`}},
			Evidence{Questions: 2, WithTools: 2, Tools: []Counted{{"get_participant", 3}}}},
		"wider and wider": {[][]string{{`history {"filter":{"speaker":"user","from":"2024-05-02"}}`, `history {"filter":{"from":"2024-05-02"}}`, `history {}`}},
			Evidence{Questions: 1, WithTools: 1, Reached: 1, Accesses: 3, Tools: []Counted{{HistoryMethod, 3}},
				Shapes: []Counted{{"filter()", 1}, {"filter(from)", 1}, {"filter(from,speaker)", 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var records []memory.Record
			for i, calls := range c.questions {
				records = append(callsFor(t, i, calls...), records...) // in any order
			}
			got := EvidenceOf(records)
			for _, p := range []*Pattern{&got.Repeated, &got.Loops, &got.AskedAgain, &got.Decomposed} {
				if of := float64(max(got.Questions, 1)); math.Abs(p.Share-float64(p.Questions)/of) > 1e-9 || p.AtLeast > p.Share || p.Justifies {
					t.Errorf("shares of %+v", *p)
				}
				p.Share, p.AtLeast = 0, 0
			}
			if len(got.Shapes) == 0 {
				got.Shapes = nil
			}
			if len(got.Tools) == 0 {
				got.Tools = nil
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// A pattern justifies a tool where it is frequent, and has been met often enough to be sure of that.
func TestWhatJustifiesATool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		with, of int
		want     bool
	}{{0, 0, false}, {1, 1, false}, {9, 9, false}, {10, 10, true}, {10, 40, true}, {10, 60, false}, {20, 110, true}, {120, 1000, true}, {100, 1000, false}} {
		var records []memory.Record
		for i := range c.of {
			if i < c.with {
				records = append(records, callsFor(t, i, `current_time {}`, `current_time {}`)...)
			} else {
				records = append(records, callsFor(t, i)...)
			}
		}
		e := EvidenceOf(records)
		if e.Loops.Justifies != c.want || e.Repeated.Justifies {
			t.Errorf("%d of %d: %+v", c.with, c.of, e.Loops)
		}
	}
	if low := atLeast(10, 40); math.Abs(low-0.1419) > 0.0005 { // as tables have it
		t.Errorf("10 of 40 are at least %f", low)
	}
}

// A model that goes through the history day by day, or method by method, is seen to do so, and nothing that may be somebody's
// words is kept of how it asks.
func TestGoingThroughTheHistoryIsSeen(t *testing.T) {
	t.Parallel()
	filter := func(fields string) string { return `{"filter":{` + fields + `}}` }
	for name, tt := range map[string]struct {
		filters []string
		kept    []string // JSON of the records' filters; "" for one that holds no text
		parts   int64
	}{
		"by time": {[]string{`"from":"2024-05-01","until":"2024-05-02"`, `"from":"2024-05-02","until":"2024-05-02 18:00"`, `"from":"2024-05-03T10:00:00+02:00"`},
			[]string{`{"from":"2024-05-01","until":"2024-05-02"}`, `{"from":"2024-05-02","until":"2024-05-02T18:00:00"}`, `{"from":"2024-05-03T08:00:00Z"}`}, 1},
		"by method": {[]string{`"method":"ask"`, `"method":"answer"`, `"method":"search_memory"`, `"method":"unknown"`},
			[]string{`{"method":"ask"}`, `{"method":"answer"}`, `{"method":"search_memory"}`, `{"method":"unknown"}`}, 1},
		"by words": {[]string{`"text":"canary"`, `"text":"canary bird"`, `"text":"canary cage"`}, []string{"", "", ""}, 0},
		"in words": {[]string{`"from":"canary"`, `"from":"2024-05-01 canary"`, `"until":"2024-05-99"`, `"method":"canary"`}, []string{"", "", "", ""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			var steps []step
			for _, f := range tt.filters {
				steps = append(steps, uses(HistoryMethod, filter(f)))
			}
			w.withTools(steps...)
			q := w.asks(lobby, "What did I ask you?")
			a := w.answer(q)
			a.Trace.Answer = q.ID + 1
			var kept []memory.Record
			for _, e := range Called(a.Records, a.Trace, noon) {
				if r := e.(memory.Called).Record; r.Method == HistoryMethod {
					kept = append(kept, r)
				}
			}
			if got := w.engine.HistoryUse(); len(kept) != len(tt.filters) || got.Decomposed != tt.parts {
				t.Fatalf("%+v of %+v", got, kept)
			}
			for i, r := range kept {
				got := canonical(r.Kwargs["filter"])
				if hasNot(t, got, "canary"); tt.kept[i] != "" && got != tt.kept[i] || tt.kept[i] == "" && !isText(got) {
					t.Errorf("%s is kept as %s", tt.filters[i], got)
				}
			}
		})
	}
}

// What many questions have in common without being the same question justifies nothing.
func TestWhatIsCommonJustifiesNothing(t *testing.T) {
	t.Parallel()
	var records []memory.Record
	for i := range 12 {
		records = append(records, callsFor(t, i, `current_time {"zone":`+textOf("aa")+`} -> told`)...)
	}
	if e := EvidenceOf(records); e.AskedAgain != (Pattern{}) {
		t.Errorf("%+v", e.AskedAgain)
	}
}

// Evidence tells in shapes and counts: no value of what was asked for comes into it.
func TestEvidenceHoldsNoValues(t *testing.T) {
	t.Parallel()
	records := callsFor(t, 1, `history {"filter":{"speaker":"canary","from":"1999-01-01","text":{"chars":4242,"words":2,"fingerprint":"cafe"}},"fields":[4711,"args"],"limit":7777}`)
	records[1].Args = []any{"canary", map[string]any{"canary2": "x"}}
	b, err := json.Marshal(EvidenceOf(records))
	if err != nil {
		t.Fatal(err)
	}
	hasNot(t, string(b), "canary", "1999", "4242", "cafe", "4711", "7777")
	has(t, string(b), "filter(from,other,speaker,text) fields(args,other) limit")
	// What can't be written is like any other that can't.
	records[1].Kwargs = map[string]any{"f": func() {}}
	if e := EvidenceOf(records); e.Accesses != 1 {
		t.Errorf("%+v", e)
	}
}

func TestHistoryUseIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	e := w.engine
	e.history.count(nil)
	e.history.count(callsFor(t, 1))
	e.history.count(callsFor(t, 2, `history {}`, `history {}`, `get_participant {"user":1}`, `get_participant {"user":2}`, `get_participant {"user":3}`))
	if got, want := e.HistoryUse(), (HistoryUse{Questions: 2, Reached: 1, Accesses: 2, Repeated: 1, Loops: 1, Decomposed: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	w.answer(w.asks(lobby, "When?")) // the question and its answer, without a model as well
	w.answer(unlogged("When?", before(time.Minute, ben, "so")))
	if got := e.HistoryUse().Questions; got != 3 {
		t.Errorf("%d questions", got)
	}
}

// What the records of an answer tell is counted as it is given.
func TestHistoryUseOfAnswersIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.withTools(uses(HistoryMethod, `{"limit":5}`), uses(HistoryMethod, `{"limit":5}`), uses("current_time", `{}`))
	a := w.answer(w.asks(lobby, "What did I ask you yesterday?"))
	if got, want := w.engine.HistoryUse(), (HistoryUse{Questions: 1, Reached: 1, Accesses: 2, Repeated: 1, Loops: 1}); got != want || len(a.Records) != 5 {
		t.Errorf("got %+v, want %+v, of %+v", got, want, a.Records)
	}
}

func TestRecordsAreKeptWithTheirAnswer(t *testing.T) {
	t.Parallel()
	trace := memory.Trace{Guild: guild, Channel: lobby, Question: 11, Asker: ann, Answer: 12}
	made := noon.Add(-time.Second)
	records := []memory.Record{
		{CallID: "a", Timestamp: made, Speaker: memory.SpeakerUser, Method: MethodAsk, Kwargs: map[string]any{"text": map[string]any{"fingerprint": "abc"}}, Channel: 5, Asker: 6},
		{CallID: "b", Speaker: memory.SpeakerTool, Method: "m"},
		{CallID: "b", Speaker: memory.SpeakerTool, Method: "m"}, // as some servers number the calls of each round anew
		{CallID: "c", Speaker: memory.SpeakerTool, Method: "tell Bob that I'm late"},
		{Speaker: memory.SpeakerAgent, Method: "answer"},
	}
	keep := func(t *testing.T, trace memory.Trace, records ...memory.Record) (kept []memory.Record) {
		t.Helper()
		for _, e := range Called(records, trace, noon) {
			r := e.(memory.Called).Record
			if r.Guild != guild || r.Channel != lobby || r.Question != 11 || r.Asker != ann || r.Answer != trace.Answer || r.CallID == "" {
				t.Errorf("kept %+v", r)
			}
			kept = append(kept, r)
		}
		return kept
	}
	kept := keep(t, trace, records...)
	if len(kept) != 4 || kept[0].CallID != "a" || !kept[0].Timestamp.Equal(made) || kept[1].CallID != "b" || !kept[1].Timestamp.Equal(noon) || kept[2].CallID == "b" || kept[3].Speaker != memory.SpeakerAgent {
		t.Errorf("kept %+v", kept)
	}
	if kept := keep(t, trace); len(kept) > 0 {
		t.Errorf("kept %+v of nothing", kept)
	}
	// Of what wasn't answered only that it was asked.
	trace.Answer = 0
	for name, records := range map[string][]memory.Record{"with records": append(records, records[0]), "without": nil, "with one that can't be": {{Speaker: memory.SpeakerUser, Method: "a b"}}} {
		kept := keep(t, trace, records...)
		if len(kept) != 1 || kept[0].Speaker != memory.SpeakerUser || kept[0].Method != MethodAsk || len(kept[0].Kwargs) > 0 || fmt.Sprint(kept[0].Args) != "[11]" {
			t.Errorf("%s: kept %+v", name, kept)
		}
	}
}
