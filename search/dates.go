package search

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/internal/text"
)

const day = 24 * time.Hour

// overlaps reports whether two spans share a moment.
func (d dateRange) overlaps(other dateRange) bool {
	return d.from.Before(other.to) && other.from.Before(d.to)
}

func (d dateRange) length() time.Duration { return d.to.Sub(d.from) }

// distance returns how far t is from the span; 0 within it.
func (d dateRange) distance(t time.Time) time.Duration {
	switch {
	case t.Before(d.from):
		return d.from.Sub(t)
	case t.After(d.to):
		return t.Sub(d.to)
	}
	return 0
}

// dateIn is a date and its place in a text.
type dateIn struct {
	dateRange
	start, end int
	weekday    bool // a weekday without a week
}

// datesIn returns the dates in s, relative to now: "25 May 2023", "2023-05", "in May", "yesterday", "three weeks
// ago", "last summer", "before March", "between Monday and Wednesday". It knows English, and relative dates in a
// few more languages.
func datesIn(s string, now time.Time) []dateRange {
	lower := strings.ToLower(s)
	found := append(calendarDates(lower, now), relativeDates(lower, now)...)
	slices.SortStableFunc(found, func(a, b dateIn) int { return a.start - b.start })
	end := 0 // of the previous date, which includes what lies within it
	found = slices.DeleteFunc(found, func(d dateIn) bool {
		within := d.start < end
		end = max(end, d.end)
		return within
	})
	var dates []dateRange
	for i := 0; i < len(found); i++ {
		d := found[i]
		if i+1 < len(found) && isSpan(lower, d, found[i+1]) && d.from.Before(found[i+1].to) {
			dates = append(dates, dateRange{from: d.from, to: found[i+1].to})
			i++
			continue
		}
		switch word := lastWord(lower[:d.start]); {
		case word == "before" && unitBefore.MatchString(lower[:d.start]):
			// "two weeks before yesterday" isn't supported
		case word != "before" && sidesBefore[word] && d.weekday:
			// "until Friday" may lie in the future
		case sidesBefore[word]:
			dates = append(dates, dateRange{to: d.from, open: true})
		case word == "after" && d.to.Before(now):
			dates = append(dates, dateRange{
				from: d.to,
				to:   now,
				open: true,
			})
		case word == "since" && d.from.Before(now):
			dates = append(dates, dateRange{
				from: d.from,
				to:   now,
				open: true,
			})
		default:
			dates = append(dates, d.dateRange)
		}
	}
	return dates
}

var sidesBefore = text.SetOf("before until till by")

var unitBefore = regexp.MustCompile(`(?:day|week|month|year)s?\s+before\s+(?:the\s+)?$`)

// isSpan reports whether s means all between two dates.
func isSpan(s string, a, b dateIn) bool {
	between := strings.TrimSpace(s[a.end:b.start])
	word := lastWord(s[:a.start])
	return word == "between" && between == "and" || word == "from" &&
		(between == "to" || between == "until" || between == "till")
}

// lastWord returns the last word of s, without a trailing "the"; empty if s doesn't end in a word.
func lastWord(s string) string {
	s = strings.TrimRight(s, " ")
	if rest, ok := strings.CutSuffix(s, " the"); ok {
		s = strings.TrimRight(rest, " ")
	}
	return s[strings.LastIndexAny(s, " \n\t\"'(,.;:!?")+1:]
}

// calendarDates returns the absolute dates in s.
func calendarDates(s string, now time.Time) []dateIn {
	if !strings.ContainsAny(s, "0123456789") && !slices.ContainsFunc(months[:], func(month string) bool {
		return strings.Contains(s, month[:3])
	}) {
		return nil
	}
	var dates []dateIn
	add := func(at []int, year, month, day string) {
		if d, ok := dateOf(year, month, day, now); ok {
			dates = append(dates, dateIn{
				dateRange: d,
				start:     at[0],
				end:       at[1],
			})
		}
	}
	rest := []byte(s) // s without the dates already read
	blank := func(at []int) {
		for i := at[0]; i < at[1]; i++ {
			rest[i] = ' '
		}
	}
	for _, at := range isoDate().FindAllStringSubmatchIndex(s, -1) {
		add(at, group(s, at, 1), group(s, at, 2), group(s, at, 3))
		blank(at)
	}
	for _, at := range dotDate().FindAllStringSubmatchIndex(s, -1) {
		add(at[2:4], group(s, at, 3), group(s, at, 2), group(s, at, 1))
	}
	for _, at := range mayVerb().FindAllStringIndex(s, -1) {
		blank(at)
	}
	understood := string(rest)
	for _, at := range dayMonth().FindAllStringSubmatchIndex(understood, -1) {
		add(at, group(s, at, 3), monthNumber(group(s, at, 2)), group(s, at, 1))
		blank(at)
	}
	understood = string(rest)
	for _, at := range monthDay().FindAllStringSubmatchIndex(understood, -1) {
		name := group(s, at, 1)
		day := group(s, at, 2)
		year := group(s, at, 3)
		if day == "" && year == "" && ambiguous[name] && !monthsFollow[lastWord(understood[:at[0]])] {
			continue
		}
		add(at, year, monthNumber(name), day)
		blank(at)
	}
	for _, at := range yearOnly().FindAllSubmatchIndex(rest, -1) {
		if y, _ := strconv.Atoi(s[at[2]:at[3]]); y <= now.Year() {
			first := time.Date(y, 1, 1, 0, 0, 0, 0, now.Location())
			dates = append(dates, dateIn{
				dateRange: dateRange{from: first, to: first.AddDate(1, 0, 0)},
				start:     at[2],
				end:       at[3],
			})
		}
	}
	return dates
}

// group returns the text of the nth group.
func group(s string, at []int, n int) string {
	if at[2*n] < 0 {
		return ""
	}
	return s[at[2*n]:at[2*n+1]]
}

// ambiguous months are as often a verb, a name or a step.
var ambiguous = map[string]bool{"may": true, "march": true, "mar": true, "sep": true, "jan": true,
	"april": true, "june": true, "august": true}

// monthsFollow are words after which an ambiguous word is a month.
var monthsFollow = text.SetOf("in last since until during of this early late by before after between from")

func monthNumber(name string) string {
	return strconv.Itoa(1 + slices.IndexFunc(months[:], func(m string) bool { return strings.HasPrefix(m, name[:3]) }))
}

// dateOf returns a day, or a month if day is empty; without a year, the latest not after now. Impossible days are
// no dates.
func dateOf(year, month, day string, now time.Time) (dateRange, bool) {
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	y, _ := strconv.Atoi(year)
	if m < 1 || m > 12 || day != "" && d < 1 {
		return dateRange{}, false
	}
	first := func(y int) time.Time { return time.Date(y, time.Month(m), max(d, 1), 0, 0, 0, 0, now.Location()) }
	if year == "" {
		y = now.Year()
		// 29 February takes up to 8
		for tries := 0; tries < 9 && (first(y).After(now) || first(y).Month() != time.Month(m)); tries++ {
			y--
		}
	}
	from := first(y)
	if from.Month() != time.Month(m) {
		return dateRange{}, false
	}
	to := from.AddDate(0, 1, 0)
	if d > 0 {
		to = from.AddDate(0, 0, 1)
	}
	return dateRange{from: from, to: to}, true
}

// relativeDates returns the spans in s that are relative to now.
func relativeDates(s string, now time.Time) []dateIn {
	c := newCalendar(now)
	var dates []dateIn
	for _, phrase := range foreignPhrases {
		if i := strings.Index(s, phrase.words); i >= 0 && phrase.stands(s, i) {
			dates = append(dates, dateIn{
				dateRange: c.span(phrase.unit, phrase.back),
				start:     i,
				end:       i + len(phrase.words),
			})
			s = strings.Replace(s, phrase.words, strings.Repeat(" ", len(phrase.words)), 1)
		}
	}
	var words []wordIn
	for _, at := range wordOf().FindAllStringIndex(s, -1) {
		words = append(words, wordIn{s[at[0]:at[1]], at[0], at[1]})
	}
	for i := 0; i < len(words); i++ {
		d, n := c.read(words[i:])
		if month := seasons[words[i].text]; n == 0 && month > 0 && followsIn(words[:i]) {
			d = c.season(month, 0)
			n = 1
		}
		if n > 0 && d != (dateRange{}) {
			dates = append(dates, dateIn{
				dateRange: d,
				start:     words[i].start,
				end:       words[i+n-1].end,
				weekday:   n == 1 && weekdays[words[i].text] > 0,
			})
		}
		i += max(n-1, 0)
	}
	return dates
}
