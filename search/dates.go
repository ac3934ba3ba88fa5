package search

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateRange is a span of time that a question asks about.
type dateRange struct{ from, to time.Time }

// distance is how far t is from the nearest date asked for; 0 within it.
func (q question) distance(t time.Time) time.Duration {
	nearest := time.Duration(1<<63 - 1)
	for _, d := range q.dates {
		switch {
		case t.Before(d.from):
			nearest = min(nearest, d.from.Sub(t))
		case t.After(d.to):
			nearest = min(nearest, t.Sub(d.to))
		default:
			return 0
		}
	}
	return nearest
}

var (
	months   = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	isoDate  = regexp.MustCompile(`\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?\b`)
	dayMonth = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+(` + monthNames + `)\b\.?(?:,?\s+(\d{4}))?`)
	monthDay = regexp.MustCompile(`(?i)\b(` + monthNames + `)\b\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?\b)?(?:,?\s+(\d{4})\b)?`)
)

const monthNames = `january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec`

// datesIn are the dates that s names, as seen at now: "25 May 2023", "May 25", "2023-05", "in May",
// "yesterday", "last week".
func datesIn(s string, now time.Time) []dateRange {
	var dates []dateRange
	lower := strings.ToLower(s)
	for _, m := range isoDate.FindAllStringSubmatch(lower, -1) {
		dates = appendDate(dates, m[1], m[2], m[3], now)
	}
	rest := lower
	for _, m := range dayMonth.FindAllStringSubmatch(lower, -1) {
		dates = appendDate(dates, m[3], monthNumber(m[2]), m[1], now)
		rest = strings.Replace(rest, m[0], " ", 1)
	}
	for _, m := range monthDay.FindAllStringSubmatch(rest, -1) {
		if m[2] == "" && m[3] == "" && (m[1] == "may" || m[1] == "march" || m[1] == "mar" || m[1] == "sep") && !isMonthHere(rest, m[0]) {
			continue // "may" is mostly the verb
		}
		dates = appendDate(dates, m[3], monthNumber(m[1]), m[2], now)
	}
	return append(dates, relativeDates(lower, now)...)
}

// isMonthHere reports whether a word that is a month or something else follows a word that months follow.
func isMonthHere(s, word string) bool {
	for _, before := range []string{"in ", "last ", "since ", "until ", "during ", "of ", "this ", "early ", "late ", "by "} {
		if strings.Contains(s, before+word) {
			return true
		}
	}
	return false
}

func monthNumber(name string) string {
	for i, m := range months {
		if strings.HasPrefix(m, name[:3]) {
			return strconv.Itoa(i + 1)
		}
	}
	return ""
}

// appendDate appends a day, or a month if day is empty. Without a year it is the last one that isn't later
// than now.
func appendDate(dates []dateRange, year, month, day string, now time.Time) []dateRange {
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	y, _ := strconv.Atoi(year)
	if m < 1 || m > 12 || d > 31 {
		return dates
	}
	if year == "" {
		y = now.Year()
		if time.Date(y, time.Month(m), max(d, 1), 0, 0, 0, 0, now.Location()).After(now) {
			y--
		}
	}
	from := time.Date(y, time.Month(m), max(d, 1), 0, 0, 0, 0, now.Location())
	to := from.AddDate(0, 1, 0)
	if d > 0 {
		to = from.AddDate(0, 0, 1)
	}
	return append(dates, dateRange{from, to})
}

// relativeDates are the spans that s counts from now.
func relativeDates(s string, now time.Time) []dateRange {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	year := time.Date(now.Year(), 1, 1, 0, 0, 0, 0, now.Location())
	var dates []dateRange
	for _, span := range []struct {
		words    string
		from, to time.Time
	}{
		{"today", today, now},
		{"yesterday", today.AddDate(0, 0, -1), today},
		{"this week", monday, now},
		{"last week", monday.AddDate(0, 0, -7), monday},
		{"this month", month, now},
		{"last month", month.AddDate(0, -1, 0), month},
		{"this year", year, now},
		{"last year", year.AddDate(-1, 0, 0), year},
	} {
		if strings.Contains(s, span.words) {
			dates = append(dates, dateRange{span.from, span.to})
		}
	}
	return dates
}
