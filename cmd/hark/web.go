package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/health"
	"hark/internal/setup"
	"hark/internal/store"
	"hark/internal/web"
)

func (f *flags) webCommand() *cobra.Command {
	listen := "127.0.0.1:8766"
	link := false
	c := &cobra.Command{
		Use:   "web",
		Short: "Open the inspection page: what Hark remembers, and how it answers",
		Long: "Serves the inspection page until Ctrl-C, on a memory that no \"hark run\" uses, and prints a link that logs in. A\n" +
			"running Hark serves it itself if web.inspect is true: then --link prints a link to it. A link works once, within ten\n" +
			"minutes. The page shows what members wrote: keep it private.",
		Example: "  hark web\n  hark web --link",
		Args:    cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			if !link {
				return f.serveWeb(c, cfg, listen)
			}
			to, err := web.Link(c.Context(), cfg.Data, time.Now())
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), to)
			return nil
		},
	}
	c.Flags().StringVar(&listen, "listen", listen, "serve the page at this host and `port`")
	c.Flags().BoolVar(&link, "link", false, "print a link that logs in to the page of the running Hark")
	return c
}

// serveWeb serves the inspection page of a memory on which nothing runs.
func (f *flags) serveWeb(c *cobra.Command, cfg config.Config, listen string) (err error) {
	if err := cfg.Web.CheckInspect(listen); err != nil {
		return fmt.Errorf("--listen wants %w", err)
	}
	place := store.Of(cfg)
	if err := place.Check(c.Context()); err != nil {
		return err
	}
	a, err := setup.Open(c.Context(), cfg, nil, store.Options{Progress: f.progress("indexing words")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	release, err := place.LockRunning(time.Now())
	if err != nil {
		return fmt.Errorf("%w; if it serves the page already, as with web.inspect = true, \"hark web --link\" prints "+
			"a link", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	server, err := health.Listen(listen)
	if err != nil {
		return err
	}
	site := web.New(f.webConfig(cfg, server.Addr(), func() *setup.App { return a }))
	defer func() { err = errors.Join(err, site.Close()) }()
	if err := site.Announce(); err != nil {
		return err
	}
	if err := site.FinishForgetting(c.Context()); err != nil {
		return err
	}
	server.Pages = site
	fmt.Fprintln(c.OutOrStdout(), site.Link())
	fmt.Fprintln(f.env.stderr, "The link works once, within ten minutes. Ctrl-C ends the page.")
	group, ctx := errgroup.WithContext(c.Context())
	group.Go(func() error { return server.Run(ctx) })
	return group.Wait()
}

// webConfig returns what the page needs, without a bot.
func (f *flags) webConfig(cfg config.Config, address string, app func() *setup.App) web.Config {
	return web.Config{
		Web:     cfg.Web,
		Dir:     cfg.Data,
		Address: address,
		Version: buildInfo().String(),
		App:     app,
		Examine: func(ctx context.Context, brief bool, tell func(doctor.Finding)) {
			d := f.doctor(cfg)
			d.Brief = brief
			d.Examine(ctx, f.configPath(), nil, tell)
		},
	}
}

// inspect returns the inspection page of the running bot.
func (r *runner) inspect(cfg config.Config, address string) *web.Site {
	c := r.webConfig(cfg, address, func() *setup.App {
		if now := r.now.Load(); now != nil {
			return now.app
		}
		return nil
	})
	c.Live = func() *web.Live {
		live := &web.Live{NotReady: r.notReady()}
		now := r.now.Load()
		if now == nil {
			return live
		}
		for _, s := range now.bot.Shards() {
			live.Shards = append(live.Shards, web.Shard{
				Name:      s.String(),
				Connected: s.Connected,
				Guilds:    s.Guilds,
			})
		}
		live.Events = now.bot.Waiting()
		live.RoleSets = now.bot.RoleSets
		live.ForgetSessions = now.bot.ForgetSessions
		live.Waiting, live.Busy = now.bot.Questions()
		return live
	}
	return web.New(c)
}
