package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/answer"
	"hark/internal/portrait"
	"hark/memory"
	"hark/search"
)

// What memory.summaries can be.
const (
	summariesOff     = "off"
	summariesExtract = "extract"
)

// chatPatience is how long a talk in the terminal waits for the model to sum up the one before.
const chatPatience = 15 * time.Second

// newSummariser sums up sessions as configured; nil if it isn't to be done.
func newSummariser(a *app, failed func(memory.ChannelID, error)) *answer.Summariser {
	c := a.config
	if c.Memory.Summaries == summariesOff {
		return nil
	}
	s := &answer.Summariser{Log: a.store, Policy: policy(c), SessionGap: c.Memory.SessionGap.Duration, Now: time.Now, Failed: failed}
	if c.Memory.Summaries != summariesExtract {
		s.Model = a.model()
	}
	return s
}

// summaryFilter is which summaries are meant, as it is written behind a command.
type summaryFilter struct{ topic, kind string }

func (f *summaryFilter) addFlags(c *cobra.Command) {
	var kinds []string
	for _, k := range memory.SummaryKinds() {
		kinds = append(kinds, string(k))
	}
	c.Flags().StringVar(&f.topic, "topic", "", "of the summaries of earlier sessions only those about this `topic`")
	c.Flags().StringVar(&f.kind, "kind", "", "of the summaries only those of sessions of this `kind`: "+strings.Join(kinds, ", "))
}

func (f *summaryFilter) read() (search.SummaryFilter, error) {
	out := search.SummaryFilter{Topic: strings.TrimSpace(f.topic), Kind: memory.SummaryKind(strings.ToLower(f.kind))}
	if out.Kind != "" && !slices.Contains(memory.SummaryKinds(), out.Kind) {
		return out, fmt.Errorf("--kind %q is no kind of a session: %s", f.kind, "decision, plan, fact, question or talk")
	}
	return out, nil
}

// summaryList is what "hark summaries" was told.
type summaryList struct {
	*flags
	guild, channel string
	json           bool
	filter         summaryFilter
}

func (f *flags) summariesCommand() *cobra.Command {
	o := summaryList{flags: f}
	c := &cobra.Command{
		Use:   "summaries",
		Short: "List the summaries of earlier sessions",
		Long: "When a channel has been silent for memory.session_gap, Hark sums up what was said, and uses that in answers to questions\n" +
			"asked in the same channel. A summary is forgotten with any of the messages that it is from, and what is left of them is\n" +
			"summed up again. Direct messages are listed with \"--guild direct\" only.",
		Example: "  hark summaries --channel general --kind decision\n" +
			"  hark summaries remove 1234567890123456789",
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withLore(c, o.guild, func(k *kept, in memory.GuildID) error { return o.list(c, k, in) })
		},
	}
	o.addPlace(c)
	o.filter.addFlags(c)
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.AddCommand(f.summaryRemoveCommand())
	return c
}

func (o *summaryList) addPlace(c *cobra.Command) {
	c.Flags().StringVar(&o.guild, "guild", "", "in the server of this `name` or id")
	c.Flags().StringVar(&o.channel, "channel", "", "in the channel of this `name` or id")
}

func (o *summaryList) list(c *cobra.Command, k *kept, in memory.GuildID) error {
	filter, err := o.filter.read()
	if err != nil {
		return err
	}
	all, err := k.summariesIn(c.Context(), in, o.channel)
	if err != nil {
		return err
	}
	all = filter.SummariesOf(all)
	if o.json {
		out := make([]portrait.Summary, len(all))
		for i, s := range all {
			out[i] = portrait.SummaryOf(s)
		}
		return printJSON(c.OutOrStdout(), out)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "There are no such summaries.")
	}
	for _, s := range all {
		if err := k.printSummary(c.OutOrStdout(), s); err != nil {
			return err
		}
	}
	return nil
}

// summariesIn are those of a channel, or of all channels of a guild, or Everywhere but in direct messages, by channel and time.
func (k *kept) summariesIn(ctx context.Context, in memory.GuildID, channel string) ([]memory.Summary, error) {
	if in == memory.Everywhere { // direct messages only where they are named
		other := *k
		other.guilds = slices.DeleteFunc(slices.Clone(k.guilds), func(g *memory.Guild) bool { return g.ID == memory.DirectGuild })
		k = &other
	}
	if channel != "" {
		at, err := k.channelCalled(in, channel)
		if err != nil {
			return nil, err
		}
		return k.Summaries(ctx, at.ID)
	}
	var all []memory.Summary
	for _, g := range k.guilds {
		if in != g.ID && in != memory.Everywhere {
			continue
		}
		for _, at := range g.Channels {
			some, err := k.Summaries(ctx, at.ID)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

// printSummary prints when and where a session was, what it was about, and what was said.
func (k *kept) printSummary(w io.Writer, s memory.Summary) error {
	zone := k.config.Answer.Location()
	about := string(s.Kind)
	if len(s.Topics) > 0 {
		about += " about " + oneLine(strings.Join(s.Topics, ", "))
	}
	_, err := fmt.Fprintf(w, "%s to %s in #%s of %s: %s\n%s\n    (%s)\n", s.From().In(zone).Format("2006-01-02 15:04"), s.To().In(zone).Format("15:04"),
		oneLine(k.channelName(s.Guild, s.Channel)), oneLine(guildName(k.guildOf(s.Guild))), about, indented(s.Text), s.ID)
	return err
}

// printSummaryHits prints summaries that were found, as hits are printed.
func printSummaryHits(w io.Writer, hits []search.SummaryHit, zone *time.Location) error {
	for _, h := range hits {
		s := h.Summary
		if _, err := fmt.Fprintf(w, "📜 %.2f  summary, %s, %s\n%s\n        (%s)\n", h.Relevance, s.Kind, s.To().In(zone).Format("2006-01-02 15:04"),
			strings.ReplaceAll(indented(s.Text), "    ", "        "), oneLine(strings.Join(h.Why, "; "))); err != nil {
			return err
		}
	}
	return nil
}

func (f *flags) summaryRemoveCommand() *cobra.Command {
	o := summaryList{flags: f}
	yes := false
	c := &cobra.Command{
		Use:   "remove ID",
		Short: "Forget a summary for good, with Hark's answers that used it; what was said stays",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
				return fmt.Errorf("which summary? Write its id behind %q", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return f.withLore(c, o.guild, func(k *kept, in memory.GuildID) error { return o.remove(c, k, in, args[0], yes) })
		},
	}
	o.addPlace(c)
	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return c
}

func (o *summaryList) remove(c *cobra.Command, k *kept, in memory.GuildID, id string, yes bool) error {
	all, err := k.summariesIn(c.Context(), in, o.channel)
	if err != nil {
		return err
	}
	var found []memory.Summary
	var lines []string
	for _, s := range all {
		if s.ID.String() == id {
			found, lines = append(found, s), append(lines, fmt.Sprintf("%d in #%s of %s", s.ID, oneLine(k.channelName(s.Guild, s.Channel)), oneLine(guildName(k.guildOf(s.Guild)))))
		}
	}
	s, err := only("summary", id, found, lines, nil, "\"hark summaries\" shows what there is")
	if err != nil {
		return err
	}
	if !yes {
		fmt.Fprintln(c.ErrOrStderr(), "This forgets:")
		if err := k.printSummary(c.ErrOrStderr(), s); err != nil {
			return err
		}
	}
	if err := o.confirm(c.Context(), yes, "Forget it for good?"); err != nil {
		return err
	}
	if err := k.Apply(c.Context(), memory.SummaryGone{Guild: s.Guild, Channel: s.Channel, ID: s.ID}); err != nil {
		return err
	}
	if err := k.EmptyLog(c.Context()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "Forgotten: the summary %d.\nOut of Hark's reach: %s.\n", s.ID, strings.Join(outOfReach(k), "; "))
	return err
}
