package shards

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"hark/bot"
	"hark/bot/discord"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/embed"
	"hark/internal/lease"
	"hark/internal/wait"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// oracle answers with the question, in the guild where it was asked.
type oracle struct {
	bot.Answerer
	before func(ctx context.Context, q answer.Question) // nil: nothing
}

func (o *oracle) Answer(ctx context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
	if o.before != nil {
		o.before(ctx, q)
	}
	question := memory.Message{Channel: q.Channel, ID: q.ID, Edited: q.Edited}.AsSource(true)
	return answer.Answer{Text: "re: " + q.Text, Trace: memory.Trace{Guild: q.Guild, Channel: q.Channel, Question: q.ID,
		Asker: q.Asker, Sources: []memory.Source{question}}}, nil
}

// world is several processes of one bot in as many guilds as there are shards.
type world struct {
	t        *testing.T
	discord  *discordtest.Server
	store    *sqlite.Store
	board    *board
	ana      discordtest.User
	of       int
	channels []discordtest.ID // by shard
	asked    int
}

func newWorld(t *testing.T, of int) *world {
	t.Helper()
	w := &world{t: t, discord: discordtest.New(t, discordtest.WithShards(of), discordtest.WithConcurrency(of)),
		store: sqlitetest.Open(t, sqlite.Options{Space: embed.Builtin{}.Space()}), board: newBoard(), of: of}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	for no := range of {
		w.discord.NextOn(no, of)
		g := w.discord.AddGuild(fmt.Sprint("guild ", no))
		w.channels = append(w.channels, w.discord.AddChannel(g.ID, discordtest.Channel{Name: "general"}).ID)
		w.ana = w.discord.AddMember(g.ID, w.ana)
	}
	return w
}

// running is a process.
type running struct {
	*Pool
	w      *world
	table  lease.Table
	door   int
	oracle *oracle
	out    *strings.Builder
	cancel context.CancelFunc
	ended  chan error
}

type locked struct {
	mu sync.Mutex
	*strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

// run runs a process until the test ends.
func (w *world) run(table lease.Table, shards int) *running {
	w.t.Helper()
	r := &running{w: w, table: table, oracle: &oracle{}, out: &strings.Builder{}, ended: make(chan error, 1)}
	url := w.discord.Door()
	r.door = w.discord.Doors() - 1
	var err error
	r.Pool, err = New(Config{Table: table, Shards: shards, Bot: bot.Config{Token: w.discord.Token, APIURL: url,
		Client: w.discord.Client(), Dialer: w.discord.Dialer(), Now: w.discord.Now, Progress: w.discord.Poke,
		State: func(error) { w.discord.Poke() }, CatchUp: 24 * time.Hour, AnswerMissed: 10 * time.Minute,
		Policy: memory.Policy{Direct: true}}}, w.store, r.oracle, zerolog.New(&locked{Builder: r.out}))
	if err != nil {
		w.t.Fatal(err)
	}
	r.freeFor = look
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() { r.ended <- lease.Hold(ctx, table, r.Run) }()
	w.t.Cleanup(func() {
		r.stop()
		if w.t.Failed() {
			w.t.Logf("process %d:\n%s", r.door, r.out)
		}
	})
	return r
}

func (r *running) stop() {
	r.w.t.Helper()
	r.cancel()
	if err := wait.For(r.w.t, "Run to return", r.ended); err != nil {
		r.w.t.Error(err)
	}
	r.ended <- nil
}

// holds waits until the process holds that many shards, all connected.
func (r *running) holds(n int) {
	r.w.t.Helper()
	r.w.discord.WaitFor(fmt.Sprintf("process %d to hold %d shards", r.door, n), func() bool {
		return len(r.Shards()) == n && r.Ready() == nil
	})
}

// talks asks something on each shard and waits for one answer to each, by the process that holds it.
func (w *world) talks() {
	w.t.Helper()
	w.asked++
	for no, channel := range w.channels {
		before := len(w.discord.Sent(channel))
		w.discord.Say(channel, w.ana.ID, fmt.Sprintf("%s q%d?", w.discord.Bot.Mention(), w.asked))
		w.discord.WaitSent(channel, func(m discordtest.Sent) bool { return m.Content == fmt.Sprintf("re: q%d?", w.asked) })
		if n := len(w.discord.Sent(channel)) - before; n != 1 {
			w.t.Errorf("shard %d: %d answers to a question", no, n)
		}
	}
}

// begun counts the sessions that were begun and resumed at a door.
func (r *running) begun() (identified, resumed int) {
	for _, b := range r.w.discord.Begun() {
		switch {
		case b.Door != r.door:
		case b.Resumed:
			resumed++
		default:
			identified++
		}
	}
	return identified, resumed
}

// One process that is alone has all shards.
func TestAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	p := w.run(lease.NewAlone(), 0)
	if err := (&Pool{cfg: p.cfg}).Ready(); err == nil {
		t.Error("ready before it runs")
	}
	p.holds(2)
	w.talks()
	dm := w.discord.DM(w.ana.ID, "and here?")
	w.discord.WaitSent(dm.ChannelID, func(m discordtest.Sent) bool { return m.Content == "re: and here?" })
	if got := p.Shards(); got[0].Guilds != 1 || got[1].Guilds != 1 || got[1].String() != "1/2" || !got[0].Connected {
		t.Errorf("%+v", got)
	}
	messages, err := p.LookUp(t.Context(), []memory.Message{{Guild: 1 << 22, Channel: 7, ID: 8}}, time.Second)
	if err != nil || len(messages) != 1 {
		t.Errorf("looked up %v, %v", messages, err)
	}
	p.stop()
	if p.Ready() == nil {
		t.Error("ready, though it ended")
	}
	if _, err := p.LookUp(t.Context(), messages, time.Second); !errors.Is(err, errElsewhere) {
		t.Errorf("looked up after the end: %v", err)
	}
	if identified, _ := p.begun(); identified != 2 {
		t.Errorf("%d sessions", identified)
	}
}

// A second process gets its share with the sessions, and the first gets all back when that stops.
func TestProcessesShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	a := w.run(w.board.process(), 0)
	a.holds(4)
	w.talks()
	b := w.run(w.board.process(), 0)
	b.holds(2)
	a.holds(2)
	w.talks()
	if shards, processes, err := a.working(t.Context()); shards != 4 || processes != 2 || err != nil {
		t.Errorf("%d processes work on %d shards, %v", processes, shards, err)
	}
	for _, m := range []struct {
		no   int
		door int
	}{{0, a.door}, {3, b.door}} {
		sent := w.discord.Sent(w.channels[m.no])
		if last := sent[len(sent)-1]; last.Doors[0] != m.door {
			t.Errorf("shard %d was answered by process %d", m.no, last.Doors[0])
		}
	}
	b.stop()
	w.board.gone(b)
	a.holds(4)
	w.talks()
	identified, resumed := a.begun()
	_, taken := b.begun()
	if identified != 4 || resumed != 2 || taken != 2 {
		t.Errorf("the first began %d sessions and resumed %d, the second resumed %d", identified, resumed, taken)
	}
}

// After a loss nothing is sent, and another process goes on without a session.
func TestLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	first := w.board.process()
	a := w.run(first, 0)
	a.holds(2)
	w.talks()
	asked, goOn := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() {
		close(asked)
		<-goOn
	})
	a.oracle.before = func(context.Context, answer.Question) { once() }
	w.discord.Say(w.channels[1], w.ana.ID, w.discord.Bot.Mention()+" lost?")
	<-asked
	w.discord.WaitFor("typing", func() bool { return w.typed(w.channels[1]) == 2 })
	before := len(w.requests(a.door))
	first.lose()
	b := w.run(w.board.process(), 0)
	w.discord.WaitSent(w.channels[1], func(m discordtest.Sent) bool { return m.Content == "re: lost?" })
	close(goOn)
	for _, r := range w.requests(a.door)[before:] {
		if r.Method != "GET" {
			t.Errorf("the first process sent %s %s after it lost its leases", r.Method, r.Path)
		}
	}
	first.recovers()
	a.holds(1) // it begins anew
	b.holds(1)
	w.talks()
	if sent := w.discord.Sent(w.channels[1]); len(sent) != 3 {
		t.Errorf("%d answers", len(sent))
	}
}

// A process waits while others run with another number of shards.
func TestAnotherNumberOfShards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	a := w.run(w.board.process(), 1)
	a.holds(1)
	b := w.run(w.board.process(), 2)
	w.discord.WaitFor("the second process to wait", func() bool {
		err := b.Ready()
		return err != nil && strings.Contains(err.Error(), "with 1 shards")
	})
	if n, _ := b.begun(); n != 0 || len(b.Shards()) != 0 {
		t.Errorf("it began %d sessions", n)
	}
	a.stop()
	w.board.gone(a)
	b.holds(2)
	w.talks()
}

// With "auto", a process takes the number with which others run.
func TestTheNumberOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	a := w.run(w.board.process(), 1)
	a.holds(1)
	b := w.run(w.board.process(), 0)
	w.discord.WaitFor("the second process to be ready", func() bool { return b.Ready() == nil })
	a.stop()
	w.board.gone(a)
	b.holds(1)
}

// raced is a process before whose claims another claims.
type raced struct {
	*process
	before func()
}

// Claim implements lease.Table.
func (r raced) Claim(ctx context.Context, jobs []string, most int) ([]lease.Lease, error) {
	r.before()
	return r.process.Claim(ctx, jobs, most)
}

// Processes with two numbers of shards that look at the same time don't both begin.
func TestTwoNumbersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	other := w.board.process()
	p, err := New(Config{Shards: 3, Table: raced{w.board.process(), func() { _, _ = other.Claim(t.Context(), jobs(2), 2) }},
		Bot: bot.Config{Token: w.discord.Token, APIURL: w.discord.Door(), Client: w.discord.Client(),
			Dialer: w.discord.Dialer(), Now: w.discord.Now, Progress: w.discord.Poke}}, w.store, &oracle{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	p.of, p.ended = 3, make(chan *member, 3)
	if err := p.tryClaim(t.Context(), 2); err != nil || len(p.members) > 0 {
		t.Errorf("bots of 2 and of 3 shards run at once: %v", err)
	}
	if held, _, err := p.working(t.Context()); held != 0 || err != nil {
		t.Errorf("%d of 3 shards are held, %v", held, err)
	}
	p.close()
}

// A shard that another process should take and doesn't comes back.
func TestFreeShardsAreTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	a := w.run(w.board.process(), 2)
	a.holds(2)
	if _, err := w.board.process().Claim(t.Context(), []string{"janitor"}, 1); err != nil { // it runs no shards
		t.Fatal(err)
	}
	w.discord.WaitFor("a shard to be given away and taken back", func() bool {
		_, resumed := a.begun()
		return resumed == 1
	})
	a.holds(2)
	w.talks()
}

// Once Discord demands more shards, "auto" takes them, and a fixed number ends with what to do.
func TestMoreShardsDemanded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.discord.SetShards(2, 0)
	a := w.run(lease.NewAlone(), 0)
	a.holds(2)
	w.discord.SetShards(4, 4)
	w.discord.CloseWith(4011)
	a.holds(4)
	w.talks()
	a.stop()

	b := w.run(lease.NewAlone(), 2)
	err := wait.For(t, "Run to return", b.ended)
	if !errors.Is(err, discord.ErrShards) || !strings.Contains(err.Error(), `"auto"`) {
		t.Errorf("got %v", err)
	}
	b.ended <- nil
}

// typed counts the typing indicators in a channel.
func (w *world) typed(channel discordtest.ID) (n int) {
	for _, r := range w.discord.Requests() {
		if r.Path == fmt.Sprintf("/channels/%d/typing", channel) {
			n++
		}
	}
	return n
}

func (w *world) requests(door int) (all []discordtest.Request) {
	for _, r := range w.discord.Requests() {
		if r.Door == door {
			all = append(all, r)
		}
	}
	return all
}

// gone ends a process's membership.
func (b *board) gone(r *running) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.table.(*process).die()
}

// A network that comes later than Hark mustn't end it, and is told of once.
func TestUnreachableDiscordIsTriedAgain(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &Pool{logger: zerolog.New(&out), members: map[int]*member{}}
	away := fmt.Errorf("%w: no route", discord.ErrUnreachable)
	told := func() int { return strings.Count(out.String(), "trying again until it can") }
	for range 3 {
		err := p.left(t.Context(), &member{err: away})
		if err != nil {
			t.Fatalf("the process ends: %v", err)
		}
		if !p.rests.After(time.Now()) {
			t.Error("it is tried again at once")
		}
	}
	if told() != 1 {
		t.Errorf("told %d times: %s", told(), out.String())
	}
	p.changed(nil)
	err := p.left(t.Context(), &member{err: away})
	if err != nil || told() != 2 {
		t.Errorf("after a connection: told %d times, %v", told(), err)
	}
	err = p.left(t.Context(), &member{err: discord.ErrToken})
	if !errors.Is(err, discord.ErrToken) {
		t.Errorf("got %v", err)
	}
}
