package command

import (
	"context"
	"fmt"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/memory"
)

// stopsBackfill is the button that stops a backfill, with the channel.
const stopsBackfill = "nobackfill"

// backfill fetches the past of a channel and its threads, and shows the progress, also of an earlier backfill.
func (c *Commands) backfill(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	limit, cancel := context.WithTimeout(ctx, c.timeLeft(x))
	defer cancel()
	listed, err := memory.PastOf(limit, c.Memory, x.server, at.ID)
	if err != nil {
		return response{}, err
	}
	w := c.Filler.Watch(x.visibleGuild(), at.ID)
	defer c.Filler.Unwatch(w)
	since, _, err := c.timeOption(x, "since")
	if err == nil && len(listed) == 0 {
		err = c.beginBackfill(limit, x, at, since)
	}
	if err != nil {
		return response{}, err
	}
	later := ""
	if from := startOf(listed); !since.IsZero() && memory.FirstMessageID(since) <= from {
		later = x.Text("I'm still fetching from <t:%d:D> on; ask again when that is done.", from.Time().Unix())
	}
	return c.follow(limit, ctx, x, at, w, later)
}

// beginBackfill queues a channel's past to be fetched, or refuses.
func (c *Commands) beginBackfill(ctx context.Context, x *interaction, at memory.Channel, since time.Time) error {
	g := x.server
	policy := x.policy
	if !policy.Remembers(g, at.ID) {
		return refusal(x.Text("I don't remember what is said in %s, so I don't fetch it either: `/hark channel log` changes that.", channelMention(x.Locale, at.ID)))
	}
	missing, err := c.missingFor(ctx, x, at, discord.ToRead)
	if err != nil {
		return err
	}
	if missing != 0 {
		return refusal(c.Grants.Lacking(x.Locale, x.guild(), at.ID, missing))
	}
	now := c.at(x)
	after := memory.MessageID(0)
	if !since.IsZero() {
		after = memory.FirstMessageID(since) - 1
	}
	if keep, _, _ := g.Retention(at.ID, c.Retention); keep > 0 { // older ones would be deleted at once
		after = max(after, memory.FirstMessageID(memory.KeptSince(now, keep))-1)
	}
	gaps, begun, err := memory.PastGaps(ctx, c.Memory, g, at.ID, after, now, func(of memory.Channel) bool {
		return !of.Unplaced && policy.Remembers(g, of.ID)
	})
	switch {
	case err != nil:
		return err
	case begun.IsZero():
		return refusal(x.Text("%s contains only threads, and I know none that I may remember.",
			channelMention(x.Locale, at.ID)))
	case len(gaps) == 0:
		return refusal(x.Text("There is nothing to fetch: I've listened in %s since <t:%d:f>. You asked for nothing older, or I may not remember it.", channelMention(x.Locale, at.ID), begun.Unix()))
	}
	if err := c.apply(ctx, x, fmt.Sprintf("keep that the past of channel %d is to be fetched", at.ID),
		memory.BeginPast(gaps, now)...); err != nil {
		return err
	}
	c.Filler.Nudge()
	return nil
}

// follow shows the progress of a backfill as long as Discord lets it. The backfill doesn't depend on it.
func (c *Commands) follow(limit, ctx context.Context, x *interaction, at memory.Channel, w *ingest.Progress,
	note string) (response, error) {
	look := time.NewTicker(c.Timing.Backfill)
	defer look.Stop()
	for shown := ""; ; {
		err := c.loadGuild(limit, x)
		var left []memory.Gap
		if err == nil {
			left, err = memory.PastOf(limit, c.Memory, x.visibleGuild(), at.ID)
		}
		switch {
		case c.timeLeft(x) <= 0, limit.Err() != nil && ctx.Err() == nil:
			return response{}, errShown // it goes on; the response says how to see it
		case err != nil:
			return response{}, err
		}
		fetched, stopped := c.Filler.Seen(w, left)
		switch {
		case stopped:
			return response{}, errShown // the button has said so
		case len(left) == 0:
			return c.fetched(limit, x, at, fetched)
		}
		if now := markdown.Lines(progressText(x.Locale, at, fetched, left), note); now != shown {
			shown = now
			if x.show(limit, response{Content: now}.asking(discord.StyleGrey, x.Text("Cancel"),
				stopsBackfill, at.ID)) != nil {
				shown = "" // try again
			}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return response{}, ctx.Err()
		case <-limit.Done():
		}
	}
}

// startOf returns where the earliest gap goes on; 0 if there are none.
func startOf(gaps []memory.Gap) (after memory.MessageID) {
	for i, gap := range gaps {
		if i == 0 || gap.After < after {
			after = gap.After
		}
	}
	return after
}

func progressText(l locale.Locale, at memory.Channel, fetched int, left []memory.Gap) string {
	reached := startOf(left)
	threads := ""
	if !at.Kind.IsThread() && at.Kind != memory.VoiceChannel {
		threads = l.Text("-# Threads in the archive that I have never seen aren't among it.")
	}
	how := l.Count(fetched, "%s message so far.", "%s messages so far.")
	if reached > 0 {
		how = l.Count(fetched, "%[1]s message so far, up to <t:%[2]d:D>.",
			"%[1]s messages so far, up to <t:%[2]d:D>.", reached.Time().Unix())
	}
	return markdown.Lines(l.Text("**Fetching what was said in %s**", channelMention(l, at.ID)), how, threads,
		l.Text("-# It goes on by itself, also after a restart, and longer than Discord lets me tell you about here. Use `/hark backfill` again to see where it is."))
}

// fetched says that all is fetched.
func (c *Commands) fetched(ctx context.Context, x *interaction, at memory.Channel, fetched int) (response, error) {
	// Not missingFor: the interaction has the permissions of when the command was used.
	missing, err := c.Grants.Missing(ctx, x.guild(), at.ID, discord.ToRead)
	if err != nil {
		return response{}, err
	}
	return paragraphs(x.Count(fetched, "**Done**: I looked through %s message of the past of %s.",
		"**Done**: I looked through %s messages of the past of %s.", channelMention(x.Locale, at.ID)),
		x.Text("-# What was deleted or forgotten before isn't included, nor what members who opted out wrote."),
		c.Grants.Lacking(x.Locale, x.guild(), at.ID, missing)), nil
}

// stopBackfill stops fetching a channel's past.
func (c *Commands) stopBackfill(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	left, err := memory.PastOf(ctx, c.Memory, x.server, at.ID)
	if err != nil {
		return response{}, err
	}
	fetched := c.Filler.Halt(at.ID, left, x.visibleGuild())
	if len(left) == 0 {
		return response{Content: x.Text("Nothing is being fetched there any more.")}, nil
	}
	return paragraphs(x.Count(fetched, "**Cancelled**: %s message of the past of %s is fetched, and stays.",
			"**Cancelled**: %s messages of the past of %s are fetched, and stay.", channelMention(x.Locale, at.ID)),
			x.Text("-# `/hark backfill` fetches the rest.")),
		c.apply(ctx, x, fmt.Sprintf("keep that the past of channel %d is to be fetched no longer", at.ID),
			memory.StopPast(left, c.at(x))...)
}
