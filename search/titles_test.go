package search_test

import (
	"os"
	"reflect"
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

// Most questions have words of a title only. The last five don't, and titles mislead.
func TestRecallByTitles(t *testing.T) {
	t.Parallel()
	made := readThreads(t)
	before, openBefore := made.found(t, embed.Builtin{}, false)
	after, openAfter := made.found(t, embed.Builtin{}, true)
	t.Logf("of %d questions %d, with titles %d; not declined %d, with titles %d", len(made.questions), before, after,
		openBefore, openAfter)
	if before > 5 || after < 34 || openAfter < 33 {
		t.Error("titles don't find what they found")
	}
}

// The forum and its posts, in which nobody says what the titles say.
const (
	forum memory.ChannelID = 9000 + iota
	vpn
	kiln
)

// titled gives the forum, and its posts these titles.
func (k *talk) titled(t testing.TB, posts ...memory.Channel) {
	t.Helper()
	k.apply(t, memory.ChannelSeen{Channel: memory.Channel{ID: forum, Guild: village, Kind: memory.ForumChannel, Name: "help",
		Tags: []memory.Tag{{ID: 1, Name: "Solved"}, {ID: 2, Name: "networking"}}}})
	for _, c := range posts {
		c.Guild = village
		c.Parent = forum
		c.Kind = memory.PublicThread
		k.apply(t, memory.ChannelSeen{Channel: c})
	}
}

func first(r search.Result) memory.MessageID {
	if r.Declined || len(r.Hits) == 0 {
		return 0
	}
	return r.Hits[0].Message.ID
}

func TestATitleFindsItsMessagesAsItIsNow(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.titled(t, memory.Channel{ID: vpn, Name: "VPN fails on Linux", Tags: []memory.Tag{{ID: 1}, {ID: 2}}},
		memory.Channel{ID: kiln, Name: "Kiln purchase"})
	k.say(t, dawn, vpn, marta, "It hangs and then times out")
	k.say(t, dawn.Add(time.Minute), vpn, oswin, "load the module first")
	price := k.say(t, dawn, kiln, pim, "the cheap one is 400 euros")
	k.say(t, dawn, green, pim, "what a lovely morning")
	k.index(t)
	find := func(question string) search.Result { return k.search(t, ask(question, green, forum, vpn, kiln)) }
	if r := find("how much is the kiln?"); first(r) != price || !isFor(r.Hits[0], "words") {
		t.Errorf("by the title: %+v", r.Hits)
	}
	for _, question := range []string{"VPN", "networking on linux", "what about the vpn?"} {
		if r := find(question); first(r) == 0 || r.Hits[0].Message.Channel != vpn {
			t.Errorf("%q: %+v", question, r.Hits)
		}
	}
	words := func(w search.Reason) bool { return w.Kind == "words" && w.Detail == "networking" }
	if r := find("networking"); !slices.ContainsFunc(r.Hits[0].Why, words) {
		t.Errorf("by a tag: %+v", r.Hits[0].Why)
	}
	k.titled(t, memory.Channel{ID: kiln, Name: "Oven purchase"})
	if r := find("how much is the oven?"); first(r) != price {
		t.Errorf("by the new title: %+v", r.Hits)
	}
	if r := find("how much is the kiln?"); first(r) == price {
		t.Errorf("by the old title: %+v", r.Hits)
	}
	k.apply(t, memory.ChannelDeleted{Guild: village, Channel: vpn, At: dawn.AddDate(0, 1, 0)})
	if r := find("VPN"); !r.Declined {
		t.Errorf("by the title of a deleted thread: %+v", r.Hits)
	}
}

func TestWordsOfAMessageWeighMoreThanThoseOfItsTitle(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.titled(t, memory.Channel{ID: kiln, Name: "Kiln price"}, memory.Channel{ID: vpn, Name: "Dinner"})
	k.say(t, dawn, kiln, pim, "I looked at two shops in town")
	said := k.say(t, dawn, vpn, marta, "the price of the kiln is high")
	k.index(t)
	if r := k.search(t, ask("what is the price of the kiln?", vpn, kiln)); first(r) != said {
		t.Errorf("%+v", r.Hits)
	}
}

func TestASolvedPostIsBeforeOthersLikeIt(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.titled(t, memory.Channel{ID: vpn, Name: "VPN fails", Tags: []memory.Tag{{ID: 1}}},
		memory.Channel{ID: kiln, Name: "VPN fails"})
	solved := k.say(t, dawn, vpn, pim, "load the module, then start it again")
	k.say(t, dawn, kiln, pim, "stop the daemon, then reload it twice")
	k.index(t)
	if r := k.search(t, ask("why does the vpn fail?", vpn, kiln)); first(r) != solved {
		t.Errorf("%+v", r.Hits)
	}
}

// A title outside the scope changes nothing: no hit, no weight of a word, and nothing of the gate.
func TestTitlesOutsideTheScopeTellNothing(t *testing.T) {
	t.Parallel()
	made := func(posts ...memory.Channel) search.Result {
		k := newTalk(t)
		k.titled(t, posts...)
		k.say(t, dawn, green, marta, "the kiln is in the barn")
		k.say(t, dawn.Add(time.Minute), green, oswin, "and the purchase of hay is done")
		k.say(t, dawn, kiln, pim, "the cheap one is 400 euros")
		k.index(t)
		return k.search(t, ask("how much was the kiln purchase, and the loom?", green, forum))
	}
	without := made()
	with := made(memory.Channel{ID: kiln, Name: "Kiln purchase"}, memory.Channel{ID: vpn, Name: "Purchase of a loom"})
	if without.Declined != with.Declined || !reflect.DeepEqual(without.Gate(), with.Gate()) ||
		!reflect.DeepEqual(without.Hits, with.Hits) {
		t.Errorf("%+v\n%+v", without, with)
	}
}

// Who came later may not know of the threads that were there before.
func TestTitlesOfEarlierThreadsDontCountForThoseWhoCameLater(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	thread := memory.ChannelID(memory.FirstMessageID(dawn))
	k.titled(t, memory.Channel{ID: thread, Name: "Kiln purchase"})
	said := k.say(t, dawn.Add(2*time.Hour), thread, pim, "the cheap one is 400 euros")
	k.say(t, dawn.Add(2*time.Hour), green, pim, "what a lovely morning")
	q := ask("how much is the kiln?", green, thread)
	q.Opened = true
	q.Scope.Since = dawn.Add(-time.Hour)
	if r := k.search(t, q); first(r) != said {
		t.Errorf("a later thread: %+v", r.Hits)
	}
	q.Scope.Since = dawn.Add(time.Hour)
	if r := k.search(t, q); !r.Declined {
		t.Errorf("an earlier thread: %+v", r.Hits)
	}
}

// A reranker reads what a thread is about above each of its messages, also where no word of it was asked for.
func TestTheRerankerReadsTitles(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.titled(t, memory.Channel{ID: kiln, Name: "Kiln purchase"})
	k.say(t, dawn, kiln, pim, "the cheap one is 400 euros")
	k.say(t, dawn.Add(time.Hour), green, marta, "euros again "+strings.Repeat("and again ", 200))
	k.index(t)
	j := &judge{score: prefers()}
	q := ask("how many euros?", green, kiln)
	if _, err := k.engine().WithReranker(j).Search(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(j.texts[0], "Kiln purchase\npim: the cheap one is 400 euros") {
		t.Errorf("it reads %q", j.texts[0])
	}
}
