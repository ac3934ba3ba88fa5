package search

import (
	"slices"

	"hark/internal/text"
	"hark/memory"
)

// A title is what a thread or a forum post is called, with its tags. Its words count as words of each message there,
// with less weight than the message's own. They are looked up where the titles are, when a question is asked: so a
// rename changes all messages at once, and nothing of a title is left once it is gone.

const (
	// titleShare is the weight of a title's word beside the same word in a message. It is set by hand on made threads
	// (testdata/threads.txt), because no data set has titles. solvedShare is that of a post that is tagged as solved.
	titleShare  = 0.7
	solvedShare = 0.8
)

// solvedTags are what forums call the tag of an answered post.
var solvedTags = text.SetOf(`solved resolved answered fixed done gelost erledigt beantwortet resolu repondu resuelto
	resuelta solucionado solucionada 解決 解決済み 已解決 已解决`)

// titleIndex finds a guild's threads by the terms of their titles.
type titleIndex struct {
	titles []threadTitle
	with   map[string][]int         // by term: their places in titles
	of     map[memory.ChannelID]int // by thread: its place
}

// threadTitle is the title of a thread.
type threadTitle struct {
	thread memory.ChannelID
	name   string
	terms  []string // each once
	solved bool
}

func newTitleIndex(channels []memory.Channel) *titleIndex {
	x := &titleIndex{with: map[string][]int{}, of: map[memory.ChannelID]int{}}
	parents := map[memory.ChannelID]*memory.Channel{}
	for i := range channels {
		parents[channels[i].ID] = &channels[i]
	}
	var batch text.Batch
	for i := range channels {
		c := &channels[i]
		title := memory.TitleOf(c, parents[c.Parent])
		if title.Name == "" {
			continue
		}
		t := threadTitle{
			thread: c.ID,
			name:   title.Name,
			terms:  batch.Terms(title.Name),
		}
		for _, tag := range title.Tags {
			t.terms = append(t.terms, batch.Terms(tag)...)
			t.solved = t.solved || isSolved(tag)
		}
		slices.Sort(t.terms)
		t.terms = slices.Compact(t.terms)
		for _, term := range t.terms {
			x.with[term] = append(x.with[term], len(x.titles))
		}
		x.of[c.ID] = len(x.titles)
		x.titles = append(x.titles, t)
	}
	return x
}

// isSolved reports whether a tag says that a post is answered, and no more: "Solved", but not "Not solved".
func isSolved(tag string) bool {
	words := text.Words(tag)
	return len(words) == 1 && solvedTags[words[0]]
}

// titled is a title that has words of the question.
type titled struct {
	held    []float64 // by term of the question: 1 if the title has it
	weighed []float64 // the same, with the weight of titles instead of 1
	terms   []string  // all of the title's
	share   float64   // the weight
}

// match returns a title without any of so many terms of a question.
func (t *threadTitle) match(terms int) *titled {
	match := &titled{
		held:    make([]float64, terms),
		weighed: make([]float64, terms),
		terms:   t.terms,
		share:   titleShare,
	}
	if t.solved {
		match.share = solvedShare
	}
	return match
}
