package stream

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func smooth(r io.Reader) (string, error) {
	alive := 0
	e := NewLines(io.NopCloser(r), func() { alive++ })
	defer e.Close()
	all, err := io.ReadAll(e)
	return string(all), err
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"": "",
		": hi\n\nevent: x\nid: 5\ndata: [DONE]\n\n":              "data: [DONE]\n",
		"data:{\"error\":1}\n":                                   "data: { \"error\":1}\n",
		"\r\n\r\n{\"error\":1}":                                  "data: { \"error\":1}\n",
		"{\n \"a\": 1\n}\n":                                      "data: { \"a\":1}\n",
		"event: error\ndata: {\"a\":1}\n\ndata: {}\n":            "data: { \"error\":{\"a\":1}}\ndata: { }\n",
		"event: error\ndata: it \"broke\"\n":                     "data: { \"error\":\"it \\\"broke\\\"\"}\n",
		"error: {\"a\":1}\n\ndata: {}\n":                         "data: { \"error\":{\"a\":1}}\ndata: { }\n",
		"data: {\n\"a\":\n{}\n}\n\n":                             "data: { \"a\":{}}\n",
		"data: {\"a\":NaN,\"b\":[-Infinity,\"NaN \\\" NaN\"]}\n": "data: { \"a\":null,\"b\":[null,\"NaN \\\" NaN\"]}\n",
		"data: {NaN\n\n":                                         "data: { NaN\n",
		"data: [done]\n\n":                                       "data: [DONE]\n",
		"data: \"[DONE]\"":                                       "data: [DONE]\n",
		"data: {\"a\":1}\ndata: {\"a\"":                          "data: { \"a\":1}\n",
		"data: {\"a\":1}\n{not json}\n<html>\n{\"b\":2}":         "data: { \"a\":1}\ndata: { \"b\":2}\n",
	} {
		for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body)),
			iotest.DataErrReader(strings.NewReader(body))} {
			if got, err := smooth(r); got != want || err != nil {
				t.Errorf("%q became %q, %v; want %q", body, got, err, want)
			}
		}
	}
	many := "data: [\n" + strings.Repeat("data: {},\n", 100_000) + "data: {}]\n\n" // this is to be read in no long time
	if got, err := smooth(strings.NewReader(many)); len(got) != len("data: []\n")+3*100_000+2 || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := smooth(io.MultiReader(strings.NewReader("{\n"),
		iotest.ErrReader(io.ErrClosedPipe))); err != io.ErrClosedPipe {
		t.Error(err)
	}
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: {\"error\":1}\n\n", "event: error\ndata: x\n", ": c\r\n{\n}\n",
		"<html>", "\ufeffdata:[DONE]", "{\"a\":\n[1]}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		whole, err := smooth(strings.NewReader(body))
		pieces, err2 := smooth(iotest.OneByteReader(strings.NewReader(body)))
		if whole != pieces || !errors.Is(err2, err) {
			t.Fatalf("%q, %v at once; %q, %v byte by byte", whole, err, pieces, err2)
		}
		lines := bufio.NewScanner(strings.NewReader(whole))
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), `data: {"error"`) || !strings.HasPrefix(lines.Text(), "data: ") {
				t.Fatalf("line %q", lines.Text())
			}
			parseEvent([]byte(strings.TrimPrefix(lines.Text(), "data: ")), left{})
		}
	})
}
