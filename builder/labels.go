package builder

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/builder/escape"
)

// The relevances above which an item is marked as high or medium.
const (
	highRelevance   = 0.8
	mediumRelevance = 0.6
)

// Labels are the words and marks around members' texts. Labels without a kind may be empty. A title has a
// letter or a digit, by which forgeries of it are recognised. A number has one %d.
type Labels struct {
	Participants string `label:"title"`
	Person       string // before each participant, and each piece of lore
	LastActive   string
	JustNow      string `label:"needed"` // less than a minute ago, or in the future
	Minute       string `label:"needed"` // one minute ago
	Minutes      string `label:"number"` // from 2 to 59
	Hour         string `label:"needed"`
	Hours        string `label:"number"` // from 2 to 23
	Day          string `label:"needed"`
	Days         string `label:"number"` // from 2 to 7
	DataMark     string
	Data         string

	History   string `label:"title"`
	High      string // relevance above 0.8
	Medium    string // above 0.6
	Low       string
	Involved  string // a main participant wrote a line of the item
	Recent    string // of the last 24 hours
	Starred   string
	Neighbour string // before a hit's neighbours
	NoText    string `label:"needed"` // in place of an empty message
	More      string `label:"number"` // items left out
	MoreOne   string // one item left out

	Earlier     string `label:"title"` // of the summaries of earlier sessions
	EarlierMark string // before each of them
	Condensed   string `label:"title"` // of the summary of the session's older part
	Lore        string `label:"title"`
	Nothing     string `label:"needed"` // if nothing was recalled
}

// Relevance returns the mark of a relevance in [0, 1].
func (l Labels) Relevance(relevance float64) string {
	switch {
	case relevance > highRelevance:
		return l.High
	case relevance > mediumRelevance:
		return l.Medium
	}
	return l.Low
}

// marks returns the marks of history items, in display order; see work.marks.
func (l *Labels) marks() [6]string {
	return [...]string{l.High, l.Medium, l.Low, l.Involved, l.Recent, l.Starred}
}

// sectionTitles returns the title of each section.
func (l *Labels) sectionTitles() [sectionKinds]string {
	return [...]string{headSession, l.Participants, l.History, l.Earlier, l.Lore, "Files"}
}

// titles returns the titles that members could forge.
func (l *Labels) titles() []string {
	return []string{l.Participants, l.History, l.Earlier, l.Condensed, l.Lore}
}

// headings returns the titles, and the headings of all layouts.
func (l *Labels) headings() []string {
	return append(l.titles(), headSystem, headPrevious, headSession, headQuery, plainSystem, plainPrevious, plainSession,
		plainQuery)
}

// appendMarks appends the marks that are on, with a space between words.
func appendMarks(dst []byte, marks *[6]string, on [6]bool) []byte {
	start := len(dst)
	for i, mark := range marks {
		if !on[i] || mark == "" {
			continue
		}
		before, _ := utf8.DecodeLastRune(dst[start:])
		first, _ := utf8.DecodeRuneInString(mark)
		if len(dst) > start && inWord(before) && inWord(first) {
			dst = append(dst, ' ')
		}
		dst = append(dst, mark...)
	}
	return dst
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// LabelError is an invalid label.
type LabelError struct {
	Label   string // the field of Labels
	Problem string // such as "can't be empty"
}

// Error names the field and its problem.
func (e *LabelError) Error() string { return "label " + e.Label + " " + e.Problem }

// Check returns a *LabelError if a label is invalid.
func (l Labels) Check() error {
	for field, value := range reflect.ValueOf(l).Fields() {
		if problem := labelProblem(value.String(), field.Tag.Get("label")); problem != "" {
			return &LabelError{field.Name, problem}
		}
	}
	return nil
}

func labelProblem(text, kind string) string {
	switch {
	case len(escape.SplitLines(text)) > 1 || strings.Contains(text, "==="):
		return strconv.Quote(text) + " must be part of one line, without ==="
	case kind != "" && strings.TrimSpace(text) == "":
		return "can't be empty"
	case kind == "title" && len(escape.Fold(text)) == 0:
		return strconv.Quote(text) + " must hold a letter or a digit"
	case kind == "title" && utf8.RuneCountInString(text) > escape.TitleMost:
		return "must have at most " + strconv.Itoa(escape.TitleMost) + " characters"
	case kind == "number" && (strings.Count(text, "%") != 1 || !strings.Contains(text, "%d")):
		return strconv.Quote(text) + " must hold one %d, for the number"
	}
	return ""
}

// escaperOf returns the escaper for prompts with labels l, which New has checked. numbers says whether history
// items are numbered.
func escaperOf(l Labels, numbers bool) *escape.Escaper {
	marks := l.marks()
	w := escape.Words{
		Titles: l.headings(),
		Signs:  signs(l),
		Marks:  marks[:],
	}
	if open := strings.IndexByte(l.EarlierMark, '['); open >= 0 {
		w.Tag = escape.InBrackets(l.EarlierMark[open+1:])
	}
	return escape.New(w, numbers)
}

// signs returns the beginnings of a prompt's lines: marks, and the emoji before titles.
func signs(l Labels) []string {
	list := []string{l.Person, l.DataMark, l.Neighbour, l.EarlierMark}
	marks := l.marks()
	list = append(list, marks[:]...)
	for _, title := range append(l.titles(), l.More, l.MoreOne) {
		list = append(list, title[:len(title)-len(strings.TrimLeftFunc(title, escape.IsSign))])
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}

// The headings of the layouts. Package escape keeps members from forging them.
const (
	headSystem   = "=== SYSTEM INSTRUCTIONS ==="
	headPrevious = "=== PREVIOUS CONTEXT ==="
	headSession  = "=== CURRENT SESSION ==="
	headQuery    = "=== CURRENT QUERY ==="

	plainSystem   = "SYSTEM ROLE:"
	plainPrevious = "PREVIOUS CONTEXT (from long-term memory):"
	plainSession  = "RECENT CONVERSATION:"
	plainQuery    = "CURRENT QUERY:"
)

// agoForms returns the longest forms of appendAgo, with as many digits as possible.
func (l *Labels) agoForms() [8]string {
	return [...]string{l.JustNow, l.Minute, fmt.Sprintf(l.Minutes, 59), l.Hour, fmt.Sprintf(l.Hours, 23), l.Day,
		fmt.Sprintf(l.Days, 7), "2008-08-08"}
}
