package main

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/setup"
	"hark/internal/terminal"
)

func (f *flags) doctorCommand() *cobra.Command {
	var asJSON, verify bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, data, Discord, model, reranker and embedder, and say what to do",
		Long: "Checks all that Hark needs, also while it runs, and changes nothing. Each line begins with ✓ (well), ✗ (wrong) or !\n" +
			"(advice), and says what to do. The exit code is 1 if there is a ✗. It asks each model for an answer of one token, and\n" +
			"the embedder for a few vectors. With --verify, it also decrypts all of a sealed memory, which takes a while, and names\n" +
			"the first value that somebody changed.",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			failed := false
			all := []doctor.Finding{}
			tell := func(found doctor.Finding) {
				failed = failed || !found.OK
				all = append(all, found)
				if !asJSON {
					fmt.Fprintln(c.OutOrStdout(), found)
				}
			}
			f.examine(c.Context(), tell)
			if verify {
				cfg, err := f.load()
				if err != nil {
					return err
				}
				tell(f.doctor(cfg).Verify(c.Context()))
			}
			if err := c.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				if err := cli.PrintJSON(c.OutOrStdout(), all); err != nil {
					return err
				}
			}
			if failed {
				return cli.ErrShown
			}
			return nil
		},
	}
	c.Flags().BoolVar(&verify, "verify", false, "decrypt all of a sealed memory")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: a list of {check, ok, detail, advice}")
	return c
}

// examine checks everything, and calls tell in a fixed order.
func (f *flags) examine(ctx context.Context, tell func(doctor.Finding)) {
	cfg, err := f.load()
	if err == nil {
		_, err = setup.NewBuilder(cfg)
	}
	f.doctor(cfg).Examine(ctx, f.configPath(), err, tell)
}

// doctor checks what c needs.
func (f *flags) doctor(c config.Config) *doctor.Doctor {
	return &doctor.Doctor{
		Config:  c,
		Version: buildInfo().String(),
		Discord: f.env.transport(),
		Space:   f.env.space,
	}
}

// configPath returns where the configuration file is, or would be.
func (f *flags) configPath() string {
	path, _ := config.Find(f.config, f.env.lookup)
	return path
}

// logChecks runs the doctor's brief checks and logs problems.
func logChecks(ctx context.Context, f *flags, cfg config.Config, log zerolog.Logger) {
	d := f.doctor(cfg)
	d.Brief = true
	wrong := 0
	advised := 0
	n := 0
	tell := func(found doctor.Finding) {
		n++
		event := log.Warn()
		switch {
		case found.OK && found.Advice == "":
			return
		case found.OK:
			advised++
		default:
			event = log.Error()
			wrong++
		}
		event.Str("check", found.Check).Str("advice", terminal.OneLine(found.Advice)).
			Msg(terminal.OneLine(found.Detail))
	}
	d.Examine(ctx, f.configPath(), nil, tell)
	if ctx.Err() == nil {
		log.Info().Int("checks", n).Int("wrong", wrong).Int("advice", advised).
			Msg("checked; \"hark doctor\" tells more")
	}
}
