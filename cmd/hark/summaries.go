package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/answer"
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
	c.Flags().StringVar(&f.topic, "topic", "", "of the summaries of earlier sessions only those about this `topic`")
	c.Flags().StringVar(&f.kind, "kind", "", "of the summaries only those of sessions of this `kind`: "+listed(memory.SummaryKinds()))
}

func (f *summaryFilter) read() (search.SummaryFilter, error) {
	out := search.SummaryFilter{Topic: strings.TrimSpace(f.topic), Kind: memory.SummaryKind(strings.ToLower(f.kind))}
	if out.Kind != "" && !slices.Contains(memory.SummaryKinds(), out.Kind) {
		return out, fmt.Errorf("--kind %q is no kind of a session: %s", f.kind, "decision, plan, fact, question or talk")
	}
	return out, nil
}

// printSummaryHits prints summaries that were found, as hits are printed.
func printSummaryHits(w io.Writer, hits []search.SummaryHit, zone *time.Location) {
	for _, h := range hits {
		s := h.Summary
		fmt.Fprintf(w, "📜 %.2f  summary, %s, %s\n%s\n        (%s)\n", h.Relevance, s.Kind, s.To().In(zone).Format("2006-01-02 15:04"),
			strings.ReplaceAll(indented(s.Text), "    ", "        "), oneLine(strings.Join(h.Why, "; ")))
	}
}
