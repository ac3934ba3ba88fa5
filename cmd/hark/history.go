package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/answer"
	"hark/internal/dates"
	"hark/memory"
)

// historyCall is what "hark history" was asked.
type historyCall struct {
	since, until   string
	channel, guild string
	json, records  bool
}

func (f *flags) historyCommand() *cobra.Command {
	var o historyCall
	c := &cobra.Command{
		Use:   "history",
		Short: "Show how the model uses the records of calls, or the records themselves",
		Long: "Shows whether and how the model reached for the records of calls (its tool conversation_history) and what it did again\n" +
			"and again, and says what of that would justify a tool of its own. It is worked out from the records of the span asked\n" +
			"for, which hold ids, shapes and counts, and no text. With --records, the records themselves.",
		Example: "  hark history --since 7d\n  hark history --records --channel general --since 2024-05-01 --json",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			k, err := f.openKept(c.Context())
			if err != nil {
				return err
			}
			defer k.Close()
			return k.showHistory(c, o, time.Now())
		},
	}
	c.Flags().StringVar(&o.since, "since", "", "from this `day` on, such as 2024-05-31, or from not longer ago than this, such as 90d")
	c.Flags().StringVar(&o.until, "until", "", "to the end of this `day`, or to longer ago than this")
	c.Flags().StringVar(&o.channel, "channel", "", "only in the channel of this `name` or id")
	c.Flags().StringVar(&o.guild, "guild", "", "only in the server of this `name` or id")
	c.Flags().BoolVar(&o.records, "records", false, "list the records, the oldest first")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// span is the time asked for.
func (o historyCall) span(now time.Time, zone *time.Location) (since, until time.Time, err error) {
	if o.since != "" {
		if since, err = dayOf(o.since, now, zone); err != nil {
			return since, until, fmt.Errorf("--since %w", err)
		}
	}
	if o.until != "" {
		if _, until, err = dates.Parse(o.until, now, zone); err != nil {
			return since, until, fmt.Errorf("--until %w", err)
		}
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return since, until, errors.New("the span ends before it begins: nothing was called in it")
	}
	return since, until, nil
}

// recordsOf are the records that were asked for, oldest first.
func (k *kept) recordsOf(ctx context.Context, o historyCall, since, until time.Time) ([]memory.Record, error) {
	q := memory.RecordQuery{Since: since, Until: until, Oldest: true}
	guild, err := k.guildCalled(o.guild)
	if err != nil {
		return nil, err
	}
	if o.channel != "" {
		channel, err := k.channelCalled(guild, o.channel)
		if err != nil {
			return nil, err
		}
		q.Channels = []memory.ChannelID{channel.ID}
	} else {
		q.Channels = k.channelsIn(guild)
	}
	return k.Records(ctx, q)
}

// channelsIn are all channels of a guild, or of all.
func (k *kept) channelsIn(guild memory.GuildID) (ids []memory.ChannelID) {
	for _, g := range k.guilds {
		if guild == memory.Everywhere || guild == g.ID {
			for _, c := range g.Channels {
				ids = append(ids, c.ID)
			}
		}
	}
	return ids
}

func (k *kept) showHistory(c *cobra.Command, o historyCall, now time.Time) error {
	since, until, err := o.span(now, k.config.Answer.Location())
	if err != nil {
		return err
	}
	records, err := k.recordsOf(c.Context(), o, since, until)
	if err != nil {
		return err
	}
	if o.records {
		return k.listRecords(c, o, records)
	}
	e := answer.EvidenceOf(records)
	if o.json {
		return printJSON(c.OutOrStdout(), jsonEvidenceOf(e, since, until))
	}
	if e.Questions == 0 {
		_, err := fmt.Fprintln(c.ErrOrStderr(), "No calls are on record in that span.")
		return err
	}
	return printEvidence(c.OutOrStdout(), e)
}

// jsonEvidence is what the records tell as --json prints it.
type jsonEvidence struct {
	Since *time.Time `json:"since,omitempty"`
	Until *time.Time `json:"until,omitempty"`
	answer.Evidence
	// Threshold is from which share of all questions on, and from how many, a pattern justifies a tool.
	Threshold struct {
		Share     float64 `json:"share"`
		Questions int     `json:"questions"`
	} `json:"threshold"`
}

func jsonEvidenceOf(e answer.Evidence, since, until time.Time) jsonEvidence {
	out := jsonEvidence{Evidence: e}
	if !since.IsZero() {
		out.Since = &since
	}
	if !until.IsZero() {
		out.Until = &until
	}
	out.Threshold.Share, out.Threshold.Questions = answer.ToolShare, answer.ToolQuestions
	return out
}

// printEvidence prints what the records tell, and what of it would justify a tool.
func printEvidence(w io.Writer, e answer.Evidence) error {
	lines := []string{
		fmt.Sprintf("%-44s %6d", "Questions on record", e.Questions),
		fmt.Sprintf("%-44s %6d", "  for which the model called tools", e.WithTools),
		fmt.Sprintf("%-44s %6d", "  for which it reached for the history", e.Reached),
		fmt.Sprintf("%-44s %6d", "Queries of the history", e.Accesses),
	}
	for _, s := range e.Shapes {
		lines = append(lines, fmt.Sprintf("  %-42s %6d", oneLine(s.What), s.Calls))
	}
	if len(e.Tools) > 0 {
		lines = append(lines, "Calls of tools")
	}
	for _, t := range e.Tools {
		lines = append(lines, fmt.Sprintf("  %-42s %6d", oneLine(t.What), t.Calls))
	}
	lines = append(lines, fmt.Sprintf("%-44s %6s %9s %7s %9s", "What it did again and again", "calls", "questions", "share", "at least"))
	none := true
	for _, p := range []struct {
		what string
		answer.Pattern
	}{
		{"the same query of the history", e.Repeated}, {"a tool's call at once again (a loop)", e.Loops},
		{"a tool asked the same as before", e.AskedAgain}, {"a task broken into parts", e.Decomposed},
	} {
		line := fmt.Sprintf("  %-42s %6d %9d %5.1f %% %7.1f %%", p.what, p.Calls, p.Questions, 100*p.Share, 100*p.AtLeast)
		if p.Justifies {
			line, none = line+"  justifies a tool", false
		}
		lines = append(lines, line)
	}
	if none {
		lines = append(lines, fmt.Sprintf("Nothing of this justifies a tool of its own: that takes %d questions, and a share of at least %.0f %% at 95 %%.", answer.ToolQuestions, 100*answer.ToolShare))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// listRecords prints records, a line each.
func (k *kept) listRecords(c *cobra.Command, o historyCall, records []memory.Record) error {
	if o.json {
		if records == nil {
			records = []memory.Record{}
		}
		return printJSON(c.OutOrStdout(), records)
	}
	if len(records) == 0 {
		_, err := fmt.Fprintln(c.ErrOrStderr(), "No calls are on record in that span.")
		return err
	}
	for _, r := range records {
		called, err := json.Marshal(r.Kwargs)
		if len(r.Args) > 0 && err == nil {
			called, err = json.Marshal([]any{r.Args, r.Kwargs})
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.OutOrStdout(), "%s  #%s  question %d  %-5s  %s %s: %s\n", r.Timestamp.In(k.config.Answer.Location()).Format(time.DateTime),
			oneLine(k.channelName(r.Guild, r.Channel)), r.Question, r.Speaker, oneLine(r.Method), oneLine(string(called)), oneLine(r.Outcome)); err != nil {
			return err
		}
	}
	return nil
}
