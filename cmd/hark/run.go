package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"hark/bot"
	"hark/bot/command"
	"hark/bot/discord"
	"hark/bot/shards"
	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/digest"
	"hark/internal/doctor"
	"hark/internal/health"
	"hark/internal/lease"
	"hark/internal/mcpserver"
	"hark/internal/metrics"
	"hark/internal/setup"
	"hark/internal/store"
	"hark/memory"
	"hark/memory/vectors"
)

func (f *flags) runCommand() *cobra.Command {
	wait := false
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the bot",
		Long:  "Runs the bot until Ctrl-C or SIGTERM. Restart it to apply a changed configuration: nothing said meanwhile is lost.",
		Args:  cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return (&runner{
				flags: f,
				wait:  wait,
				look:  10 * time.Second,
			}).run(c.Context())
		},
	}
	c.Flags().BoolVar(&wait, "wait", false,
		"if Discord refuses the token or an intent, wait for a changed configuration instead of ending")
	return c
}

// run runs until ctx is done or, without --wait, until only the operator can mend what is wrong.
func (r *runner) run(ctx context.Context) error {
	cfg, err := r.load()
	if err != nil {
		return err
	}
	r.log = newLogger(cfg.Log, r.env.stderr, r.env.lookup)
	r.notify = newNotifier(r.env.lookup, os.Getpid())
	defer context.AfterFunc(ctx, r.notify.stopping)()
	r.metrics, r.started = metrics.New(), time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		r.notify.watch(ctx, r.alive)
		return nil
	})
	if cfg.Web.Listen != "" {
		server, err := health.Listen(cfg.Web.Listen)
		if err != nil {
			return err
		}
		server.NotReady, server.Metrics = r.notReady, r.metrics.Handler(r.readGauges)
		if cfg.Web.Inspect {
			r.site = r.inspect(cfg, server.Addr())
			defer r.site.Close()
			server.Pages = r.site
		}
		if cfg.Web.MCP {
			server.MCP = mcpserver.NewDoor(r.openToPrograms, buildInfo().version, func(tool string, err error) {
				r.log.Warn().Err(err).Str("tool", tool).Msg("a member's program couldn't be answered")
			})
		}
		r.log.Info().Str("address", server.Addr()).Msg("serving health checks")
		group.Go(func() error { return server.Run(ctx) })
	}
	group.Go(func() error {
		err := r.serve(ctx, cfg)
		if err == nil {
			err = errStopped // ends the server as well
		}
		return err
	})
	if err := group.Wait(); !errors.Is(err, errStopped) {
		return err
	}
	r.log.Info().Msg("stopped")
	return nil
}

// openToPrograms returns what members' programs may ask; nil before the bot runs.
func (r *runner) openToPrograms() *mcpserver.Open {
	now := r.now.Load()
	if now == nil {
		return nil
	}
	return &mcpserver.Open{
		Store:  now.app.Store,
		Engine: now.app.Answers,
		Asker:  now.bot.Asker,
	}
}

var errStopped = errors.New("stopped")

// alive reports whether the store can be read, if one is open. Discord doesn't count: a restart doesn't mend it.
func (r *runner) alive(ctx context.Context) bool {
	now := r.now.Load()
	if now == nil {
		return true
	}
	_, err := now.app.Store.FingerprintKey(ctx) // reads one row, whatever else runs
	return err == nil
}

// serve runs the bot. With --wait, it runs it again once the configuration has changed.
func (r *runner) serve(ctx context.Context, cfg config.Config) error {
	for {
		err := r.once(ctx, cfg)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		// these stay until the operator changes the configuration
		forOperator := errors.Is(err, discord.ErrNoToken) || errors.Is(err, discord.ErrToken) || errors.Is(err,
			discord.ErrIntents)
		if !r.wait || !forOperator {
			return err
		}
		r.ready.Store(new(func() error { return err })) // before the log says so
		r.notify.send(status(err.Error()))
		r.log.Error().Msg(err.Error())
		r.log.Info().Msg(waitingForChange)
		changed, stopped := r.changed(ctx, cfg)
		if stopped != nil {
			return nil
		}
		cfg = changed
	}
}

// waitingForChange is logged while only a changed configuration can help.
const waitingForChange = "waiting for the configuration to change"

// changed waits until the configuration is another than cfg and can be read.
func (r *runner) changed(ctx context.Context, cfg config.Config) (config.Config, error) {
	tick := time.NewTicker(r.look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return cfg, ctx.Err()
		case <-tick.C:
		}
		now, err := r.load()
		// without a token the file may still be being written
		if err == nil && now.Discord.Token.IsSet() &&
			(now.Discord.Token.Reveal() != cfg.Discord.Token.Reveal() || now.Discord.APIURL != cfg.Discord.APIURL) {
			r.log.Info().Msg("the configuration has changed")
			return now, nil
		}
	}
}

// vectorPatience is how long a question waits for a server's vectors to load: enough for those of a small server.
// Meanwhile, full text answers.
const vectorPatience = 100 * time.Millisecond

func (r *runner) once(ctx context.Context, cfg config.Config) (err error) {
	if !cfg.Discord.Token.IsSet() {
		return discord.ErrNoToken
	}
	place := store.Of(cfg)
	if taken, err := doctor.MakePrivate(cfg.Data); err != nil {
		r.log.Warn().Err(err).Msg("others on this machine have access to the data directory, and Hark can't change that: " +
			"give it a directory that it owns")
	} else if len(taken) > 0 {
		r.log.Warn().Strs("files", taken).Msg(
			"others on this machine could read what is remembered: the data directory is private now")
	}
	index := vectors.Options{Patience: vectorPatience}
	a, err := setup.Open(ctx, cfg, r.metrics, store.Options{Index: index, Progress: func(done, total int) {
		if done == total {
			r.log.Info().Int("messages", total).Msg("rebuilt the word index")
		}
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	release, err := place.LockRunning(time.Now())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if r.site != nil {
		if err := r.site.Announce(); err != nil {
			return err
		}
	}
	if err := a.StandIn(); err != nil {
		r.log.Warn().Err(err).Msg("the configured embedder can't be used; it is tried again")
	}
	r.dropStreams(cfg.Data)
	r.checkWindows(ctx, a)
	a.Broken = func(server, problem string) {
		r.log.Warn().Str("server", server).Str("problem", problem).Msg("a server of tools, or a tool, can't be used")
	}
	a.Learned = func(model, what string) {
		r.log.Warn().Str("model", model).Msg(what)
	}
	a.Shortened = func(tokens int) {
		r.log.Warn().Int("tokens", tokens).Msg("the embedding server takes about so many tokens of a text: of longer " +
			"ones, only the beginning is found by its meaning")
	}
	a.Missing = func(model string) {
		r.log.Warn().Str("model", model).Msg("the chosen model isn't configured; the default model answers")
	}
	r.log.Info().Str("version", buildInfo().version).Stringer("store", place).Str("model", cfg.LLM.Model).Msg("starting")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := a.Store.Checked(ctx); ctx.Err() == nil {
			return err
		}
		return nil
	})
	if !r.env.unchecked {
		group.Go(func() error {
			logChecks(ctx, r.flags, cfg, r.log)
			return nil
		})
	}
	group.Go(func() error {
		for tick := time.NewTicker(time.Minute); ; { // a backup may be interrupted while Hark runs
			select {
			case <-ctx.Done():
				tick.Stop()
				return nil
			case <-tick.C:
				r.dropStreams(cfg.Data)
			}
		}
	})
	group.Go(func() error {
		defer cancel()
		return lease.Hold(ctx, a.Store.Leases(), func(ctx context.Context) error { return r.work(ctx, cfg, a) })
	})
	return group.Wait()
}

// work runs the bot and what is done in the background until ctx ends.
func (r *runner) work(ctx context.Context, cfg config.Config, a *setup.App) error {
	log := setup.MeteredStore{Store: a.Store, Metrics: a.Metrics}
	table := a.Store.Leases()
	door, err := shards.New(shards.Config{
		Shards: int(cfg.Discord.Shards),
		Table:  table,
		Bot: bot.Config{
			Token:        cfg.Discord.Token.Reveal(),
			APIURL:       cfg.Discord.APIURL,
			LogBots:      cfg.Memory.LogBots,
			Policy:       setup.Policy(cfg),
			CatchUp:      cfg.Memory.CatchUp.Duration,
			Reconcile:    cfg.Memory.Reconcile,
			AnswerMissed: cfg.Discord.AnswerMissed.Duration,
			EditAnswers:  cfg.Memory.EditAnswers,
			NoRecords:    cfg.Memory.KeepRecords() == 0,
			SessionGap:   cfg.Memory.SessionGap.Duration,
			Choices:      choices(cfg),
			Limits:       askingLimits(cfg),
			Retention:    cfg.Memory.Retention.Duration,
			Metrics:      a.Metrics,
			Version:      buildInfo().version,
			Health:       func() command.Health { return healthOf(a) },
			Privacy:      privacy(cfg),
			Teller:       a.Teller,
			DevGuild:     memory.GuildID(cfg.Discord.Guild()),
			Client:       r.env.discord,
			State:        r.notify.state,
			Progress:     r.env.progress,
		},
	}, log, a.Answers, r.log)
	if err != nil {
		return err
	}
	a.Answers.LookUpBy(door.LookUp)
	r.ready.Store(new(door.Ready))
	r.now.Store(&running{a, door})
	defer r.now.Store(nil) // before the store is closed
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	house := memory.Janitor{
		Store:     log,
		Retention: cfg.Memory.Retention.Duration,
		Prompts:   cfg.Memory.KeepPrompts(),
		Records:   setup.RecordRetention(cfg),
		Done:      r.forgotten,
		Waits:     r.expiring,
		Progress:  r.env.progress,
		Failed: func(err error, wait time.Duration) {
			r.log.Warn().Err(err).Dur("wait", wait).Msg("forgetting is delayed")
		},
	}
	// The janitor's looks into the store also tell the indexer what other processes logged.
	stoodIn := a.StandIn() != nil
	group.Go(func() error {
		return a.Indexing(ctx, func(ctx context.Context, e memory.Embedder) error {
			if stoodIn && a.StandIn() == nil {
				r.log.Info().Str("space", e.Space().Name).Msg("the configured embedder can be used now")
			}
			indexer := r.indexer(a.Store, e)
			return lease.While(ctx, table, "janitor", func(ctx context.Context) error {
				group, ctx := errgroup.WithContext(ctx)
				group.Go(func() error { return indexer.Run(ctx) })
				group.Go(func() error { return house.Run(ctx) })
				return group.Wait()
			})
		})
	})
	r.startDigest(ctx, group, a)
	group.Go(func() error {
		defer cancel()
		return door.Run(ctx)
	})
	err = group.Wait()
	if errors.Is(context.Cause(ctx), lease.ErrLost) {
		r.log.Warn().Err(lease.ErrLost).Msg("beginning anew")
	}
	return err
}

// indexer returns what embeds messages in the background.
func (r *runner) indexer(s memory.VectorQueue, e memory.Embedder) memory.Indexer {
	return memory.Indexer{
		Queue:    s,
		Embedder: e,
		Progress: r.indexed,
		Failed: func(err error, wait time.Duration) {
			r.log.Warn().Err(err).Dur("wait", wait).Msg("embedding is delayed")
		},
	}
}

// checkWindows logs which models' windows are too small for what is configured.
func (r *runner) checkWindows(ctx context.Context, a *setup.App) {
	for _, m := range a.Config.LLM.All() {
		client := a.Models.ByName(m.Name)
		m.Window, _ = client.Window(ctx)
		larger := client.LargerWindow()
		own := setup.For(a.Config, m)
		tight := setup.CheckWindow(own, larger)
		level := zerolog.WarnLevel
		if errors.Is(tight, setup.ErrSmallWindow) {
			level = zerolog.ErrorLevel
		}
		if tight != nil {
			r.log.WithLevel(level).Int("window", setup.Window(own)).Int("prompt", setup.QuestionTokens(own)).
				Int("answer", setup.AnswerTokens(own)).Str("model", m.Name).Msg(tight.Error())
		}
		if err := setup.CheckTools(own, larger); err != nil {
			r.log.Warn().Str("model", m.Name).Msg(err.Error())
		}
	}
}

func (r *runner) indexed(done, total int, left time.Duration) {
	if done == total {
		r.log.Info().Int("segments", total).Msg("indexed by meaning")
		return
	}
	r.log.Info().Int("done", done).Int("segments", total).Stringer("left", left.Round(time.Second)).
		Msg("indexing by meaning")
}

func (r *runner) forgotten(done memory.DeletionReport) {
	f := done.Forgetting
	r.log.Info().Int64("forgetting", f.ID).Stringer("guild", f.Guild).Stringer("channel", f.Channel).
		Str("why", string(f.Why)).Int("messages", done.Messages).Int("segments", done.Segments).
		Int("vectors", done.Vectors).Int("answers", done.Answers).Int("facts", done.Facts).Int("lore", done.Lore).
		Int("summaries", done.Summaries).Int("records", done.Records).Int("people", done.People).Msg("forgot")
}

// expiring warns of expired messages that wait to be forgotten.
func (r *runner) expiring(g *memory.Guild, e memory.Expiring) {
	r.log.Warn().Stringer("guild", g.ID).Int("messages", e.Goes).Int("of", e.Kept).Time("until",
		e.Since.Add(memory.ExpiringFor)).
		Msg("unusually many messages are older than the retention, so they are kept until the time in \"until\": " +
			"check memory.retention and the clock, or agree with \"hark forget --expired\"")
}

func (f *flags) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the running Hark whether it is alive; for containers",
		Args:  cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			if cfg.Web.Listen == "" {
				return fmt.Errorf("web.listen is off, so Hark can't be asked")
			}
			return health.Check(c.Context(), cfg.Web.Listen)
		},
	}
}

// dropStreams removes what interrupted backups left, which may hold what is forgotten.
func (r *runner) dropStreams(dir string) {
	if err := archive.DropStreams(dir); err != nil {
		r.log.Warn().Err(err).Msg("can't remove an interrupted backup's files")
	}
}

func (r *runner) startDigest(ctx context.Context, group *errgroup.Group, a *setup.App) {
	a.Digest.Failed = func(kind digest.Kind, channel memory.ChannelID, err error) {
		failed := map[digest.Kind]string{
			digest.Facts:     "facts could not be learned",
			digest.Summaries: "a session could not be summed up by the model",
			digest.Condensed: "a long session could not be condensed",
		}[kind]
		if kind == digest.Summaries && channel == 0 {
			failed = "summing up is delayed"
		}
		r.log.Warn().Err(err).Stringer("channel", channel).Msg(failed)
	}
	a.Digest.Done = func(kind digest.Kind, channel memory.ChannelID, messages int, model string) {
		made := map[digest.Kind]string{digest.Summaries: "summed up a session",
			digest.Condensed: "condensed a session"}[kind]
		r.log.Debug().Stringer("channel", channel).Int("messages", messages).Str("model", model).Msg(made)
	}
	own := []digest.Kind(nil)
	shared := []digest.Kind(nil)
	for _, kind := range a.Digests() {
		if kind == digest.Condensed { // of the sessions in which this process answers
			own = append(own, kind)
		} else {
			shared = append(shared, kind)
		}
	}
	group.Go(func() error { return a.Digest.Run(ctx, own...) })
	group.Go(func() error {
		return lease.While(ctx, a.Store.Leases(), "digest", func(ctx context.Context) error {
			return a.Digest.Run(ctx, shared...)
		})
	})
}
