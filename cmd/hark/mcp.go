package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"hark/bot/discord"
	"hark/internal/answer"
	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/mcpserver"
	"hark/internal/setup"
	"hark/memory"
)

func (f *flags) mcpCommand() *cobra.Command {
	as := ""
	server := ""
	operator := false
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Let a program on this machine ask the memory, by the Model Context Protocol",
		Long: "Serves the Model Context Protocol on standard input and output, for a program that starts it. Say for whom: --as shows\n" +
			"only what that member may read in Discord, --operator everything but direct messages. The program, and the model that it\n" +
			"asks, see what they are told. To let members connect programs of their own, set web.mcp instead.",
		Example: "  hark mcp --as Ann --server Port\n  hark mcp --operator",
		Args:    cli.NoArguments,
		RunE: f.withApp(func(c *cobra.Command, a *setup.App, _ []string) error {
			if operator == (as != "") {
				return errors.New("for whom? Give --as NAME for what a member may read in Discord, or --operator for what you " +
					"may read: everything but direct messages")
			}
			s := mcpserver.Config{
				Engine:  a.Answers,
				Version: buildInfo().version,
				Reader:  "what is remembered, as the operator reads it: everything but direct messages, also what members can't read",
				Asker: func(context.Context) (answer.Question, error) {
					return answer.Question{
						Now:        time.Now(),
						Operator:   true,
						Everywhere: true,
						Guild:      memory.LocalGuild,
					}, nil
				},
				Failed: func(tool string, err error) { fmt.Fprintf(f.env.stderr, "hark: %s: %v\n", tool, err) },
			}
			if !operator {
				r, err := f.readerCalled(c.Context(), a, as, server)
				if err != nil {
					return err
				}
				s.Reader = fmt.Sprintf("what is remembered of the Discord server %q, as far as %q may read it there now",
					r.guild.Name, r.person.DisplayName())
				s.Asker = r.ask
			}
			ask := s.Asker
			s.Asker = func(ctx context.Context) (answer.Question, error) {
				_ = a.IndexFew(ctx) // what can't be indexed now is found by its words
				return ask(ctx)
			}
			group, ctx := errgroup.WithContext(c.Context())
			ctx, cancel := context.WithCancel(ctx)
			group.Go(func() error { // nothing is embedded between calls
				return a.Indexing(ctx, func(ctx context.Context, _ memory.Embedder) error {
					<-ctx.Done()
					return nil
				})
			})
			group.Go(func() error {
				defer cancel()
				return mcpserver.Serve(ctx, s, f.env.stdin, c.OutOrStdout())
			})
			return group.Wait()
		}),
	}
	c.Flags().StringVar(&as, "as", "", "show what the member of this `name` or id may read")
	c.Flags().StringVar(&server, "server", "", "the server of this `name` or id, if they are in several")
	c.Flags().BoolVar(&operator, "operator", false, "show everything but direct messages")
	return c
}

// mcpReader is a member for whom a program reads.
type mcpReader struct {
	guild  *memory.Guild
	person memory.Person
	people func(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
	rest   *discord.Client // nil: there is no token
}

// readerCalled finds a member by name, in the server of a name or the only one where they are known.
func (f *flags) readerCalled(ctx context.Context, a *setup.App, name, server string) (*mcpReader, error) {
	k, err := archive.New(ctx, a.Store, a.Config)
	if err != nil {
		return nil, err
	}
	in, err := k.FindGuild(server)
	if err != nil {
		return nil, err
	}
	user, known, err := k.FindPerson(ctx, in, name)
	if err != nil {
		return nil, err
	}
	var found []*mcpReader
	for _, p := range known {
		if g, err := a.Store.Guild(ctx, p.Guild); err == nil && g.ID != memory.LocalGuild && g.ID != memory.DirectGuild && g.Left.IsZero() && p.ID == user {
			found = append(found, &mcpReader{
				guild:  g,
				person: p,
				people: a.Store.People,
			})
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("nobody called %q is known in a server that Hark is in", name)
	case 1:
	default:
		return nil, fmt.Errorf("%q is known in %d servers: name one with --server", name, len(found))
	}
	r := found[0]
	r.rest, err = memberClient(f, a.Config)
	return r, err
}

// memberClient returns a client that asks Discord for members; nil without a token.
func memberClient(f *flags, cfg config.Config) (*discord.Client, error) {
	if !cfg.Discord.Token.IsSet() {
		return nil, nil
	}
	return discord.NewClient(discord.Options{
		Token:  cfg.Discord.Token.Reveal(),
		APIURL: cfg.Discord.APIURL,
		Client: f.env.discord,
	})
}

// ask returns a question of the member's, with their roles as Discord has them now, or without a token as they were
// last seen.
func (r *mcpReader) ask(ctx context.Context) (answer.Question, error) {
	q := answer.Question{
		Guild:     r.guild.ID,
		Asker:     r.person.ID,
		Name:      r.person.DisplayName(),
		Now:       time.Now(),
		OnlyAsker: true,
	}
	if r.rest != nil {
		m, err := r.rest.Member(ctx, r.guild.ID, r.person.ID)
		if errors.Is(err, discord.ErrNoMember) {
			return q, answer.CallError(q.Name + " isn't a member of that server any more.")
		}
		if err != nil {
			return q, err
		}
		q.Roles = discord.RolesOf(m)
		return q, nil
	}
	now, err := r.people(ctx, r.guild.ID, r.person.ID)
	switch {
	case err != nil:
		return q, err
	case len(now) == 0 || !now[0].RolesKnown:
		return q, answer.CallError("It isn't known which roles " + q.Name + " has. Set discord.token, so that Discord can be asked.")
	}
	q.Roles = now[0].Roles
	if q.Roles == nil {
		q.Roles = []memory.RoleID{} // known to be none
	}
	return q, nil
}
