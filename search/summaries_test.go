package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
)

var midday = time.Date(2024, 6, 15, 12, 0, 0, 0, time.UTC)

// summed is a summary of so many days before midday.
func summed(daysAgo int, text string, topics ...string) memory.Summary {
	id := memory.FirstMessageID(midday.AddDate(0, 0, -daysAgo))
	return memory.Summary{ID: id, Channel: 5, Text: text, Topics: topics, Kind: memory.SummaryTalk,
		Made: midday, Sources: []memory.SummarySource{{Message: id}}}
}

func TestSummariesAreRanked(t *testing.T) {
	t.Parallel()
	all := []memory.Summary{
		summed(90, "The documents lie in folders by year.", "documents", "folders"),
		summed(60, "Ann runs every Sunday, the charity 5K in 25:50.", "charity", "running"),
		summed(50, "The documents were scanned.", "documents"),
		summed(40, "Ben ran as well.", "shoes"),
		summed(3, "It rained.", "weather"),
		summed(1, "Cleo sold her boat.", "boat"),
	}
	for question, want := range map[string]string{
		// what is clearly about it, the newest, what speaks of it, and nothing else
		"How fast was the charity run?": "[60 1 40]",
		"Where are the documents?":      "[50 1 90]",
		"What about shoes?":             "[40 1]",
		// half of what is asked for isn't there
		"Did Ann run far in the rain, with a compass and tent?":  "[1 3 60 40]",
		"What about shoes and her boat?":                         "[1 40]", // the newest holds as much
		"What was it a month and a half ago? And on 2024-05-06?": "[1 40]", // of that day
		"": "[1]",
	} {
		var days []int
		hits := RankSummaries(question, midday, all)
		for _, h := range hits {
			days = append(days, int(midday.Sub(h.Summary.To())/(24*time.Hour)))
			if h.Relevance < 0 || h.Relevance > 1 {
				t.Errorf("%q: %+v", question, h)
			}
		}
		if fmt.Sprint(days) != want {
			t.Errorf("%q: %v, want %s\n%+v", question, days, want, hits)
		}
		if newest := hits[slices.Index(days, 1)]; newest.Why[0] != "newest" {
			t.Errorf("%q: the newest is there because of %q", question, newest.Why)
		}
	}
	hits := RankSummaries("How fast was the charity run by Ann?", midday, all)
	if why := fmt.Sprint(hits[0].Why, hits[2].Why); why != "[topic charity topic running words] [words]" {
		t.Errorf("the reasons are %s", why)
	}
	if hits := RankSummaries("what?", midday, nil); len(hits) != 0 {
		t.Errorf("of none %v", hits)
	}
	if future := RankSummaries("boat", midday.AddDate(0, 0, -9), all); future[0].Relevance > 1 {
		t.Errorf("%+v", future[0])
	}
}

// For any summaries and question the newest is first or second, and one before it is more relevant.
func TestTheNewestIsTheSecondAtWorst(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"boat", "ferry", "folder", "tomato", "chess"})
	rapid.Check(t, func(t *rapid.T) {
		var all []memory.Summary
		for _, days := range rapid.SliceOfNDistinct(rapid.IntRange(0, 300), 1, 20, rapid.ID[int]).Draw(t, "days") {
			all = append(all, summed(days, words.Draw(t, "text"), words.Draw(t, "topic")))
		}
		hits := RankSummaries(words.Draw(t, "one")+" "+words.Draw(t, "other"), midday, all)
		newest := slices.MaxFunc(all, func(a, b memory.Summary) int { return cmp.Compare(a.ID, b.ID) }).ID
		at := slices.IndexFunc(hits, func(h SummaryHit) bool { return h.Summary.ID == newest })
		if at < 0 || at > 1 || at == 1 && (hits[0].Relevance <= hits[1].Relevance ||
			hits[0].related < 2*hits[1].related) || slices.ContainsFunc(hits, func(h SummaryHit) bool {
			return h.related == 0 && h.Summary.ID != newest
		}) {
			t.Fatalf("the newest is number %d: %+v", at, hits)
		}
	})
}

func TestSummariesAreFiltered(t *testing.T) {
	t.Parallel()
	all := []memory.Summary{summed(3, "a", "garden tomatoes", "sowing"), summed(2, "b", "tomato soup"),
		summed(1, "c", "…")}
	all[1].Kind = memory.SummaryPlan
	for _, c := range []struct {
		f    SummaryFilter
		want string
	}{
		{SummaryFilter{}, "abc"}, {SummaryFilter{Topic: "tomatoes"},
			"ab"}, {SummaryFilter{Topic: "Garden TOMATO"}, "a"}, {SummaryFilter{Topic: "sow"}, "a"},
		{SummaryFilter{Topic: "garden soup"}, ""}, {SummaryFilter{Topic: " … "},
			"c"}, {SummaryFilter{Kind: memory.SummaryPlan}, "b"},
		{SummaryFilter{Kind: memory.SummaryPlan, Topic: "garden"},
			""}, {SummaryFilter{Kind: memory.SummaryTalk, Topic: "garden"}, "a"},
	} {
		got := ""
		for _, s := range c.f.SummariesOf(all) {
			got += s.Text
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}

// For any summaries: as many are dropped as must be, but never the fresh one or one of the newest dozen.
func TestMakeRoom(t *testing.T) {
	t.Parallel()
	words := []string{"boat", "ferry", "folder", "tomato", "chess", "kitten", "rain"}
	rapid.Check(t, func(t *rapid.T) {
		var all []memory.Summary
		for _, days := range rapid.SliceOfDistinct(rapid.IntRange(0, 300), rapid.ID[int]).Draw(t, "days") {
			all = append(all, summed(days, rapid.StringMatching("[a-z]{9}").Draw(t, "text"),
				rapid.SampledFrom(words).Draw(t, "topic")))
		}
		fresh := summed(rapid.IntRange(0, 300).Draw(t, "fresh"), "boat ferry", "boat")
		most := rapid.IntRange(2, 20).Draw(t, "most")
		out := SummariesToDrop(fresh, all, most)
		others := slices.DeleteFunc(all, func(s memory.Summary) bool { return s.ID == fresh.ID })
		if want := max(0, len(others)+1-most); len(out) != want {
			t.Fatalf("%d of %d go, not %d", len(out), len(others), want)
		}
		slices.SortFunc(others, func(a, b memory.Summary) int { return cmp.Compare(b.ID, a.ID) })
		for i, s := range others {
			if gone := slices.Contains(out, s.ID); gone && (i < min(12, most-1)-1 || s.ID == fresh.ID) {
				t.Fatalf("one of the newest goes: %d of %v", i, out)
			}
		}
	})
}

// Old summaries that are repeated go, and particular ones stay, whatever the last topic.
func TestWhatIsSaidAgainMakesRoom(t *testing.T) {
	t.Parallel()
	documents := func(days int) memory.Summary {
		return summed(days, fmt.Sprintf(
			"Cleo: The archive of documents has %d folders of contracts, sorted by client.", days), "documents")
	}
	var all, unlike []memory.Summary
	for days := 40; days > 0; days-- {
		switch days {
		case 40:
			all = append(all, summed(days, "Ben: The cat has kittens in the shed.", "cat"))
		case 15:
			all = append(all, summed(days, "Ann: My personal best for the charity 5K is 25:50.", "charity 5k"))
		default:
			all = append(all, documents(days))
		}
		unlike = append(unlike, summed(days, strings.Repeat(string(rune('a'+days/26))+string(rune('a'+days%26)), 3)))
	}
	fresh := documents(0)
	for range 25 {
		out := SummariesToDrop(fresh, all, len(all))
		if len(out) != 1 || out[0] == all[0].ID || strings.Contains(textOf(all, out[0]), "25:50") {
			t.Fatalf("of %d goes %v: %s", len(all), out, textOf(all, out[0]))
		}
		all = slices.DeleteFunc(all, func(s memory.Summary) bool { return s.ID == out[0] })
	}
	if out := SummariesToDrop(fresh, unlike, 38); !slices.Equal(out, []memory.MessageID{unlike[0].ID, unlike[1].ID,
		unlike[2].ID}) {
		t.Errorf("of those that aren't alike not the oldest go, but %v", out)
	}
	if out := SummariesToDrop(documents(70), unlike, 40); !slices.Equal(out, []memory.MessageID{unlike[0].ID}) {
		t.Errorf("for an old one that is made again goes %v", out)
	}
}

// textOf is the text of the summary with an id.
func textOf(all []memory.Summary, id memory.MessageID) string {
	return all[slices.IndexFunc(all, func(s memory.Summary) bool { return s.ID == id })].Text
}
