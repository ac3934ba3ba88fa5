package search

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

func TestShownLeavesNearDuplicatesOut(t *testing.T) {
	t.Parallel()
	const said = "the nightly backup of the big database has failed on server 12 because its disk is full, " +
		"please clean it up soon"
	for _, c := range []struct {
		text string
		new  bool
	}{
		{said, false},
		{strings.Replace(said, "soon", "now", 1), false},
		{strings.ReplaceAll(said, " ", ", "), false},
		{said + " thanks", false},
		{strings.Replace(said, "12", "13", 1), true},
		{strings.Replace(said, "has failed", "has not failed", 1), true},
		{strings.Replace(said, "disk is", "disk isn't", 1), true},
		{said + " since the new year everything has been like that", true},
		{strings.Replace(said, "nightly backup of the big database", "weekly export of our small archive", 1), true},
		{"the backup failed", true},
		{"", true},
	} {
		var s seenTexts
		s.add(said)
		if got := s.add(c.text); got != c.new {
			t.Errorf("%q is new: %v", c.text, got)
		}
		if s.add(c.text) {
			t.Errorf("%q is new twice", c.text)
		}
	}
	var s seenTexts
	if !s.add("the backup failed") || !s.add("the backup fails") {
		t.Error("of short texts every word counts")
	}
}

func TestRefersBack(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]bool{
		"What about the second one?": true, "why?": true, "and when?": true, "What did she say about it?": true,
		"who else?": true,
		"Who repaired the chapel roof last year?": false, "which plan did Marta choose for the harvest fair": false,
		"how about dinner plans for the harvest fair": true, "the last one of these plans": true, "": true,
		"教会の屋根を直したのは誰ですか": false, "それはどこで言われましたか": true, "Was hat Marta damit gemeint, als sie kam?": true,
		"Is there a meeting on Monday?": false, "What did we decide this week about the roof?": false, "is this wise": true,
		"When was the last time Kate went to Paris?": false, "Who said that Kate likes hiking?": false,
		"whose is that book":                         true,
		"How long does it take to build the parser?": false, "is it done": true, "Wer ist dafür?": true,
		"Where does Kate keep her bike?": false, "what's her job": true,
		"and tell me of the second": true, "which colour has the other one of Kate's bikes": true,
		"what did the first king of France eat": false,
		"what is the deadline?":                 false, "is there more?": true,
	} {
		if got := RefersBack(question); got != want {
			t.Errorf("%q refers back: %v", question, got)
		}
	}
}

func TestStarredFirst(t *testing.T) {
	t.Parallel()
	hit := func(relevance float64, starred bool) Hit {
		return Hit{Message: memory.Message{ID: memory.MessageID(relevance * 1000), Starred: starred},
			Relevance: relevance}
	}
	for _, c := range []struct {
		hits []Hit
		want []memory.MessageID
	}{
		{nil, nil},
		{[]Hit{hit(.5, false), hit(.3, false), hit(.2, true), hit(.1, false)}, []memory.MessageID{500, 200, 300, 100}},
		{[]Hit{hit(.9, false), hit(.3, true), hit(.2, true)}, []memory.MessageID{900, 300, 200}},
		{[]Hit{hit(.99, false), hit(.98, true), hit(0, true)}, []memory.MessageID{980, 990, 0}},
		{[]Hit{hit(.1, false), hit(.3, false), hit(.05, true)}, []memory.MessageID{100, 300, 50}}, // a reranker's order
	} {
		moved := starredFirst(c.hits)
		var got []memory.MessageID
		for _, h := range moved {
			got = append(got, h.Message.ID)
			if told := len(h.Why) > 0 && h.Why[0].Kind == "starred"; told != h.Message.Starred {
				t.Errorf("%v: why %v", h.Message.ID, h.Why)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// A message that isn't recalled or is skipped doesn't part its neighbours, but a hole in what was read does.
func TestStreamJoinsNeighbours(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	said := func(minute int, kind memory.Kind) memory.Message {
		return memory.Message{ID: memory.FirstMessageID(at.Add(time.Duration(minute) * time.Minute)),
			Kind: kind, Content: "word"}
	}
	messages := []memory.Message{said(0, memory.FromMember), said(1, memory.FromHark),
		said(2, memory.FromMember), said(5, memory.FromMember),
		said(6, memory.FromMember), said(300, memory.FromMember)}
	p := newPool(Query{})
	p.streams = p.read([][]memory.Message{messages[:3], messages[3:]}, newCounter(question{}))
	for _, c := range []struct {
		skip []memory.MessageID
		want []bool
	}{
		{nil, []bool{false, true, false, true, false}},
		{[]memory.MessageID{messages[2].ID}, []bool{false, false, true, false}},
		{[]memory.MessageID{messages[3].ID}, []bool{false, true, false, false}}, // the hole is before it
	} {
		var joined []bool
		for _, e := range p.without(c.skip, question{}).streams[0] {
			joined = append(joined, e.follows)
		}
		if !slices.Equal(joined, c.want) {
			t.Errorf("without %v: joined %v, want %v", c.skip, joined, c.want)
		}
	}
}
