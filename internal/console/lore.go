package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/answer"
	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/personaldata"
	"hark/internal/terminal"
	"hark/memory"
)

type loreChange struct {
	name, text       string
	aliases, without []string
}

func (t *Talk) loreCommand() *cobra.Command {
	oneLore := cli.ExactArgs(1, "which lore? Write its name after %q, in quotes")
	var flags loreChange
	yes := false
	add := &cobra.Command{
		Use:   "add NAME TEXT",
		Short: "Remember something under a name",
		Args:  cli.ExactArgs(2, "write a name and a text after %q, each in quotes"),
		RunE: func(c *cobra.Command, args []string) error {
			at := now()
			l := memory.Lore{
				ID:   int64(memory.FirstMessageID(at)) | rand.Int64N(1<<22),
				Name: args[0],
				Text: args[1],
				Own:  flags.aliases,
				At:   at,
			}
			if err := t.tells(c.Context(), &l); err != nil {
				return err
			}
			return t.keepLore(c.Context(), l, "Remembered")
		},
	}
	add.Flags().StringArrayVar(&flags.aliases, "alias", nil, "a further `name` for it; may be repeated")
	list := &cobra.Command{
		Use:   "list",
		Short: "List the lore of a server, or of all",
		Args:  cli.NoArguments,
		RunE:  t.with(t.listLore),
	}
	show := &cobra.Command{
		Use:   "show NAME",
		Short: "Show lore with all its names and where it is from",
		Args:  oneLore,
		RunE: t.withLore(func(c *cobra.Command, k *archive.Archive, l memory.Lore) error {
			if err := printLore(c.Context(), c.OutOrStdout(), k, l); err != nil {
				return err
			}
			printDetails(c.OutOrStdout(), personaldata.LoreOf(l))
			return nil
		}),
	}
	edit := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change lore; its audience and its sources stay",
		Example: "  /lore edit \"Project X\" --text \"The new website. Done.\"\n" +
			"  /lore edit PX --name \"Project Y\" --alias PY --drop-alias website",
		Args: oneLore,
		PreRunE: func(*cobra.Command, []string) error {
			if flags.name == "" && flags.text == "" && len(flags.aliases)+len(flags.without) == 0 {
				return errors.New("what should change? Use --name, --text, --alias or --drop-alias")
			}
			return nil
		},
		RunE: t.withLore(func(c *cobra.Command, _ *archive.Archive, l memory.Lore) error {
			l, err := flags.change(l)
			if err != nil {
				return err
			}
			return t.keepLore(c.Context(), l, "Changed")
		}),
	}
	edit.Flags().StringVar(&flags.name, "name", "", "its new `name`")
	edit.Flags().StringVar(&flags.text, "text", "", "its new `text`")
	edit.Flags().StringArrayVar(&flags.aliases, "alias", nil, "a further `name` for it; may be repeated")
	edit.Flags().StringArrayVar(&flags.without, "drop-alias", nil,
		"a `name` given by hand that it goes by no longer; may be repeated")
	remove := &cobra.Command{
		Use:   "remove NAME",
		Short: "Forget lore for good, with Hark's answers that used it",
		Args:  oneLore,
		RunE: t.withLore(func(c *cobra.Command, k *archive.Archive, l memory.Lore) error {
			warning := fmt.Sprintf("This forgets what %s remembers as %q:\n%s",
				terminal.OneLine(archive.GuildName(k.GuildByID(l.Guild))), terminal.OneLine(l.Name), indented(l.Text))
			if err := t.Confirm(c.Context(), yes, warning, "Forget it for good?"); err != nil {
				return err
			}
			if err := t.forgets(c.Context(), memory.LoreGone{Guild: l.Guild, ID: l.ID}); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "Forgotten: %s.\nOut of Hark's reach: %s.\n", terminal.OneLine(l.Name),
				strings.Join(k.OutOfReach(), "; "))
			return nil
		}),
	}
	remove.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return cli.ParentCommand("lore", "Tell a server's lore: what Hark is to remember under a name",
		"Lore is something that a server told Hark to remember: a name, a text, and other names. Hark finds it when a question\n"+
			"names it (\"Project X\", \"the X project\", \"project-x\", \"PX\") or asks for what it says, and puts it into the answer.",
		add, list, show, edit, remove)
}

// with returns a command that gets the present memory.
func (t *Talk) with(do func(c *cobra.Command, k *archive.Archive, args []string) error) func(*cobra.Command,
	[]string) error {
	return func(c *cobra.Command, args []string) error {
		k, err := archive.New(c.Context(), t.App.Store, t.App.Config)
		if err != nil {
			return err
		}
		return do(c, k, args)
	}
}

// withLore returns a command that gets the memory and the lore that it names.
func (t *Talk) withLore(do func(c *cobra.Command, k *archive.Archive, l memory.Lore) error) func(*cobra.Command,
	[]string) error {
	return t.with(func(c *cobra.Command, k *archive.Archive, args []string) error {
		l, err := k.FindLore(c.Context(), t.Place.Within(), args[0])
		if err != nil {
			return err
		}
		return do(c, k, l)
	})
}

// forgets applies gone, and erases what it removed from the file.
func (t *Talk) forgets(ctx context.Context, gone memory.Event) error {
	if err := t.App.Store.Apply(ctx, gone); err != nil {
		return err
	}
	return t.App.Store.Erase(ctx, true)
}

// keepLore stores lore with more events. It fails if other lore there has its name, or the store didn't keep it.
func (t *Talk) keepLore(ctx context.Context, l memory.Lore, done string, more ...memory.Event) error {
	l, err := l.Checked()
	if err != nil {
		return err
	}
	k, err := archive.New(ctx, t.App.Store, t.App.Config)
	if err != nil {
		return err
	}
	where := terminal.OneLine(archive.GuildName(k.GuildByID(l.Guild)))
	all, err := k.Lore(ctx, l.Guild)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(old memory.Lore) bool {
		return old.ID != l.ID && strings.EqualFold(old.Name, l.Name)
	}) {
		return fmt.Errorf("%s has lore called %q already: change that with \"/lore edit\"", where, l.Name)
	}
	if err := k.Apply(ctx, append([]memory.Event{memory.LoreTold{Lore: l}}, more...)...); err != nil {
		return err
	}
	all, err = k.Lore(ctx, l.Guild)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(kept memory.Lore) bool { return kept.ID == l.ID && kept.At.Equal(l.At) }) {
		return fmt.Errorf("%q wasn't saved: its author has opted out, or its source was forgotten", l.Name)
	}
	if err := k.Erase(ctx, true); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "%s: %s, in %s.\n", done, terminal.OneLine(l.Name), where)
	return nil
}

func (o *loreChange) change(l memory.Lore) (memory.Lore, error) {
	l.Name = cmp.Or(o.name, l.Name)
	l.Text = cmp.Or(o.text, l.Text)
	own := slices.Clone(l.Own)
	for _, w := range o.without {
		n := slices.IndexFunc(own, func(alias string) bool { return strings.EqualFold(alias, w) })
		if n < 0 {
			return l, fmt.Errorf("%q has no alias %q that was given by hand", l.Name, w)
		}
		own = slices.Delete(own, n, n+1)
	}
	l.Own = append(own, o.aliases...)
	if at := now(); at.After(l.At) {
		l.At = at
	} else {
		l.At = l.At.Add(time.Millisecond)
	}
	return l, nil
}

func (t *Talk) listLore(c *cobra.Command, k *archive.Archive, _ []string) error {
	all, err := k.AllLore(c.Context(), t.Place.Within())
	if err == nil && len(all) == 0 {
		fmt.Fprintf(c.ErrOrStderr(), "There is no lore yet: add some with \"%s add\".\n", c.Parent().CommandPath())
	}
	for _, l := range all {
		err = errors.Join(err, printLore(c.Context(), c.OutOrStdout(), k, l))
	}
	return err
}

func printLore(ctx context.Context, w io.Writer, k *archive.Archive, l memory.Lore) error {
	by := ""
	if l.By != 0 {
		people, err := k.PeopleOf(ctx, l.Guild)
		if err != nil {
			return err
		}
		by = ", told by " + cli.NameOf(l.By, []memory.Person{people[l.By]})
	}
	where := terminal.OneLine(archive.GuildName(k.GuildByID(l.Guild)))
	if l.Channel != 0 {
		where = "#" + terminal.OneLine(k.ChannelName(l.Guild, l.Channel)) + " of " + where
	}
	fmt.Fprintf(w, "%s\n  in %s%s, %s\n%s\n", terminal.OneLine(l.Name), where, by,
		l.At.In(k.Config.Answer.Location()).Format(cli.MinuteLayout), indented(l.Text))
	return nil
}

func printDetails(w io.Writer, l personaldata.Lore) {
	for _, names := range []struct {
		what string
		all  []string
	}{{"also", l.Aliases}, {"found by", l.Made}} {
		if len(names.all) > 0 {
			fmt.Fprintf(w, "  %s: %s\n", names.what, terminal.OneLine(strings.Join(names.all, ", ")))
		}
	}
	for _, s := range l.Sources {
		fmt.Fprintf(w, "  from: %s\n", cmp.Or(s.Link, fmt.Sprintf("message %s in channel %s", s.Message, s.Channel)))
	}
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(terminal.Printable(text), "\n", "\n    ")
}

// now returns the time as precisely as it is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// propose asks whether to keep lore that the model proposed. What isn't confirmed isn't stored.
func (t *Talk) propose(ctx context.Context, q answer.Question, a answer.Answer) error {
	for _, p := range a.Proposals {
		l := p.Lore
		l.ID = int64(t.nextID())
		l.By = q.Asker
		l.Channel = t.Place.Channel
		l.At = now()
		l, err := l.Checked()
		if err != nil {
			fmt.Fprintf(t.Warn, "hark: %s can't be remembered: %v\n", terminal.OneLine(p.Lore.Name), err)
			continue
		}
		was, err := t.sources(ctx, l)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Out, "Shall I remember this?\n  %s\n%s\n", terminal.OneLine(l.Name), indented(l.Text))
		if len(l.Own) > 0 {
			fmt.Fprintf(t.Out, "  also: %s\n", terminal.OneLine(strings.Join(l.Own, ", ")))
		}
		if n := len(l.Sources); n > 0 {
			fmt.Fprintf(t.Out, "  from: %s\n", terminal.Plural(n, "message"))
		}
		agreed, err := t.agrees(ctx, "Remember it?")
		if err != nil {
			return err
		}
		if !agreed {
			continue
		}
		if err := t.keepProposed(ctx, l, was, &a.Trace); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintln(t.Warn, "hark:", terminal.Printable(err.Error()))
		}
	}
	return nil
}

// sources returns the texts of lore's sources; nil if one is missing.
func (t *Talk) sources(ctx context.Context, l memory.Lore) ([]string, error) {
	var texts []string
	for _, s := range l.Sources {
		found, err := t.App.Store.Around(ctx, s.Channel, []memory.MessageID{s.Message}, 0, 0)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 || found[0].Guild != l.Guild {
			return nil, nil
		}
		texts = append(texts, found[0].Text())
	}
	return texts, nil
}

// keepProposed stores lore if its sources still have the texts in was. The answer that proposed it is forgotten with
// it.
func (t *Talk) keepProposed(ctx context.Context, l memory.Lore, was []string, trace *memory.Trace) error {
	is, err := t.sources(ctx, l)
	if err != nil {
		return err
	}
	if len(is) < len(l.Sources) || !slices.Equal(is, was) {
		return errors.New("I didn't save it: its source was said elsewhere, or was changed or forgotten meanwhile")
	}
	with := trace.WithSources(l.AsSource(true))
	if err := t.keepLore(ctx, l, "Remembered", memory.Answered{Trace: with}); err != nil {
		return err
	}
	*trace = with
	return nil
}
