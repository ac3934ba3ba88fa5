// Package bot is Hark's connection to Discord. It logs messages in the order in which Discord reports them, and
// answers questions and commands. It only wires the packages below it; each may import those before it:
//
//   - bot/markdown and bot/locale: what Discord shows, and in which language;
//   - bot/discord: REST, the gateway and what is sent. A reply pings its asker and nobody else;
//   - bot/ingest: events to memory. An event that was accepted reaches the log, unless the process dies;
//   - bot/reply: answers. A question is answered after its own message is committed, and never delays logging;
//   - bot/command: commands, buttons, menus and notices.
//
// The code that sends Hark's messages logs them, in their final form. The gateway's events for them are ignored,
// because each answer is edited many times while it is written; deletions are not ignored.
//
// A Bot is one shard: the guilds of one gateway session, or all of them. Run ends when the shard is lost or handed
// over. bot/shards decides which shards a process has.
//
// Begin with New and Bot.Run.
package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"hark/bot/command"
	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/listen"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/lease"
	"hark/internal/metrics"
	"hark/internal/pace"
	"hark/memory"
	"hark/search"
)

// Bot is a connection to Discord, kept up as long as Run runs.
type Bot struct {
	cfg     Config
	ingest  *ingest.Options
	answers Answerer
	timing  timing

	writer    *ingest.Writer
	buffer    *ingest.Buffer
	filler    *ingest.Filler
	listener  *listen.Worker
	notices   *command.Notices
	commands  *command.Commands
	questions *reply.Tracker
	replies   *reply.Replier
	sizes     command.Sizes
	state     atomic.Pointer[error]
	why       atomic.Pointer[func() error] // why Run's context ended
	app       int64                        // the application's id; 0: unknown
	begun     bool                         // READY or RESUMED came
	session   string
}

// New checks the configuration and returns a Bot that isn't connected.
func New(cfg Config, log memory.Store, answers Answerer, logger zerolog.Logger) (*Bot, error) {
	cfg.Metrics = metrics.Or(cfg.Metrics)
	if cfg.REST == nil {
		var err error
		cfg.REST, err = discord.NewClient(cfg.discord())
		if err != nil {
			return nil, err
		}
	}
	rest := *cfg.REST
	if cfg.Shard.Count() > 1 {
		logger = logger.With().Stringer("shard", cfg.Shard).Logger()
	}
	log = viewOf(log, cfg.Shard)
	if cfg.Progress == nil {
		cfg.Progress = func() {}
	}
	if cfg.Now == nil {
		cfg.Now = rest.Clock.Now
	}
	for _, limit := range reply.LimitNames {
		cfg.Metrics.QuestionsRefused.WithLabelValues(limit) // served as 0 until there is one
	}
	b := &Bot{
		cfg:     cfg,
		answers: answers,
		timing:  usual,
		sizes:   command.UsualSizes,
		buffer:  ingest.NewBuffer(cfg.SessionGap, cfg.Now),
	}
	filter := ingest.NewFilter(log, cfg.Policy, b.buffer, func(subjects []ingest.Subject) {
		b.notices.See(subjects)
		b.questions.See(subjects)
	})
	rest.Guard = b.guard
	b.ingest = &ingest.Options{
		Shard:        cfg.Shard,
		Memory:       log,
		Client:       &rest,
		Grants:       &discord.Grants{Client: &rest},
		Policy:       cfg.Policy,
		LogBots:      cfg.LogBots,
		CatchUp:      cfg.CatchUp,
		Reconcile:    cfg.Reconcile,
		AnswerMissed: cfg.AnswerMissed,
		Queue:        ingest.NewQueue(),
		Filter:       filter,
		Guilds:       ingest.NewReadiness(),
		Attendance:   search.NewAttendance(),
		MemberRoles:  search.NewMemberRoles(),
		Progress:     cfg.Progress,
		Log:          logger,
		Now:          cfg.Now,
	}
	b.replies = reply.New(reply.Options{
		Options:     b.ingest,
		Answers:     answers,
		Settled:     b.waitGuild,
		Choices:     cfg.Choices,
		Limits:      cfg.Limits,
		EditAnswers: cfg.EditAnswers,
		NoRecords:   cfg.NoRecords,
		HandOver:    cfg.HandOver && cfg.AnswerMissed > 0,
		Timing:      &b.timing.reply,
		Metrics:     cfg.Metrics,
	})
	b.listener = &listen.Worker{
		Options: b.ingest,
		Teller:  cfg.Teller,
		Metrics: metrics.Or(cfg.Metrics),
	}
	b.replies.Hear = b.listener.Hear
	b.questions = b.replies.Questions()
	b.ingest.Ask = b.questions.Take
	b.setState(errNotYet)
	return b, nil
}

// guard refuses requests once the shard is lost.
func (b *Bot) guard() error {
	if b.lost() {
		return lease.ErrLost
	}
	if b.cfg.Guard != nil {
		return b.cfg.Guard()
	}
	return nil
}

// lost reports whether the shard is another process's now.
func (b *Bot) lost() bool {
	why := b.why.Load()
	return why != nil && errors.Is((*why)(), lease.ErrLost)
}

var errNotYet = errors.New("not connected to Discord yet")

// Ready returns nil while Discord is connected and the log can be written, or else what is wrong.
func (b *Bot) Ready() error {
	if err := b.Connected(); err != nil {
		return err
	}
	if b.writer.Failing() {
		return errors.New("the log can't be written; what is said meanwhile is kept in memory")
	}
	return nil
}

// Connected returns nil while Discord is connected, or else why not.
func (b *Bot) Connected() error { return *b.state.Load() }

// Guilds returns how many guilds Discord has described.
func (b *Bot) Guilds() int { return b.ingest.Guilds.Count() }

// Questions returns how many questions wait, and how many are being answered.
func (b *Bot) Questions() (waiting, busy int) {
	waiting, busy, _ = b.questions.Counts()
	return waiting, busy
}

// Session returns what the shard's next owner needs to resume the session, once Run has returned; empty if it has to
// begin another. It has no text of members.
func (b *Bot) Session() string { return b.session }

// ForgetSessions deletes what f selects in g from the sessions that aren't logged.
func (b *Bot) ForgetSessions(g *memory.Guild, f memory.Forgetting) { b.buffer.ForgetAll(g, f) }

// Asker returns a question of a member's for them alone, without its text: with their roles as Discord has them now,
// and no channel. An answer.CallError says why they may not ask.
func (b *Bot) Asker(ctx context.Context, guild memory.GuildID, user memory.UserID) (answer.Question, error) {
	const notNow = "Hark has only just come back, and doesn't know yet who may read what. Try again in a moment."
	if b.Connected() != nil || b.waitGuild(ctx, guild) != nil {
		return answer.Question{}, answer.CallError(notNow)
	}
	g, err := b.ingest.Filter.Guild(ctx, guild)
	if err != nil {
		return answer.Question{}, err
	}
	if !b.cfg.Choices.In(g, 0).Programs {
		return answer.Question{}, answer.CallError("Those who manage that server don't let programs read there.")
	}
	m, err := b.ingest.Client.Member(ctx, guild, user)
	if errors.Is(err, discord.ErrNoMember) { // Discord may not have told that they left
		if err := b.ingest.Memory.Apply(ctx, memory.PersonLeft{Guild: guild, User: user}); err != nil {
			return answer.Question{}, err
		}
		return answer.Question{}, answer.CallError("You aren't a member of that server any more.")
	}
	if err != nil {
		return answer.Question{}, err
	}
	if err := b.refutes(ctx, guild, m); err != nil {
		return answer.Question{}, err
	}
	return answer.Question{
		Guild:     guild,
		Asker:     user,
		Name:      discord.DisplayName(m.User, m),
		Now:       b.ingest.Now(),
		OnlyAsker: true,
		Roles:     discord.RolesOf(m),
		Attended:  b.ingest.Attendance.Since,
		RoleSets:  b.RoleSets,
		WaitReady: func(ctx context.Context) error { return b.waitGuild(ctx, guild) },
	}, nil
}

// refutes suspends what admins stated of roles, if a member contradicts it.
func (b *Bot) refutes(ctx context.Context, guild memory.GuildID, m *discord.Member) error {
	p := memory.Person{
		ID:         memory.UserID(m.User.ID),
		Guild:      guild,
		Bot:        m.User.Bot,
		Roles:      discord.RolesOf(m),
		RolesKnown: true,
	}
	events, err := ingest.Refuted(ctx, b.ingest.Memory, []memory.Person{p}, b.ingest.Now())
	if err != nil || len(events) == 0 {
		return err
	}
	return b.ingest.Memory.Apply(ctx, events...)
}

// RoleSets returns the sets of roles that a guild's members have; nil: not all are known.
func (b *Bot) RoleSets(g *memory.Guild) *search.RoleSets { return b.ingest.MemberRoles.Sets(g) }

// Waiting returns how many events aren't in the log yet.
func (b *Bot) Waiting() int { return b.ingest.Queue.Len() }

func (b *Bot) setState(err error) {
	b.state.Store(&err)
	if b.cfg.State != nil {
		b.cfg.State(err)
	}
}

// Run connects, logs and answers until ctx ends. It then returns nil within ten seconds: all events are logged, and
// unfinished answers say so. If the cause is lease.ErrLost, nothing more is sent or logged. It returns earlier only
// with discord.ErrToken, ErrIntents, ErrShards or, if Discord can't be reached at the start, ErrUnreachable. Call it
// once.
func (b *Bot) Run(ctx context.Context) error {
	b.why.Store(new(func() error { return context.Cause(ctx) }))
	b.ingest.Client.Backoff = b.timing.gateway.Retry
	self, err := b.ingest.Client.Self(ctx)
	if err != nil || ctx.Err() != nil {
		b.setState(ingest.ErrStopped)
		return err
	}
	b.ingest.Self = self
	b.ingest.Grants.Self = self
	b.ingest.Timing = b.timing.ingest
	b.replies.Since = b.ingest.Now()
	gateway := b.gateway(b.asksForMembers(ctx))
	if gateway.Session.ID != "" {
		b.ingest.Queue.Put(ingest.Item{Raw: ingest.TakenUp()})
	}
	above := context.WithoutCancel(ctx)
	work, stopWork := context.WithCancel(above)
	last, stopLast := context.WithCancel(above)
	drain, stopDrain := context.WithCancel(above)
	defer stopWork()
	defer stopLast()
	defer stopDrain()

	b.filler = ingest.NewFiller(b.ingest)
	b.replies.Filler = b.filler
	b.replies.Begin(work, last)
	b.writer = ingest.NewWriter(b.ingest, b.filler, func(a *ingest.Question) { b.questions.Take(last, a) })
	var writer, helper sync.WaitGroup
	commands := b.commandOptions()
	b.notices = command.NewNotices(commands)
	b.commands = command.New(commands, b.notices)
	b.commands.Begin = func(f func(context.Context)) { helper.Go(func() { f(work) }) }
	open, err := b.ingest.Memory.Questions(ctx) // before there are new ones
	if err != nil {
		b.ingest.Log.Error().Err(err).Msg("couldn't read which questions are open; trying at the next start")
	}
	writer.Go(func() {
		if left := b.writer.Run(drain); left > 0 && !b.lost() {
			b.ingest.Log.Error().Int("events", left).Msg("stopped with events that the log didn't take")
		}
	})
	helper.Go(func() { b.replies.Resume(work, last, open) })
	helper.Go(func() { pace.Every(work, b.timing.interval, b.notices.Wake, b.notices.UpdateAll) })
	helper.Go(func() { b.replies.Run(work) })
	helper.Go(func() { pace.Every(work, b.timing.interval, nil, func(context.Context) { b.buffer.Expire() }) })
	helper.Go(func() { b.filler.Run(work) })
	helper.Go(func() { b.listener.Run(work) })

	stop := sync.OnceFunc(func() {
		b.ingest.Queue.StopIntake()
		if b.lost() {
			stopWork()
			stopLast()
			stopDrain()
		}
		b.setState(ingest.ErrStopped)
		time.AfterFunc(b.timing.grace, stopWork)
		time.AfterFunc(b.timing.farewell, stopLast)
		time.AfterFunc(b.timing.drain, stopDrain)
		if waiting := b.questions.Close(last); waiting > 0 {
			b.ingest.Log.Warn().Int("questions", waiting).Msg("stopped before questions were answered")
		}
	})
	defer context.AfterFunc(ctx, stop)()
	err = gateway.Run(ctx)
	stop()
	_ = b.ingest.Queue.Commit(last, nil) // so that whoever asked before is told too
	b.questions.Wait(last)
	stopWork()
	helper.Wait()
	b.ingest.Queue.Close()
	writer.Wait()
	if err == nil && !b.lost() && gateway.Session.ID != "" && b.writer.Settled() {
		session, _ := json.Marshal(gateway.Session) // its error is always nil
		b.session = string(session)
	}
	return err
}

// asksForMembers reports whether the application has the Server Members intent, and learns the application's id.
func (b *Bot) asksForMembers(ctx context.Context) bool {
	app, tells, err := b.ingest.Client.TellsMembers(ctx)
	b.app = app
	if app != 0 {
		b.ingest.Grants.Met(app)
	}
	if err != nil {
		b.ingest.Log.Warn().Err(discord.Redact(err)).
			Msg("couldn't learn whether the Server Members intent is on; going on without it")
	}
	return tells
}

// gateway returns the connection. members says whether it requests the Server Members intent.
func (b *Bot) gateway(members bool) *discord.Gateway {
	var session discord.Session
	if b.cfg.Session != "" && json.Unmarshal([]byte(b.cfg.Session), &session) != nil {
		session = discord.Session{} // of another version
	}
	return &discord.Gateway{
		Client:  b.ingest.Client,
		Dialer:  b.cfg.Dialer,
		Members: members,
		Receive: b.receive,
		Shard:   b.cfg.Shard,
		Session: session,
		Keep:    b.cfg.HandOver,
		Slot:    b.cfg.Slot,
		State:   b.setState,
		Lost:    b.ingest.MemberRoles.Lose,
		Unasked: b.ingest.MemberRoles.NextRequest,
		Timing:  &b.timing.gateway,
		Metrics: b.cfg.Metrics,
		Log:     b.ingest.Log,
		Now:     b.ingest.Now,
	}
}

// commandOptions returns what commands and notices work with.
func (b *Bot) commandOptions() *command.Options {
	return &command.Options{
		Options:   b.ingest,
		Replies:   b.replies,
		Buffer:    b.buffer,
		Filler:    b.filler,
		Writer:    b.writer,
		Listener:  b.listener,
		Answers:   b.answers,
		Settled:   b.waitGuild,
		State:     b.Connected,
		DevGuild:  b.cfg.DevGuild,
		Retention: b.cfg.Retention,
		Version:   b.version(),
		Working:   b.cfg.Working,
		Health:    b.cfg.Health,
		Privacy:   b.cfg.Privacy,
		Metrics:   b.cfg.Metrics,
		Timing:    &b.timing.commands,
		Sizes:     &b.sizes,
	}
}

// version is Hark's, with the shard if there are several.
func (b *Bot) version() string {
	if b.cfg.Shard.Count() == 1 {
		return b.cfg.Version
	}
	return fmt.Sprintf("%s, shard %v", b.cfg.Version, b.cfg.Shard)
}

// LookUp is ingest.Filler.LookUp.
func (b *Bot) LookUp(ctx context.Context, messages []memory.Message, patience time.Duration) ([]memory.Message, error) {
	return b.filler.LookUp(ctx, messages, patience)
}

// waitGuild waits until a guild's permissions are known, or returns ingest.ErrNotReady.
func (b *Bot) waitGuild(ctx context.Context, guild memory.GuildID) error {
	return b.ingest.Guilds.Wait(ctx, guild, b.timing.guildWait)
}
