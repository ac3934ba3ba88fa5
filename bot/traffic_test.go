package bot

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/bot/ingest"
	"hark/internal/discordtest"
)

// Traffic is counted by names that are Hark's or Discord's own.
func TestTraffic(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var states []string
	s := set(t)
	s.with(t, Config{Token: s.discord.Token, State: func(why error) {
		mu.Lock()
		defer mu.Unlock()
		if why == nil {
			why = errors.New("connected")
		}
		states = append(states, why.Error())
	}})
	s.run(t).ready(t)
	limited := s.discord.Inject("POST /channels/*/messages", 1, discordtest.RateLimited(20*time.Millisecond))
	s.ask("hello?")
	s.answered(t, s.channel, "Friday")
	limited.WaitHits(1)
	s.discord.Drop()
	s.out.wait(t, `"RESUMED"`)
	s.discord.Slash(s.channel, s.ana.ID, "limits").WaitMessage()
	s.breakReading(errors.New("torn"))
	s.discord.Slash(s.channel, s.ana.ID, "memory show").WaitMessage()
	s.discord.Complete(s.channel, s.ana.ID, "help", opt("command", "/mem")).Wait() // isn't a use
	for _, raw := range []string{`{"id":"5","type":4,"token":"x","data":{"name":"help"}}`,
		`{"id":"6","type":5,"token":"x","data":{"custom_id":"somebody's secret:1"}}`} {
		s.bot.commands.Put([]byte(raw), nil)
	}
	s.discord.Allow(discordtest.BadRequest) // of invented interactions
	s.commandsEnd()
	s.stops(t)

	got := s.counted(t)
	for key, least := range map[string]int{
		"hark_gateway_connections_total new": 1, "hark_gateway_connections_total resumed": 1,
		"hark_gateway_lost_total":          1,
		"hark_events_total MESSAGE_CREATE": 1, "hark_events_total INTERACTION_CREATE": 2,
		"hark_discord_requests_total limited messages": 1, "hark_discord_requests_total ok messages": 1,
		"hark_discord_rate_limit_wait_seconds messages": 1,
	} {
		if got[key] < least {
			t.Errorf("%s is %d, want at least %d", key, got[key], least)
		}
	}
	maps.DeleteFunc(got, func(key string, _ int) bool { return !strings.HasPrefix(key, "hark_commands_total ") })
	if want := map[string]int{"hark_commands_total limits answered": 1,
		"hark_commands_total memory show failed": 1, "hark_commands_total unknown failed": 1}; !maps.Equal(got, want) {
		t.Errorf("commands %v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{errNotYet.Error(), "connected", "the connection to Discord is lost; connecting again",
		"connected",
		ingest.ErrStopped.Error()}; !slices.Equal(states, want) {
		t.Errorf("states %q", states)
	}
}
