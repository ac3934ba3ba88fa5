package discordtest

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestModalsAreHeldToDiscordsLimits(t *testing.T) {
	t.Parallel()
	const good = `{"custom_id":"a","title":"T","components":[{"type":1,"components":[{"type":4,"custom_id":"x","label":"L","style":1,"max_length":10}]}]}`
	m, err := readModal(json.RawMessage(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, swap := range [][2]string{
		{`"custom_id":"a"`, `"custom_id":""`}, {`"title":"T"`, `"title":"` + strings.Repeat("t", 46) + `"`}, {`"type":1,`, `"type":2,`},
		{`"type":4`, `"type":3`}, {`"style":1`, `"style":3`}, {`"custom_id":"x"`, `"custom_id":""`}, {`"label":"L"`, `"label":""`},
		{`"max_length":10`, `"max_length":4001`}, {`"max_length":10`, `"max_length":2,"value":"abc"`}, {`"max_length":10`, `"min_length":11,"max_length":10`},
		{`[{"type":1`, `[{"type":1,"components":[]},{"type":1`}, {good, `{"custom_id":"a","title":"T","components":[]}`}, {good, `[]`},
	} {
		bad := strings.Replace(good, swap[0], swap[1], 1)
		if bad == good {
			t.Fatalf("%q isn't there", swap[0])
		}
		if _, err := readModal(json.RawMessage(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	for _, tt := range []struct {
		fields map[string]string
		ok     bool
	}{{map[string]string{"x": "hello"}, true}, {nil, false}, {map[string]string{"x": "hello hello"}, false}, {map[string]string{"x": "hello", "y": ""}, false}} {
		if why := m.accepts(tt.fields); (why == "") != tt.ok {
			t.Errorf("%v: %q", tt.fields, why)
		}
	}
}

func TestOfferedChoicesAreHeldToDiscordsLimits(t *testing.T) {
	t.Parallel()
	for data, ok := range map[string]bool{
		`{"choices":[]}`:                         true,
		`{"choices":[{"name":"a","value":"b"}]}`: true,
		`{}`:                                     false,
		`{"choices":[{"name":"","value":"b"}]}`:  false,
		`{"choices":[{"name":"a","value":""}]}`:  false,
		`{"choices":[` + strings.Repeat(`{"name":"a","value":"b"},`, 25) + `{"name":"a","value":"b"}]}`: false,
		`[]`: false,
	} {
		if err := checkChoicesShown(json.RawMessage(data)); (err == nil) != ok {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestNestedCommandsAreHeldToDiscordsLimits(t *testing.T) {
	t.Parallel()
	sub := commandOption{Type: subcommand, Name: "set"}
	for name, tt := range map[string]struct {
		options []commandOption
		ok      bool
	}{
		"a group":                    {[]commandOption{sub, {Type: subcommandGroup, Name: "persona", Options: []commandOption{sub}}}, true},
		"a group in a group":         {[]commandOption{{Type: subcommandGroup, Name: "a", Options: []commandOption{{Type: subcommandGroup, Name: "b", Options: []commandOption{sub}}}}}, false},
		"an empty group":             {[]commandOption{{Type: subcommandGroup, Name: "a"}}, false},
		"a text beside a sub":        {[]commandOption{sub, {Type: stringOption, Name: "text"}}, false},
		"a sub in a sub":             {[]commandOption{{Type: subcommand, Name: "a", Options: []commandOption{sub}}}, false},
		"a switch that is completed": {[]commandOption{{Type: 5, Name: "on", Autocomplete: true}}, false},
	} {
		if err := checkOptions("command", tt.options); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
