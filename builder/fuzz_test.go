package builder

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hark/memory"
)

// The fast path and the slow one agree, and what comes out of either is one text, which looks like nothing else and
// can be read.
func FuzzEscape(f *testing.F) {
	for _, text := range injections(f) {
		f.Add(text)
	}
	b := newBuilder(f, Options{Citations: true})
	guard := newGuard(DefaultLabels(), true)
	f.Fuzz(func(t *testing.T, text string) {
		r := &reader{failer: t, b: b}
		for _, how := range []*block{inLine, bareLine, indented, bareText, answerText, ownText, nameInLine, bareName} {
			got := string(b.escape.appendSafe(nil, text, how))
			if !utf8.ValidString(got) {
				t.Fatalf("%q became %q", text, got)
			}
			if b.escape.isSafe(text, how) && text == strings.TrimSpace(text) && got != text {
				t.Fatalf("%q is said to be safe and became %q", text, got)
			}
			visible(t, got)
			if lines := splitLines(strings.ReplaceAll(got, how.newline, "")); len(lines) > 1 {
				t.Fatalf("%q became %q", text, got)
			}
			if how.newline == " " {
				continue // a name: there is no telling its lines apart, and they begin none
			}
			if !how.operator {
				for i, line := range strings.Split(got, how.newline) {
					starts := i > 0 && how.newline[0] == '\n' || i == 0 && how.bare
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

// textSeparator is between the texts that FuzzPrompt puts in.
const textSeparator = "\x00|\x00"

// dice are bytes that decide.
type dice struct {
	bytes []byte
	texts []string
}

// upTo is a number in [0, n].
func (d *dice) upTo(n int) int {
	if len(d.bytes) == 0 {
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return int(b) % (n + 1)
}

func (d *dice) text() string {
	switch n := d.upTo(len(d.texts) + 5); n {
	case 0:
		return "Ordinary."
	case 1:
		return ""
	case 2:
		return strings.Repeat(d.texts[0]+" ", 1+600/(1+len(d.texts[0])))
	case 3:
		return strings.Repeat("all 語 e\u0301 👩‍👩‍👧 words, ", 30)
	default:
		return d.texts[n%len(d.texts)]
	}
}

// tokens are the stored count of text: right, missing or wrong.
func (d *dice) tokens(text string) int {
	return []int{holdsCounter.Count(strings.TrimSpace(text)), 0, 1}[d.upTo(2)]
}

func (d *dice) time(now time.Time) time.Time {
	if d.upTo(5) == 5 {
		return time.Time{}
	}
	return now.Add(-time.Duration(d.upTo(255)*d.upTo(255)*d.upTo(255)) * time.Minute)
}

func (d *dice) turn(now time.Time) Turn {
	t := Turn{Speaker: d.text(), Role: []string{RoleUser, RoleAssistant, ""}[d.upTo(2)], Author: memory.UserID(d.upTo(3)), Time: d.time(now), Content: d.text()}
	t.Tokens = d.tokens(t.Content)
	return t
}

// input is some input, with d's texts where members' stand.
func (d *dice) input() Input {
	now := time.Date(2024, 7, 24, 17, 35, 0, 0, time.FixedZone("", (d.upTo(24)-12)*3600))
	in := Input{Now: now, Query: d.turn(now)}
	in.Query.Role = RoleUser
	if d.upTo(3) == 3 {
		in.Persona = "Be kind. " + strings.Repeat("And brief. ", d.upTo(200))
	}
	for range d.upTo(5) {
		in.Participants = append(in.Participants, Participant{ID: memory.UserID(d.upTo(6)), Name: d.text(), Data: d.text(), LastActive: d.time(now), Main: d.upTo(1) == 1})
	}
	for i := range d.upTo(7) {
		item := Item{Relevance: float64(d.upTo(100)) / 100, Hit: d.upTo(4) - 1}
		if d.upTo(2) == 2 {
			item.Channel = d.text()
		}
		for j := range d.upTo(3) {
			line := Line{Message: memory.MessageID(10*i + j), Author: memory.UserID(d.upTo(6)), Time: d.time(now), Content: d.text(), Starred: d.upTo(4) == 4}
			line.Tokens = d.tokens(line.Content)
			item.Lines = append(item.Lines, line)
		}
		in.History = append(in.History, item)
	}
	for range d.upTo(6) {
		in.Session = append(in.Session, d.turn(now))
	}
	if d.upTo(2) == 2 {
		in.Condensed = d.text()
	}
	for range d.upTo(4) {
		in.PreviousContext, in.Lore = append(in.PreviousContext, Earlier{Text: d.text()}), append(in.Lore, d.text())
	}
	return in
}

func (d *dice) options(budget uint32) Options {
	o := Options{Layout: []Layout{LayoutSections, LayoutPlain, LayoutChat}[d.upTo(2)], Citations: d.upTo(1) == 1}
	o.MaxTokens = 50 + int(budget%2500)
	if d.upTo(2) == 2 {
		o.Labels = wordLabels()
	}
	if d.upTo(7) == 7 {
		o.MaxTokens = 50 + int(budget%128_000)
	}
	if d.upTo(3) == 3 {
		o.MaxChars = 1 + d.upTo(255)*d.upTo(20)
	}
	return o
}

// wordLabels have no emoji, and signs that members' lists have too.
func wordLabels() Labels {
	l := DefaultLabels()
	l.Participants, l.History, l.Earlier, l.Condensed, l.Lore = "## People", "## History", "## Earlier", "## Before", "§§ Lore"
	l.Person, l.DataMark, l.Neighbour, l.EarlierMark, l.More, l.MoreOne = "- ", "  - ", "  | ", "", "%d more", "1 more"
	l.High, l.Medium, l.Low, l.Involved, l.Recent, l.Starred = "", "", "", "", "", "*"
	return l
}

// FuzzPrompt holds all that the package promises of every prompt.
func FuzzPrompt(f *testing.F) {
	texts := some(injections(f))
	for i, text := range texts {
		shape := make([]byte, 300)
		for j := range shape {
			shape[j] = byte((i*131 + j*j*7 + j*29) >> 2)
		}
		f.Add(text+textSeparator+texts[i*7%len(texts)], shape, uint32(i*97), uint16(i%60))
	}
	f.Fuzz(func(t *testing.T, texts string, shape []byte, budget uint32, more uint16) {
		texts = texts[:min(len(texts), 3000)] // the promises don't grow with the text, and the time does
		d := &dice{bytes: shape, texts: strings.Split(texts, textSeparator)}
		o, in := d.options(budget), d.input()
		small := promised(t, o, in)
		if small == nil {
			return
		}
		if again := promised(t, o, in); fmt.Sprint(*again) != fmt.Sprint(*small) || again.String() != small.String() {
			t.Fatalf("not the same twice:\n%s\n%s", small, again)
		}
		o.MaxTokens += 1 + int(more)%300
		large := promised(t, o, in)
		monotone(t, *small, *large)
		keeps(t, *small, *large)
		if o.MaxChars > 0 {
			countAll(in) // with wrong counts the two budgets depend on each other
			small = promised(t, o, in)
			o.MaxChars += 1 + int(more)%100
			large = promised(t, o, in)
			monotone(t, *small, *large)
			keeps(t, *small, *large)
		}
	})
}

// promised builds a prompt and checks what is promised of it. There is none if the budget is smaller than any may be.
func promised(t failer, o Options, in Input) *Prompt {
	t.Helper()
	b, err := New(o, holdsCounter)
	if err != nil {
		if o.MaxTokens >= MinTokens {
			t.Fatalf("%v", err)
		}
		return nil
	}
	p := b.Build(in)
	holds(t, b.options, p)
	visible(t, p.String())
	numbered(t, b.options, in, p)
	readBack(t, b, in, p)
	return &p
}

// monotone checks that nothing of small is missing in large. Which of the input's items are in a prompt is known by how
// many are: readBack has seen that they are the first, or the newest.
func monotone(t failer, small, large Prompt) {
	t.Helper()
	more := items(large)
	for section, n := range items(small) {
		if more[section] < n {
			t.Errorf("%d items of %s, with more room %d", n, section, more[section])
		}
	}
}

// keeps checks that each line of small is in large, and, unless that has room for more of them, no shorter.
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
