package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/internal/answer"
	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
)

// untouched is a store that must not be written to.
type untouched struct {
	memory.Store
	t *testing.T
}

func (u untouched) Apply(_ context.Context, events ...memory.Event) error {
	u.t.Errorf("logged %+v", events)
	return nil
}

// forgetful is an engine that knows no lore.
type forgetful struct{ Engine }

func (forgetful) Lore(context.Context, answer.Question) ([]memory.Lore, error) { return nil, nil }

// Ids that Hark never made are refused, whatever they say.
func TestIDsThatNobodyMade(t *testing.T) {
	t.Parallel()
	store := sqlitetest.Open(t, sqlite.Options{Space: embed.Builtin{}.Space()})
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Apply(t.Context(), memory.GuildSeen{Guild: memory.Guild{ID: 7, Choice: memory.Remember,
		Channels: []memory.Channel{{ID: 8, Name: "general"}}}}); err != nil {
		t.Fatal(err)
	}
	buffer := ingest.NewBuffer(0, time.Now)
	c := New(offline(ingest.Options{Memory: untouched{store, t}, Now: time.Now, Filter: ingest.NewFilter(store,
		memory.Policy{}, buffer, func([]ingest.Subject) {})}, answer.Choices{}), nil)
	c.Answers = forgetful{}
	for name, all := range map[string][]string{
		keepsFor:          {"", ":HERE", ":x:30d", ":-1:30d", ":1:30d", ":HERE:soon", ":HERE:30d:2"},
		asksPurge:         {"", ":x", ":0", ":1"},
		stopsBackfill:     {"", ":x", ":1"},
		purges:            {"", ":1", ":1:2", ":0:0:0", ":x:0:0", ":0:-4:0", ":1:2:3:4", ":::"},
		confirmForgetThis: {"", ":1:2", ":1:2:ü", ":1:2:3:4"},
		confirmLoreOff:    {"", ":x", ":1"},
		pagerName:         {"", ":1", ":z:x", ":1:1"},
		panelPersona:      {"", ":here"},
		panelSet:          {":0:colour", ":0", "", ":1", ":0:always"},
		panelKey:          {":0"},
		chosenNever:       {""},
	} {
		for _, args := range all {
			x := &interaction{}
			x.Type, x.Guild, x.Data.CustomID = discord.InteractionComponent, 7,
				name+strings.ReplaceAll(args, "HERE", "8")
			x.Data.Values = []string{"1"}
			if err := c.loadGuild(t.Context(), x); err != nil {
				t.Fatal(err)
			}
			h := c.handlers[x.Path()]
			var shown response
			var err error
			if h.opens != nil {
				_, err = h.opens(t.Context(), x)
			} else {
				shown, err = h.do(t.Context(), x)
			}
			refused := slices.ContainsFunc([]string{staleChoice, lostChannel, "I can't do that: "},
				func(why string) bool { return strings.HasPrefix(shown.Content, why) })
			if err == nil && !refused {
				t.Errorf("%s shows %q", x.Data.CustomID, shown.Content)
			}
		}
	}
	command := &interaction{}
	command.Data.Options = []discord.Option{{Name: "set", Type: discord.OptionSubcommand,
		Options: []discord.Option{{Name: "channel", Value: "here"}}}}
	if _, err := command.channelID(); !errors.Is(err, errUnknownChannel) {
		t.Errorf("a channel that is none: %v", err)
	}
}
