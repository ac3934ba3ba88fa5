package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/dates"
	"hark/internal/terminal"
	"hark/memory"
)

type forgetting struct {
	*flags
	user, channel, guild, before string
	messages                     []string
	optOut, expired, yes, json   bool
}

func (f *flags) forgetCommand() *cobra.Command {
	o := forgetting{flags: f}
	c := &cobra.Command{
		Use:   "forget",
		Short: "Forget a person, a channel, a server, single messages, or what is older than a day",
		Long: "Forgets for good, also while Hark runs: the text, its words and vectors, what was made from it, and Hark's answers\n" +
			"that used it. Conditions combine: \"--user ann --before 90d\" is what Ann wrote more than 90 days ago. The command shows\n" +
			"what would go, and asks first.",
		Example: "  hark forget --user ann                      all that Ann wrote, in all servers, and what is known of her\n" +
			"  hark forget --user ann --opt-out            and nothing of hers is remembered from now on\n" +
			"  hark forget --channel general --before 2024-01-01\n" +
			"  hark forget --channel general --message 1234567890123456789\n" +
			"  hark forget --guild Harbour                 a whole server, with its people and settings\n" +
			"  hark forget --before 365d                   whatever is older than a year\n" +
			"  hark forget --expired                       whatever is older than the retention, also where that waits",
		Args:    cli.NoArguments,
		PreRunE: func(*cobra.Command, []string) error { return o.check() },
		RunE:    f.withArchive(func(c *cobra.Command, k *archive.Archive, _ []string) error { return o.run(c, k) }),
	}
	c.Flags().StringVar(&o.user, "user", "", "what the person of this `name` or id wrote")
	c.Flags().StringVar(&o.channel, "channel", "",
		"what was said in the channel of this `name` or id, with its threads")
	c.Flags().StringVar(&o.guild, "guild", "", "what was said in the server of this `name` or id")
	c.Flags().StringSliceVar(&o.messages, "message", nil, "the messages with these `ids`, of the channel")
	c.Flags().StringVar(&o.before, "before", "",
		"what was said before this `day`, such as 2024-05-31, or longer ago than this, such as 90d")
	c.Flags().BoolVar(&o.expired, "expired", false,
		"what is older than the retention; if that is much, Hark itself waits for this or for 72 hours")
	c.Flags().BoolVar(&o.optOut, "opt-out", false, "also remember nothing that the person writes from now on")
	c.Flags().BoolVar(&o.yes, "yes", false, "don't ask")
	c.Flags().BoolVar(&o.json, "json", false, "print the receipt as JSON")
	return c
}

// check refuses combinations that mean nothing.
func (o *forgetting) check() error {
	others := o.user != "" || o.channel != "" || o.guild != "" || o.before != "" || len(o.messages) > 0 || o.optOut
	switch {
	case o.expired && others:
		return errors.New("--expired applies to all servers: leave out the other conditions")
	case o.expired:
		return nil
	case o.user == "" && o.channel == "" && o.guild == "" && o.before == "" && len(o.messages) == 0:
		return errors.New("forget what? Use --user, --channel, --guild, --message, --before or --expired")
	case len(o.messages) > 0 && o.channel == "":
		return errors.New("--message needs --channel: in which channel are they?")
	case len(o.messages) > 0 && (o.user != "" || o.before != ""):
		return errors.New("--message names messages one by one: leave out --user and --before")
	case o.optOut && o.user == "":
		return errors.New("--opt-out needs --user: who is it?")
	case o.optOut && (o.channel != "" || o.before != ""):
		return errors.New("--opt-out forgets all that somebody wrote: leave out --channel and --before")
	}
	return nil
}

func (o *forgetting) run(c *cobra.Command, k *archive.Archive) error {
	before, err := k.FinishForgetting(c.Context(), o.progress("forgetting"))
	o.tellFinished(before)
	if err != nil {
		return terminal.CutShort(c.Context(), err, forgetInterrupted)
	}
	if o.expired {
		return o.forgetExpired(c, k)
	}
	target, what, people, err := o.selection(c.Context(), k)
	if err != nil {
		return err
	}
	if len(o.messages) > 0 {
		return o.deleteMessages(c, k, target)
	}
	extent, err := k.DryRun(c.Context(), memory.DryRunQuery{Forgetting: target})
	if err != nil {
		return err
	}
	warning := fmt.Sprintf("This forgets %s: %s.", what, o.describe(extent, people))
	if err := o.confirm(c.Context(), o.yes, warning, "Forget it for good?"); err != nil {
		return err
	}
	receipt, err := k.ForgetAll(c.Context(), target, before, o.progress("forgetting"))
	if err != nil {
		return terminal.CutShort(c.Context(), err, forgetInterrupted)
	}
	return o.print(c, k, receipt)
}

// forgetExpired forgets what is older than the retention in all servers.
func (o *forgetting) forgetExpired(c *cobra.Command, k *archive.Archive) error {
	ctx := c.Context()
	now := time.Now()
	most := k.Config.Memory.Retention.Duration
	var outdated []memory.Forgetting
	messages := 0
	servers := 0
	for _, g := range k.Servers {
		if g.ID == memory.LocalGuild {
			continue
		}
		all := g.Expired(now, most)
		n, err := memory.CountExpired(ctx, k, all)
		if err != nil {
			return err
		}
		if n > 0 {
			outdated = append(outdated, all...)
			messages = messages + n
			servers = servers + 1
		}
	}
	warning := fmt.Sprintf("This forgets what is older than the retention: %s in %s.",
		terminal.Plural(messages, "message"), terminal.Plural(servers, "server"))
	if err := o.confirm(ctx, o.yes, warning, "Forget it for good?"); err != nil {
		return err
	}
	receipt := memory.DeletionReport{Forgetting: memory.Forgetting{
		Guild: memory.Everywhere,
		Why:   memory.WhyAge,
		At:    now,
	}}
	for _, f := range outdated {
		gone, err := k.Forget(ctx, f, o.progress("forgetting"))
		archive.AddReport(&receipt, gone)
		if err != nil {
			return terminal.CutShort(ctx, err, forgetInterrupted)
		}
	}
	return o.print(c, k, receipt)
}

const forgetInterrupted = "interrupted; what was begun already counts as forgotten, and \"hark run\" or any " +
	"\"hark forget\" finishes erasing it"

// selection returns what to forget, its description, and the person's records if --user is set.
func (o *forgetting) selection(ctx context.Context, k *archive.Archive) (t memory.Forgetting, what string,
	people []memory.Person, err error) {
	t = memory.Forgetting{Why: memory.WhyPurge, At: time.Now()}
	t.Guild, err = k.FindGuild(o.guild)
	if err != nil {
		return t, "", nil, err
	}
	where := "in all servers"
	if o.guild != "" {
		where = fmt.Sprintf("in %s (%d)", terminal.OneLine(archive.GuildName(k.GuildByID(t.Guild))), t.Guild)
	}
	if o.channel != "" {
		channel, err := k.FindChannel(t.Guild, o.channel)
		if err != nil {
			return t, "", nil, err
		}
		t.Guild = channel.Guild
		t.Channel = channel.ID
		where = fmt.Sprintf("in #%s (%d) of %s", terminal.OneLine(channel.Name), channel.ID,
			terminal.OneLine(archive.GuildName(k.GuildByID(t.Guild))))
	}
	what = "everything " + where
	if o.user != "" {
		t.User, people, err = k.FindPerson(ctx, t.Guild, o.user)
		if err != nil {
			return t, "", nil, err
		}
		what = fmt.Sprintf("everything that %s wrote %s", cli.NameOf(t.User, people), where)
	}
	if o.before != "" {
		t.Before, _, err = dates.Parse(o.before, t.At, k.Config.Answer.Location())
		if err != nil {
			return t, "", nil, fmt.Errorf("--before %w", err)
		}
		if t.Before.After(t.At) {
			return t, "", nil, fmt.Errorf(
				"--before %s is in the future: what isn't said yet can't be forgotten", o.before)
		}
		what += ", before " + t.Before.In(k.Config.Answer.Location()).Format("2006-01-02 15:04 MST")
	}
	if o.optOut {
		t.Why = memory.WhyOptOut
	}
	return t, what, people, nil
}

func (o *forgetting) describe(e memory.DryRun, people []memory.Person) string {
	text := fmt.Sprintf("%s in %s", terminal.Plural(e.Messages, "message"), terminal.Plural(e.Channels, "channel"))
	if o.user != "" && o.channel == "" && o.before == "" {
		text += fmt.Sprintf(", %s, and what is known of them in %s", terminal.Plural(e.Facts, "fact"),
			terminal.Plural(len(people), "server"))
	}
	for _, more := range terminal.Nonzero(lore(e.Lore), summaries(e.Summaries)) {
		text += ", " + more
	}
	if o.guild != "" && o.user == "" && o.channel == "" && o.before == "" {
		text += ", its people, channels and settings"
	}
	return text
}

// tellFinished reports each, by the person's id: the name may be gone.
func (o *forgetting) tellFinished(receipts []memory.DeletionReport) {
	for _, r := range receipts {
		whose := ""
		if r.Forgetting.User != 0 {
			whose = fmt.Sprintf(" of person %d", r.Forgetting.User)
		}
		fmt.Fprintf(o.env.stderr, "An interrupted forgetting%s is complete now: %s gone.\n", whose,
			terminal.Plural(r.Messages, "message"))
	}
}

func (o *forgetting) deleteMessages(c *cobra.Command, k *archive.Archive, target memory.Forgetting) error {
	ids, err := k.MessageIDs(c.Context(), target.Channel, o.messages)
	if err != nil {
		return err
	}
	there, err := k.Around(c.Context(), target.Channel, ids, 0, 0)
	if err != nil {
		return err
	}
	warning := fmt.Sprintf("This forgets %s (%s given).", terminal.Plural(len(there), "message"),
		terminal.Plural(len(ids), "id"))
	if err := o.confirm(c.Context(), o.yes, warning, "Forget them for good?"); err != nil {
		return err
	}
	if err := k.Apply(c.Context(), memory.Deleted{
		Guild:   target.Guild,
		Channel: target.Channel,
		IDs:     ids,
	}); err != nil {
		return err
	}
	if err := k.Erase(c.Context(), true); err != nil {
		return err
	}
	return o.print(c, k, memory.DeletionReport{Forgetting: target, Messages: len(there)})
}

func (o *forgetting) print(c *cobra.Command, k *archive.Archive, r memory.DeletionReport) error {
	if o.json {
		f := r.Forgetting
		out := deletionReportJSON{
			Channel:        f.Channel,
			User:           f.User,
			Before:         f.Before,
			At:             f.At.UTC().Truncate(time.Second),
			DeletionReport: r,
			OutOf:          k.OutOfReach(),
		}
		if f.Guild != memory.Everywhere {
			out.Guild = f.Guild.String()
		}
		return cli.PrintJSON(c.OutOrStdout(), out)
	}
	parts := terminal.Nonzero(terminal.Count(r.Segments, "segment", ""), terminal.Count(r.Vectors, "vector", ""),
		terminal.Count(r.Answers, "answer", ""),
		terminal.Count(r.Facts, "fact", ""), lore(r.Lore), summaries(r.Summaries),
		terminal.Count(r.Records, "record of a call", "records of calls"))
	switch {
	case r.People > 0 && r.Forgetting.User == 0:
		parts = append(parts, fmt.Sprintf("what was known of %d people", r.People))
	case r.People > 0:
		parts = append(parts, "what was known of a person in "+terminal.Plural(r.People, "server"))
	}
	line := "Forgotten: " + terminal.Plural(r.Messages, "message")
	if len(parts) > 0 {
		line += ", and with that " + strings.Join(parts, ", ")
	}
	fmt.Fprintln(c.OutOrStdout(), line+".")
	fmt.Fprintln(c.OutOrStdout(), "Out of Hark's reach: "+strings.Join(k.OutOfReach(), "; ")+".")
	return nil
}
