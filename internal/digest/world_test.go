package digest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
)

const (
	guild  memory.GuildID   = 900
	lobby  memory.ChannelID = 901
	harbor memory.ChannelID = 902 | 1<<22 // of another millisecond
	annsDM memory.ChannelID = 910

	ann    memory.UserID = 21
	ben    memory.UserID = 22
	cleo   memory.UserID = 23
	oracle memory.UserID = 29 // Hark

	day = 24 * time.Hour
)

// noon is when it is looked for what can be made.
var noon = time.Date(2024, 6, 15, 12, 0, 0, 0, time.UTC)

var errDisk = errors.New("the disk is on fire")

// world is a worker over a real store with a guild, which it sees altered.
type world struct {
	*sqlite.Store
	t      *testing.T
	worker *Worker
	now    time.Time
	serial memory.MessageID
	failed []error // that were told of
	broken int     // the n-th call from now fails
	unread []memory.ChannelID
	out    map[memory.UserID]bool
	alter  func(*memory.Guild)
}

func newWorld(t *testing.T, model chat.Model) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{Space: embed.Builtin{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w := &world{Store: store, t: t, now: noon, out: map[memory.UserID]bool{}}
	w.worker = New(Options{
		Log: w, Model: model, Policy: memory.Policy{Direct: true}, SessionGap: 30 * time.Minute,
		Now:    func() time.Time { return w.now },
		Failed: func(_ Kind, _ memory.ChannelID, err error) { w.failed = append(w.failed, err) },
	})
	events := []memory.Event{
		memory.GuildSeen{Guild: memory.Guild{ID: guild,
			Roles: []memory.Role{{ID: memory.RoleID(guild),
				Permissions: memory.ViewChannel | memory.ReadMessageHistory}},
			Channels: []memory.Channel{{ID: lobby, Guild: guild, Name: "lobby"},
				{ID: harbor, Guild: guild, Name: "harbor"}}}},
		memory.ChannelSeen{Channel: memory.Channel{ID: annsDM,
			Kind: memory.DirectChannel}}, memory.PersonSeen{Person: memory.Person{ID: ann, Name: "Ann"}},
	}
	for id, name := range map[memory.UserID]string{ann: "Ann", ben: "Ben", cleo: "Cleo", oracle: "Hark"} {
		events = append(events, memory.PersonSeen{Person: memory.Person{ID: id, Guild: guild, Name: name,
			Bot: id == oracle}})
	}
	w.apply(events...)
	return w
}

func (w *world) apply(events ...memory.Event) {
	w.t.Helper()
	if err := w.Store.Apply(w.t.Context(), events...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) says(ago time.Duration, channel memory.ChannelID, author memory.UserID, text string) memory.MessageID {
	w.t.Helper()
	return w.posts(ago, memory.Message{Channel: channel, Author: author, Content: text})
}

func (w *world) posts(ago time.Duration, m memory.Message) memory.MessageID {
	w.t.Helper()
	w.serial++
	if m.Guild = guild; m.Channel == annsDM {
		m.Guild = memory.DirectGuild
	}
	if m.Author == oracle {
		m.Kind = memory.FromHark
	}
	m.ID = memory.FirstMessageID(noon.Add(-ago)) + w.serial
	w.apply(memory.Posted{Message: m})
	return m.ID
}

// learns has the guild and some of its members want facts to be learned.
func (w *world) learns(since time.Time, who ...memory.UserID) {
	for _, id := range append(who, 0) {
		w.apply(memory.Learn{Guild: guild, User: id, On: true, At: since})
	}
}

func (w *world) round(k Kind) {
	w.t.Helper()
	if err := w.worker.Round(w.t.Context(), k); err != nil {
		w.t.Fatal(err)
	}
}

// summaries are the texts of those of channels, a line each.
func (w *world) summaries(channels ...memory.ChannelID) string {
	w.t.Helper()
	var b strings.Builder
	for _, c := range channels {
		all, err := w.Store.Summaries(w.t.Context(), c)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range all {
			fmt.Fprintln(&b, s.Text)
		}
	}
	return b.String()
}

// unsummed is how many stretches are to be summed up.
func (w *world) unsummed() int {
	w.t.Helper()
	all, err := w.Store.SummaryBacklog(w.t.Context(), memory.FirstMessageID(noon.Add(-summariseBack)))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(all)
}

// facts are those of somebody.
func (w *world) facts(who memory.UserID) (facts []memory.Fact) {
	w.t.Helper()
	people, err := w.Store.People(w.t.Context(), guild)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range people {
		if p.ID == who {
			facts = slices.Clone(p.Facts)
		}
	}
	slices.SortFunc(facts, func(a, b memory.Fact) int { return cmp.Compare(a.Message, b.Message) })
	return facts
}

// learned is up to where the lobby was looked at for facts.
func (w *world) learned() memory.MessageID {
	g, err := w.Store.Guild(w.t.Context(), guild)
	if err != nil {
		w.t.Fatal(err)
	}
	return g.Channels[slices.IndexFunc(g.Channels, func(c memory.Channel) bool { return c.ID == lobby })].Learned
}

func try[T any](w *world, call func() (T, error)) (T, error) {
	if w.broken--; w.broken == 0 {
		return *new(T), errDisk
	}
	return call()
}

func (w *world) Guilds(ctx context.Context) ([]memory.GuildID, error) {
	return try(w, func() ([]memory.GuildID, error) { return w.Store.Guilds(ctx) })
}

func (w *world) Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error) {
	g, err := try(w, func() (*memory.Guild, error) { return w.Store.Guild(ctx, id) })
	if err != nil || w.alter == nil || id != guild {
		return g, err
	}
	changed := *g
	changed.Channels = slices.Clone(g.Channels)
	w.alter(&changed)
	return &changed, nil
}

func (w *world) People(ctx context.Context, id memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	return try(w, func() ([]memory.Person, error) { return w.Store.People(ctx, id, ids...) })
}

func (w *world) Member(ctx context.Context, in memory.GuildID, who memory.UserID) (memory.Member, error) {
	m, err := try(w, func() (memory.Member, error) { return w.Store.Member(ctx, in, who) })
	m.OptedOut = m.OptedOut || err == nil && in == guild && w.out[who]
	return m, err
}

func (w *world) Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID,
	before, after int) ([]memory.Message, error) {
	return try(w, func() ([]memory.Message, error) { return w.Store.Around(ctx, channel, ids, before, after) })
}

func (w *world) Log(ctx context.Context, channel memory.ChannelID, after, until memory.MessageID,
	limit int) ([]memory.Message, error) {
	if slices.Contains(w.unread, channel) {
		return nil, errDisk
	}
	return try(w, func() ([]memory.Message, error) { return w.Store.Log(ctx, channel, after, until, limit) })
}

func (w *world) Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error) {
	return try(w, func() ([]memory.Summary, error) { return w.Store.Summaries(ctx, channel) })
}

func (w *world) SummaryBacklog(ctx context.Context, since memory.MessageID) ([]memory.Stretch, error) {
	return try(w, func() ([]memory.Stretch, error) { return w.Store.SummaryBacklog(ctx, since) })
}

func (w *world) Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error) {
	return try(w, func() ([]memory.Condensed, error) { return w.Store.Condensed(ctx, channel) })
}

func (w *world) Gaps(ctx context.Context, id memory.GuildID, sweep bool) ([]memory.Gap, error) {
	return try(w, func() ([]memory.Gap, error) { return w.Store.Gaps(ctx, id, sweep) })
}

func (w *world) Apply(ctx context.Context, events ...memory.Event) error {
	_, err := try(w, func() (any, error) { return nil, w.Store.Apply(ctx, events...) })
	return err
}

// toy is a model that says something.
type toy struct {
	says   string
	err    error
	before func() // called before it writes
	got    []chat.Message
	calls  int
}

func (*toy) Name() string { return "parrot-1" }

func (m *toy) Chat(_ context.Context, r chat.Request, _ func(string)) (chat.Reply, error) {
	m.got = r.Messages
	m.calls++
	if m.before != nil {
		m.before()
	}
	return chat.Reply{Text: m.says}, m.err
}

func has(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, s := range wanted {
		if !strings.Contains(text, s) {
			t.Errorf("no %q in:\n%s", s, text)
		}
	}
}

func hasNot(t *testing.T, text string, unwanted ...string) {
	t.Helper()
	for _, s := range unwanted {
		if strings.Contains(text, s) {
			t.Errorf("%q in:\n%s", s, text)
		}
	}
}
