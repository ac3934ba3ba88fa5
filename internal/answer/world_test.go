package answer

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/answer/tools"
	"hark/internal/chat"
	"hark/internal/digest"
	"hark/internal/embed"
	"hark/internal/metrics/metricstest"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
	"hark/search"
)

const (
	guild  memory.GuildID   = 900
	lobby  memory.ChannelID = 901 // everybody reads it
	harbor memory.ChannelID = 902 // so they do this
	vault  memory.ChannelID = 903 // for keepers
	kiosk  memory.ChannelID = 904 // everybody sees it, nobody its past
	attic  memory.ChannelID = 905 // not placed by Discord
	annsDM memory.ChannelID = 910
	bensDM memory.ChannelID = 911

	ann    memory.UserID = 21
	ben    memory.UserID = 22
	cleo   memory.UserID = 23 // a keeper
	oracle memory.UserID = 29 // Hark

	keepers memory.RoleID = 950
)

// noon is when the questions are asked.
var noon = time.Date(2024, 6, 15, 12, 0, 0, 0, time.UTC)

// world is a real store with a guild, and an engine over it.
type world struct {
	t      testing.TB
	store  *sqlite.Store
	engine *Engine
	dir    string         // of the store
	held   []memory.Event // what is to be logged at once; nil while nothing is held back
	serial memory.MessageID
	long   map[memory.ChannelID]digest.Long // sessions that may have grown long
}

func openStore(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{Space: embed.Builtin{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// newWorld has an engine that asks model, which may be nil.
func newWorld(t testing.TB, model Model) *world {
	t.Helper()
	w := &world{t: t, dir: sqlitetest.Dir(t), long: map[memory.ChannelID]digest.Long{}}
	w.store = openStore(t, w.dir)
	w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{})
	events := []memory.Event{w.structured(0)}
	names := map[memory.UserID]string{ann: "Ann", ben: "Ben", cleo: "Cleo", oracle: "Hark"}
	for id, name := range names {
		p := memory.Person{ID: id, Guild: guild, Name: name, Bot: id == oracle, RolesKnown: true}
		if id == cleo {
			p.Roles = []memory.RoleID{keepers}
		}
		events = append(events, memory.PersonSeen{Person: p})
	}
	for channel, who := range map[memory.ChannelID]memory.UserID{annsDM: ann, bensDM: ben} {
		events = append(events, memory.ChannelSeen{Channel: memory.Channel{ID: channel, Kind: memory.DirectChannel}},
			memory.PersonSeen{Person: memory.Person{ID: who, Name: names[who]}})
	}
	w.apply(events...)
	return w
}

func (w *world) over(log Log, model Model, b builder.Options, o Options, more ...tools.Tool) *Engine {
	w.t.Helper()
	if o.Policy == (memory.Policy{}) {
		o.Policy.Direct = true
	}
	built, err := builder.New(b, tokenstest.For(""))
	if err != nil {
		w.t.Fatal(err)
	}
	e := New(log, search.New(w.store, w.store, embed.Builtin{}), built, model, o)
	e.tools.Tools = append(e.tools.Tools, more...)
	return e
}

// counted is what the engine counted so far. See metricstest.Counted.
func (w *world) counted() map[string]int {
	w.t.Helper()
	return metricstest.Counted(w.t, w.engine.options.Metrics)
}

// structure tells the guild's; harbor is closed to closed.
func (w *world) structure(closed memory.Permissions) { w.apply(w.structured(closed)) }

func (w *world) structured(closed memory.Permissions) memory.Event {
	everyone := memory.RoleID(guild)
	read := memory.ViewChannel | memory.ReadMessageHistory
	return memory.GuildSeen{Guild: memory.Guild{
		ID: guild, Owner: 1, Roles: []memory.Role{{ID: everyone, Permissions: read}, {ID: keepers}},
		Channels: []memory.Channel{
			{ID: lobby, Guild: guild, Name: "lobby"},
			{ID: harbor, Guild: guild, Name: "harbor", Overwrites: []memory.Overwrite{{Role: everyone, Deny: closed}}},
			{ID: vault, Guild: guild, Name: "vault", Overwrites: []memory.Overwrite{
				{Role: everyone, Deny: memory.ViewChannel}, {Role: keepers, Allow: memory.ViewChannel}}},
			{ID: kiosk, Guild: guild, Name: "kiosk",
				Overwrites: []memory.Overwrite{{Role: everyone, Deny: memory.ReadMessageHistory}}},
		},
	}}
}

func (w *world) apply(events ...memory.Event) {
	w.t.Helper()
	if w.held != nil {
		w.held = append(w.held, events...)
		return
	}
	if err := w.store.Apply(w.t.Context(), events...); err != nil {
		w.t.Fatal(err)
	}
}

// atOnce logs all that is said in do together, which takes much less time.
func (w *world) atOnce(do func()) {
	w.t.Helper()
	w.held = []memory.Event{}
	do()
	events := w.held
	w.held = nil
	w.apply(events...)
}

// says logs what somebody says some time before noon.
func (w *world) says(ago time.Duration, channel memory.ChannelID, author memory.UserID, text string) memory.MessageID {
	w.t.Helper()
	m := memory.Message{Guild: guildOf(channel), Channel: channel, Author: author, Content: text}
	if author == oracle {
		m.Kind = memory.FromHark
	}
	return w.posts(ago, m)
}

// mentions logs what somebody says to Hark.
func (w *world) mentions(ago time.Duration, channel memory.ChannelID, author memory.UserID,
	text string) memory.MessageID {
	w.t.Helper()
	return w.posts(ago, memory.Message{Guild: guildOf(channel), Channel: channel, Author: author,
		Content: fmt.Sprintf("<@%d> %s", oracle, text), Mentions: []memory.UserID{oracle}})
}

func guildOf(channel memory.ChannelID) memory.GuildID {
	if channel == annsDM || channel == bensDM {
		return memory.DirectGuild
	}
	return guild
}

func (w *world) posts(ago time.Duration, m memory.Message) memory.MessageID {
	w.t.Helper()
	w.serial++
	m.ID = memory.FirstMessageID(noon.Add(-ago)) + w.serial
	w.apply(memory.Posted{Message: m})
	return m.ID
}

// deletes deletes messages of a channel.
func (w *world) deletes(channel memory.ChannelID, ids ...memory.MessageID) {
	w.t.Helper()
	w.apply(memory.Deleted{Guild: guild, Channel: channel, IDs: ids})
}

// optsOut has somebody opt out at noon.
func (w *world) optsOut(who memory.UserID) {
	w.t.Helper()
	w.apply(memory.Opted{Guild: guild, User: who, Out: true, At: noon})
}

// attendedSince has everybody present since some message where a question is asked.
func attendedSince(id memory.MessageID) func(*memory.Guild, memory.ChannelID) memory.MessageID {
	return func(*memory.Guild, memory.ChannelID) memory.MessageID { return id }
}

// asks is Ann's question at noon, logged.
func (w *world) asks(channel memory.ChannelID, text string) Question {
	w.t.Helper()
	return w.asksAt(0, channel, text)
}

// asksAt is Ann's question some time after noon, logged.
func (w *world) asksAt(after time.Duration, channel memory.ChannelID, text string) Question {
	w.t.Helper()
	return Question{ID: w.mentions(-after, channel, ann, text), Guild: guildOf(channel), Channel: channel, Asker: ann,
		Name: "Ann", Text: text, Now: noon.Add(after + time.Second), Attended: attendedSince(0)}
}

func (w *world) answer(q Question) Answer {
	w.t.Helper()
	a, err := w.engine.Answer(w.t.Context(), q, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// gives answers q and logs the answer with its trace, as the bot does.
func (w *world) gives(q Question, ago time.Duration) memory.MessageID {
	w.t.Helper()
	a := w.answer(q)
	a.Trace.Answer = w.posts(ago, memory.Message{Guild: q.Guild, Channel: q.Channel, Author: oracle,
		Kind: memory.FromHark, Content: a.Text, ReplyTo: q.ID})
	w.apply(memory.Answered{Trace: a.Trace})
	return a.Trace.Answer
}

func (w *world) recall(q Question) *recalled {
	w.t.Helper()
	r, err := w.engine.recall(w.t.Context(), q, "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) recalled(q Question) Recalled {
	w.t.Helper()
	r, err := w.engine.Recall(w.t.Context(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) prompt(q Question) string { return w.recalled(q).Prompt.String() }

// scripted is a model that writes pieces and then fails with err, if it isn't nil.
type scripted struct {
	pieces  []string
	err     error
	before  func() // called before anything is written
	instead error  // why another stands in for it, if one does
	limited bool   // whether it had to keep to a time
	got     []chat.Message
}

func (*scripted) Name() string { return "parrot-1" }

func (s *scripted) Chat(ctx context.Context, q chat.Request, delta func(string)) (chat.Reply, error) {
	s.got = q.Messages
	_, s.limited = ctx.Deadline()
	if s.before != nil {
		s.before()
	}
	full := ""
	for _, p := range s.pieces {
		if err := ctx.Err(); err != nil {
			return chat.Reply{Text: full}, err
		}
		full += p
		delta(p)
	}
	return chat.Reply{Text: full, Model: "spare", Instead: s.instead}, s.err
}

// sent is what a model was sent.
func sent(messages []chat.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s:\n%s\n\n", m.Role, m.Content)
	}
	return b.String()
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

// promptOf is what the model was sent for an answer; nil if that isn't kept.
func (w *world) promptOf(channel memory.ChannelID, answer memory.MessageID) *memory.Prompt {
	w.t.Helper()
	all, err := w.store.Traces(w.t.Context(), memory.TraceQuery{Channel: channel, Answer: answer, Prompts: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, t := range all {
		return t.Prompt
	}
	return nil
}

// long asks for more draws, so that all kinds are among them.
var long = os.Getenv("HARK_LONG") != ""

func TestMain(m *testing.M) {
	flag.Parse()
	checks := "30"
	if long {
		checks = "200"
	}
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
