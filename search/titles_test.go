package search_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
	"hark/search"
)

// madeThreads are threads with titles, and what was said there.
type madeThreads struct {
	channels  []memory.Channel
	people    []memory.Person
	said      []memory.Message
	questions []madeQuestion
}

type madeQuestion struct {
	text     string
	evidence []memory.MessageID
}

// readThreads reads testdata/threads.txt.
func readThreads(t testing.TB) madeThreads {
	t.Helper()
	data, err := os.ReadFile("testdata/threads.txt")
	if err != nil {
		t.Fatal(err)
	}
	var made madeThreads
	at := dawn
	people := map[string]memory.UserID{}
	forums := map[string]int{}
	var c memory.Channel
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		at = at.Add(time.Minute)
		id := memory.FirstMessageID(at)
		if place, begins := strings.CutPrefix(line, "# "); begins {
			at = at.Add(24 * time.Hour)
			c = made.begin(memory.ChannelID(memory.FirstMessageID(at)), place, forums)
			continue
		}
		question, asks := strings.CutPrefix(line, "? ")
		who, said, speaks := strings.Cut(line, ": ")
		switch {
		case asks:
			made.questions = append(made.questions, madeQuestion{text: question})
		case speaks && c.ID != 0:
			who, answers := strings.CutPrefix(who, "*")
			if people[who] == 0 {
				people[who] = memory.UserID(600 + len(people))
				made.people = append(made.people, memory.Person{ID: people[who], Guild: village, Username: who})
			}
			made.said = append(made.said, memory.Message{ID: id, Guild: village, Channel: c.ID, Author: people[who],
				Content: said})
			if answers {
				last := &made.questions[len(made.questions)-1]
				last.evidence = append(last.evidence, id)
			}
		}
	}
	return made
}

// begin adds the channel or the thread of a line "PLACE > TITLE [TAGS]".
func (m *madeThreads) begin(id memory.ChannelID, line string, forums map[string]int) memory.Channel {
	place, title, isThread := strings.Cut(line, " > ")
	if _, known := forums[place]; !known {
		forums[place] = len(m.channels)
		m.channels = append(m.channels, memory.Channel{ID: id - 1, Guild: village, Kind: memory.ForumChannel, Name: place})
	}
	c := m.channels[forums[place]]
	if isThread {
		title, tags, _ := strings.Cut(title, " [")
		c = memory.Channel{ID: id, Guild: village, Parent: c.ID, Kind: memory.PublicThread, Name: title}
		for name := range strings.SplitSeq(strings.TrimSuffix(tags, "]"), ", ") {
			c.Tags = append(c.Tags, memory.Tag{Name: name})
		}
		m.channels = append(m.channels, c)
	}
	return c
}

// found counts the questions with evidence among the first five hits, and those that aren't declined. Questions are
// asked in the first channel.
func (m *madeThreads) found(t testing.TB, embedder memory.Embedder, titled bool) (among, open int) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{Space: embedder.Space()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var events []memory.Event
	scope := memory.Scope{}
	for _, c := range m.channels {
		if !titled {
			c.Name = ""
		}
		events = append(events, memory.ChannelSeen{Channel: c})
		scope.Channels = append(scope.Channels, c.ID)
	}
	for _, p := range m.people {
		events = append(events, memory.PersonSeen{Person: p})
	}
	for _, s := range m.said {
		events = append(events, memory.Posted{Message: s})
	}
	if err := store.Apply(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	indexer := memory.Indexer{Queue: store, Embedder: embedder}
	if err := indexer.Drain(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	e := search.New(store, store, embedder)
	for _, q := range m.questions {
		r := find(t, e, search.Query{Text: q.text, Now: dawn.AddDate(1, 0, 0), Guilds: []memory.GuildID{village},
			Scope: scope})
		at := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return slices.Contains(q.evidence, h.Message.ID) })
		if at >= 0 && at < 5 {
			among++
		}
		if !r.Declined {
			open++
		}
		t.Logf("%q: %d, declined %t", q.text, at, r.Declined)
	}
	return among, open
}

func TestRecallByTitles(t *testing.T) {
	t.Parallel()
	made := readThreads(t)
	before, openBefore := made.found(t, embed.Builtin{}, false)
	after, openAfter := made.found(t, embed.Builtin{}, true)
	t.Logf("of %d questions %d, with titles %d; not declined %d, with titles %d", len(made.questions), before, after,
		openBefore, openAfter)
	_ = context.Background
}
