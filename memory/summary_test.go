package memory

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSummariesAreChecked(t *testing.T) {
	t.Parallel()
	made := time.Date(2024, 6, 15, 12, 0, 0, 1_234_567, time.UTC)
	good := func() Summary {
		return Summary{
			ID: 9 << 22, Channel: 5, Text: " The ferry\x00 leaves at 9.\n", Kind: SummaryFact, Made: made,
			Topics:  []string{" The  Ferry", "the ferry", "", "Nine"},
			Sources: []SummarySource{{Message: 9 << 22}, {Message: 3 << 22, Edited: 7}, {Message: 3 << 22, Edited: 8}},
		}
	}
	want := Summary{
		ID: 9 << 22, Channel: 5, Text: "The ferry leaves at 9.", Kind: SummaryFact,
		Topics: []string{"the ferry", "nine"}, Made: made.Truncate(time.Millisecond),
		Sources: []SummarySource{{Message: 3 << 22, Edited: 7}, {Message: 9 << 22}},
	}
	given := good()
	got, err := given.Checked()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if !reflect.DeepEqual(given, good()) {
		t.Errorf("what was given became %+v", given)
	}
	if got.To().Sub(got.From()) != 6*time.Millisecond {
		t.Errorf("from %v to %v", got.From(), got.To())
	}
	for _, change := range []func(*Summary){
		func(s *Summary) { s.ID = 0 },
		func(s *Summary) { s.Channel = 0 },
		func(s *Summary) { s.Made = time.Time{} },
		func(s *Summary) { s.Text = " \x00" },
		func(s *Summary) { s.Text = strings.Repeat("é", MaxSummaryText+1) },
		func(s *Summary) { s.Topics = strings.Split("a b c d e f", " ") },
		func(s *Summary) { s.Topics = []string{strings.Repeat("é", MaxTopic+1)} },
		func(s *Summary) { s.Kind = "Fact" },
		func(s *Summary) { s.Sources = nil },
		func(s *Summary) { s.Sources = many(MaxSummarySources + 1) },
		func(s *Summary) { s.Sources = []SummarySource{{Message: s.ID + 1}} },
	} {
		s := good()
		change(&s)
		_, err := s.Checked()
		wantRefusal(t, err)
	}
	most := good()
	most.Text, most.Topics, most.Sources = strings.Repeat("é", MaxSummaryText),
		[]string{strings.Repeat("é", MaxTopic)}, many(MaxSummarySources)
	if _, err := most.Checked(); err != nil {
		t.Error(err)
	}
	if kinds := SummaryKinds(); len(kinds) != 5 || !slices.Contains(kinds, SummaryTalk) {
		t.Errorf("the kinds are %q", kinds)
	}
}

func many(n int) (sources []SummarySource) {
	for i := range n {
		sources = append(sources, SummarySource{Message: MessageID(i + 1)})
	}
	return sources
}

func TestCondensedTextsAreChecked(t *testing.T) {
	t.Parallel()
	made := time.Date(2024, 6, 15, 12, 0, 0, 1_234_567, time.UTC)
	good := func() Condensed {
		return Condensed{
			Guild: 1, Channel: 5, Until: 9 << 22, Text: " The ferry\x00 leaves at 9.\n", Made: made, Model: "m\x00",
			Sources: []SummarySource{{Message: 9 << 22}, {Message: 3 << 22, Edited: 7}, {Message: 3 << 22, Edited: 8}},
		}
	}
	want := Condensed{
		Guild: 1, Channel: 5, Until: 9 << 22,
		Text: "The ferry leaves at 9.", Made: made.Truncate(time.Millisecond), Model: "m",
		Sources: []SummarySource{{Message: 3 << 22, Edited: 7}, {Message: 9 << 22}},
	}
	given := good()
	if got, err := given.Checked(); err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(given, good()) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, change := range []func(*Condensed){
		func(c *Condensed) { c.Channel = 0 },
		func(c *Condensed) { c.Made = time.Time{} },
		func(c *Condensed) { c.Text = " \x00" },
		func(c *Condensed) { c.Text = strings.Repeat("é", MaxCondensedText+1) },
		func(c *Condensed) { c.Sources = nil },
		func(c *Condensed) { c.Sources, c.Until = many(MaxCondensedSources+1), MaxCondensedSources+1 },
		func(c *Condensed) { c.Until++ },
	} {
		c := good()
		change(&c)
		_, err := c.Checked()
		wantRefusal(t, err)
	}
	most := good()
	most.Text, most.Sources, most.Until = strings.Repeat("é", MaxCondensedText), many(MaxCondensedSources),
		MaxCondensedSources
	if _, err := most.Checked(); err != nil {
		t.Error(err)
	}
}
