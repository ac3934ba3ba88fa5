package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/digest"
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

// newDigest makes digests as configured. It needs Failed.
func (a *app) newDigest() *digest.Worker {
	c := a.config
	return digest.New(digest.Options{
		Log: a.store, Model: a.model(), Extract: c.Memory.Summaries == summariesExtract, Policy: policy(c),
		SessionGap: c.Memory.SessionGap.Duration, Metrics: a.metrics,
	})
}

// digests are the kinds of digests that are to be made.
func (a *app) digests() (kinds []digest.Kind) {
	if a.model() != nil {
		kinds = append(kinds, digest.Facts)
	}
	if a.config.Memory.Summaries != summariesOff {
		kinds = append(kinds, digest.Summaries)
	}
	if a.condenses() {
		kinds = append(kinds, digest.Condensed)
	}
	return kinds
}

// condenses reports whether the older parts of long sessions are condensed.
func (a *app) condenses() bool {
	return a.config.Memory.Summaries != summariesOff && a.config.Memory.Summaries != summariesExtract
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
