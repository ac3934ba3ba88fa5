package builder

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"hark/builder/escape"
)

// guard reads members' texts in a prompt as generously as a model might, by patterns of its own: nothing in
// them may look like the prompt's words.
type guard struct {
	titles []string
	signs  []string
	cites  bool
}

func newGuard(l Labels, cites bool) *guard {
	g := &guard{cites: cites}
	for _, title := range append(l.titles(), headSystem, headPrevious, headSession, headQuery, plainSystem,
		plainPrevious, plainSession, plainQuery) {
		if folded := string(escape.Fold(title)); folded != "" {
			g.titles = append(g.titles, folded)
		}
		if sign, _, _ := strings.Cut(title, " "); !strings.HasPrefix(sign, "=") &&
			strings.IndexFunc(sign, unicode.IsLetter) < 0 {
			g.signs = append(g.signs, sign)
		}
	}
	marks := l.marks()
	for _, sign := range append(marks[:], l.Person, l.DataMark, l.Neighbour, l.EarlierMark) {
		if sign = strings.TrimSpace(sign); sign != "" {
			g.signs = append(g.signs, sign)
		}
	}
	return g
}

// never are forms that no text of a member's has in a prompt, and atBegin those that none of its lines begins
// with.
var (
	never = map[string]*regexp.Regexp{
		"mention tag":    regexp.MustCompile(`[<＜﹤][@＠﹫][!& ]*\p{Nd}[\p{Nd} ]*[>＞﹥]`),
		"template token": regexp.MustCompile(`<[|｜][\pL_]`),
		"template tag": regexp.MustCompile(
			`(?i)</?(s|system|user|assistant|instructions|think|tool_call|start_of_turn|previous_context|` +
				`current_query)( [^<>]{0,16})?/?>`),
		"template mark": regexp.MustCompile(
			`(?i)\[/?(INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|previous_context)\]|<<SYS>>`),
		"fence":      regexp.MustCompile("```"),
		"emoji's id": regexp.MustCompile(`<a?:(x|wave|dance):\d+>`),
		"heading": regexp.MustCompile(
			`(?i)={3}[^\pL\d⏎]*(SYSTEM INSTRUCTIONS|PREVIOUS CONTEXT|CURRENT SESSION|CURRENT QUERY)([^\pL\d]|` +
				`$)|(^|[^\pL\d])(SYSTEM INSTRUCTIONS|PREVIOUS CONTEXT|CURRENT SESSION|CURRENT ` +
				`QUERY)[^\pL\d⏎]*={3}`),
		"title": regexp.MustCompile(
			`(^|[^\p{Latin}\p{Greek}\p{Cyrillic}\d])(SYSTEM ROLE|RECENT CONVERSATION|CURRENT QUERY)[:：]([^/]|$)`),
		"speaker": regexp.MustCompile(`[<＜]@!?\d+[>＞][ *_]*[:：(|]`),
	}
	generics     = regexp.MustCompile(`([\pL\d_])<(?:[A-Z]|[A-Z][\w-]*[a-z][\w-]*)[ >]`) // List<User>
	citationText = regexp.MustCompile(`(?:^|[^\pL\pN_)\]])\[\d{1,3}(?:\s*,\s*\d{1,3})*\]`)
	atBegin      = map[string]*regexp.Regexp{
		"role": regexp.MustCompile(`(?i)^\PL{0,250}(user|assistant|system|human|hark|benutzer|пользователь|` +
			`ユーザー|用户)[^\pL\d:：]{0,20}[:：]([^/]|$)`),
		"time":  regexp.MustCompile(`^\PL{0,250}\[(\d{4}-)?\d\d-\d`),
		"fence": regexp.MustCompile(`^\s*~~~`),
	}
)

// check says what text, which stands in one line or is one, looks like. starts: it begins a line of the
// prompt.
func (g *guard) check(text string, starts bool) error {
	for what, pattern := range never {
		if found := pattern.FindString(generics.ReplaceAllString(text, "$1")); found != "" {
			return fmt.Errorf("a %s %q in %q", what, found, text)
		}
	}
	if found := citationText.FindString(text); found != "" && g.cites {
		return fmt.Errorf("a citation %q in %q", found, text)
	}
	for i, line := range strings.Split(text, " ⏎ ") {
		if i == 0 && !starts || strings.HasPrefix(strings.TrimSpace(line), strings.TrimSpace(escape.ForgeryMark)) {
			continue
		}
		for what, pattern := range atBegin {
			if pattern.MatchString(line) {
				return fmt.Errorf("a %s begins %q", what, line)
			}
		}
		if g.isHeading(line) {
			return fmt.Errorf("a heading %q", line)
		}
		for _, sign := range g.signs {
			if i == 0 && strings.HasPrefix(strings.TrimSpace(line), sign) {
				return fmt.Errorf("the sign %q begins %q", sign, line)
			}
		}
	}
	return nil
}

// isHeading reads as generously as a model might: a line that is a title, or begins with its signs.
func (g *guard) isHeading(line string) bool {
	signs := 0
	for _, r := range strings.TrimSpace(line) {
		if !escape.EqualsLike(r) {
			break
		}
		signs++
	}
	if line = strings.TrimSpace(line); len(line) > escape.FoldSpan {
		line = strings.TrimFunc(line, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '›'
		})
	}
	if len(line) > escape.FoldSpan {
		return signs >= 3 // there is too much between the words of a title
	}
	folded := string(escape.Fold(line))
	for _, title := range g.titles {
		if folded == title && !strings.HasPrefix(line, strings.TrimSpace(escape.ForgeryMark)) {
			return true
		}
	}
	return signs >= 3
}

// visible checks that nothing in s is hidden but for what the scripts and emoji of the world need.
func visible(t failer, s string) {
	t.Helper()
	for _, line := range strings.Split(s, "\n") {
		for i, r := range line {
			if r == utf8.RuneError {
				continue
			}
			if (unicode.Is(unicode.Cc, r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) ||
				escape.IsHidden(r)) && !escape.Needed(line, i, r, utf8.RuneLen(r)) {
				t.Errorf("U+%04X is hidden in %q", r, line)
			}
		}
	}
}

// full has something in every section.
func full() Input {
	in := everywhere("words")
	in.Participants = append(in.Participants, Participant{ID: 9, Name: "Nine"})
	in.Session = append(in.Session, Turn{Speaker: "Ann", Author: 1, Content: "one\n\ntwo"},
		Turn{Role: RoleAssistant, Content: "three"})
	return in
}

func TestBoundaries(t *testing.T) {
	t.Parallel()
	labels := DefaultLabels()
	all := func(in Input) Input { return in }
	for _, c := range []struct {
		name   string
		layout Layout
		change func(Input) Input
		want   []string // each section's type, its message and how its text begins
	}{
		{"everything", LayoutSections, all, []string{
			"system_prompt 0 " + headSystem, "previous_context 1 " + headPrevious + "\n" +
				labels.Earlier, "participants 1 " + labels.Participants,
			"history 1 " + labels.History, "lore 1 " + labels.Lore, "current_session 1 " +
				headSession, "current_query 1 " + headQuery, "instruction 1 " + reminder,
		}},
		{"nothing recalled", LayoutSections, func(in Input) Input {
			return Input{Now: in.Now, Query: in.Query}
		}, []string{
			"system_prompt 0 " + headSystem, "previous_context 1 " + headPrevious + "\n" +
				labels.Nothing, "current_query 1 " + headQuery, "instruction 1 " + reminder,
		}},
		{"nothing from earlier sessions", LayoutSections, func(in Input) Input {
			in.PreviousContext, in.Lore = nil, nil
			return in
		}, []string{
			"system_prompt 0 " + headSystem, "previous_context 1 " + headPrevious, "participants 1 " +
				labels.Participants,
			"history 1 " + labels.History, "current_session 1 " + headSession, "current_query 1 " +
				headQuery, "instruction 1 " + reminder,
		}},
		{"plain", LayoutPlain, all, []string{
			"system_prompt 0 " + plainSystem, "previous_context 1 " + plainPrevious +
				"\n(2024-07-24) words", "history 1 [", "lore 1 words",
			"current_session 1 " + plainSession, "current_query 1 " + plainQuery, "instruction 1 " + reminder,
		}},
		{"plain, nothing recalled", LayoutPlain, func(in Input) Input {
			return Input{Now: in.Now, Query: in.Query}
		}, []string{
			"system_prompt 0 " + plainSystem, "current_query 1 " + plainQuery, "instruction 1 " + reminder,
		}},
		{"chat", LayoutChat, all, []string{
			"system_prompt 0 " + headSystem, "previous_context 1 " + headPrevious + "\n" +
				labels.Earlier, "participants 1 " + labels.Participants,
			"history 1 " + labels.History, "lore 1 " + labels.Lore, "current_session 2 " +
				labels.Condensed, "current_session 3 ", "current_session 4 words", "current_session 5 words",
			"current_session 6 Ordinary.", "current_session 7 <@12> (words)", "current_session 8 <@1> (Ann)",
			"current_session 9 three", "current_query 10 " + headQuery,
			"instruction 10 " + reminder,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := c.change(full())
			p := newBuilder(t, Options{Layout: c.layout}).Build(in)
			bounded(t, p)
			if p.Layout() != c.layout {
				t.Errorf("the layout is %q", p.Layout())
			}
			if len(p.Boundaries) != len(c.want) {
				t.Fatalf("%d sections, want %d: %+v in\n%s", len(p.Boundaries), len(c.want), p.Boundaries, p)
			}
			for i, b := range p.Boundaries {
				if got := fmt.Sprint(b.Type, " ", b.Message, " ",
					p.Messages[b.Message].Content[b.Start:b.End]); !strings.HasPrefix(got, c.want[i]) {
					t.Errorf("section %d is %q, want it to begin with %q", i, got, c.want[i])
				}
			}
		})
	}
}

// sectionsStand checks that each section of the report stands in p as often as it should.
func sectionsStand(t failer, o Options, p Prompt) {
	t.Helper()
	there := map[SectionType]int{}
	for _, b := range p.Boundaries {
		there[b.Type]++
	}
	for _, s := range p.Report.Sections {
		want := min(s.Included, 1)
		switch {
		case s.Type == SectionSession && o.Layout == LayoutChat:
			want = s.Included
		case s.Type == SectionPreviousContext && (o.Layout != LayoutPlain || there[SectionHistory]+
			there[SectionLore] > 0):
			want = 1 // the heading
		}
		if there[s.Type] != want {
			t.Errorf("%s stands in the prompt %d times, want %d: %+v", s.Type, there[s.Type], want, p.Boundaries)
		}
	}
}

// spanned checks that p's spans are what it says that it shows, each within its section and after the one before.
func spanned(t failer, p Prompt) {
	t.Helper()
	count, last := map[SectionType]int{}, Span{}
	for _, s := range p.Spans {
		inSection := slices.ContainsFunc(p.Boundaries, func(b Boundary) bool {
			return b.Type == s.Type && b.Message == s.Message && b.Start <= s.Start && s.Start < s.End && s.End <= b.End
		})
		if !inSection || s.Message == last.Message && s.Start < last.End {
			t.Fatalf("span %+v stands wrong, after %+v in %+v", s, last, p.Boundaries)
		}
		switch n := count[s.Type]; s.Type {
		case SectionHistory:
			if p.Shown[n].Item != s.Item {
				t.Errorf("line %d is of item %d, want %d", n, s.Item, p.Shown[n].Item)
			}
		case SectionSession:
			if p.Turns[n] != s.Item {
				t.Errorf("turn %d is %d, want %d", n, s.Item, p.Turns[n])
			}
		}
		count[s.Type]++
		last = s
	}
	for _, s := range p.Report.Sections {
		want := map[SectionType]int{SectionHistory: len(p.Shown), SectionSession: len(p.Turns),
			SectionParticipants: s.Included, SectionLore: s.Included, SectionPreviousContext: s.Included}[s.Type]
		if count[s.Type] != want {
			t.Errorf("%s has %d spans, want %d", s.Type, count[s.Type], want)
		}
	}
}

// bounded checks that the sections of p's messages are in order, that they don't overlap, that each begins
// with its title, and that nothing is outside them but empty lines.
func bounded(t failer, p Prompt) {
	t.Helper()
	message, at, last := 0, 0, -1
	order := map[SectionType]int{}
	for i, s := range p.Report.Sections {
		order[s.Type] = i
	}
	titles := map[SectionType]string{}
	if p.layout != LayoutPlain {
		labels := DefaultLabels()
		titles = map[SectionType]string{SectionParticipants: labels.Participants,
			SectionHistory: labels.History, SectionLore: labels.Lore}
	}
	for i, b := range p.Boundaries {
		if b.Message != message {
			if rest := p.Messages[message].Content[at:]; b.Message != message+1 || rest != "" {
				t.Fatalf("section %d is in message %d, after message %d with %q left", i, b.Message, message, rest)
			}
			message, at = b.Message, 0
		}
		content := p.Messages[message].Content
		if b.Start < at || b.End <= b.Start || b.End > len(content) {
			t.Fatalf("section %d goes from %d to %d, after %d, in %d bytes", i, b.Start, b.End, at, len(content))
		}
		if gap := content[at:b.Start]; strings.Trim(gap, "\n") != "" || at > 0 && gap == "" {
			t.Fatalf("%q stands before section %d", gap, i)
		}
		if title := titles[b.Type]; !strings.HasPrefix(content[b.Start:b.End], title) {
			t.Errorf("%s begins with %q", b.Type, content[b.Start:min(b.End, b.Start+40)])
		}
		if order[b.Type] < last {
			t.Errorf("%s stands too late: %+v", b.Type, p.Boundaries)
		}
		at, last = b.End, order[b.Type]
	}
	spanned(t, p)
	if rest := p.Messages[message].Content[at:]; message != len(p.Messages)-1 || rest != "" {
		t.Errorf("after the last section stands %q, in message %d of %d", rest, message, len(p.Messages))
	}
}
