package bot

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/internal/discordtest"
	"hark/internal/metrics"
	"hark/internal/metrics/metricstest"
)

func TestRoutesNameNobody(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		discordgo.EndpointChannelMessages("123"):                       "messages",
		discordgo.EndpointChannelMessage("123", "456") + "?x=1":        "messages",
		discordgo.EndpointChannelTyping("123"):                         "typing",
		discordgo.EndpointChannel("123"):                               "channels",
		discordgo.EndpointGuild("123"):                                 "guilds",
		discordgo.EndpointUser("@me"):                                  "users",
		discordgo.EndpointInteractionResponse("123", "secret"):         "interactions",
		discordgo.EndpointInteractionResponseActions("123", "secret"):  "interactions",
		discordgo.EndpointApplicationGlobalCommands("123"):             "applications",
		discordgo.EndpointGatewayBot:                                   "gateway",
		"https://cdn.discordapp.com/attachments/1/2/somebodys-file.md": "other",
		"": "other",
	} {
		if got := routeOf(address); got != want {
			t.Errorf("%s is of %q, want %q", address, got, want)
		}
	}
}

// What goes to and fro is counted, by names that are Hark's or Discord's own.
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
	s.waitRegistered()
	limited := s.discord.Inject("POST /channels/*/messages", 1, discordtest.RateLimited(20*time.Millisecond))
	s.ask("hello?")
	s.answered(t, s.channel, "Friday")
	limited.WaitHits(1)
	s.discord.Drop()
	s.out.wait(t, `"RESUMED"`)
	s.discord.Slash(s.channel, s.ana.ID, "limits").WaitMessage()
	s.breakReading(errors.New("torn"))
	s.discord.Slash(s.channel, s.ana.ID, "memory show").WaitMessage()
	s.bot.commands.tally(&exchange{wireInteraction: wireInteraction{Type: interactionTyping}}, nil) // isn't a use
	made := exchange{wireInteraction: wireInteraction{Type: interactionForm}}
	made.Data.CustomID = "somebody's secret:1"
	s.bot.commands.tally(&made, nil)
	s.stops(t)

	got := s.counted(t)
	for key, least := range map[string]int{
		"hark_gateway_connections_total new": 1, "hark_gateway_connections_total resumed": 1, "hark_gateway_lost_total": 1,
		"hark_events_total MESSAGE_CREATE": 1, "hark_events_total INTERACTION_CREATE": 2,
		"hark_discord_requests_total limited messages": 1, "hark_discord_requests_total ok messages": 1, "hark_discord_rate_limit_wait_seconds messages": 1,
	} {
		if got[key] < least {
			t.Errorf("%s is %d, want at least %d", key, got[key], least)
		}
	}
	maps.DeleteFunc(got, func(key string, _ int) bool { return !strings.HasPrefix(key, "hark_commands_total ") })
	if want := map[string]int{"hark_commands_total limits answered": 1,
		"hark_commands_total memory show failed": 1, "hark_commands_total unknown refused": 1}; !maps.Equal(got, want) {
		t.Errorf("commands %v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{errNotYet.Error(), "connected", errLost.Error(), "connected",
		errStopped.Error()}; !slices.Equal(states, want) {
		t.Errorf("states %q", states)
	}
}

func TestOutcomesOfRequests(t *testing.T) {
	t.Parallel()
	c := client{metrics: metrics.New()}
	for _, err := range []error{nil, &discordgo.RateLimitError{},
		&discordgo.RESTError{Response: &http.Response{StatusCode: 403}}, io.EOF} {
		c.count("messages", err)
	}
	c.waited("messages", 0) // isn't a wait
	want := map[string]int{}
	for _, outcome := range []string{"ok", "limited", "refused", "failed"} {
		want["hark_discord_requests_total "+outcome+" messages"] = 1
	}
	if got := metricstest.Counted(t, c.metrics); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
