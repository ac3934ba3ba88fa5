package search

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hark/internal/pattern"
	"hark/internal/text"
)

// wordIn is a word and its place in a text.
type wordIn struct {
	text       string
	start, end int
}

var wordOf = pattern.Of(`[\p{L}\p{M}\d]+`)

// followsIn reports whether the next word follows "in" or "in the".
func followsIn(words []wordIn) bool {
	n := len(words)
	return n > 0 && words[n-1].text == "in" || n > 1 && words[n-2].text == "in" && words[n-1].text == "the"
}

// calendar computes spans relative to a moment.
type calendar struct{ now, today time.Time }

func newCalendar(now time.Time) calendar {
	return calendar{now, time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())}
}

// read returns the span that words begin with, and its number of words; 0 if none.
func (c calendar) read(words []wordIn) (dateRange, int) {
	word := func(i int) string {
		if i < len(words) {
			return words[i].text
		}
		return ""
	}
	switch first := word(0); {
	case first == "today" || first == "tonight":
		return c.span("day", 0), 1
	case first == "yesterday":
		return c.span("day", 1), 1
	case first == "this" && partsOfDay[word(1)]:
		return c.span("day", 0), 2
	case first == "last" && word(1) == "night":
		return dateRange{from: c.today.AddDate(0, 0, -1), to: c.today.Add(6 * time.Hour)}, 2
	case first == "next": // the future wasn't said
		return dateRange{}, 2
	case first == "day" && word(1) == "before" && word(2) == "yesterday":
		return c.span("day", 2), 3
	case units[first] && word(1) == "before" && word(2) == "last":
		return c.span(first, 2), 3
	case first == "other" && word(1) == "day":
		return dateRange{from: c.today.AddDate(0, 0, -7), to: c.today}, 2
	case first == "last" && units[word(1)] && word(2) == "of": // the end of something else, such as a trip
		return dateRange{}, 3
	case first == "past" && units[word(1)]:
		return dateRange{from: c.back(word(1), 1), to: c.now}, 2
	case (first == "last" || first == "past") && word(1) == "couple" && word(2) == "of":
		d, n := c.nth(first, word(1), word(3))
		return d, n + min(n, 1)
	case first == "last" || first == "past" || first == "this":
		return c.nth(first, word(1), word(2))
	case countOf(first) > 0:
		return c.ago(word)
	case seasons[first] > 0:
		return c.seasonOf(words)
	default:
		return c.weekday(first, 0)
	}
}

// nth reads "last week", "this month", "last 3 days", "last summer", "last Friday".
func (c calendar) nth(which, unit, next string) (dateRange, int) {
	back := 1
	if which == "this" {
		back = 0
	}
	if n := countOf(unit); n > 0 && back == 1 {
		if u, ok := strings.CutSuffix(next, "s"); ok && units[u] {
			return dateRange{from: c.back(u, n), to: c.now}, 3
		}
		return dateRange{}, 0
	}
	if month := seasons[unit]; month > 0 {
		return c.season(month, back), 2
	}
	if units[unit] || unit == "weekend" {
		return c.span(unit, back), 2
	}
	d, n := c.weekday(unit, back)
	if n > 0 {
		n = 2
	}
	return d, n
}

// ago reads "3 days ago", "a week ago", "a couple of months ago".
func (c calendar) ago(word func(int) string) (dateRange, int) {
	at := 1
	n := countOf(word(0))
	if word(0) == "a" && (word(1) == "couple" || word(1) == "few") {
		at = 2
		n = countOf(word(1))
	}
	if word(at-1) == "couple" && word(at) == "of" {
		at++
	}
	unit := strings.TrimSuffix(word(at), "s")
	if n > 0 && (unit == "hour" || unit == "minute") && word(at+1) == "ago" {
		taken := at + 2
		at := c.now.Add(-time.Duration(n) * map[string]time.Duration{"hour": time.Hour, "minute": time.Minute}[unit])
		return dateRange{from: at.Add(-time.Hour), to: at.Add(time.Hour)}, taken
	}
	if n == 0 || !units[unit] || word(at+1) != "ago" {
		return dateRange{}, 0
	}
	from := c.back(unit, n)
	to := from.AddDate(0, 0, 1)
	switch unit { // rough words mean rough spans
	case "week":
		from, to = from.AddDate(0, 0, -3), from.AddDate(0, 0, 4)
	case "month":
		from, to = from.AddDate(0, 0, -15), from.AddDate(0, 0, 16)
	case "year":
		from, to = from.AddDate(0, -6, 0), from.AddDate(0, 6, 0)
	}
	if word(at+2) == "today" {
		at++
	}
	return dateRange{from: from, to: to}, at + 2
}

// back returns the day n units before today.
func (c calendar) back(unit string, n int) time.Time {
	switch unit {
	case "week":
		return c.today.AddDate(0, 0, -7*n)
	case "month":
		return c.today.AddDate(0, -n, 0)
	case "year":
		return c.today.AddDate(-n, 0, 0)
	}
	return c.today.AddDate(0, 0, -n)
}

// span returns the unit that lies back units before the current one, which ends now.
func (c calendar) span(unit string, back int) dateRange {
	monday := c.today.AddDate(0, 0, -(int(c.today.Weekday())+6)%7)
	var from, to time.Time
	switch unit {
	case "day":
		from = c.today.AddDate(0, 0, -back)
		to = from.AddDate(0, 0, 1)
	case "week":
		from = monday.AddDate(0, 0, -7*back)
		to = from.AddDate(0, 0, 7)
	case "weekend":
		from = monday.AddDate(0, 0, 5-7*back)
		to = from.AddDate(0, 0, 2)
	case "month":
		from = time.Date(c.now.Year(), c.now.Month()-time.Month(back), 1, 0, 0, 0, 0, c.now.Location())
		to = from.AddDate(0, 1, 0)
	default:
		from = time.Date(c.now.Year()-back, 1, 1, 0, 0, 0, 0, c.now.Location())
		to = from.AddDate(1, 0, 0)
	}
	if back == 0 {
		to = c.now
		if from.After(to) { // a coming weekend
			from = c.today
		}
	}
	return dateRange{from: from, to: to}
}

// seasonOf reads "summer 2023" and "summer of 2023". A season without a year may be a name or anything else.
func (c calendar) seasonOf(words []wordIn) (dateRange, int) {
	at := 1
	if at < len(words) && words[at].text == "of" {
		at++
	}
	if at >= len(words) || !isYear(words[at].text) {
		return dateRange{}, 0
	}
	year, _ := strconv.Atoi(words[at].text)
	from := time.Date(year, seasons[words[0].text], 1, 0, 0, 0, 0, c.now.Location())
	return dateRange{from: from, to: from.AddDate(0, 3, 0)}, at + 1
}

// season returns the latest season from month on that has begun, or with back 1 that has ended.
func (c calendar) season(month time.Month, back int) dateRange {
	from := time.Date(c.now.Year(), month, 1, 0, 0, 0, 0, c.now.Location())
	for from.After(c.now) || back == 1 && from.AddDate(0, 3, 0).After(c.now) {
		from = from.AddDate(-1, 0, 0)
	}
	return dateRange{from: from, to: from.AddDate(0, 3, 0)}
}

// weekday returns the last day with that name; with back 1 not today.
func (c calendar) weekday(name string, back int) (dateRange, int) {
	weekday, ok := weekdays[name]
	if !ok {
		return dateRange{}, 0
	}
	days := (int(c.today.Weekday()) - weekday + 7) % 7
	if days == 0 && back == 1 {
		days = 7
	}
	from := c.today.AddDate(0, 0, -days)
	return dateRange{from: from, to: from.AddDate(0, 0, 1)}, 1
}

// countOf returns the number that a word stands for; 0 if none.
func countOf(word string) int {
	if isCount(word) {
		n, _ := strconv.Atoi(word)
		return n
	}
	return counts[word]
}

func isCount(word string) bool {
	return len(word) > 0 && len(word) < 4 && strings.Trim(word, "0123456789") == ""
}

var (
	partsOfDay = text.SetOf("morning afternoon evening noon")
	units      = text.SetOf("day week month year")
	counts     = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
		"seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "couple": 2, "few": 3, "several": 4}
	// seasons by their first month, on the northern hemisphere.
	seasons = map[string]time.Month{"spring": time.March, "summer": time.June, "autumn": time.September,
		"fall": time.September, "winter": time.December}
	weekdays = map[string]int{"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4,
		"friday": 5, "saturday": 6}
)

// foreignPhrase is a span in another language.
type foreignPhrase struct {
	words string
	unit  string
	back  int
}

// stands reports whether the phrase at i in s is whole words, or of a script without spaces.
func (p foreignPhrase) stands(s string, i int) bool {
	if first, _ := utf8.DecodeRuneInString(p.words); unicode.Is(unicode.Han, first) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+len(p.words):])
	return !unicode.IsLetter(before) && !unicode.IsLetter(after)
}

// foreignPhrases are German, French, Spanish, Japanese and Chinese; longer phrases precede those they
// contain. "Hier" is missing: in German it is a place.
var foreignPhrases = []foreignPhrase{
	{"heute", "day", 0}, {"vorgestern", "day", 2}, {"gestern", "day", 1},
	{"diese woche", "week", 0}, {"letzte woche", "week", 1}, {"letztes wochenende", "weekend", 1},
	{"letzten monat", "month", 1}, {"letzter monat", "month", 1}, {"letztes jahr", "year", 1},
	{"aujourd'hui", "day", 0}, {"avant-hier", "day", 2}, {"cette semaine", "week", 0}, {"la semaine dernière", "week", 1},
	{"le mois dernier", "month", 1}, {"l'année dernière", "year", 1}, {"l'an dernier", "year", 1},
	{"hoy", "day", 0}, {"anteayer", "day", 2}, {"ayer", "day", 1}, {"esta semana", "week", 0},
	{"la semana pasada", "week", 1}, {"el mes pasado", "month", 1}, {"el año pasado", "year", 1},
	{"今日", "day", 0}, {"一昨日", "day", 2}, {"昨日", "day", 1}, {"今週", "week", 0}, {"先週", "week", 1},
	{"先月", "month", 1}, {"去年", "year", 1}, {"昨年", "year", 1},
	{"今天", "day", 0}, {"昨天", "day", 1}, {"前天", "day", 2}, {"這週", "week", 0}, {"上週", "week", 1}, {"上周", "week", 1},
	{"上個月", "month", 1}, {"上个月", "month", 1},
}

// dateRange is a span of time in a text.
type dateRange struct {
	from, to time.Time
	open     bool // everything before or after a date
}
