package builder

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/golden"
	"hark/memory"
)

var noon = time.Date(2024, 7, 24, 12, 0, 0, 0, time.UTC)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	labels := func(change func(*Labels)) Labels {
		l := DefaultLabels()
		change(&l)
		return l
	}
	var told strings.Builder
	for _, o := range []Options{
		{Layout: "fancy"},
		{MaxTokens: 30},
		{LineChars: -1},
		{Sections: map[SectionType]Limits{SectionInstruction: {}}},
		{Sections: map[SectionType]Limits{SectionLore: {Floor: 2, Ceiling: 1}}},
		{Sections: map[SectionType]Limits{SectionLore: {Ceiling: 4001}}},
		{Sections: map[SectionType]Limits{SectionQuery: {Floor: 1, Ceiling: 2}}},
		{Sections: map[SectionType]Limits{SectionLore: {Modes: []Mode{"x"}}}},
		{Layout: LayoutPlain, Sections: map[SectionType]Limits{SectionParticipants: {}}},
		{MaxTokens: -1},
		{MaxChars: -1},
		{Labels: labels(func(l *Labels) { l.History = "a\nb" })},
		{Labels: labels(func(l *Labels) { l.Person = "=== " })},
		{Labels: labels(func(l *Labels) { l.Lore = " " })},
		{Labels: labels(func(l *Labels) { l.More = "more" })},
		{Labels: labels(func(l *Labels) { l.More = "%d of %s" })},
		{Window: -1},
		{Window: 8000, Answer: -1},
		{Window: 4500, Answer: 1000},
	} {
		_, err := New(o, holdsCounter)
		fmt.Fprintln(&told, err)
	}
	golden.Seen(t, told.String())
}

// The question has room before anything else, in every layout and with the labels of every language: a short one is
// whole, and of a long one both ends are there.
func TestTheQuestionIsAlwaysThere(t *testing.T) {
	t.Parallel()
	const short = "When is the deadline of the report?"
	long := short + strings.Repeat(" Well, as I said before.", 300) + " Or is it over?"
	for _, layout := range Layouts() {
		for _, language := range Languages() {
			labels, _ := LabelsIn(language, true)
			o := Options{Layout: layout, Labels: labels}
			least := newBuilder(t, o).least
			for _, tokens := range []int{least, least + 1, MinTokens, UsefulTokens, 4000} {
				o.MaxTokens = tokens
				in := everywhere(strings.Repeat("so much was said here, ", 40))
				in.Persona = strings.Repeat("You are wordy. ", 200)
				for question, parts := range map[string][]string{short: {short}, long: {"When is", "over?"}} {
					in.Query.Content = question
					p := newBuilder(t, o).Build(in)
					last := p.Messages[len(p.Messages)-1].Content
					for _, part := range parts {
						if !strings.Contains(last, part) {
							t.Errorf("%s in %s, %d tokens: there is no %q in %q", layout, language, tokens, part, last)
						}
					}
				}
			}
		}
	}
}

// New's least budget suffices, and so does MinTokens for every layout.
func TestLeastBudget(t *testing.T) {
	t.Parallel()
	for _, layout := range []Layout{LayoutSections, LayoutPlain, LayoutChat} {
		for _, citations := range []bool{false, true} {
			o := Options{Layout: layout, Citations: citations}
			o.MaxTokens = newBuilder(t, o).least - 1
			if _, err := New(o, holdsCounter); err == nil {
				t.Errorf("%s takes %d tokens", layout, o.MaxTokens)
			}
			if o.MaxTokens++; o.MaxTokens > MinTokens {
				t.Errorf("%s needs %d tokens, MinTokens is %d", layout, o.MaxTokens, MinTokens)
			}
			for _, text := range []string{"hi", strings.Repeat("界", 5000), strings.Repeat("\u0301", 999),
				strings.Repeat("=== X ===\n", 400)} {
				in := everywhere(text)
				in.Persona = text
				p := newBuilder(t, o).Build(in)
				holds(t, o, p)
				if last := p.Messages[len(p.Messages)-1].Content; !strings.Contains(last, queryHeading(layout)) {
					t.Errorf("the query is missing: %q", last)
				}
			}
		}
	}
}

func queryHeading(layout Layout) string {
	if layout == LayoutPlain {
		return plainQuery + "\n"
	}
	return headQuery + "\n"
}

func TestStamp(t *testing.T) {
	t.Parallel()
	tokyo := time.FixedZone("", 9*3600)
	for _, c := range []struct {
		t, now time.Time
		year   bool
		want   string
	}{
		{noon, noon, false, "[07-24 12:00]"},
		{noon, noon, true, "[2024-07-24 12:00]"},
		{noon, noon.In(tokyo), false, "[07-24 21:00]"},
		{time.Date(2023, 12, 31, 23, 59, 0, 0, time.UTC), noon, false, "[2023-12-31 23:59]"},
		{time.Date(2023, 12, 31, 23, 59, 0, 0, time.UTC), noon.In(tokyo), false, "[01-01 08:59]"},
		{time.Date(33, 1, 2, 3, 4, 0, 0, time.UTC), noon, false, "[0033-01-02 03:04]"},
	} {
		if got := string(appendStamp(nil, c.t, c.now, c.year)); got != c.want {
			t.Errorf("%v at %v is %q, want %q", c.t, c.now, got, c.want)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, Options{})
	for _, c := range []struct {
		relevance float64
		author    memory.UserID
		ago       time.Duration
		starred   bool
		want      string
	}{
		{0.81, 1, time.Hour, true, "🔥👤🕐⭐ ["},
		{0.8, 2, time.Hour, false, "📝🕐 ["},
		{0.61, 2, 24*time.Hour - time.Second, false, "📝🕐 ["},
		{0.6, 3, 24 * time.Hour, false, "💡 ["},
		{0, 1, -time.Hour, false, "💡👤🕐 ["},
	} {
		text, _ := b.History(Input{
			Now: noon, Participants: []Participant{{ID: 1, Main: true}, {ID: 2}},
			History: []Item{{Relevance: c.relevance,
				Lines: []Line{{Author: c.author, Time: noon.Add(-c.ago), Content: "x", Starred: c.starred}}}},
		}, 1000)
		if _, line, _ := strings.Cut(text, "\n"); !strings.HasPrefix(line, c.want) {
			t.Errorf("%+v is shown as %q", c, line)
		}
	}
}

func lines(n int, format string) []Line {
	list := make([]Line, n)
	for i := range list {
		list[i] = Line{Message: memory.MessageID(i + 1), Author: 5, Time: noon, Content: fmt.Sprintf(format, i)}
	}
	return list
}

// Cut texts grow while there is room, the most relevant first, a hit before its neighbours.
func TestGrowth(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words, and ", 40)
	b := newBuilder(t, Options{})
	in := Input{Now: noon, History: []Item{
		{Relevance: 0.2, Lines: lines(1, long)}, {Relevance: 0.9, Hit: 1, Lines: lines(3, long)},
	}}
	fractions := func(chars int) (list []float64) {
		_, shown := b.History(in, chars)
		for _, s := range shown {
			list = append(list, s.Fraction)
		}
		return list
	}
	between := 0
	for chars := 1000; chars < 1800; chars += 20 {
		got := fractions(chars)
		if len(got) != 4 || got[1] < got[0] || got[0] < got[2] || got[1] < got[3] {
			t.Fatalf("with room for %d characters: %v", chars, got)
		}
		if got[1] == 1 && got[0] < 1 && got[0] > got[2] {
			between++
		}
	}
	if between == 0 {
		t.Error("the room was never used for a part of a text")
	}
	if got := fractions(10_000); fmt.Sprint(got) != "[1 1 1 1]" {
		t.Errorf("with all room: %v", got)
	}
	if _, shown := b.History(in, 100); len(shown) != 0 {
		t.Errorf("with no room: %v", shown)
	}
}

// A cut text may be larger than the whole, for example if it is cut within an emoji's tag.
func TestAllIsShownWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("words to be cut ", 24) + "at <:an_emoji:123456789012345678>."
	in := Input{Now: noon}
	for range bestItems {
		in.History = append(in.History, Item{Lines: []Line{{Author: 5, Time: noon, Content: text}}})
	}
	p := newBuilder(t, Options{MaxTokens: 100_000}).Build(in)
	if len(p.Shown) != bestItems || !strings.Contains(p.String(), "at :an_emoji:.") {
		t.Errorf("%d lines of %d", len(p.Shown), bestItems)
	}
	for _, s := range p.Shown {
		if s.Fraction != 1 {
			t.Errorf("%v of a line where there is room for all", s.Fraction)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	w := newBuilder(t, Options{}).begin(Input{})
	for name, want := range map[string]string{
		"Max (he/him)": "Max (he/him)", "Tom | Dev": "Tom | Dev",
		"x) | Last Active: now": "x} | Last Active: now", "((x": "{{x", "a\nb": "a b",
		"<@5>": "‹@5›", "<@x <@5": "{@x {@5", strings.Repeat("n", 40): strings.Repeat("n", 31) +
			"…", strings.Repeat("界", 40): strings.Repeat("界", 20) + "…",
		"": "", "Zoë 🦊": "Zoë 🦊",
	} {
		if got := string(w.name(name)); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
	if got := string(w.channel("# the lounge")); got != "#the-lounge" {
		t.Errorf("channel %q", got)
	}
	for want, title := range map[string]memory.Title{
		"#the-lounge":                              {Tags: []string{"linux"}},
		"#the-lounge › VPN fails |":                {Name: "VPN fails"},
		"#the-lounge › VPN fails [tags: a b, 1] |": {Name: "VPN fails", Tags: []string{"a b", "1"}},
		"#the-lounge › a > b (1) / Bo; c ‹@5› [tags: (1) / x;] |": {Name: "a › b [1] | Bo: c <@5>",
			Tags: []string{"[1] | x:"}},
	} {
		if got := string(w.place("# the lounge", title)); got != want {
			t.Errorf("%+v is shown as %q, want %q", title, got, want)
		}
	}
	if got := string(w.place("", memory.Title{Name: "x"})); got != "#thread › x |" {
		t.Errorf("an unknown channel %q", got)
	}
}

func TestTallyIsBounded(t *testing.T) {
	t.Parallel()
	tally := newTally(jumpy{})
	for i := range 2 * tallySize {
		tally.of([]byte(fmt.Sprint(i)))
	}
	if len(tally.seen) > tallySize {
		t.Errorf("%d counts are remembered", len(tally.seen))
	}
}

func TestConcurrentBuilds(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, Options{MaxTokens: 1500, Citations: true})
	in := big(holdsCounter)
	want := b.Build(in).String()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if got := b.Build(in).String(); got != want {
					t.Error("a different prompt")
				}
				b.History(in, 500)
			}
		})
	}
	group.Wait()
}
