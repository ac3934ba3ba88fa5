package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/terminal"
	"hark/memory"
)

type deletionReportJSON struct {
	Guild   string           `json:"guild,omitempty"` // empty: all servers
	Channel memory.ChannelID `json:"channel,string,omitempty"`
	User    memory.UserID    `json:"user,string,omitempty"`
	Before  time.Time        `json:"before,omitzero"`
	At      time.Time        `json:"at"`
	memory.DeletionReport
	OutOf []string `json:"out_of_reach"`
}

func (o *forgetting) print(c *cobra.Command, k *archive.Archive, r memory.DeletionReport) error {
	if o.json {
		f := r.Forgetting
		out := deletionReportJSON{Channel: f.Channel, User: f.User, Before: f.Before,
			At:             f.At.UTC().Truncate(time.Second),
			DeletionReport: r, OutOf: k.OutOfReach()}
		if f.Guild != memory.Everywhere {
			out.Guild = f.Guild.String()
		}
		return cli.PrintJSON(c.OutOrStdout(), out)
	}
	parts := terminal.Nonzero(terminal.Count(r.Segments, "segment", ""), terminal.Count(r.Vectors, "vector", ""),
		terminal.Count(r.Answers, "answer", ""),
		terminal.Count(r.Facts, "fact", ""), lore(r.Lore), summaries(r.Summaries),
		terminal.Count(r.Records, "record of a call", "records of calls"))
	switch {
	case r.People > 0 && r.Forgetting.User == 0:
		parts = append(parts, fmt.Sprintf("what was known of %d people", r.People))
	case r.People > 0:
		parts = append(parts, "what was known of a person in "+terminal.Plural(r.People, "server"))
	}
	line := "Forgotten: " + terminal.Plural(r.Messages, "message")
	if len(parts) > 0 {
		line += ", and with that " + strings.Join(parts, ", ")
	}
	fmt.Fprintln(c.OutOrStdout(), line+".")
	fmt.Fprintln(c.OutOrStdout(), "Out of Hark's reach: "+strings.Join(k.OutOfReach(), "; ")+".")
	return nil
}

func lore(n int) string      { return terminal.Count(n, "piece of lore", "pieces of lore") }
func summaries(n int) string { return terminal.Count(n, "summary", "summaries") }
