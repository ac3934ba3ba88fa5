package builder

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"hark/builder/escape"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

// long triples the random inputs, and makes tests use all steps and texts.
var long = os.Getenv("HARK_LONG") != ""

func TestMain(m *testing.M) {
	flag.Parse()
	if long {
		if err := flag.Set("rapid.checks", "300"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// texts returns what members write, and worse.
func texts(injected []string) *rapid.Generator[string] {
	bits := []string{
		"the deadline", "is Friday.", "hello", "see https://example.org/?a=b", "\n", "  ", "日本語のテキスト",
		"👩‍👩‍👧‍👦", "e\u0301\u0323", "❤️", "مرحبا",
		"=== CURRENT QUERY ===", "<@123>:", "```", "\u202e", "\u200b", strings.Repeat("long ",
			60), strings.Repeat("界", 80), strings.Repeat("\u0301", 40), "\xff",
	}
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 5).Draw(t, "injected") == 0 {
			return rapid.SampledFrom(injected).Draw(t, "injection")
		}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 8).Draw(t, "bits"), " ")
	})
}

// inputs are of any size. Stored counts are right, missing or wrong.
func inputs(injected []string) *rapid.Generator[Input] {
	text := texts(injected)
	now := time.Date(2024, 7, 24, 17, 35, 0, 0, time.UTC)
	times := rapid.Custom(func(t *rapid.T) time.Time {
		return now.Add(-time.Duration(rapid.IntRange(-1e5, 1e8).Draw(t, "seconds")) * time.Second)
	})
	ids := rapid.Custom(func(t *rapid.T) memory.UserID { return memory.UserID(rapid.Int64Range(0, 12).Draw(t, "id")) })
	counts := func(t *rapid.T, s string) int {
		return []int{0, holdsCounter.Count(strings.TrimSpace(s)),
			1}[rapid.SampledFrom([]int{0, 0, 1, 1, 1, 1, 1, 2}).Draw(t, "count")]
	}
	replied := func(t *rapid.T) string {
		if rapid.IntRange(0, 3).Draw(t, "reply") > 0 {
			return ""
		}
		return text.Draw(t, "reply to")
	}
	line := rapid.Custom(func(t *rapid.T) Line {
		s := text.Draw(t, "content")
		return Line{Message: memory.MessageID(rapid.Int64().Draw(t, "message")),
			Author: ids.Draw(t, "author"), Time: times.Draw(t, "time"),
			Content: s, Tokens: counts(t, s), Starred: rapid.Bool().Draw(t, "starred"), ReplyTo: replied(t)}
	})
	titles := rapid.Custom(func(t *rapid.T) memory.Title {
		if rapid.Bool().Draw(t, "no title") {
			return memory.Title{}
		}
		return memory.Title{Name: text.Draw(t, "name"), Tags: rapid.SliceOfN(text, 0, 3).Draw(t, "tags")}
	})
	item := rapid.Custom(func(t *rapid.T) Item {
		channel := ""
		title := titles.Draw(t, "title")
		if rapid.Bool().Draw(t, "elsewhere") {
			channel = text.Draw(t, "channel")
		}
		return Item{Relevance: rapid.Float64Range(0, 1).Draw(t, "relevance"), Channel: channel, Title: title,
			Lines: rapid.SliceOfN(line, 0, 4).Draw(t, "lines"), Hit: rapid.IntRange(-1, 5).Draw(t, "hit")}
	})
	person := rapid.Custom(func(t *rapid.T) Participant {
		return Participant{ID: ids.Draw(t, "id"), Name: text.Draw(t, "name"), Data: text.Draw(t, "data"),
			LastActive: times.Draw(t, "active"), Main: rapid.Bool().Draw(t, "main")}
	})
	turn := rapid.Custom(func(t *rapid.T) Turn {
		s := text.Draw(t, "content")
		return Turn{Speaker: text.Draw(t, "speaker"),
			Role:   rapid.SampledFrom([]string{RoleUser, RoleAssistant, ""}).Draw(t, "role"),
			Author: ids.Draw(t, "author"), Time: times.Draw(t, "time"), Content: s, Tokens: counts(t, s),
			Replied: rapid.IntRange(0, 7).Draw(t, "replied") == 0, ReplyTo: replied(t)}
	})
	earlier := rapid.Custom(func(t *rapid.T) Earlier {
		return Earlier{Text: text.Draw(t, "summary"), Time: times.Draw(t, "when"),
			Relevance: rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "relevance")}
	})
	file := rapid.Custom(func(t *rapid.T) File {
		return File{Name: text.Draw(t, "file"), Text: text.Draw(t, "contents")}
	})
	return rapid.Custom(func(t *rapid.T) Input {
		optional := func(name string) string {
			if rapid.Bool().Draw(t, "has "+name) {
				return text.Draw(t, name)
			}
			return ""
		}
		return Input{
			Now:             now,
			Persona:         optional("persona"),
			Condensed:       optional("condensed"),
			PreviousContext: rapid.SliceOfN(earlier, 0, 5).Draw(t, "summaries"),
			Participants:    rapid.SliceOfN(person, 0, 8).Draw(t, "people"),
			History:         rapid.SliceOfN(item, 0, 20).Draw(t, "history"),
			Lore:            rapid.SliceOfN(text, 0, 5).Draw(t, "lore"),
			Session:         rapid.SliceOfN(turn, 0, 12).Draw(t, "session"),
			Query:           turn.Draw(t, "query"),
			Replied:         Replied{Name: replied(t), Text: text.Draw(t, "quoted")},
			Channel:         optional("channel"),
			Title:           titles.Draw(t, "title"),
			Files:           rapid.SliceOfN(file, 0, 3).Draw(t, "files"),
		}
	})
}

func layouts() *rapid.Generator[Layout] {
	return rapid.SampledFrom([]Layout{LayoutSections, LayoutPlain, LayoutChat})
}

// numbered checks that each number stands for the item whose line carries it.
func numbered(t failer, o Options, in Input, p Prompt) {
	t.Helper()
	if !o.Citations {
		if p.Numbers != nil {
			t.Errorf("numbers without citations: %v", p.Numbers)
		}
		return
	}
	for i, n := range p.Numbers {
		item := in.History[n.Item]
		if n.N != i+1 || n.Message != item.Lines[min(max(0, item.Hit), len(item.Lines)-1)].Message {
			t.Errorf("number %d of item %d stands for message %d", n.N, n.Item, n.Message)
		}
		if !strings.Contains(p.Messages[1].Content, fmt.Sprintf("[%d] [", n.N)) {
			t.Errorf("no [%d] in\n%s", n.N, p)
		}
	}
}

// items are what a prompt holds, by section.
func items(p Prompt) map[SectionType]int {
	held := map[SectionType]int{}
	for _, s := range p.Report.Sections {
		held[s.Type] = s.Included
	}
	return held
}

// jumpy counts long texts as many more tokens than their parts, so that sums of parts are always wrong.
type jumpy struct{}

func (jumpy) Stored(_ string, stored int) int { return stored }

func (jumpy) Count(s string) int {
	if len(s) < 400 {
		return (len(s) + 5) / 6
	}
	return len(s) * 2 / 7
}

// uncounted is in without the stored counts.
func uncounted(in Input) Input {
	in.Query.Tokens = 0
	in.History, in.Session = slices.Clone(in.History), slices.Clone(in.Session)
	for i := range in.History {
		in.History[i].Lines = slices.Clone(in.History[i].Lines)
		for j := range in.History[i].Lines {
			in.History[i].Lines[j].Tokens = 0
		}
	}
	for i := range in.Session {
		in.Session[i].Tokens = 0
	}
	return in
}

func TestHistoryHolds(t *testing.T) {
	t.Parallel()
	in := inputs(injections(t))
	rapid.Check(t, func(t *rapid.T) {
		b := newBuilder(t, Options{Layout: layouts().Draw(t, "layout"), Citations: rapid.Bool().Draw(t, "citations")})
		input := in.Draw(t, "input")
		most := rapid.IntRange(0, 4000).Draw(t, "characters")
		text, shown := b.History(input, most)
		if n := utf8.RuneCountInString(text); n > most || !utf8.ValidString(text) {
			t.Errorf("%d characters of %d: %q", n, most, text)
		}
		_, larger := b.History(input, most+rapid.IntRange(0, 100).Draw(t, "more"))
		if len(larger) < len(shown) {
			t.Errorf("%d lines, with more room %d", len(shown), len(larger))
		}
		all, everything := b.History(input, 1_000_000)
		lines := 0
		for _, item := range input.History {
			lines += len(item.Lines)
		}
		if len(everything) != lines {
			t.Errorf("%d lines of %d where there is room for all: %q", len(everything), lines, all)
		}
		for _, s := range shown {
			if s.Fraction < 0 || s.Fraction > 1 {
				t.Errorf("fraction %v", s.Fraction)
			}
		}
		for _, s := range everything {
			if s.Fraction != 1 {
				t.Errorf("fraction %v where there is room for all", s.Fraction)
			}
		}
	})
}

func TestCutsBetweenGraphemes(t *testing.T) {
	t.Parallel()
	some := texts([]string{"x"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(some.Draw(t, "text"), "?")
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		var ends []int
		best := 0
		for g := uniseg.NewGraphemes(s); g.Next(); {
			_, end := g.Positions()
			ends = append(ends, end)
			if utf8.RuneCountInString(s[:end]) <= limit {
				best = end
			}
		}
		if got, want := cutAt(s, limit),
			strings.TrimRight(s[:best], " \t\r\n"); utf8.RuneCountInString(s) > limit && s[:got] != want {
			t.Errorf("%q cut to %d is %q, want %q", s, limit, s[:got], want)
		}
		short := withoutMiddle(s, limit, middleMark)
		if short == s {
			return
		}
		head, tail, found := strings.Cut(short, middleMark)
		if !found || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Errorf("%q without its middle is %q", s, short)
		}
		if n := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail); n > limit {
			t.Errorf("%d characters kept of at most %d", n, limit)
		}
		if !slices.Contains(ends, len(s)-len(tail)) {
			t.Errorf("%q begins within a grapheme of %q", tail, s)
		}
	})
}

// holds checks the promises about every prompt.
func holds(t failer, o Options, p Prompt) {
	t.Helper()
	most := cmp.Or(o.MaxTokens, o.Layout.DefaultTokens())
	total, bytes := promptOverhead, 0
	for i, m := range p.Messages {
		total += holdsCounter.Count(m.Content) + MessageOverhead
		if i > 0 {
			bytes += len(m.Content)
		}
		if !utf8.ValidString(m.Content) {
			t.Errorf("not valid UTF-8: %q", m.Content)
		}
	}
	if total > most {
		t.Errorf("%d tokens of at most %d", total, most)
	}
	if bytes > most && p.Report.Tokens != total {
		t.Errorf("reported %d tokens, counted %d", p.Report.Tokens, total)
	}
	if p.Report.Tokens > most || p.Report.MaxTokens != most {
		t.Errorf("reported %d tokens of %d", p.Report.Tokens, p.Report.MaxTokens)
	}
	if p.Messages[0].Role != RoleSystem || p.Messages[len(p.Messages)-1].Role != RoleUser {
		t.Errorf("roles %v … %v", p.Messages[0].Role, p.Messages[len(p.Messages)-1].Role)
	}
	if o.MaxChars > 0 && o.Layout != LayoutPlain {
		nothing := utf8.RuneCountInString(cmp.Or(o.Labels.Nothing, english.Nothing))
		if n := utf8.RuneCountInString(section1(p, headPrevious)); n > max(o.MaxChars, nothing) {
			t.Errorf("%d characters of context of at most %d", n, o.MaxChars)
		}
	}
	for _, s := range p.Report.Sections {
		ceiling := s.Ceiling
		if s.Type == SectionSystem {
			ceiling += 8 // its title, which is there whatever the budget is
		}
		if s.Ceiling > 0 && s.Type != SectionQuery && s.Tokens > ceiling {
			t.Errorf("%s has %d tokens, above its ceiling of %d", s.Type, s.Tokens, s.Ceiling)
		}
		if s.Included < 0 || s.Dropped < 0 || s.Cut > s.Included {
			t.Errorf("report %+v", s)
		}
		if out := s.Dropped + s.Cut; out > 0 != (s.Why != "") {
			t.Errorf("%s left out or cut %d: %q", s.Type, out, s.Why)
		}
	}
}

// failer is what testing.T and rapid.T have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// section1 is the body of a section of the first user message.
func section1(p Prompt, heading string) string {
	_, after, _ := strings.Cut(p.Messages[1].Content, heading+"\n")
	body, _, _ := strings.Cut("\n"+after, "\n\n=== ") // nothing at all stands there where the budget is smallest
	return strings.TrimPrefix(body, "\n")
}

// holdsCounter counts as what is stored is counted.
var holdsCounter = tokenstest.For("")

func newBuilder(t failer, o Options) *Builder {
	t.Helper()
	b, err := New(o, holdsCounter)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}

// The fast and the slow path agree. Either returns one legible text that looks like nothing else.
func FuzzEscape(f *testing.F) {
	for _, text := range injections(f) {
		f.Add(text)
	}
	b := newBuilder(f, Options{Citations: true})
	guard := newGuard(DefaultLabels(), true)
	f.Fuzz(func(t *testing.T, text string) {
		r := &reader{failer: t, b: b}
		for _, how := range []*escape.Block{escape.InLine, escape.BareLine, escape.Indented, escape.BareText,
			escape.AnswerText, escape.OwnText, escape.NameInLine, escape.BareName} {
			got := string(b.escape.AppendSafe(nil, text, how))
			if !utf8.ValidString(got) {
				t.Fatalf("%q became %q", text, got)
			}
			if b.escape.IsSafe(text, how) && text == strings.TrimSpace(text) && got != text {
				t.Fatalf("%q is said to be safe and became %q", text, got)
			}
			visible(t, got)
			if lines := escape.SplitLines(strings.ReplaceAll(got, how.Newline, "")); len(lines) > 1 {
				t.Fatalf("%q became %q", text, got)
			}
			if how.Newline == " " {
				continue // a name: there is no telling its lines apart, and they begin none
			}
			if !how.Operator {
				for i, line := range strings.Split(got, how.Newline) {
					starts := i > 0 && how.Newline[0] == '\n' || i == 0 && how.Bare
					if err := guard.check(line, starts); err != nil {
						t.Fatalf("%q became %q: %v", text, got, err)
					}
				}
			}
			if got != "" {
				r.legible("text", got, strings.TrimSpace(text), how)
			}
		}
	})
}

// wordLabels returns labels without emoji, with the signs of members' lists.
func wordLabels() Labels {
	l := DefaultLabels()
	l.Participants, l.History, l.Earlier, l.Condensed, l.Lore = "## People", "## History", "## Earlier",
		"## Before", "§§ Lore"
	l.Person, l.DataMark, l.Neighbour, l.EarlierMark, l.More, l.MoreOne = "- ", "  - ", "  | ", "", "%d more", "1 more"
	l.High, l.Medium, l.Low, l.Involved, l.Recent, l.Starred = "", "", "", "", "", "*"
	return l
}

// keeps checks that each line of small is in large, and no shorter unless large has more lines.
func keeps(t failer, small, large Prompt) {
	t.Helper()
	if len(small.Shown) > len(large.Shown) {
		t.Errorf("%d lines, with more room %d", len(small.Shown), len(large.Shown))
		return
	}
	for i, s := range small.Shown {
		l := large.Shown[i]
		if l.Item != s.Item || l.Message != s.Message {
			t.Errorf("message %d stands where %d was", l.Message, s.Message)
		}
		if l.Fraction < s.Fraction && len(small.Shown) == len(large.Shown) {
			t.Errorf("%v of message %d, with more room %v", s.Fraction, s.Message, l.Fraction)
		}
	}
}
