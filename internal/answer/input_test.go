package answer

import (
	"strings"
	"testing"
	"time"

	"hark/memory"
	"hark/search"
)

func TestThePlainLayoutSaysNothingTwice(t *testing.T) {
	t.Parallel()
	hit := func(id memory.MessageID, text string) search.Hit {
		return search.Hit{Message: memory.Message{ID: id, Content: text}}
	}
	const budget = "the budget is 480 for everybody"
	r := &recalled{result: search.Result{
		Hits: []search.Hit{hit(1, budget), hit(2, "ok"), hit(3, "the  budget is 480\nfor everybody"), hit(4, "ok")},
		Lore: []search.LoreHit{{Lore: memory.Lore{ID: 1, Text: budget + "."}}, {Lore: memory.Lore{ID: 2, Text: "a hut"}}},
	}, summaries: []search.SummaryHit{{Summary: memory.Summary{ID: 1, Text: "Ann: " + budget + " · Ben: ok"}},
		{Summary: memory.Summary{ID: 2, Text: "They spoke of money."}}}}
	r.dedupe()
	if len(r.result.Hits) != 3 || len(r.result.Lore) != 1 || len(r.summaries) != 1 || r.summaries[0].Summary.ID != 2 {
		t.Errorf("%d hits, lore %v, summaries %v", len(r.result.Hits), r.result.Lore, r.summaries)
	}
}

// Facts and lore that speak of "next week" tell the day they were said on, in the guild's zone.
func TestRelativeWordsHaveTheirDay(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 7, 19, 18, 0, 0, 0, time.UTC)
	in := History(search.Result{
		People: []search.Participant{{Person: memory.Person{ID: 1, Facts: []memory.Fact{
			{ID: int64(memory.FirstMessageID(at)), Text: "moves next week"}, {ID: 2, Text: "sails"}}}}},
		Lore: []search.LoreHit{{Lore: memory.Lore{Name: "Party", Text: "tomorrow at 5", At: at}}},
	}, 0, time.FixedZone("Tokyo", 9*3600), nil, nil)
	if got := in.Participants[0].Data; got != "moves next week (said on 2024-07-20); sails" {
		t.Errorf("told of the person: %q", got)
	}
	if got := strings.Join(in.Lore, ""); got != "Party: tomorrow at 5 (said on 2024-07-20)" {
		t.Errorf("lore: %q", got)
	}
}
