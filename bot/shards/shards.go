// Package shards runs the bots of a process: one for each shard that it holds. A lease.Table says which those are.
//
//   - A process claims as many shards as are its fair share, and more once others have ended.
//   - It hands all of them over when it stops, and single ones when another process has joined, with their sessions.
//   - When it loses its leases, nothing more is sent: the context of Run must end with the cause lease.ErrLost then.
//   - All its bots share the client for requests, and the processes share what Discord allows each second.
//
// Begin with New and Pool.Run.
package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"hark/bot"
	"hark/bot/discord"
	"hark/internal/answer"
	"hark/internal/lease"
	"hark/internal/pace"
	"hark/memory"
	"hark/search"
)

const (
	// look is the time between looks for shards that are free, or too many.
	look = time.Second
	// releasing is how long giving a lease back may take. Else it ends by itself.
	releasing = 3 * time.Second
	// patience is how long a process first keeps a shard beyond its share that another didn't take; then twice as long.
	patience = 30 * time.Second
	// resting is the pause before a shard is tried again whose bot couldn't reach Discord.
	resting = 10 * time.Second
)

// Discord allows 50 requests a second. In no second there are more than both of these.
const (
	requestsASecond = 40
	requestsAtOnce  = 10
)

// Config is what a Pool needs to know.
type Config struct {
	// Bot configures each bot. The Pool sets REST, Shard, Session, HandOver, Slot and Guard.
	Bot bot.Config
	// Shards is how many there are; 0: as many as Discord recommends.
	Shards int
	Table  lease.Table
}

// Pool is the bots of a process.
type Pool struct {
	cfg     Config
	log     memory.Store
	answers bot.Answerer
	logger  zerolog.Logger
	rest    *discord.Client
	ended   chan *member
	rests   time.Time     // until then nothing is claimed
	least   int           // how many shards Discord demands
	used    int           // how many there were when hold ended
	free    time.Time     // since when a shard has been nobody's; zero: none is
	freeFor time.Duration // after which it is taken beyond the share
	keeps   time.Time     // until then no shard is given to another process
	keepFor time.Duration
	taken   int  // how many shards somebody had at the last look
	failing bool // whether claiming fails

	mu          sync.Mutex
	of          int             // how many shards there are; 0: not running
	waits       error           // for another number of shards, or nil
	unreachable bool            // it was logged that Discord can't be reached
	members     map[int]*member // by shard
}

// member is a bot and its lease.
type member struct {
	discord.Shard
	bot    *bot.Bot
	end    context.CancelFunc
	ending bool  // the shard is being given back
	err    error // what Run returned
}

// New checks the configuration and returns a Pool that doesn't run.
func New(cfg Config, log memory.Store, answers bot.Answerer, logger zerolog.Logger) (*Pool, error) {
	rest, err := discord.NewClient(discord.Options{
		Token:   cfg.Bot.Token,
		APIURL:  cfg.Bot.APIURL,
		Client:  cfg.Bot.Client,
		Metrics: cfg.Bot.Metrics,
	})
	if err != nil {
		return nil, err
	}
	rest.Limit = rate.NewLimiter(requestsASecond, requestsAtOnce)
	cfg.Bot.REST = rest
	return &Pool{
		cfg:     cfg,
		log:     log,
		answers: answers,
		logger:  logger,
		rest:    rest,
		members: map[int]*member{},
		freeFor: lease.Life,
	}, nil
}

// Run runs the bots until ctx ends. It then hands all shards over within ten seconds, or if the cause is lease.ErrLost,
// ends at once; then it may be called again. It returns earlier only with an error that ends bot.Bot.Run.
func (p *Pool) Run(ctx context.Context) error {
	of, err := p.count(ctx)
	for err == nil && ctx.Err() == nil {
		err = p.hold(ctx, of)
		if !errors.Is(err, discord.ErrShards) || p.cfg.Shards > 0 {
			break
		}
		more, failed := p.count(ctx)
		if failed != nil || more <= p.used {
			break
		}
		p.least = more
		p.logger.Warn().Int("shards", p.used).Int("now", more).Msg("Discord demands more shards; beginning anew")
		of = more
		err = nil
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// count returns how many shards there are to be.
func (p *Pool) count(ctx context.Context) (int, error) {
	if p.cfg.Shards > 0 {
		return p.cfg.Shards, nil
	}
	for {
		n, err := p.rest.Shards(ctx)
		if !errors.Is(err, discord.ErrUnreachable) {
			return n, err
		}
		p.sayUnreachable(err)
		_ = pace.Sleep(ctx, resting)
	}
}

// hold runs the bots of this process's shards until ctx ends or a bot ends with an error that the others would meet.
func (p *Pool) hold(ctx context.Context, of int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	p.of = of
	p.mu.Unlock()
	p.ended = make(chan *member, of)
	p.rests = time.Time{}
	p.free = time.Time{}
	p.keeps = time.Time{}
	p.keepFor = patience
	defer p.close()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		p.share()
		p.balance(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case m := <-p.ended:
			if err := p.left(ctx, m); err != nil {
				return err
			}
		}
	}
}

// close ends all bots at once, and waits for them.
func (p *Pool) close() {
	p.mu.Lock()
	n := len(p.members)
	for _, m := range p.members {
		m.end()
	}
	p.mu.Unlock()
	for ; n > 0; n-- {
		p.remove(<-p.ended)
	}
	p.mu.Lock()
	p.used = p.of
	p.of = 0
	p.waits = nil
	p.mu.Unlock()
}

func (p *Pool) remove(m *member) {
	p.mu.Lock()
	delete(p.members, m.No)
	p.mu.Unlock()
}

// left takes note of a bot that has ended. It returns an error that the others would meet.
func (p *Pool) left(ctx context.Context, m *member) error {
	p.remove(m)
	switch {
	case m.err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(m.err, discord.ErrUnreachable):
		p.sayUnreachable(m.err)
		p.rests = time.Now().Add(resting)
		p.free = time.Time{}
		return nil
	}
	return m.err
}

// sayUnreachable logs that Discord can't be reached, until a bot is connected only once.
func (p *Pool) sayUnreachable(err error) {
	p.mu.Lock()
	said := p.unreachable
	p.unreachable = true
	p.mu.Unlock()
	if !said {
		p.logger.Error().Err(err).Dur("every", resting).Msg("Discord can't be reached; trying again until it can")
	}
}

// begin runs the bot of a claimed shard.
func (p *Pool) begin(ctx context.Context, l lease.Lease) error {
	m := &member{}
	if _, err := fmt.Sscanf(l.Job, prefix+"%d/%d", &m.No, &m.Of); err != nil {
		return fmt.Errorf("claimed %q, which is no shard", l.Job)
	}
	table := p.cfg.Table
	cfg := p.cfg.Bot
	cfg.Shard = m.Shard
	cfg.Session = l.Note
	_, alone := table.(*lease.Alone)
	cfg.HandOver = !alone
	cfg.Slot = func(ctx context.Context, concurrency int) (time.Duration, error) {
		return table.Slot(ctx, m.No%concurrency, discord.IdentifyEvery)
	}
	cfg.Guard = func() error {
		if !table.Valid() {
			return lease.ErrLost
		}
		return nil
	}
	cfg.State = func(why error) { p.changed(why) }
	if m.Of > 1 {
		cfg.Working = p.working
	}
	var err error
	m.bot, err = bot.New(cfg, p.log, p.answers, p.logger)
	if err != nil {
		return err
	}
	ctx, m.end = context.WithCancel(ctx)
	p.mu.Lock()
	p.members[m.No] = m
	p.mu.Unlock()
	if p.of > 1 {
		p.logger.Info().Stringer("shard", m.Shard).Int64("epoch", l.Epoch).Bool("session", l.Note != "").
			Msg("took a shard")
	}
	go func() {
		m.err = m.bot.Run(ctx)
		m.end()
		if !errors.Is(context.Cause(ctx), lease.ErrLost) {
			p.release(ctx, l, m.bot.Session())
		}
		p.ended <- m
	}()
	return nil
}

// changed reports the state of all shards. Without one, a process is ready to take some.
func (p *Pool) changed(why error) {
	p.mu.Lock()
	p.unreachable = p.unreachable && why != nil
	single := p.of == 1
	p.mu.Unlock()
	if p.cfg.Bot.State == nil {
		return
	}
	if !single {
		why = p.connected()
	}
	p.cfg.Bot.State(why)
}

var errNotYet = errors.New("not connected to Discord yet")

// Ready returns nil while all shards that this process holds are connected and the log can be written, or else what is
// wrong. A process that holds none, as others do, is ready.
func (p *Pool) Ready() error { return p.all((*bot.Bot).Ready) }

// connected returns nil while all shards that this process holds are connected.
func (p *Pool) connected() error { return p.all((*bot.Bot).Connected) }

func (p *Pool) all(is func(*bot.Bot) error) error {
	held := p.held()
	p.mu.Lock()
	of := p.of
	waits := p.waits
	p.mu.Unlock()
	switch {
	case of == 0:
		return errNotYet
	case waits != nil:
		return waits
	case len(held) == 0 && p.cfg.Table.Processes() == 1:
		return errNotYet
	}
	var first error
	var wrong []string
	for _, m := range held {
		if err := is(m.bot); err != nil {
			first = cmp.Or(first, err)
			wrong = append(wrong, fmt.Sprint(m.No))
		}
	}
	if first == nil || of == 1 {
		return first
	}
	return fmt.Errorf("of %d shards, of which %d are here, shard %s: %w", of, len(held), strings.Join(wrong, ", "), first)
}

// held returns the members, by shard.
func (p *Pool) held() []*member {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Values(p.members), func(a, b *member) int { return a.No - b.No })
}

// Shard is the state of a shard that this process holds.
type Shard struct {
	discord.Shard
	Connected bool
	Guilds    int // that Discord has described
	Waiting   int // events that aren't in the log yet
}

// Shards returns the shards that this process holds.
func (p *Pool) Shards() (all []Shard) {
	for _, m := range p.held() {
		all = append(all, Shard{m.Shard, m.bot.Connected() == nil, m.bot.Guilds(),
			m.bot.Waiting()})
	}
	return all
}

// Questions returns how many questions wait, and how many are being answered.
func (p *Pool) Questions() (waiting, busy int) {
	for _, m := range p.held() {
		w, b := m.bot.Questions()
		waiting += w
		busy += b
	}
	return waiting, busy
}

// Waiting returns how many events aren't in the log yet.
func (p *Pool) Waiting() (n int) {
	for _, m := range p.held() {
		n += m.bot.Waiting()
	}
	return n
}

var errElsewhere = errors.New("look up messages at Discord: their shard isn't this process's any more")

// ForgetSessions deletes what f selects in g from the sessions that aren't logged.
func (p *Pool) ForgetSessions(g *memory.Guild, f memory.Forgetting) {
	for _, m := range p.held() {
		m.bot.ForgetSessions(g, f)
	}
}

// RoleSets returns the sets of roles that a guild's members have; nil: not all are known here.
func (p *Pool) RoleSets(g *memory.Guild) *search.RoleSets {
	for _, m := range p.held() {
		if m.Has(g.ID) {
			return m.bot.RoleSets(g)
		}
	}
	return nil
}

// Asker is bot.Bot.Asker.
func (p *Pool) Asker(ctx context.Context, guild memory.GuildID, user memory.UserID) (answer.Question, error) {
	for _, m := range p.held() {
		if m.Has(guild) {
			return m.bot.Asker(ctx, guild, user)
		}
	}
	return answer.Question{}, answer.CallError("Another process of Hark has that server now. Try again in a moment.")
}

// LookUp is bot.Bot.LookUp. The messages are of one guild.
func (p *Pool) LookUp(ctx context.Context, messages []memory.Message,
	patience time.Duration) ([]memory.Message, error) {
	if len(messages) == 0 {
		return messages, nil
	}
	for _, m := range p.held() {
		if m.Has(messages[0].Guild) {
			return m.bot.LookUp(ctx, messages, patience)
		}
	}
	return nil, errElsewhere
}
