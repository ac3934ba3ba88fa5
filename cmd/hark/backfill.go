package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hark/memory"
)

func (f *flags) backfillCommand() *cobra.Command {
	since, stop := "", false
	c := &cobra.Command{
		Use:   "backfill [CHANNEL…]",
		Short: "Have the running Hark fetch a channel's past; without a channel, tell how far it is",
		Long: "Puts a channel's past, from before Hark began to listen there, on the list of what the running Hark fetches from\n" +
			"Discord, after all that it missed. It goes on whenever Hark is restarted. Without a channel it tells what is still\n" +
			"to be fetched.",
		Example: "  hark backfill general --since 2024-01-01\n  hark backfill\n  hark backfill general --stop",
		RunE: func(c *cobra.Command, names []string) error {
			if len(names) == 0 && (since != "" || stop) {
				return errors.New("which channel? Write its name behind \"hark backfill\"")
			}
			k, err := f.openKept(c.Context())
			if err != nil {
				return err
			}
			defer k.Close()
			for _, name := range names {
				if stop {
					err = k.stopBackfill(c, name)
				} else {
					err = k.backfill(c, name, since)
				}
				if err != nil {
					return err
				}
			}
			if len(names) == 0 {
				return k.tellGaps(c)
			}
			return nil
		},
	}
	c.Flags().StringVar(&since, "since", "", "only what was said since this `day`, such as 2024-05-31, or this long ago, such as 90d")
	c.Flags().BoolVar(&stop, "stop", false, "fetch no more of it; what was fetched stays")
	return c
}

func (k *kept) backfill(c *cobra.Command, name, since string) error {
	channel, err := k.channelCalled(memory.Everywhere, name)
	if err != nil {
		return err
	}
	g := k.guildOf(channel.Guild)
	called := fmt.Sprintf("#%s of %s", oneLine(channel.Name), oneLine(guildName(g)))
	switch {
	case channel.Guild == memory.LocalGuild:
		return fmt.Errorf("%s isn't a channel of Discord's: use \"hark import\"", called)
	case channel.Guild == memory.DirectGuild:
		return fmt.Errorf("%s are direct messages, which have no past that Hark may fetch", called)
	case !policy(k.config).Remembers(g, channel.ID):
		return fmt.Errorf("%s isn't remembered: choose it first with /hark memory in Discord", called)
	}
	gap, err := k.past(c.Context(), g, channel.ID)
	if err != nil {
		return err
	}
	if since != "" {
		from, err := dayOf(since, time.Now(), k.config.Answer.Location())
		if err != nil {
			return fmt.Errorf("--since %w", err)
		}
		gap.After = memory.FirstMessageID(from) - 1
	}
	if gap.After >= gap.Until {
		return fmt.Errorf("Hark has listened in %s since %s: there is nothing before to fetch", called, gap.Until.Time().Format(time.DateOnly))
	}
	gaps, err := k.Gaps(c.Context())
	if err != nil {
		return err
	}
	if slices.ContainsFunc(gaps, func(o memory.Gap) bool { return o.Past && o.Channel == gap.Channel }) {
		return fmt.Errorf("the past of %s is on the list already: \"hark backfill\" tells how far it is, --stop takes it off", called)
	}
	if err := k.Apply(c.Context(), memory.GapFound{Gap: gap}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "The past of %s, up to %s, is on the list. A running Hark begins within a minute; \"hark backfill\" tells how far it is.\n",
		called, gap.Until.Time().Format(time.DateOnly))
	return err
}

// past is what was said in a channel before Hark began to listen there: before the oldest message that it has, or, where
// older ones were imported, before it came to the guild.
func (k *kept) past(ctx context.Context, g *memory.Guild, channel memory.ChannelID) (memory.Gap, error) {
	gap := memory.Gap{Guild: g.ID, Channel: channel, Past: true, Until: memory.FirstMessageID(time.Now())}
	oldest, err := k.Log(ctx, channel, 0, gap.Until, 1)
	if err == nil && len(oldest) > 0 {
		gap.Until = max(oldest[0].ID-1, g.Since)
	}
	return gap, err
}

func (k *kept) stopBackfill(c *cobra.Command, name string) error {
	channel, err := k.channelCalled(memory.Everywhere, name)
	if err != nil {
		return err
	}
	gaps, err := k.Gaps(c.Context())
	if err != nil {
		return err
	}
	for _, gap := range gaps {
		if gap.Past && gap.Channel == channel.ID {
			if err := k.Apply(c.Context(), memory.GapFilled{Gap: gap, Through: gap.Until}); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "No more of the past of #%s is fetched; %s stay.\n", oneLine(channel.Name), plural(gap.Fetched, "message"))
			return err
		}
	}
	return fmt.Errorf("no past of #%s is being fetched", oneLine(channel.Name))
}

// tellGaps tells what is to be fetched.
func (k *kept) tellGaps(c *cobra.Command) error {
	gaps, err := k.Gaps(c.Context())
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
			from = gap.After.Time().Format("2006-01-02 15:04")
		}
		if _, err := fmt.Fprintf(c.OutOrStdout(), "#%s of %s: %s fetched; left is from %s to %s (%s)\n",
			oneLine(k.channelName(gap.Guild, gap.Channel)), oneLine(guildName(k.guildOf(gap.Guild))), plural(gap.Fetched, "message"),
			from, gap.Until.Time().Format("2006-01-02 15:04"), why); err != nil {
			return err
		}
	}
	if len(gaps) == 0 {
		_, err = fmt.Fprintln(c.OutOrStdout(), "Nothing is to be fetched.")
	}
	return err
}
