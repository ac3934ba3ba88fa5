package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/dates"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
)

func (f *flags) backfillCommand() *cobra.Command {
	since := ""
	stop := false
	c := &cobra.Command{
		Use:   "backfill [CHANNEL…]",
		Short: "Fetch a channel's past with the running Hark, or show progress",
		Long: "Queues a channel's past, from before Hark listened there, for the running Hark to fetch from Discord: the channel's\n" +
			"own and that of the threads that Hark knows. What Hark missed comes first. A restart doesn't interrupt it. Without a\n" +
			"channel, the command shows what is still to be fetched.",
		Example: "  hark backfill general --since 2024-01-01\n  hark backfill\n  hark backfill general --stop",
		PreRunE: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 && (since != "" || stop) {
				return errors.New("which channel? Write its name after \"hark backfill\"")
			}
			return nil
		},
		RunE: f.withArchive(func(c *cobra.Command, k *archive.Archive, names []string) error {
			for _, name := range names {
				channel, err := k.FindChannel(memory.Everywhere, name)
				if err == nil && stop {
					err = stopBackfill(c, k, channel)
				} else if err == nil {
					err = backfill(c, k, channel, since)
				}
				if err != nil {
					return err
				}
			}
			if len(names) == 0 {
				return listGaps(c, k)
			}
			return nil
		}),
	}
	c.Flags().StringVar(&since, "since", "",
		"only what was said since this `day`, such as 2024-05-31, or this long ago, such as 90d")
	c.Flags().BoolVar(&stop, "stop", false, "stop fetching; what was fetched stays")
	return c
}

func backfill(c *cobra.Command, k *archive.Archive, channel memory.Channel, since string) error {
	if err := canFetch(k, channel); err != nil {
		return err
	}
	after := memory.MessageID(0)
	if since != "" {
		from, _, err := dates.Parse(since, time.Now(), k.Config.Answer.Location())
		if err != nil {
			return fmt.Errorf("--since %w", err)
		}
		after = memory.FirstMessageID(from) - 1
	}
	g := k.GuildByID(channel.Guild)
	now := time.Now()
	listed, err := memory.PastOf(c.Context(), k, g, channel.ID)
	if err != nil {
		return err
	}
	// older messages would be forgotten at once
	if keep, _, _ := g.Retention(channel.ID, k.Config.Memory.Retention.Duration); keep > 0 {
		after = max(after, memory.FirstMessageID(memory.KeptSince(now, keep))-1)
	}
	gaps, begun, err := memory.PastGaps(c.Context(), k, g, channel.ID, after, now, func(c memory.Channel) bool {
		c.Guild = channel.Guild
		return canFetch(k, c) == nil
	})
	switch {
	case err != nil:
		return err
	case len(gaps) == 0 && len(listed) > 0:
		return fmt.Errorf("the past of %s is already queued: \"hark backfill\" shows progress, --stop removes it",
			label(k, channel))
	case begun.IsZero():
		return fmt.Errorf("%s has only threads, and Hark remembers none of them", label(k, channel))
	case len(gaps) == 0:
		return fmt.Errorf("Hark has listened in %s since %s: there is nothing before to fetch",
			label(k, channel), begun.Format(time.DateOnly))
	}
	threads := 0
	for _, gap := range gaps {
		if gap.Channel != channel.ID {
			threads++
		}
	}
	if err := k.Apply(c.Context(), memory.BeginPast(gaps, now)...); err != nil {
		return err
	}
	with := ""
	if threads > 0 {
		with = ", with that of " + terminal.Plural(threads, "thread")
	}
	fmt.Fprintf(c.OutOrStdout(), "The past of %s, up to %s%s, is queued. A running Hark begins within a minute; "+
		"\"hark backfill\" shows progress.\n", label(k, channel), begun.Format(time.DateOnly), with)
	return nil
}

func label(k *archive.Archive, c memory.Channel) string {
	return fmt.Sprintf("#%s of %s", terminal.OneLine(cmp.Or(c.Name, c.ID.String())),
		terminal.OneLine(archive.GuildName(k.GuildByID(c.Guild))))
}

// canFetch returns why a channel's past can't be fetched; nil if it can.
func canFetch(k *archive.Archive, c memory.Channel) error {
	g := k.GuildByID(c.Guild)
	switch {
	case c.Guild == memory.LocalGuild:
		return fmt.Errorf("%s isn't a channel of Discord's: use \"hark import\"", label(k, c))
	case c.Guild == memory.DirectGuild:
		return fmt.Errorf("%s are direct messages, which have no past that Hark may fetch", label(k, c))
	case !g.Left.IsZero():
		return fmt.Errorf("Hark was removed from %s: invite it again first", terminal.OneLine(archive.GuildName(g)))
	case c.Unplaced:
		return fmt.Errorf("Hark doesn't see %s in Discord: invite it to the server and start it, or use \"hark import\"",
			label(k, c))
	case !setup.Policy(k.Config).Remembers(g, c.ID):
		return fmt.Errorf("%s isn't remembered: choose it first with /hark memory in Discord", label(k, c))
	}
	return nil
}

func stopBackfill(c *cobra.Command, k *archive.Archive, channel memory.Channel) error {
	gaps, err := memory.PastOf(c.Context(), k, k.GuildByID(channel.Guild), channel.ID)
	if err != nil {
		return err
	}
	if len(gaps) == 0 {
		return fmt.Errorf("no past of %s is being fetched", label(k, channel))
	}
	fetched := 0
	for _, gap := range gaps {
		fetched += gap.Fetched
	}
	if err := k.Apply(c.Context(), memory.StopPast(gaps, time.Now())...); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "Stopped fetching the past of %s; what was fetched stays: %s.\n",
		label(k, channel), terminal.Plural(fetched, "message"))
	return nil
}

func listGaps(c *cobra.Command, k *archive.Archive) error {
	gaps, err := k.Gaps(c.Context(), memory.Everywhere, false)
	if err != nil {
		return err
	}
	for _, gap := range gaps {
		why := "missed"
		if gap.Past {
			why = "asked for"
		}
		from := "the beginning"
		if gap.After > 0 {
			from = gap.After.Time().Format(cli.MinuteLayout)
		}
		at := memory.Channel{
			Guild: gap.Guild,
			ID:    gap.Channel,
			Name:  k.ChannelName(gap.Guild, gap.Channel),
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %s fetched; still to fetch: %s to %s (%s)\n", label(k, at),
			terminal.Plural(gap.Fetched, "message"), from, gap.Until.Time().Format(cli.MinuteLayout), why)
	}
	if len(gaps) == 0 {
		fmt.Fprintln(c.OutOrStdout(), "There is nothing to fetch.")
	}
	return nil
}
