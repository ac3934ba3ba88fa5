package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hark/bot/discord"
	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/terminal"
)

func (f *flags) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Ask for the token, the model and the embedder, and write the configuration file",
		Long: "Asks for the bot's token, the model and the embedder, tests each at once, and writes the configuration file, which\n" +
			"only its owner can read. Other settings in an existing file stay. Answers can also come from a pipe, one a line.\n" +
			"Or use environment variables only.",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := f.beginSetup(c.Context())
			if err != nil {
				return err
			}
			err = s.askAll(c.Context())
			if err != nil {
				return err
			}
			return s.finish(c)
		},
	}
}

const newFileHead = "# Hark's configuration, as \"hark init\" wrote it. config.example.toml shows all that can be set.\n"

func (f *flags) beginSetup(ctx context.Context) (*wizard, error) {
	if err := config.CheckEnv(f.env.environ()); err != nil {
		return nil, err
	}
	s := &wizard{
		flags: f,
		Asker: terminal.NewAsker(f.env.stdin, f.env.stderr),
		text:  newFileHead,
	}
	s.path, _ = config.Find(f.config, f.env.lookup)
	if info, err := os.Stat(filepath.Dir(s.path)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no directory %s to write %s to: make it, or name another file with --config",
			filepath.Dir(s.path), filepath.Base(s.path))
	}
	data, err := os.ReadFile(s.path)
	switch {
	case err == nil:
		s.text = string(data)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read configuration: %w", config.Unreadable(s.path, err))
	}
	s.file, err = config.LoadText(s.path, s.text, f.env.lookup)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, s.whatFirst())
	}
	if f.data != "" {
		s.file.Data = f.data
	}
	s.config = s.file
	if data == nil {
		return s, nil
	}
	change, err := s.Yes(ctx, s.path+" is there already. Change in it what is asked about, and keep the rest?", false)
	if err == nil && !change {
		err = errors.New("nothing was changed")
	}
	return s, err
}

// whatFirst says what to do about a configuration that can't be used. Another file doesn't help if the environment is
// wrong.
func (s *wizard) whatFirst() string {
	_, err := config.LoadText(s.path, "", s.env.lookup)
	if err != nil {
		return "fix that first"
	}
	return "fix that first, or name another file with --config"
}

// askAll asks what is to be configured. The answer "back" leads to the question before; what was answered is offered
// again.
func (s *wizard) askAll(ctx context.Context) error {
	s.Back = true
	fmt.Fprintln(s.Out, "\nWrite \"back\" at any question to return to the one before.")
	steps := []func(context.Context) error{s.askToken, s.askModel, s.askEmbedder}
	set := make([]int, len(steps))  // how many values there were before each step
	kept := make([]int, len(steps)) // and how many findings
	for i := 0; i < len(steps); {
		set[i] = len(s.values)
		kept[i] = len(s.kept)
		err := steps[i](ctx)
		switch {
		case errors.Is(err, terminal.ErrBack):
			i = max(0, i-1)
			s.values = s.values[:set[i]]
			s.kept = s.kept[:kept[i]]
		case err != nil:
			return err
		default:
			i++
		}
	}
	return nil
}

func (s *wizard) askToken(ctx context.Context) error {
	fmt.Fprintln(s.Out, "\nThe bot's token is on the Bot page of your application: "+
		"https://discord.com/developers/applications")
	variable := s.given("HARK_DISCORD_TOKEN", "HARK_DISCORD_TOKEN_FILE")
	if variable != "" {
		fmt.Fprintf(s.Out, "It is taken from %s, which overrides the file.\n", variable)
	}
	for {
		if variable == "" {
			if err := s.askSecret(ctx, "Token", "the same", &s.config.Discord.Token); err != nil {
				return err
			}
		}
		if !s.config.Discord.Token.IsSet() {
			fmt.Fprintln(s.Out, "Without a token Hark can't connect to Discord; \"hark chat\" works. "+
				"Put it into discord.token or HARK_DISCORD_TOKEN later.")
			s.keep([]doctor.Finding{{Check: "Discord", Detail: "there is no token",
				Advice: "put it into discord.token or HARK_DISCORD_TOKEN, or run \"hark init\" again"}})
			return nil
		}
		checking, cancel := context.WithTimeout(ctx, doctor.DiscordTime)
		account, found := doctor.CheckAccount(checking, s.config, s.env.transport())
		cancel()
		s.account = account
		if again, err := s.again(ctx, found...); !again || err != nil {
			if variable == "" {
				s.set("discord.token", s.config.Discord.Token.Reveal())
			}
			return err
		}
	}
}

func (s *wizard) finish(c *cobra.Command) error {
	text, err := config.Edit(s.text, s.values)
	if err == nil {
		_, err = config.LoadText(s.path, text, s.env.lookup)
	}
	if err == nil && c.Context().Err() != nil {
		err = terminal.ErrUnwritten
	}
	if err == nil {
		err = config.Write(s.path, text)
	}
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "Wrote %s; only you can read it.\n", s.path)
	if s.account != nil {
		fmt.Fprintf(out, "Invite Hark into your server: %s\n", discord.InviteURL(s.account.App, 0))
	}
	for _, f := range s.kept {
		fmt.Fprintf(out, "Still to mend: %s\n", strings.TrimPrefix(f.String(), "✗ "))
	}
	if len(s.kept) > 0 {
		fmt.Fprintf(out, "Check it again: %s\n", s.command("doctor"))
	}
	fmt.Fprintf(out, "Then start it: %s\n", s.command("run"))
	return nil
}

// command returns how to run one of Hark's commands with the file.
func (s *wizard) command(name string) string {
	if s.flags.config == "" {
		return "hark " + name
	}
	return fmt.Sprintf("hark %s --config %q", name, s.flags.config)
}
