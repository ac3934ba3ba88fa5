package tools

import "testing"

func TestMended(t *testing.T) {
	t.Parallel()
	const fields = `{"type":"object","required":["must"],"additionalProperties":false,"$defs":{"Mode":{"enum":["fast","Slow"],
		"type":"string"},"round":{"$ref":"#/$defs/round"}},"properties":{
		"must":{"type":"string","minLength":1},"text":{"type":"string"},"day":{"type":"string","format":"date"},
		"whole":{"type":"integer"},"number":{"type":"number"},"flag":{"type":"boolean"},
		"words":{"type":"array","items":{"type":"string"}},"wholes":{"type":"array","items":{"type":"integer"}},
		"any":{"type":"array"},"untyped":{"description":"anything"},"map":{"type":"object","properties":{"n":{"type":"integer"}}},
		"order":{"type":"string","enum":["newest","oldest"]},"mode":{"$ref":"#/$defs/Mode"},"all":{"allOf":[{"$ref":"#/$defs/Mode"}]},
		"maybe":{"type":["integer","null"]},"either":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"both":{"anyOf":[{"type":"integer"},{"type":"string"}]},"two":{"anyOf":[{"type":"integer"},{"type":"boolean"}]},
		"round":{"$ref":"#/$defs/round"},"far":{"$ref":"https://example.org/x"}}}`
	schema, ok := decoded(fields)
	if !ok {
		t.Fatal("the schema is no JSON")
	}
	for _, tt := range []struct{ written, want string }{ // an empty want: as written
		{`{"must":"x","whole":3}`, ``},
		{`{ "whole": 3, "must": "x" }`, ``},

		// Numbers and truth values.
		{`{"whole":"3"}`, `{"whole":3}`}, {`{"whole":" 3 "}`, `{"whole":3}`}, {`{"whole":"3.0"}`, `{"whole":3}`},
		{`{"whole":3.0}`, `{"whole":3}`}, {`{"whole":"-3"}`, `{"whole":-3}`},
		{`{"whole":"12345678901234567890"}`, `{"whole":12345678901234567890}`},
		{`{"whole":"3.5"}`, ``}, {`{"whole":3.5}`, ``}, {`{"whole":"three"}`, ``}, {`{"whole":"1e999999999"}`, ``},
		{`{"whole":1e999999999}`, ``}, {`{"whole":true}`, ``}, {`{"whole":"0x10"}`, ``}, {`{"whole":"1/2"}`, ``},
		{`{"number":"3.5"}`, `{"number":3.5}`}, {`{"number":"NaN"}`, ``},
		{`{"flag":"true"}`, `{"flag":true}`}, {`{"flag":"False"}`, `{"flag":false}`}, {`{"flag":"yes"}`, ``},
		{`{"flag":1}`, ``},
		{`{"text":7}`, `{"text":"7"}`}, {`{"text":7.50}`, `{"text":"7.50"}`}, {`{"text":true}`, ``}, {`{"text":{}}`, ``},

		// What is left out.
		{`{"whole":""}`, `{}`}, {`{"flag":" "}`, `{}`}, {`{"day":""}`, `{}`}, {`{"order":""}`, `{}`}, {`{"words":""}`, `{}`},
		{`{"map":""}`, `{}`}, {`{"whole":null}`, `{}`}, {`{"whole":"null"}`, `{}`}, {`{"whole":"None"}`, `{}`},
		{`{"whole":[]}`, `{}`}, {`{"either":""}`, `{}`}, {`{"text":""}`, ``}, {`{"must":""}`, ``}, {`{"must":null}`, ``},
		{`{"maybe":null}`, ``}, {`{"either":null}`, ``}, {`{"untyped":""}`, ``}, {`{"untyped":null}`, ``},
		{`{"other":""}`, `{}`}, {`{"other":null,"more":[],"yet":{}}`, `{}`}, {`{"other":"x"}`, ``}, {`{"other":0}`, ``},

		// Lists of one.
		{`{"must":["x"]}`, `{"must":"x"}`}, {`{"whole":["3"]}`, `{"whole":3}`}, {`{"must":["x","y"]}`, ``},
		{`{"words":"x"}`, `{"words":["x"]}`}, {`{"words":7}`, `{"words":["7"]}`}, {`{"wholes":3}`, `{"wholes":[3]}`},
		{`{"wholes":"3"}`, `{"wholes":[3]}`}, {`{"wholes":["1",2.0]}`, `{"wholes":[1,2]}`},
		{`{"words":"[\"x\",\"y\"]"}`, `{"words":["x","y"]}`}, {`{"wholes":"[1, 2]"}`, `{"wholes":[1,2]}`},
		{`{"any":"x"}`, ``}, {`{"untyped":["x"]}`, ``},

		// JSON within JSON.
		{`"{\"must\":\"x\"}"`, `{"must":"x"}`}, {`[{"must":"x"}]`, `{"must":"x"}`}, {`"\"{}\""`, `{}`},
		{`{"arguments":{"must":"x"}}`, `{"must":"x"}`}, {`{"parameters":"{\"must\":\"x\"}"}`, `{"must":"x"}`},
		{`{"arguments":{"must":"x"},"whole":1}`, ``},
		{`{"map":"{\"n\":\"3\"}"}`, `{"map":{"n":3}}`}, {`{"map":{"n":"3","m":""}}`, `{"map":{"m":"","n":3}}`},
		{`"deadline"`, ``}, {`["x"]`, ``}, {`[{},{}]`, ``}, {`null`, ``}, {`7`, ``}, {`{`, ``}, {`{} {}`, ``}, {`{}`, ``},
		{` `, `{}`}, {``, `{}`},

		// Words in other case, and choices.
		{`{"order":"Newest"}`, `{"order":"newest"}`}, {`{"order":" OLDEST "}`, `{"order":"oldest"}`}, {`{"order":"best"}`, ``},
		{`{"mode":"SLOW"}`, `{"mode":"Slow"}`}, {`{"all":"Fast"}`, `{"all":"fast"}`},
		{`{"maybe":"3"}`, `{"maybe":3}`}, {`{"either":"3"}`, `{"either":3}`}, {`{"both":"3"}`, ``}, {`{"two":"3"}`, ``},
		{`{"two":"true"}`, ``}, {`{"round":"3"}`, ``}, {`{"far":"3"}`, ``},
		{`{"must":"<b>","whole":"3"}`, `{"must":"<b>","whole":3}`},
	} {
		want := tt.want
		if want == "" {
			want = tt.written
		}
		got := mended(schema, tt.written)
		if got != want {
			t.Errorf("%s became %s, want %s", tt.written, got, want)
		}
		if again := mended(schema, got); again != got {
			t.Errorf("%s became %s, then %s", tt.written, got, again)
		}
	}
}

// A schema that says nothing, or isn't one, has nothing mended.
func TestNothingIsGuessed(t *testing.T) {
	t.Parallel()
	const written = `{"n":"3","s":7,"e":"","l":["x"]}`
	for _, schema := range []string{`{}`, `{"type":"object"}`, `true`, `null`, `7`, `[]`, `{"properties":[]}`,
		`{"properties":{"n":true,"s":null,"e":{},"l":{"type":7}}}`, `{"$ref":"#"}`, `{"$ref":"#/a/b"}`,
		`{"properties":{"n":{"type":["integer",7]},"s":{"anyOf":[]},"e":{"allOf":[{"type":"integer"},{}]}}}`} {
		document, _ := decoded(schema)
		if got := mended(document, written); got != written {
			t.Errorf("by %s it became %s", schema, got)
		}
	}
}

func FuzzMended(f *testing.F) {
	f.Add(`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"3"}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"a":{"$ref":"#/$defs/a"}}}}}`, `{"a":"{\"a\":[[\"\"]]}"}`)
	f.Fuzz(func(t *testing.T, schema, written string) {
		document, _ := decoded(schema)
		got := mended(document, written)
		if isObject(written) && !isObject(got) {
			t.Errorf("%q became %q", written, got)
		}
	})
}
