package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hark/bot"
	"hark/internal/config"
	"hark/memory"
)

func (f *flags) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, data, Discord, model, reranker and embedder, and say what to do",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			d := doctor{out: c.OutOrStdout()}
			cfg, err := f.load()
			d.tell("configuration", "it can be read", err)
			if err == nil {
				d.examine(c.Context(), cfg)
			}
			if err := c.Context().Err(); err != nil {
				return err
			}
			if d.ill {
				return errShown
			}
			return nil
		},
	}
}

// doctor tells how things are, a line each.
type doctor struct {
	out io.Writer
	ill bool
}

// tell prints that what is checked is well, or what is wrong with it.
func (d *doctor) tell(what, well string, err error) {
	if err == nil {
		fmt.Fprintf(d.out, "✓ %s: %s\n", what, well)
		return
	}
	d.ill = true
	fmt.Fprintf(d.out, "✗ %s: %v\n", what, err)
}

// examineTime bounds each check that depends on somebody else.
const examineTime = 30 * time.Second

func (d *doctor) examine(ctx context.Context, c config.Config) {
	d.tell("data directory", "Hark can write to "+c.Data, checkDirectory(c.Data))
	a, err := open(ctx, c, 0, nil)
	if err != nil {
		d.tell("database", "", err)
	} else {
		defer a.close()
		d.tell("database", d.counts(ctx, a), nil)
	}
	within := func(check func(context.Context) (string, error)) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, examineTime)
		defer cancel()
		return check(ctx)
	}
	well, err := within(func(ctx context.Context) (string, error) {
		return "it takes the token, and the Message Content intent is on", bot.Check(ctx, bot.Config{Token: c.Discord.Token.Reveal(), APIURL: c.Discord.APIURL})
	})
	d.tell("Discord", well, err)
	well, err = within(func(ctx context.Context) (string, error) { return checkModel(ctx, c) })
	d.tell("model", well, err)
	well, err = within(func(ctx context.Context) (string, error) { return checkReranker(ctx, c) })
	d.tell("reranker", well, err)
	if a != nil {
		well, err = within(a.checkEmbedder)
		err = cmp.Or(a.standIn, err)
		d.tell("embedder", well, err)
	}
}

// checkDirectory writes a file to the directory and removes it.
func checkDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: make it, or name another with --data or HARK_DATA", err)
	}
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return fmt.Errorf("%w: give it to the user that Hark runs as (in the container: chown 65532:65532)", errors.Unwrap(err))
	}
	_, err = file.WriteString("Hark can write here.\n")
	return errors.Join(err, file.Close(), os.Remove(filepath.Join(dir, filepath.Base(file.Name()))))
}

func (d *doctor) counts(ctx context.Context, a *app) string {
	guilds, err := a.store.Guilds(ctx)
	if err != nil {
		return err.Error()
	}
	messages, channels := 0, 0
	for _, id := range guilds {
		g, err := a.store.Guild(ctx, id)
		if err != nil {
			continue
		}
		var scope memory.Scope
		for _, c := range g.Channels {
			scope.Channels = append(scope.Channels, c.ID)
		}
		n, _, err := a.store.Frequencies(ctx, scope, nil, 0)
		if err == nil {
			messages += n
			channels += len(g.Channels)
		}
	}
	return fmt.Sprintf("%s in %s of %s", plural(messages, "message"), plural(channels, "channel"), plural(len(guilds), "guild"))
}

func checkModel(ctx context.Context, c config.Config) (string, error) {
	client := newClient(c)
	if client == nil {
		return "none is configured: answers quote what was said; set llm.model (and llm.base_url) for more", nil
	}
	how, err := client.Check(ctx)
	window := "how large its window is, isn't known (llm.window)"
	if n := windowOf(c); n > 0 {
		window = fmt.Sprintf("its window has %d tokens", n)
	}
	return client.Name() + ": " + how + "; " + window, err
}

// checkReranker asks which of two texts answers a question.
func checkReranker(ctx context.Context, c config.Config) (string, error) {
	r, err := newReranker(c)
	if err != nil {
		return "", err
	}
	if r == nil {
		return "none is configured, and none is needed; with one (search.rerank_url) what is recalled comes in a better order", nil
	}
	started := time.Now()
	scores, err := r.Rerank(ctx, "What colour is the sky?", []string{"Bread is baked in an oven.", "The sky is blue today."})
	if err == nil && scores[0] >= scores[1] {
		err = fmt.Errorf("%s takes bread for a better answer than the sky where the sky is asked about: is it a reranking model? (search.rerank_model)", r.Name())
	}
	return fmt.Sprintf("%s tells what answers a question, in %v", r.Name(), time.Since(started).Round(time.Millisecond)), err
}

func (a *app) checkEmbedder(ctx context.Context) (string, error) {
	space := a.embedder.Space()
	started := time.Now()
	_, err := a.embedder.Embed(ctx, memory.ForStorage, []string{"Is anybody there?"})
	return fmt.Sprintf("%s gives %d dimensions, in %v", space.Name, space.Dimensions, time.Since(started).Round(time.Millisecond)), err
}
