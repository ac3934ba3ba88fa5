package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/memory"
)

// receiptJSON is a receipt as --json prints it.
type receiptJSON struct {
	Guild   string    `json:"guild,omitempty"` // empty: all servers
	Channel string    `json:"channel,omitempty"`
	User    string    `json:"user,omitempty"`
	Before  time.Time `json:"before,omitzero"`
	At      time.Time `json:"at"`
	memory.Receipt
	OutOf []string `json:"out_of_reach"`
}

// print prints what went, and what Hark can't reach.
func (o *forgetting) print(c *cobra.Command, k *kept, r memory.Receipt) error {
	if o.json {
		return printJSON(c.OutOrStdout(), receiptOf(r, outOfReach(k)))
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{
		{r.Segments, plural(r.Segments, "segment")}, {r.Vectors, plural(r.Vectors, "vector")}, {r.Answers,
			plural(r.Answers, "answer")},
		{r.Facts, plural(r.Facts, "fact")}, {r.Lore, pieces(r.Lore)}, {r.Summaries, summaryCount(r.Summaries)},
		{r.Records, counted(r.Records, "record of a call", "records of calls")},
	} {
		if p.n > 0 {
			parts = append(parts, p.text)
		}
	}
	if r.People > 0 {
		parts = append(parts, "what was known of a person in "+plural(r.People, "server"))
		if r.Forgetting.User == 0 {
			parts[len(parts)-1] = fmt.Sprintf("what was known of %d people", r.People)
		}
	}
	line := "Forgotten: " + plural(r.Messages, "message")
	if len(parts) > 0 {
		line += ", and with that " + strings.Join(parts, ", ")
	}
	fmt.Fprintln(c.OutOrStdout(), line+".")
	fmt.Fprintln(c.OutOrStdout(), "Out of Hark's reach: "+strings.Join(outOfReach(k), "; ")+".")
	return nil
}

func receiptOf(r memory.Receipt, reach []string) receiptJSON {
	f := r.Forgetting
	out := receiptJSON{Before: f.Before, At: f.At.UTC().Truncate(time.Second), Receipt: r, OutOf: reach}
	if f.Guild != memory.Everywhere {
		out.Guild = f.Guild.String()
	}
	if f.Channel != 0 {
		out.Channel = f.Channel.String()
	}
	if f.User != 0 {
		out.User = f.User.String()
	}
	return out
}

// pieces is "1 piece of lore" or "2 pieces of lore".
func pieces(n int) string { return plural(n, "piece") + " of lore" }

// summaryCount is "1 summary" or "2 summaries".
func summaryCount(n int) string { return counted(n, "summary", "summaries") }

// outOfReach is where what was forgotten may be still.
func outOfReach(k *kept) []string {
	places := []string{"backups and exports made before"}
	if k.config.LLM.Model != "" {
		places = append(places, "what the model's host keeps ("+hostOf(k.config.LLM.BaseURL)+")")
	}
	if k.config.Embedding.Model != "" {
		places = append(places, "what the embedding server keeps ("+hostOf(k.config.Embedding.BaseURL)+")")
	}
	return append(places, "what others wrote that quotes or names it", "Discord's own copy")
}

// add adds what another receipt counts.
func add(to *memory.Receipt, r memory.Receipt) {
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
