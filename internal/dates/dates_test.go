package dates

import (
	"errors"
	"testing"
	"time"

	"hark/internal/golden"
)

func TestParse(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	// half past midnight of the 30th in Berlin; the 29th had 23 hours
	now := time.Date(2026, 3, 29, 22, 30, 0, 0, time.UTC)
	at := func(t time.Time) [2]time.Time { return [2]time.Time{t, t} }
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, zone) }
	for text, want := range map[string][2]time.Time{
		"today":                {day(30), day(31)},
		" Yesterday ":          {day(29), day(30)},
		"2026-03-29":           {day(29), day(30)},
		"2026-03-29 14:30":     at(day(29).Add(13*time.Hour + 30*time.Minute)),
		"2026-03-01T10:00:00Z": at(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)),
		"7d":                   at(now.In(zone).AddDate(0, 0, -7)),
		"0d":                   at(now),
		"3 Weeks":              at(now.In(zone).AddDate(0, 0, -21)),
		"3 weeks ago":          at(now.In(zone).AddDate(0, 0, -21)),
		"1  month":             at(now.In(zone).AddDate(0, -1, 0)),
		"2 years":              at(now.In(zone).AddDate(-2, 0, 0)),
		"12h":                  at(now.Add(-12 * time.Hour)),
		"90m":                  at(now.Add(-90 * time.Minute)),
		"10 minutes":           at(now.Add(-10 * time.Minute)),
		"1h30m":                at(now.Add(-90 * time.Minute)),
		"99999d":               at(now.In(zone).AddDate(0, 0, -99999)),
	} {
		from, to, err := Parse(text, now, zone)
		if err != nil || !from.Equal(want[0]) || !to.Equal(want[1]) {
			t.Errorf("%q: from %v to %v, %v; want %v", text, from, to, err, want)
		}
	}
	for _, text := range []string{"", "soon", "2026-02-30", "100000d", "-3d", "-1h", "5 parsecs",
		"999999 years", "14285714 w", "tomorrow", "03/29/2026"} {
		_, _, err := Parse(text, now, zone)
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, _, err = Parse("soon", now, zone)
	golden.Seen(t, err.Error())
}

// Whatever is written, a time never ends before it begins, and lies on the calendar.
func FuzzParse(f *testing.F) {
	f.Add("3 weeks ago")
	f.Add("2026-07-01")
	f.Add("99999d")
	now := time.Date(2026, 3, 29, 22, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		from, to, err := Parse(text, now, time.UTC)
		if err == nil && (to.Before(from) || from.Year() < -10000 || from.Year() > 10000) {
			t.Errorf("%q: from %v to %v", text, from, to)
		}
	})
}
