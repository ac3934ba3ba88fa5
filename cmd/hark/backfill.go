package main

import (
	"cmp"
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
			"Discord, after all that it missed: the channel's own, and that of those of its threads that Hark knows. It goes on\n" +
			"whenever Hark is restarted. Without a channel it tells what is still to be fetched.",
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
	if err := k.canFetch(channel); err != nil {
		return err
	}
	after := memory.MessageID(0)
	if since != "" {
		from, err := dayOf(since, time.Now(), k.config.Answer.Location())
		if err != nil {
			return fmt.Errorf("--since %w", err)
		}
		after = memory.FirstMessageID(from) - 1
	}
	listed, err := k.pastOf(c.Context(), channel)
	if err != nil {
		return err
	}
	gaps, begun, err := k.unheard(c.Context(), channel, after, listed)
	switch {
	case err != nil:
		return err
	case len(gaps) == 0 && len(listed) > 0:
		return fmt.Errorf("the past of %s is on the list already: \"hark backfill\" tells how far it is, --stop takes it off", k.called(channel))
	case begun.IsZero():
		return fmt.Errorf("%s holds threads only, and Hark knows none of them that it remembers", k.called(channel))
	case len(gaps) == 0:
		return fmt.Errorf("Hark has listened in %s since %s: there is nothing before to fetch", k.called(channel), begun.Format(time.DateOnly))
	}
	threads := 0
	var events []memory.Event
	for _, gap := range gaps {
		events = append(events, memory.GapFound{Gap: gap})
		if gap.Channel != channel.ID {
			threads++
		}
	}
	if err := k.Apply(c.Context(), events...); err != nil {
		return err
	}
	with := ""
	if threads > 0 {
		with = ", with that of " + plural(threads, "thread")
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "The past of %s, up to %s%s, is on the list. A running Hark begins within a minute; \"hark backfill\" tells how far it is.\n",
		k.called(channel), begun.Format(time.DateOnly), with)
	return err
}

// unheard are the pasts of a channel and its threads that aren't on the list, from after on, and until when they last.
func (k *kept) unheard(ctx context.Context, channel memory.Channel, after memory.MessageID, listed []memory.Gap) (gaps []memory.Gap, begun time.Time, err error) {
	for _, c := range k.withThreads(channel) {
		there := slices.ContainsFunc(listed, func(g memory.Gap) bool { return g.Channel == c.ID })
		if there || c.Kind == memory.ForumChannel || k.canFetch(c) != nil { // a forum holds nothing but threads
			continue
		}
		gap, err := k.past(ctx, c.Guild, c.ID)
		if err != nil {
			return nil, begun, err
		}
		if until := gap.Until.Time(); begun.Before(until) {
			begun = until
		}
		if gap.After = after; gap.After < gap.Until {
			gaps = append(gaps, gap)
		}
	}
	return gaps, begun, nil
}

// called is what people call a channel.
func (k *kept) called(c memory.Channel) string {
	return fmt.Sprintf("#%s of %s", oneLine(cmp.Or(c.Name, c.ID.String())), oneLine(guildName(k.guildOf(c.Guild))))
}

// canFetch says why a channel's past can't be fetched, if so.
func (k *kept) canFetch(c memory.Channel) error {
	g := k.guildOf(c.Guild)
	switch {
	case c.Guild == memory.LocalGuild:
		return fmt.Errorf("%s isn't a channel of Discord's: use \"hark import\"", k.called(c))
	case c.Guild == memory.DirectGuild:
		return fmt.Errorf("%s are direct messages, which have no past that Hark may fetch", k.called(c))
	case !g.Left.IsZero():
		return fmt.Errorf("Hark was removed from %s: invite it again first", oneLine(guildName(g)))
	case c.Unplaced:
		return fmt.Errorf("Discord hasn't told of %s, or it is gone: invite Hark to the server and start it, or use \"hark import\"", k.called(c))
	case !policy(k.config).Remembers(g, c.ID):
		return fmt.Errorf("%s isn't remembered: choose it first with /hark memory in Discord", k.called(c))
	}
	return nil
}

// withThreads are a channel and its threads.
func (k *kept) withThreads(channel memory.Channel) []memory.Channel {
	all := []memory.Channel{channel}
	for _, c := range k.guildOf(channel.Guild).Channels {
		if c.Guild = channel.Guild; c.Kind.IsThread() && c.Parent == channel.ID {
			all = append(all, c)
		}
	}
	return all
}

// past is what was said in a channel before Hark began to listen there: before the oldest message that it has, or, where
// older ones were imported, before it came to the guild.
func (k *kept) past(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) (memory.Gap, error) {
	gap := memory.Gap{Guild: guild, Channel: channel, Past: true, Until: memory.FirstMessageID(time.Now())}
	oldest, err := k.Log(ctx, channel, 0, gap.Until, 1)
	if err == nil && len(oldest) > 0 {
		gap.Until = max(oldest[0].ID-1, k.guildOf(guild).Since)
	}
	return gap, err
}

// pastOf are the gaps on the list that were asked for, of a channel and its threads.
func (k *kept) pastOf(ctx context.Context, channel memory.Channel) ([]memory.Gap, error) {
	gaps, err := k.Gaps(ctx)
	if err != nil {
		return nil, err
	}
	all := k.withThreads(channel)
	return slices.DeleteFunc(gaps, func(g memory.Gap) bool {
		return !g.Past || !slices.ContainsFunc(all, func(c memory.Channel) bool { return c.ID == g.Channel })
	}), nil
}

func (k *kept) stopBackfill(c *cobra.Command, name string) error {
	channel, err := k.channelCalled(memory.Everywhere, name)
	if err != nil {
		return err
	}
	gaps, err := k.pastOf(c.Context(), channel)
	if err != nil {
		return err
	}
	if len(gaps) == 0 {
		return fmt.Errorf("no past of %s is being fetched", k.called(channel))
	}
	fetched := 0
	var events []memory.Event
	for _, gap := range gaps {
		fetched += gap.Fetched
		events = append(events, memory.GapFilled{Gap: gap, Through: gap.Until})
	}
	if err := k.Apply(c.Context(), events...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "No more of the past of %s is fetched; what was fetched stays: %s.\n", k.called(channel), plural(fetched, "message"))
	return err
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
