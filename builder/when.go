package builder

import (
	"fmt"
	"time"
)

// recentSpan is how long ago something is recent.
const recentSpan = 24 * time.Hour

// appendStamp appends "[07-24 12:30]" in now's zone, with the year where it isn't now's.
func appendStamp(dst []byte, t, now time.Time, year bool) []byte {
	t = t.In(now.Location())
	layout := "[01-02 15:04]"
	if year || t.Year() != now.Year() {
		layout = "[2006-01-02 15:04]"
	}
	return t.AppendFormat(dst, layout)
}

// appendAgo appends how long ago t was: exact enough for "who is around", a date after a week.
func (l *Labels) appendAgo(dst []byte, t, now time.Time) []byte {
	const day = 24 * time.Hour
	switch ago := now.Sub(t); {
	case ago < time.Minute:
		return append(dst, l.JustNow...)
	case ago < time.Hour:
		return appendUnits(dst, int(ago/time.Minute), l.Minute, l.Minutes)
	case ago < day:
		return appendUnits(dst, int(ago/time.Hour), l.Hour, l.Hours)
	case ago <= 7*day:
		return appendUnits(dst, int(ago/day), l.Day, l.Days)
	}
	return t.In(now.Location()).AppendFormat(dst, time.DateOnly)
}

func appendUnits(dst []byte, n int, one, more string) []byte {
	if n == 1 {
		return append(dst, one...)
	}
	return fmt.Appendf(dst, more, n)
}

// agoForms are the longest forms of appendAgo, each with as many digits as it can have.
func (l *Labels) agoForms() [8]string {
	return [...]string{l.JustNow, l.Minute, fmt.Sprintf(l.Minutes, 59), l.Hour, fmt.Sprintf(l.Hours, 23), l.Day,
		fmt.Sprintf(l.Days, 7), "2008-08-08"}
}

// recent reports whether t is within the last 24 hours. Clocks differ: the future is.
func recent(t, now time.Time) bool { return now.Sub(t) < recentSpan }
