package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func aRecord() Record {
	return Record{
		CallID: "c1", Timestamp: time.Date(2024, 6, 1, 12, 0, 0, 5e6, time.UTC),
		Speaker: SpeakerTool, Method: "search_memory", Args: []any{},
		Kwargs: map[string]any{"limit": json.Number("5")}, Outcome: "3 messages",
		Guild: 900, Channel: 901, Question: 1246507221700608001, Asker: 21, Answer: 1246507221700608002,
	}
}

func TestRecordIsWrittenUnderItsNames(t *testing.T) {
	t.Parallel()
	const want = `{"call_id":"c1","timestamp":"2024-06-01T12:00:00.005Z","speaker":"tool","method_name":"search_memory","args":[],` +
		`"kwargs":{"limit":5},"outcome_summary":"3 messages","guild":900,"channel":901,"question":1246507221700608001,"asker":21,"answer":1246507221700608002}`
	got, err := json.Marshal(aRecord())
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	// The seven are there even where there is nothing to say.
	got, err = json.Marshal(Record{})
	if want := `{"call_id":"","timestamp":"0001-01-01T00:00:00Z","speaker":"","method_name":"","args":[],"kwargs":{},"outcome_summary":""}`; err != nil || string(got) != want {
		t.Errorf("an empty one is %s, %v", got, err)
	}
	if want := []string{"call_id", "timestamp", "speaker", "method_name", "args", "kwargs",
		"outcome_summary"}; !slices.Equal(RecordFields(), want) {
		t.Errorf("the fields are %q", RecordFields())
	}
}

// What a newer Hark has written stays through reading and writing.
func TestRecordKeepsWhatItDoesntKnow(t *testing.T) {
	t.Parallel()
	const newer = `{"call_id":"c1","timestamp":"2024-06-01T12:00:00Z","speaker":"tool","method_name":"m","args":[1246507221700608001,1e3],"kwargs":{"a":{"b":[null]}},` +
		`"outcome_summary":"so","channel":7,"Channel":8,"cost":{"usd":0.10},"zone":"<b>"}`
	var r Record
	if err := json.Unmarshal([]byte(newer), &r); err != nil {
		t.Fatal(err)
	}
	if r.Channel != 7 || len(r.More) != 3 || r.Args[0] != json.Number("1246507221700608001") {
		t.Errorf("read %+v", r)
	}
	checked, err := r.Checked()
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(checked)
	if err != nil {
		t.Fatal(err)
	}
	var was, is map[string]any
	if err := json.Unmarshal([]byte(newer), &was); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &is); err != nil || !reflect.DeepEqual(is, was) {
		t.Errorf("it became %s, %v", got, err)
	}
	// A field of its own can't come in by that way.
	checked.More = map[string]json.RawMessage{"asker": json.RawMessage("5"), "fine": json.RawMessage("1"),
		"broken": json.RawMessage("{")}
	if checked, err = checked.Checked(); err != nil || len(checked.More) != 1 {
		t.Errorf("more is %q, %v", checked.More, err)
	}
	checked.More["asker"] = json.RawMessage("5")
	if got, err := json.Marshal(checked); err != nil || bytes.Contains(got, []byte("asker")) {
		t.Errorf("written %s, %v", got, err)
	}
	checked.More["broken"] = json.RawMessage("{")
	if got, err := json.Marshal(checked); err == nil {
		t.Errorf("written %s", got)
	}
	checked.More = nil
	checked.Args = []any{func() {}}
	if got, err := json.Marshal(checked); err == nil {
		t.Errorf("unchecked it is written %s, %v", got, err)
	}
	for _, bad := range []string{`[]`, `{"args":5}`, `{"timestamp":"noon"}`} {
		if err := json.Unmarshal([]byte(bad), &r); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestRecordsThatCantBe(t *testing.T) {
	t.Parallel()
	if _, err := aRecord().Checked(); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*Record){
		func(r *Record) { r.CallID = "" },
		func(r *Record) { r.CallID = "the secret" },
		func(r *Record) { r.CallID = strings.Repeat("c", 65) },
		func(r *Record) { r.Timestamp = time.Time{} },
		func(r *Record) { r.Timestamp = time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC) },
		func(r *Record) { r.Timestamp = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		func(r *Record) { r.Speaker = "" },
		func(r *Record) { r.Speaker = "moderator" },
		func(r *Record) { r.Method = "tell\nBob" },
		func(r *Record) { r.Channel = 0 },
	} {
		r := aRecord()
		change(&r)
		_, err := r.Checked()
		wantRefusal(t, err)
	}
}

func TestWhatARecordCantHoldIsReplaced(t *testing.T) {
	t.Parallel()
	cycle := map[string]any{}
	cycle["cycle"] = cycle
	var deep, deepMap any = "end", "end"
	for range 20 {
		deep, deepMap = []any{deep}, map[string]any{"in": deepMap}
	}
	for name, c := range map[string]struct{ value, want any }{
		"a function":   {func() {}, notSerialised},
		"a channel":    {make(chan int), notSerialised},
		"not a number": {math.NaN(), notSerialised},
		"a cycle":      {cycle, notSerialised},
		"a word":       {"newest", "newest"},
		"no word":      {"", ""},
		"a text": {"the  password is\nswordfish", map[string]any{"chars": json.Number("26"),
			"words": json.Number("4")}},
		"a long word": {strings.Repeat("ä", 40), map[string]any{"chars": json.Number("40"),
			"words": json.Number("1")}},
		"a text inside": {[]string{"a", "b c"},
			[]any{"a", map[string]any{"chars": json.Number("3"), "words": json.Number("2")}}},
		"a text for a key": {map[string]int{"Bob is late": 1, "fine": 2},
			map[string]any{"fine": json.Number("2"), "left_out": nameless}},
		"an id":   {MessageID(1246507221700608001), json.Number("1246507221700608001")},
		"nothing": {nil, nil},
	} {
		r := aRecord()
		r.Args, r.Kwargs = []any{c.value}, map[string]any{"v": c.value, "a key in words": 1}
		got, err := r.Checked()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(got.Args, []any{c.want}) ||
			!reflect.DeepEqual(got.Kwargs, map[string]any{"v": c.want, "left_out": nameless}) {
			t.Errorf("%s became %#v, %#v", name, got.Args, got.Kwargs)
		}
	}
	r := aRecord()
	for _, value := range []any{deep, deepMap} {
		r.Args = []any{value}
		if got, err := r.Checked(); err != nil || !strings.Contains(fmt.Sprint(got.Args), tooDeep) {
			t.Errorf("what lies deep became %v, %v", got.Args, err)
		}
	}
	r.Args = make([]any, 3000)
	if got, err := r.Checked(); err != nil || len(got.Args) > 0 || got.Kwargs["left_out"] != tooLarge {
		t.Errorf("what is too large became %v, %v, %v", got.Args, got.Kwargs, err)
	}
	for outcome, want := range map[string]string{"3\n messages\x00": "3 messages", strings.Repeat("x", 201): tooLong} {
		r = aRecord()
		r.Outcome = outcome
		if got, err := r.Checked(); err != nil || got.Outcome != want {
			t.Errorf("the outcome became %q, %v", got.Outcome, err)
		}
	}
}

func TestRecordsNameIDs(t *testing.T) {
	t.Parallel()
	r := aRecord()
	r.Args = []any{"<@21>", "<@!22>", "#5", "-3", 1.5, true, nil}
	r.Kwargs = map[string]any{"in": map[string]any{"channel": "<#901>", "users": []any{23, "24"}}, "limit": 21}
	r, err := r.Checked()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Named(), []int64{21, 22, 23, 24, 901}; !slices.Equal(got, want) {
		t.Errorf("it names %v, want %v", got, want)
	}
}

// What was checked stays as it is when it is checked again, and through JSON.
func TestCheckedRecordsStay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkStays(t, drawValue(t, 0), drawValue(t, 0), rapid.String().Draw(t, "outcome"))
	})
}

func drawValue(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 7).Draw(t, "kind"); {
	case n == 0 && depth < 10:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawValue(t, depth+1) }), 0,
			3).Draw(t, "array")
	case n == 1 && depth < 10:
		return rapid.MapOfN(rapid.StringN(0, 5, 9),
			rapid.Custom(func(t *rapid.T) any { return drawValue(t, depth+1) }), 0, 3).Draw(t, "object")
	case n == 2:
		return rapid.Int64().Draw(t, "number")
	case n == 3:
		return rapid.Float64().Draw(t, "float")
	case n == 4:
		return nil
	}
	return rapid.String().Draw(t, "text")
}

func checkStays(t rapid.TB, one, two any, outcome string) {
	t.Helper()
	r := aRecord()
	r.Args, r.Kwargs, r.Outcome = []any{one}, map[string]any{"two": two}, outcome
	checked, err := r.Checked()
	if err != nil {
		t.Fatal(err)
	}
	again, err := checked.Checked()
	if err != nil || !reflect.DeepEqual(again, checked) {
		t.Fatalf("%+v became %+v, %v", checked, again, err)
	}
	b, err := json.Marshal(checked)
	if err != nil {
		t.Fatal(err)
	}
	var back Record
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, checked) {
		t.Fatalf("%s was read as %+v, not %+v; %v", b, back, checked, err)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"call_id":"c1","args":[1,{"a":"b c"}],"kwargs":{"x":[[]]},"more":{}}`))
	f.Add([]byte(`{"args":[`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Record
		if json.Unmarshal(b, &r) != nil {
			return
		}
		checkStays(t, any(r.Args), r.Kwargs, r.Outcome)
	})
}

func TestFingerprints(t *testing.T) {
	t.Parallel()
	key, other := bytes.Repeat([]byte{7}, FingerprintKeyBytes), bytes.Repeat([]byte{8}, FingerprintKeyBytes)
	one := FingerprintOf(key, "When is the  Deadline?\n")
	if len(one) != 16 || one != FingerprintOf(key, "when is the deadline?") {
		t.Errorf("the fingerprint is %q", one)
	}
	for _, differs := range []string{FingerprintOf(other, "when is the deadline?"),
		FingerprintOf(key, "when was the deadline?"), FingerprintOf(key, "")} {
		if differs == one {
			t.Errorf("another text or key has the same fingerprint %q", one)
		}
	}
}
