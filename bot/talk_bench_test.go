package bot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/chat"
	"hark/internal/discordtest"
	"hark/internal/embed"
	"hark/internal/llm"
	"hark/internal/llmtest"
	counting "hark/internal/tokens"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/vectors"
	"hark/search"
)

// talk is Hark without its command line, between a fake Discord and a fake model, with times of what happened.
type talk struct {
	*sqlite.Store
	*search.Engine
	*llm.Client
	discord   *discordtest.Server
	engine    *answer.Engine
	bot       *Bot
	guild     discordtest.ID
	channels  []discordtest.Channel
	people    []discordtest.User
	server    *llmtest.Server
	held      sync.RWMutex // locked, it keeps Hark from reading the gateway
	committed atomic.Int64 // messages

	mu       sync.Mutex
	said     map[memory.MessageID]time.Time
	logged   map[memory.MessageID]time.Duration // after it was said
	searched map[memory.MessageID]time.Duration // time for a question's searches
	searches int
	query    search.Query      // the last
	written  map[int]time.Time // when the model's answer was whole, by question
	asked    map[int]time.Time // when the model was asked
}

// sentence is a dozen words, a few of them common.
func sentence(random *rand.Rand) string {
	words := make([]string, 12)
	for i := range words {
		words[i] = fmt.Sprint("word", int(random.ExpFloat64()*500))
	}
	return strings.Join(words, " ")
}

var numbered = regexp.MustCompile(`question no (\d+)`)

func numberIn(text string) int {
	found := numbered.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return -1
	}
	n, _ := strconv.Atoi(found[len(found)-1][1])
	return n
}

// town is how big a guild is.
type town struct {
	channels, messages int
	members            int  // besides the twenty who write
	private            bool // whether every other channel is closed to most
}

func newTalk(b *testing.B, channels, messages int) *talk {
	return newTalkIn(b, town{channels: channels, messages: messages})
}

func newTalkIn(b *testing.B, of town) *talk {
	b.Helper()
	t := &talk{
		said: map[memory.MessageID]time.Time{}, logged: map[memory.MessageID]time.Duration{},
		searched: map[memory.MessageID]time.Duration{},
		written:  map[int]time.Time{}, asked: map[int]time.Time{},
	}
	t.discord = discordtest.New(b, discordtest.WithTime(time.Now()))
	t.guild = t.discord.AddGuild("Garden").ID
	for i := range of.channels {
		c := discordtest.Channel{Name: fmt.Sprint("channel-", i)}
		if of.private && i%2 == 1 {
			c.Overwrites = []discordtest.Overwrite{
				discordtest.ForRole(t.guild, 0, discordtest.Permissions(memory.ViewChannel)),
				discordtest.ForMember(t.discord.Bot.ID, discordtest.Permissions(memory.ViewChannel), 0),
			}
		}
		t.channels = append(t.channels, t.discord.AddChannel(t.guild, c))
	}
	for i := range 20 {
		t.people = append(t.people, t.discord.AddMember(t.guild, discordtest.User{Username: fmt.Sprint("person-", i)}))
	}
	t.Store = opened(b, b.TempDir())
	b.Cleanup(func() { t.Store.Close() })
	t.fill(b, of.messages)
	t.join(b, of.members)

	t.server = llmtest.New(b)
	t.server.Answer(func(r llmtest.Request) llmtest.Reply {
		now, n := time.Now(), numberIn(r.Prompt())
		t.mu.Lock()
		defer t.mu.Unlock()
		if _, twice := t.asked[n]; !twice {
			t.asked[n] = now
		}
		return llmtest.Say("It is ", "so ", fmt.Sprintf("[1], done with question no %d.", n))
	})
	t.Engine = search.New(t.Store, t.Store, embed.Builtin{})
	t.Client = modelAt(t.server.URL())
	t.engine = answering(b, t.Store, t, t, memory.Policy{})
	bot, err := New(Config{Token: t.discord.Token, APIURL: t.discord.URL, Client: t.discord.Client(),
		Dialer: gated(t.discord.Dialer(), &t.held), Progress: t.discord.Poke}, t, t.engine, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	t.bot = bot
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = bot.Run(ctx) })
	b.Cleanup(func() {
		cancel()
		run.Wait()
	})
	t.discord.WaitReady()
	return t
}

// opened is a store for a large log.
func opened(tb testing.TB, dir string) *sqlite.Store {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), dir, sqlite.Options{Space: embed.Builtin{}.Space(),
		Tokens: counting.New().Count, Index: vectors.Options{Patience: 100 * time.Millisecond, Limit: 64 << 20}})
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func modelAt(address string) *llm.Client {
	return llm.New(llm.Config{BaseURL: address, Model: "test-model", MaxTokens: 1000})
}

// answering is an engine that keeps its prompts.
func answering(tb testing.TB, log answer.Log, searcher answer.Searcher, model answer.Model,
	policy memory.Policy) *answer.Engine {
	tb.Helper()
	layout, err := builder.New(builder.Options{Citations: true}, counting.For("test-model"))
	if err != nil {
		tb.Fatal(err)
	}
	return answer.New(log, searcher, layout, model, answer.Options{Policy: policy, KeepPrompts: true})
}

// fill writes messages of a year, and indexes them.
func (t *talk) fill(b *testing.B, messages int) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	first := time.Now().Add(-365 * 24 * time.Hour)
	for n := 0; n < messages; {
		var events []memory.Event
		for range min(1000, messages-n) {
			at := random.IntN(len(t.channels))
			events = append(events, memory.Posted{Message: memory.Message{
				ID: memory.FirstMessageID(first.Add(time.Duration(n) * 5 * time.Minute)), Guild: memory.GuildID(t.guild),
				Channel: memory.ChannelID(t.channels[at].ID),
				Author:  memory.UserID(t.people[random.IntN(len(t.people))].ID), Content: sentence(random)}})
			n++
		}
		if err := t.Store.Apply(b.Context(), events...); err != nil {
			b.Fatal(err)
		}
	}
	indexer := memory.Indexer{Queue: t.Store, Embedder: embed.Builtin{}}
	if err := indexer.Drain(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
}

// Apply notes when a message is logged.
func (t *talk) Apply(ctx context.Context, events ...memory.Event) error {
	err := t.Store.Apply(ctx, events...)
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		if p, ok := e.(memory.Posted); ok {
			t.committed.Add(1)
			if said, known := t.said[p.Message.ID]; known {
				t.logged[p.Message.ID] = now.Sub(said)
			}
		}
	}
	return err
}

// Search measures a question's searches.
func (t *talk) Search(ctx context.Context, q search.Query) (search.Result, error) {
	began := time.Now()
	found, err := t.Engine.Search(ctx, q)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.searched[q.Skip[len(q.Skip)-1]] += time.Since(began)
	t.searches++
	t.query = q
	return found, err
}

// Chat notes when an answer is whole.
func (t *talk) Chat(ctx context.Context, r chat.Request, delta func(string)) (chat.Reply, error) {
	reply, err := t.Client.Chat(ctx, r, delta)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written[numberIn(reply.Text)] = time.Now()
	return reply, err
}

// say says something, and notes when.
func (t *talk) say(channel discordtest.Channel, who discordtest.User, text string) memory.MessageID {
	before := time.Now()
	id := memory.MessageID(t.discord.Say(channel.ID, who.ID, text).ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said[id] = before
	return id
}

// ask asks question n and returns it once the answer is final.
func (t *talk) ask(channel discordtest.Channel, who discordtest.User, n int, words string) memory.MessageID {
	id := t.say(channel, who, fmt.Sprintf("%s what is %s, question no %d?", t.discord.Bot.Mention(), words, n))
	t.discord.WaitSent(channel.ID, func(m discordtest.Sent) bool {
		return m.Reference != nil && memory.MessageID(m.Reference.MessageID) == id &&
			strings.Contains(m.Content, fmt.Sprintf("question no %d.", n)) &&
			strings.Contains(m.Content, "Sources: ")
	})
	return id
}

// percentile is a percentile of times, in milliseconds.
func percentile(times []time.Duration, percent int) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return float64(times[(len(times)-1)*percent/100].Microseconds()) / 1000
}

// join adds members who never write.
func (t *talk) join(b *testing.B, members int) {
	b.Helper()
	events := make([]memory.Event, members)
	for i := range events {
		events[i] = memory.PersonSeen{Person: memory.Person{Guild: memory.GuildID(t.guild), ID: memory.UserID(i + 1),
			Username: fmt.Sprint("quiet-", i), Name: fmt.Sprintf("Member Number%d", i), RolesKnown: true}}
	}
	if err := t.Store.Apply(b.Context(), events...); err != nil {
		b.Fatal(err)
	}
}

// chatter is a running session. Every fourth message is an answer made from the forty before it.
func (t *talk) chatter(b *testing.B, channel memory.ChannelID, messages int) {
	b.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	now := time.Now()
	var events []memory.Event
	var sources []memory.Source
	for n := range messages {
		m := memory.Message{ID: memory.FirstMessageID(now.Add(time.Duration(n-messages) * 5 * time.Second)),
			Guild: memory.GuildID(t.guild), Channel: channel, Author: memory.UserID(t.people[n%3].ID),
			Content: strings.Repeat(sentence(random)+" ", 5)}
		if n%4 == 3 {
			m.Author, m.Kind = memory.UserID(t.discord.Bot.ID), memory.FromHark
		}
		events = append(events, memory.Posted{Message: m})
		if n%4 == 3 {
			events = append(events, memory.Answered{Trace: memory.Trace{Guild: m.Guild, Channel: channel, Answer: m.ID,
				Question: memory.MessageID(sources[len(sources)-1].ID), Asker: memory.UserID(t.people[0].ID),
				Recalled: recalled(sources), Sources: slices.Clone(sources[max(0, len(sources)-40):])}})
		}
		sources = append(sources, m.AsSource(false))
	}
	if err := t.Store.Apply(b.Context(), events...); err != nil {
		b.Fatal(err)
	}
}

// recalled are the last forty sources as a trace has them.
func recalled(sources []memory.Source) []memory.TraceHit {
	var hits []memory.TraceHit
	for i, s := range sources[max(0, len(sources)-40):] {
		hits = append(hits, memory.TraceHit{Channel: s.Channel, Message: memory.MessageID(s.ID),
			Relevance: float64(i) / 40, Why: []string{"words", "around"}, Number: i + 1})
	}
	return hits
}

// BenchmarkMention asks question after question in a guild with 100,000 messages. It measures the time from the mention
// to the first request of the model, with and without searching, and from the model's last byte to the final message.
// The lower limit is the time for a message from the fake Discord to the log.
//
// It also measures CPU time before the model's request, beside that of one search for the same question, and counts
// searches.
func BenchmarkMention(b *testing.B) {
	for _, of := range []struct {
		name    string
		town    town
		session int
	}{
		{"quiet", town{channels: 50, messages: 100_000}, 0},
		{"session", town{channels: 50, messages: 100_000}, 200},
		{"private", town{channels: 50, messages: 100_000, private: true}, 0},
		{"members", town{channels: 500, messages: 100_000, members: 20_000, private: true}, 200},
	} {
		b.Run(of.name, func(b *testing.B) { benchmarkMention(b, newTalkIn(b, of.town), of.session) })
	}
}

func benchmarkMention(b *testing.B, t *talk, session int) {
	random := rand.New(rand.NewPCG(7, 8))
	t.ask(t.channels[0], t.people[0], 0, sentence(random)) // has the vectors loaded
	channels := t.channels
	if session > 0 {
		channels = channels[:1]
		t.chatter(b, memory.ChannelID(channels[0].ID), session)
	}
	var whole, beside, shown, floor, own, once []time.Duration
	n := 0
	t.searches = 0
	for b.Loop() {
		n++
		channel, who := channels[2*n%len(channels)], t.people[n%len(t.people)]
		id := t.ask(channel, who, n, sentence(random))
		now := time.Now()
		t.mu.Lock()
		whole = append(whole, t.asked[n].Sub(t.said[id]))
		beside = append(beside, t.asked[n].Sub(t.said[id])-t.searched[id])
		shown = append(shown, now.Sub(t.written[n]))
		floor = append(floor, t.logged[id])
		searches := t.searches
		t.mu.Unlock()
		q := answer.Question{ID: id + 1, Guild: memory.GuildID(t.guild), Channel: memory.ChannelID(channel.ID),
			Asker: memory.UserID(who.ID), Name: who.Username, Text: sentence(random), Now: now}
		if err := t.Store.Apply(b.Context(), memory.PersonSeen{Person: memory.Person{ID: q.Asker, Guild: q.Guild,
			Username: who.Username}}); err != nil { // as with each message
			b.Fatal(err)
		}
		own = append(own, cpuOf(b, func() error {
			_, err := t.engine.Recall(b.Context(), q)
			return err
		}))
		once = append(once, cpuOf(b, func() error {
			_, err := t.Engine.Search(b.Context(), t.query)
			return err
		}))
		t.searches = searches
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(t.searches)/float64(n), "searches")
	b.ReportMetric(percentile(own, 50), "cpu-ms-own")
	b.ReportMetric(percentile(once, 50), "cpu-ms-search")
	b.ReportMetric(percentile(own, 50)/percentile(once, 50), "times-search")
	for name, times := range map[string][]time.Duration{"asked": whole, "beside-search": beside,
		"shown": shown, "logged": floor} {
		b.ReportMetric(percentile(times, 50), "ms-"+name+"-p50")
		b.ReportMetric(percentile(times, 95), "ms-"+name+"-p95")
	}
}

// cpuOf is the CPU time that do takes.
func cpuOf(b *testing.B, do func() error) time.Duration {
	b.Helper()
	before := cpu(b)
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return cpu(b) - before
}
