package builder

import (
	"strings"
	"testing"
)

// The report says why what isn't there, or isn't there whole, was left out.
func TestWhyItemsAreLeftOut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long words ", 3000)
	many := func(n int, text string) Input {
		in := Input{Now: noon, Query: Turn{Content: "when?"}}
		for range n {
			in.History = append(in.History, Item{Lines: []Line{{Author: 1, Time: noon, Content: text}}})
			in.Session = append(in.Session, Turn{Speaker: "Ann", Content: text})
			in.PreviousContext = append(in.PreviousContext, Earlier{Text: text})
		}
		return in
	}
	one := func(change func(*Input)) Input {
		in := Input{Now: noon, Query: Turn{Content: "when?"}}
		change(&in)
		return in
	}
	for _, c := range []struct {
		name    string
		o       Options
		in      Input
		section SectionType
		want    Why
	}{
		{"all is there", Options{}, many(2, "short"), SectionHistory, ""},
		{"more history than its ceiling", Options{}, one(func(in *Input) { in.History = many(400, "a few words").History }), SectionHistory, WhyCeiling},
		{"one message longer than the ceiling", Options{}, one(func(in *Input) { in.History = many(1, long).History }), SectionHistory, WhyCeiling},
		{"the session has taken what history would need", Options{MaxTokens: 500}, many(60, "a few words said"), SectionHistory, WhyBudget},
		{"few characters", Options{MaxChars: 200}, many(9, "a few words said"), SectionHistory, WhyCharacters},
		{"no room for any", Options{MaxChars: 20}, many(1, "a few words said"), SectionHistory, WhyCharacters},
		{"three exchanges", Options{Layout: LayoutPlain}, many(9, "short"), SectionSession, WhyCount},
		{"three summaries", Options{Layout: LayoutPlain}, many(9, "short"), SectionPreviousContext, WhyCount},
		{"a long query", Options{}, one(func(in *Input) { in.Query.Content = long }), SectionQuery, WhyCeiling},
		{"a long persona", Options{}, one(func(in *Input) { in.Persona = long }), SectionSystem, WhyCeiling},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newBuilder(t, c.o).Build(c.in)
			for _, s := range p.Report.Sections {
				if out := s.Dropped + s.Cut; out > 0 != (s.Why != "") {
					t.Errorf("%s left out or cut %d: %q", s.Type, out, s.Why)
				}
				if s.Type == c.section && s.Why != c.want {
					t.Errorf("%+v, want %q", s, c.want)
				}
			}
		})
	}
}
