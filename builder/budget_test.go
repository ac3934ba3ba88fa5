package builder

import (
	"strings"
	"testing"

	"hark/internal/tokens/tokenstest"
)

// crowd has more in each section than there is room for.
func crowd() Input {
	in := Input{Now: noon, Query: Turn{Author: 5, Content: strings.Repeat("what? ", 60)},
		Persona: strings.Repeat("Be kind. ", 80)}
	for i := range 15 {
		text := strings.Repeat("words and more ", 3+i*7%23)
		in.Session = append(in.Session, Turn{Author: 5, Content: text})
		in.Participants = append(in.Participants, Participant{ID: 5, Name: "Name", Data: text})
		in.PreviousContext = append(in.PreviousContext, Earlier{Text: text, Time: noon.AddDate(0, 0, i-30),
			Relevance: float64(i * 7 % 5)})
		in.Lore = append(in.Lore, text)
		in.History = append(in.History, Item{Lines: lines(1+i%3, "%d "+text)})
	}
	return in
}

// Steps of either budget, whichever counter counts, and every single one with one that reckoning with parts
// is always wrong about.
func TestEveryStepLosesNothing(t *testing.T) {
	t.Parallel()
	in := crowd()
	real, chars := 31, 61
	if long {
		real, chars = 7, 13
	}
	for counter, step := range map[Counter]int{jumpy{}: 1, holdsCounter: real, tokenstest.For("gpt-4"): real,
		tokenstest.For("llama"): real} {
		before := map[SectionType]int{}
		for tokens := 2 * MinTokens; tokens < 1600; tokens += step { // some count more than those that MinTokens is for
			before = items(loses(t, before, in, Options{MaxTokens: tokens, MaxChars: 1500}, counter))
		}
	}
	before := map[SectionType]int{}
	for most := 1; most < 5000; most += chars {
		before = items(loses(t, before, in, Options{MaxTokens: 2500, MaxChars: most}, holdsCounter))
	}
}

// loses checks that nothing of before is lost with o.
func loses(t failer, before map[SectionType]int, in Input, o Options, counter Counter) Prompt {
	t.Helper()
	b, err := New(o, counter)
	if err != nil {
		t.Fatalf("%v", err)
	}
	p := b.Build(in)
	total := promptOverhead
	for _, m := range p.Messages {
		total += MessageOverhead + counter.Count(m.Content)
	}
	if total > o.MaxTokens {
		t.Errorf("%d tokens of %d", total, o.MaxTokens)
	}
	after := items(p)
	for section, n := range before {
		if after[section] < n {
			t.Errorf("%T: %d tokens and %d characters hold %d items of %s, less held %d", counter,
				o.MaxTokens, o.MaxChars, after[section], section, n)
		}
	}
	return p
}
