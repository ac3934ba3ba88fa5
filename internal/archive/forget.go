package archive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"hark/internal/config"
	"hark/memory"
)

// OptOut opts target.User out in target.Guild or in all guilds, also where they never wrote.
func (k *Archive) OptOut(ctx context.Context, target memory.Forgetting) error {
	guilds := []memory.GuildID{target.Guild}
	if target.Guild == memory.Everywhere {
		guilds = []memory.GuildID{memory.DirectGuild}
		for _, g := range k.Servers {
			guilds = append(guilds, g.ID)
		}
	}
	var events []memory.Event
	for _, g := range guilds {
		events = append(events, memory.Opted{
			Guild: g,
			User:  target.User,
			Out:   true,
			At:    target.At,
		})
	}
	return k.Apply(ctx, events...)
}

// FinishForgetting completes unfinished forgettings. With an error it returns those that it completed.
func (k *Archive) FinishForgetting(ctx context.Context, progress func(done, total int)) (done []memory.DeletionReport,
	err error) {
	unfinished, err := k.Forgettings(ctx, memory.Everywhere, 0)
	for _, u := range unfinished {
		r, err := k.Forget(ctx, u.Forgetting, progress)
		if err != nil {
			return done, err
		}
		done = append(done, r)
	}
	return done, err
}

// ForgetAll forgets target, and with WhyOptOut opts target.User out first. The report includes those before that were
// of the same target.
func (k *Archive) ForgetAll(ctx context.Context, target memory.Forgetting, before []memory.DeletionReport,
	progress func(done, total int)) (report memory.DeletionReport, err error) {
	if target.Why == memory.WhyOptOut {
		if err := k.OptOut(ctx, target); err != nil {
			return report, err
		}
		begun, err := k.FinishForgetting(ctx, progress)
		if err != nil {
			return report, err
		}
		for _, r := range begun { // one for each server that target includes
			r.Forgetting.Guild = target.Guild
			before = append(before, r)
		}
	}
	later := 0
	if target.Before.IsZero() {
		later, err = k.deleteLater(ctx, target)
		if err != nil {
			return report, err
		}
	}
	report, err = k.Forget(ctx, target, progress)
	report.Messages += later
	for _, r := range before {
		u := r.Forgetting
		if u.Guild == target.Guild && u.Channel == target.Channel && u.User == target.User && u.Why == target.Why {
			AddReport(&report, r)
		}
	}
	return report, err
}

// AddReport adds the counts of r.
func AddReport(to *memory.DeletionReport, r memory.DeletionReport) {
	to.Messages += r.Messages
	to.Segments += r.Segments
	to.Vectors += r.Vectors
	to.Answers += r.Answers
	to.Facts += r.Facts
	to.Lore += r.Lore
	to.Summaries += r.Summaries
	to.Records += r.Records
	to.People += r.People
}

// deleteLater deletes what target would select if it weren't dated after target.At, by a wrong clock or a file. It
// returns the number of messages.
func (k *Archive) deleteLater(ctx context.Context, target memory.Forgetting) (n int, err error) {
	var events []memory.Event
	for _, g := range k.Servers {
		for _, c := range g.Channels {
			in := target.Channel == 0 || c.ID == target.Channel || c.Kind.IsThread() && c.Parent == target.Channel
			if !in || target.Guild != memory.Everywhere && g.ID != target.Guild {
				continue
			}
			messages, err := k.Log(ctx, c.ID, memory.FirstMessageID(target.At)-1, math.MaxInt64, math.MaxInt32)
			if err != nil {
				return 0, err
			}
			deleted := memory.Deleted{Guild: g.ID, Channel: c.ID}
			for _, m := range messages {
				if target.User == 0 || m.Author == target.User {
					deleted.IDs = append(deleted.IDs, m.ID)
				}
			}
			n += len(deleted.IDs)
			events = append(events, deleted)
		}
	}
	return n, k.Apply(ctx, events...)
}

// MessageIDs returns the ids of a channel's messages. names are ids, here or in the file that they were imported from.
func (k *Archive) MessageIDs(ctx context.Context, channel memory.ChannelID,
	names []string) ([]memory.MessageID, error) {
	var ids []memory.MessageID
	for _, name := range names {
		id, err := memory.MessageByExternalID(ctx, k, channel, name)
		if errors.Is(err, memory.ErrNotFound) {
			var n int64
			n, err = strconv.ParseInt(name, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("no message is called %q: write ids, with commas between them", name)
			}
			id = memory.MessageID(n)
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// OutOfReach lists where forgotten data may still be.
func (k *Archive) OutOfReach() []string {
	places := []string{"backups and exports made before"}
	if k.Config.LLM.Model != "" {
		places = append(places, "what the model's host keeps ("+config.Host(k.Config.LLM.BaseURL)+")")
	}
	if k.Config.Embedding.Model != "" {
		places = append(places, "what the embedding server keeps ("+config.Host(k.Config.Embedding.BaseURL)+")")
	}
	return append(places, "what others wrote that quotes or names it", "Discord's own copy")
}
