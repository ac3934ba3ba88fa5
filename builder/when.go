package builder

import (
	"strconv"
	"time"
)

// recentSpan is how long ago something is recent.
const recentSpan = 24 * time.Hour

// appendStamp appends "[07-24 12:30]" in now's zone, with the year where it isn't now's.
func appendStamp(dst []byte, t, now time.Time, year bool) []byte {
	t = t.In(now.Location())
	y, month, day := t.Date()
	hour, minute, _ := t.Clock()
	dst = append(dst, '[')
	if year || y != now.Year() {
		dst = appendYear(dst, y)
		dst = append(dst, '-')
	}
	dst = append(dst, byte('0'+month/10), byte('0'+month%10), '-', byte('0'+day/10), byte('0'+day%10), ' ')
	return append(dst, byte('0'+hour/10), byte('0'+hour%10), ':', byte('0'+minute/10), byte('0'+minute%10), ']')
}

func appendYear(dst []byte, y int) []byte {
	if y >= 0 && y < 1000 {
		dst = append(dst, "000"[:4-len(strconv.Itoa(y))]...)
	}
	return strconv.AppendInt(dst, int64(y), 10)
}

// appendAgo appends how long ago t was: exact enough for "who is around", a date after a week.
func appendAgo(dst []byte, t, now time.Time) []byte {
	switch ago := now.Sub(t); {
	case ago < time.Minute:
		return append(dst, "just now"...)
	case ago < time.Hour:
		return appendUnits(dst, int(ago/time.Minute), "minute")
	case ago < 24*time.Hour:
		return appendUnits(dst, int(ago/time.Hour), "hour")
	case ago <= 7*24*time.Hour:
		return appendUnits(dst, int(ago/(24*time.Hour)), "day")
	}
	return t.In(now.Location()).AppendFormat(dst, time.DateOnly)
}

func appendUnits(dst []byte, n int, unit string) []byte {
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ' ')
	dst = append(dst, unit...)
	if n != 1 {
		dst = append(dst, 's')
	}
	return append(dst, " ago"...)
}

// recent reports whether t is within the last 24 hours. Clocks differ: the future is.
func recent(t, now time.Time) bool { return now.Sub(t) < recentSpan }
