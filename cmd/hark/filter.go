package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/answer"
	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/dates"
	"hark/internal/setup"
	"hark/memory"
	"hark/search"
)

type filter struct {
	since, until string
	from, in     []string
	topic, kind  string // of summaries
}

func (f *filter) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.since, "since", "",
		"only what was said since this `day`, such as 2024-05-31, or since this long ago, such as 90d")
	c.Flags().StringVar(&f.until, "until", "",
		"only what was said until the end of this `day`, or longer ago than this")
	c.Flags().StringArrayVar(&f.from, "from", nil, "only what the person of this `name` or id said; may be repeated")
	c.Flags().StringArrayVar(&f.in, "in", nil,
		"only what was said in the channel of this `name` or id and in its threads; may be repeated")
	c.Flags().StringVar(&f.topic, "topic", "", "only summaries about this `topic`")
	c.Flags().StringVar(&f.kind, "kind", "", "only summaries of sessions of this `kind`: "+
		cli.List(memory.SummaryKinds()))
}

// read returns an answer.Filter for people and channels of guild or Everywhere.
func (f *filter) read(ctx context.Context, a *setup.App, guild memory.GuildID, now time.Time) (answer.Filter, error) {
	var out answer.Filter
	zone := a.Config.Answer.Location()
	var err error
	out.Summaries = search.SummaryFilter{Topic: strings.TrimSpace(f.topic),
		Kind: memory.SummaryKind(strings.ToLower(f.kind))}
	if f.kind != "" && !slices.Contains(memory.SummaryKinds(), out.Summaries.Kind) {
		return out, fmt.Errorf("--kind %q is unknown: choose from %s", f.kind, cli.List(memory.SummaryKinds()))
	}
	if f.since != "" {
		out.Since, _, err = dates.Parse(f.since, now, zone)
		if err != nil {
			return out, fmt.Errorf("--since %w", err)
		}
	}
	if f.until != "" {
		_, out.Until, err = dates.Parse(f.until, now, zone)
		if err != nil {
			return out, fmt.Errorf("--until %w", err)
		}
	}
	if !out.Since.IsZero() && !out.Until.IsZero() && !out.Since.Before(out.Until) {
		return out, errors.New("--since is after --until: nothing was said between them")
	}
	if len(f.from)+len(f.in) == 0 {
		return out, nil
	}
	k, err := archive.New(ctx, a.Store, a.Config)
	if err != nil {
		return out, err
	}
	for _, name := range f.from {
		id, _, err := k.FindPerson(ctx, guild, name)
		if err != nil {
			return out, fmt.Errorf("--from: %w", err)
		}
		out.From = append(out.From, id)
	}
	for _, name := range f.in {
		c, err := k.FindChannel(guild, name)
		if err != nil {
			return out, fmt.Errorf("--in: %w", err)
		}
		out.In = append(out.In, c.ID)
	}
	return out, nil
}
