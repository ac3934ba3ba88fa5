package bot

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/internal/discordtest"
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
	s.log.mu.Lock()
	s.log.readFails = errors.New("torn")
	s.log.mu.Unlock()
	s.discord.Slash(s.channel, s.ana.ID, "memory show").WaitMessage()
	s.bot.commands.tally(&exchange{wireInteraction: wireInteraction{Type: interactionTyping}}, nil) // isn't a use
	made := exchange{wireInteraction: wireInteraction{Type: interactionForm}}
	made.Data.CustomID = "somebody's secret:1"
	s.bot.commands.tally(&made, nil)
	if err := s.stop(t); err != nil {
		t.Fatal(err)
	}

	got := s.bot.Traffic()
	if got.Connections["new"] != 1 || got.Connections["resumed"] != 1 || got.Lost != 1 || got.Events["MESSAGE_CREATE"] == 0 || got.Events["INTERACTION_CREATE"] != 2 {
		t.Errorf("%+v", got)
	}
	if got.Requests[RequestOutcome{"messages", "limited"}] != 1 || got.Requests[RequestOutcome{"messages", "ok"}] == 0 || got.Waits["messages"].Count == 0 {
		t.Errorf("requests %v, waits %v", got.Requests, got.Waits)
	}
	if want := map[CommandUse]int64{{"limits", CommandAnswered}: 1, {"memory show", CommandFailed}: 1, {unknownCommand, CommandRefused}: 1}; !maps.Equal(got.Commands, want) {
		t.Errorf("commands %v", got.Commands)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{errNotYet.Error(), "connected", errLost.Error(), "connected", errStopped.Error()}; !slices.Equal(states, want) {
		t.Errorf("states %q", states)
	}
}

func TestOutcomesOfRequests(t *testing.T) {
	t.Parallel()
	var r requests
	for _, err := range []error{nil, &discordgo.RateLimitError{}, &discordgo.RESTError{Response: &http.Response{StatusCode: 403}}, io.EOF} {
		r.count("messages", err)
	}
	want := map[RequestOutcome]int64{}
	for _, outcome := range []string{"ok", "limited", "refused", "failed"} {
		want[RequestOutcome{"messages", outcome}] = 1
	}
	if got := r.came.All(); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	r.waited("messages", 0)
	if len(r.waits.All()) > 0 {
		t.Error("no wait is a wait")
	}
}
