package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/setup"
	"hark/internal/store"
	"hark/internal/terminal"
)

// load reads the configuration.
func (f *flags) load() (config.Config, error) {
	if err := config.CheckEnv(f.env.environ()); err != nil {
		return config.Config{}, err
	}
	c, err := config.Load(f.config, f.env.lookup)
	if err != nil {
		return c, err
	}
	if _, err := setup.Labels(c.Builder); err != nil {
		return c, err
	}
	if _, err := setup.Sections(c.Builder); err != nil {
		return c, err
	}
	c.Data = cmp.Or(f.data, c.Data)
	return c, nil
}

// withApp returns a command that gets an App, and warns of what is wrong with it.
func (f *flags) withApp(
	do func(c *cobra.Command, a *setup.App, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cfg, err := f.load()
		if err != nil {
			return err
		}
		a, err := setup.Open(c.Context(), cfg, nil, store.Options{Progress: f.progress("indexing words")})
		if err != nil {
			return err
		}
		defer a.Close()
		a.Broken = func(server, problem string) {
			fmt.Fprintf(f.env.stderr, "hark: the tools of %s: %s\n", server, problem)
		}
		a.Learned = func(model, what string) {
			fmt.Fprintf(f.env.stderr, "hark: the model %q: %s\n", model, what)
		}
		a.Missing = func(model string) {
			fmt.Fprintf(f.env.stderr, "hark: the chosen model %q isn't configured; the default model answers\n", model)
		}
		a.Shortened = f.tellShortened
		for _, warning := range []error{a.StandIn(), a.Tight} {
			if warning != nil {
				fmt.Fprintln(f.env.stderr, "hark:", warning)
			}
		}
		return do(c, a, args)
	}
}

// tellShortened says how long a text the embedding server takes.
func (f *flags) tellShortened(tokens int) {
	fmt.Fprintf(f.env.stderr, "hark: the embedding server takes about %d tokens of a text: of longer ones, only the "+
		"beginning is found by its meaning\n", tokens)
}

// openArchive opens the memory without embedder and model. It fails if there is none.
func (f *flags) openArchive(ctx context.Context) (*archive.Archive, error) {
	cfg, err := f.load()
	if err != nil {
		return nil, err
	}
	return archive.Open(ctx, cfg, f.progress("indexing words"))
}

// withArchive returns a command that gets the memory.
func (f *flags) withArchive(
	do func(c *cobra.Command, k *archive.Archive, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		k, err := f.openArchive(c.Context())
		if err != nil {
			return err
		}
		defer k.Close()
		return do(c, k, args)
	}
}

// onlyFile returns an error that says what to do instead, if the memory isn't a file.
func onlyFile(c config.Config, instead string) error {
	if place := store.Of(c); !place.IsFile() {
		return fmt.Errorf("the memory is in %s: %s", place, instead)
	}
	return nil
}

// progress returns a function that shows progress on stderr.
func (f *flags) progress(what string) func(done, total int) {
	return terminal.Progress(f.env.stderr, what)
}

// phases returns a function that shows the progress of work in several phases on stderr.
func (f *flags) phases() func(what string, done, total int) {
	var show func(done, total int)
	at := ""
	return func(what string, done, total int) {
		if what != at {
			at = what
			show = f.progress(what)
		}
		show(done, total)
	}
}

// confirm prints warning and asks whether to go on, unless yes is set.
func (f *flags) confirm(ctx context.Context, yes bool, warning, question string) error {
	if f.talk != nil {
		return f.talk.Confirm(ctx, yes, warning, question)
	}
	if yes {
		return nil
	}
	if warning != "" {
		fmt.Fprintln(f.env.stderr, warning)
	}
	in, ok := terminal.Of(f.env.stdin)
	if _, shown := terminal.Of(f.env.stderr); !ok || !shown {
		return cli.ErrNobody
	}
	fmt.Fprintf(f.env.stderr, "%s [y/N] ", question)
	line, _ := terminal.Await(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(f.env.stderr)
		return terminal.Interrupted("interrupted; nothing was changed")
	case terminal.SaysYes(line):
		return nil
	}
	return cli.ErrDeclined
}
