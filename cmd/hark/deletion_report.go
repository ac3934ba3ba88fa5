package main

import (
	"time"

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

func lore(n int) string      { return terminal.Count(n, "piece of lore", "pieces of lore") }
func summaries(n int) string { return terminal.Count(n, "summary", "summaries") }
