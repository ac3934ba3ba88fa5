package search_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
	"hark/search"
)

// The village is a guild of three channels, in which people talk.
const (
	green memory.ChannelID = 1 + iota
	pub
	crypt
)

const village memory.GuildID = 77

const (
	marta memory.UserID = 500 + iota
	oswin
	pim
	bell // a bot
)

var dawn = time.Date(2024, 3, 4, 9, 0, 0, 0, time.UTC)

// talk is what was said in the village.
type talk struct {
	store *sqlite.Store
	next  int
	all   map[memory.MessageID]memory.Message
}

func newTalk(t testing.TB) *talk {
	store, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{Space: embed.Builtin{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	k := &talk{store: store, all: map[memory.MessageID]memory.Message{}}
	for i, p := range []memory.Person{{ID: marta, Username: "marta"},
		{ID: oswin, Username: "oz", Nick: "Oswin"}, {ID: pim, Username: "pim"}, {ID: bell,
			Username: "bellbot", Bot: true}} {
		p.Guild = village
		k.apply(t, memory.PersonSeen{Person: p})
		k.apply(t, memory.ChannelSeen{Channel: memory.Channel{ID: memory.ChannelID(i + 1), Guild: village}})
	}
	return k
}

func (k *talk) apply(t testing.TB, events ...memory.Event) {
	t.Helper()
	if err := k.store.Apply(context.Background(), events...); err != nil {
		t.Fatal(err)
	}
}

// say posts a message at a time and tells its id.
func (k *talk) say(t testing.TB, at time.Time, channel memory.ChannelID, author memory.UserID, content string,
	change ...func(*memory.Message)) memory.MessageID {
	t.Helper()
	k.next++
	m := memory.Message{ID: memory.FirstMessageID(at) + memory.MessageID(k.next), Guild: village,
		Channel: channel, Author: author, Content: memory.Clean(content)}
	for _, c := range change {
		c(&m)
	}
	k.all[m.ID] = m
	k.apply(t, memory.Posted{Message: m})
	return m.ID
}

func (k *talk) index(t testing.TB) {
	t.Helper()
	if err := (&memory.Indexer{Queue: k.store, Embedder: embed.Builtin{}}).Drain(context.Background(),
		nil); err != nil {
		t.Fatal(err)
	}
}

func (k *talk) engine() *search.Engine { return search.New(k.store, k.store, embed.Builtin{}) }

// directory tells of lore and of facts about Pim besides.
type directory struct {
	search.Directory
	lore  map[memory.GuildID][]memory.Lore
	facts []memory.Fact
}

func (d directory) Lore(_ context.Context, guild memory.GuildID) ([]memory.Lore, error) {
	return d.lore[guild], nil
}

func (d directory) People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	people, err := d.Directory.People(ctx, guild, ids...)
	for i := range people {
		if people[i].ID == pim {
			people[i].Facts = d.facts
		}
	}
	return people, err
}

func (k *talk) knowing(lore []memory.Lore, facts ...memory.Fact) *search.Engine {
	of := map[memory.GuildID][]memory.Lore{}
	for _, l := range lore {
		of[l.Guild] = append(of[l.Guild], l)
	}
	return search.New(k.store, directory{k.store, of, facts}, embed.Builtin{})
}

func (k *talk) search(t rapid.TB, q search.Query) search.Result {
	t.Helper()
	return find(t, k.engine(), q)
}

func find(t rapid.TB, e *search.Engine, q search.Query) search.Result {
	t.Helper()
	r, err := e.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	return r
}

// isFor reports whether a hit is one for a kind of reason.
func isFor(h search.Hit, kind string) bool {
	return slices.ContainsFunc(h.Why, func(r search.Reason) bool { return r.Kind == kind })
}

// ask is a query of the village a month later, for the channels given.
func ask(text string, channels ...memory.ChannelID) search.Query {
	return search.Query{Text: text, Now: dawn.AddDate(0, 1, 0), Guilds: []memory.GuildID{village},
		Scope: memory.Scope{Channels: channels}}
}

// gossip is a village with a day's talk in each channel.
func gossip(t testing.TB) (*talk, map[string]memory.MessageID) {
	k := newTalk(t)
	ids := map[string]memory.MessageID{}
	for i, s := range []struct {
		name    string
		channel memory.ChannelID
		author  memory.UserID
		content string
		later   time.Duration
	}{
		{"ask roof", green, marta, "who can mend the chapel roof?", 0},
		{"roof", green, oswin, "my cousin Hale mends roofs, he charges forty florins", 1 * time.Minute},
		{"thanks", green, marta, "lovely, I will write to him", 2 * time.Minute},
		{"goat", green, pim, "the goat ate the bunting again", 30 * time.Hour},
		{"fair", green, oswin, "the harvest fair moves to the lower meadow this autumn", 31 * time.Hour},
		{"beer", pub, pim, "the new stout has a hint of liquorice", 2 * time.Hour},
		{"roof in pub", pub, pim, "between us, the chapel roof was damaged by the goat", 2*time.Hour + time.Minute},
		{"hark", pub, bell, "The roof is being mended by Hale.", 2*time.Hour + 2*time.Minute},
		{"system", pub, bell, "roof pinned a message about the chapel roof", 2*time.Hour + 3*time.Minute},
		{"secret", crypt, marta, "the chapel roof money is hidden in the crypt", 3 * time.Hour},
		{"bot", crypt, bell, "reminder: inspect the crypt candles", 4 * time.Hour},
	} {
		ids[s.name] = k.say(t, dawn.Add(s.later), s.channel, s.author, s.content, func(m *memory.Message) {
			m.ID += memory.MessageID(i)
			switch s.name {
			case "hark":
				m.Kind = memory.FromHark
			case "system":
				m.Kind = memory.FromSystem
			case "bot":
				m.Kind = memory.FromBot
			}
		})
	}
	k.index(t)
	return k, ids
}

func hitIDs(r search.Result) []memory.MessageID {
	var ids []memory.MessageID
	for _, h := range r.Hits {
		ids = append(ids, h.Message.ID)
	}
	return ids
}

// shown are all messages of a result, neighbours included.
func shown(r search.Result) []memory.Message {
	var all []memory.Message
	for _, h := range r.Hits {
		all = append(append(all, h.Message), h.Excerpt...)
	}
	return all
}
