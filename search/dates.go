package search

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"hark/internal/text"
)

// dateRange is a span of time that a question asks about.
type dateRange struct{ from, to time.Time }

const day = 24 * time.Hour

// overlaps reports whether two spans have a moment in common.
func (d dateRange) overlaps(other dateRange) bool {
	return d.from.Before(other.to) && other.from.Before(d.to)
}

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
	isoDate  = regexp.MustCompile(`\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:\b|t)`)
	mayVerb  = regexp.MustCompile(`\bmay\s+(?:be|have|not|also|still|only|need|want|come|go|get|take|make|help|work)\b`)
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
	for _, m := range dayMonth.FindAllStringSubmatch(mayVerb.ReplaceAllString(lower, " "), -1) {
		dates = appendDate(dates, m[3], monthNumber(m[2]), m[1], now)
		rest = strings.Replace(rest, m[0], " ", 1)
	}
	for _, at := range monthDay.FindAllStringSubmatchIndex(rest, -1) {
		name, day, year := group(rest, at, 1), group(rest, at, 2), group(rest, at, 3)
		if day == "" && year == "" && ambiguous[name] && !monthsFollow(rest[:at[0]]) {
			continue
		}
		dates = appendDate(dates, year, monthNumber(name), day, now)
	}
	return append(dates, relativeDates(lower, now)...)
}

// group is what the nth group matched.
func group(s string, at []int, n int) string {
	if at[2*n] < 0 {
		return ""
	}
	return s[at[2*n]:at[2*n+1]]
}

// ambiguous are the months that are as often something else: a verb, a name, a step.
var ambiguous = map[string]bool{"may": true, "march": true, "mar": true, "sep": true, "jan": true, "april": true, "june": true, "august": true}

// monthsFollow reports whether the last word of s is one that months follow.
func monthsFollow(s string) bool {
	words := strings.Fields(s)
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "in", "last", "since", "until", "during", "of", "this", "early", "late", "by", "before", "after":
		return true
	}
	return false
}

func monthNumber(name string) string {
	for i, m := range months {
		if strings.HasPrefix(m, name[:3]) {
			return strconv.Itoa(i + 1)
		}
	}
	return "" // uncovered: the expressions match names of months only
}

// appendDate appends a day, or a month if day is empty. Without a year it is the last one that isn't later
// than now. A day that no calendar has isn't a date.
func appendDate(dates []dateRange, year, month, day string, now time.Time) []dateRange {
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	y, _ := strconv.Atoi(year)
	if m < 1 || m > 12 || day != "" && d < 1 {
		return dates
	}
	first := func(y int) time.Time { return time.Date(y, time.Month(m), max(d, 1), 0, 0, 0, 0, now.Location()) }
	if year == "" {
		y = now.Year()
		for tries := 0; tries < 9 && (first(y).After(now) || first(y).Month() != time.Month(m)); tries++ { // 29 February takes up to 8
			y--
		}
	}
	from := first(y)
	if from.Month() != time.Month(m) {
		return dates
	}
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
	words := " " + strings.Join(text.Words(s), " ") + " "
	var dates []dateRange
	for _, span := range []struct {
		words    string
		from, to time.Time
	}{
		{"today", today, now},
		{"yesterday", today.AddDate(0, 0, -1), today},
		{"this week", monday, now},
		{"last week", monday.AddDate(0, 0, -7), monday},
		{"last weekend", monday.AddDate(0, 0, -2), monday},
		{"this month", month, now},
		{"last month", month.AddDate(0, -1, 0), month},
		{"this year", year, now},
		{"last year", year.AddDate(-1, 0, 0), year},
	} {
		if strings.Contains(words, " "+span.words+" ") {
			dates = append(dates, dateRange{span.from, span.to})
		}
	}
	return dates
}
