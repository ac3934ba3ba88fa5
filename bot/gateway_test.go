package bot

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestFramesAreReadAsJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"t":"A","s":3,"op":0,"d":{"d":[1,{"s":4}],"a":"\\\"d\":}","b":"é\\"}}`, `{"d":[],"op":0,"s":3,"t":"d"}`,
		`{"op":11}`, `{"op":1,"d":251}`, `{"op":9,"d":false,"s":null,"t":null}`, `{"op":7,"d":null}`, `{"op":0,"d":"\"d\":,}","s":1}`,
		` { "op" : 10, "d" : {"d":1} } `, `{"op":10,"x":{"d":1},"d":2}`, `{"op":10,"d":}`, `{"op":10,"d":{}`, `{"op":10,"d":"`, `{"d":`,
		`{"op":"a","d":{}}`, `{"op":1,"d":1}}`, `[{"d":1}]`, `"d":`, `\`, ``,
	} {
		var want frame
		wrong := json.Unmarshal([]byte(text), &want) != nil
		got, err := readFrame([]byte(text))
		if wrong && err != nil {
			continue
		}
		if wrong != (err != nil) && json.Valid(got.Data) || !wrong && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, not %+v", text, got, err, want)
		}
	}
}
