package builder

import (
	"strings"
	"unicode/utf8"

	"hark/internal/tokens/tokenstest"
)

// holds checks what is promised of every prompt.
func holds(t failer, o Options, p Prompt) {
	t.Helper()
	counter := holdsCounter
	most := o.MaxTokens
	if most == 0 {
		most = DefaultMaxTokens
	}
	total, bytes := promptOverhead, 0
	for i, m := range p.Messages {
		total += counter.Count(m.Content) + MessageOverhead
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
		body := section1(p, headPrevious)
		nothing := o.Labels.Nothing
		if nothing == "" {
			nothing = english.Nothing
		}
		if n := utf8.RuneCountInString(body); n > max(o.MaxChars, utf8.RuneCountInString(nothing)) {
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
