package command

import (
	"strings"
	"testing"
	"time"

	"hark/bot/ingest"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/internal/golden"
	"hark/memory"
	"hark/search"
)

func TestShowRecalled(t *testing.T) {
	t.Parallel()
	hit := func(relevance float64, guild memory.GuildID, text string) search.Hit {
		return search.Hit{Relevance: relevance, Message: memory.Message{ID: 1 << 60, Guild: guild, Channel: 5,
			Author: 6, Content: text}}
	}
	got := showRecalled(&interaction{}, answer.Question{Text: "`when`?"},
		answer.Recalled{Result: search.Result{TextOnly: true, Hits: []search.Hit{
			hit(0.7, memory.DirectGuild, "in private"), hit(0.6, memory.LocalGuild, "line\n> # line"),
		}}}).Content
	golden.Seen(t, got)
	var many []search.Hit
	for range 50 {
		h := hit(1, 1<<62, strings.Repeat("*", 5000))
		h.Why = []search.Reason{{Kind: strings.Repeat("w", 5000)}}
		many = append(many, h)
	}
	got = showRecalled(&interaction{}, answer.Question{Text: strings.Repeat("?", 5000)},
		answer.Recalled{Result: search.Result{Hits: many, TextOnly: true}}).Content
	if n := markdown.Units(got); n > markdown.MessageLimit || n < markdown.MessageLimit/2 ||
		!strings.Contains(got, "more\n-# ") {
		t.Errorf("%d units: %s", n, got)
	}
}

// The zone of days is the guild's, if it is one, or what is configured.
func TestZoneOfDays(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		set        string
		configured *time.Location
		want       string
	}{
		{"Asia/Tokyo", berlin, "Asia/Tokyo"}, {"Mars/Olympus", berlin, "Europe/Berlin"}, {"Local", berlin,
			"Europe/Berlin"}, {"", berlin, "Europe/Berlin"}, {"", nil, "UTC"}} {
		c := Commands{Options: offline(ingest.Options{},
			answer.Choices{Default: answer.Settings{Zone: test.configured}})}
		g := &memory.Guild{ID: 7, Settings: map[memory.Setting]string{memory.SettingTimezone: test.set}}
		if got := c.zone(g); got.String() != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
