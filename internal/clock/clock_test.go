package clock

import (
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestClockIsCorrectedAsLittleAsDatesDemand(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) time.Time { return time.Unix(0, int64(seconds*1e9)) }
	type answer struct{ sent, received, date float64 }
	for name, c := range map[string]struct {
		answers []answer
		want    float64 // seconds ahead
	}{
		"within the second":               {[]answer{{10.2, 10.4, 10}}, 0},
		"a second began on the way":       {[]answer{{9.9, 10.1, 10}}, 0},
		"ahead":                           {[]answer{{70.5, 70.7, 10}}, 59.5},
		"behind":                          {[]answer{{10.2, 10.4, 70}}, -59.6},
		"a slow answer tells little":      {[]answer{{10, 90, 50}}, 0},
		"a quick answer narrows it":       {[]answer{{10, 90, 50}, {100.2, 100.3, 40}}, 59.2},
		"a later one moves it no further": {[]answer{{70.5, 70.7, 10}, {71.0, 71.2, 11}}, 59.5},
		"somebody sets the clock":         {[]answer{{70.5, 70.7, 10}, {11.5, 11.6, 11}}, 0.6},
	} {
		clock := &Clock{}
		for _, a := range c.answers {
			clock.read(at(a.sent), at(a.received), at(a.date))
		}
		ahead, known := clock.Ahead()
		if !known || (ahead-time.Duration(c.want*1e9)).Abs() > time.Microsecond {
			t.Errorf("%s: %v ahead, want %v s", name, ahead, c.want)
		}
	}
}

func TestClockIsRightWithinASecondAndTheWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		off := time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "off"))
		clock := &Clock{}
		now := time.Unix(1_800_000_000, 0)
		for range rapid.IntRange(1, 5).Draw(t, "answers") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "pause")))
			there := time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "there"))
			back := time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "back"))
			clock.read(now.Add(off), now.Add(off+there+back), now.Add(there).Truncate(time.Second))
			ahead, _ := clock.Ahead()
			if wrong := (ahead - off).Abs(); wrong > time.Second+there+back {
				t.Fatalf("%v wrong", wrong)
			}
		}
	})
}

func TestOnlyDatesOfFreshAnswersAreRead(t *testing.T) {
	t.Parallel()
	date := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	for name, c := range map[string]struct {
		header http.Header
		known  bool
	}{
		"none":           {http.Header{}, false},
		"no date":        {http.Header{"Date": {"yesterday"}}, false},
		"a cache's copy": {http.Header{"Date": {date}, "Age": {"3600"}}, false},
		"fresh":          {http.Header{"Date": {date}}, true},
	} {
		clock := &Clock{}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://discord.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = clock.Transport(answers(c.header)).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if _, known := clock.Ahead(); known != c.known {
			t.Errorf("%s: known %v", name, known)
		}
	}
}

type answers http.Header

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Header: http.Header(a), Body: http.NoBody}, nil
}
