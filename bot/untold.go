package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"hark/memory"
)

// lookTries is how often what Discord told too little of is fetched, if Discord doesn't show it: one refusal may be a mistake.
const lookTries = 5

// look fetches a channel or a guild of which Discord told too little. What it doesn't show stays unknown.
func (f *filler) look(ctx context.Context, t task) error {
	kind, told := fetchedChannel, map[string]any{"ticket": t.ticket, "id": t.channel.String(), "guild_id": t.visit.guild.String()}
	var err error
	if t.channel != 0 {
		told["channel"], err = f.get(ctx, discordgo.EndpointChannel(t.channel.String()))
	} else {
		kind, told["id"] = fetchedGuild, t.visit.guild.String()
		told["guild"], err = f.guild(ctx, t.visit.guild)
	}
	if denied(err) && t.tries+1 >= lookTries {
		return nil
	}
	if err != nil {
		return fmt.Errorf("fetch what Discord told too little of: %w", err)
	}
	data, err := json.Marshal(told)
	if err != nil {
		return err
	}
	f.bot.queue.put(item{raw: &rawEvent{kind, data}})
	return nil
}

func (f *filler) get(ctx context.Context, address string) (json.RawMessage, error) {
	var raw json.RawMessage
	return raw, f.bot.rest.call(ctx, http.MethodGet, address, address, nil, &raw)
}

// guild is a guild as GUILD_CREATE tells it.
func (f *filler) guild(ctx context.Context, id memory.GuildID) (map[string]json.RawMessage, error) {
	address := discordgo.EndpointGuild(id.String())
	whole := map[string]json.RawMessage{}
	if err := f.bot.rest.call(ctx, http.MethodGet, address, address, nil, &whole); err != nil {
		return nil, err
	}
	var err error
	if whole["channels"], err = f.get(ctx, discordgo.EndpointGuildChannels(id.String())); err != nil {
		return nil, err
	}
	var threads struct {
		Threads json.RawMessage `json:"threads"`
	}
	active := discordgo.EndpointGuildActiveThreads(id.String())
	if err := f.bot.rest.call(ctx, http.MethodGet, active, active, nil, &threads); err != nil {
		return nil, err
	}
	whole["threads"] = threads.Threads
	self, err := f.get(ctx, discordgo.EndpointGuildMember(id.String(), f.bot.self.String()))
	whole["members"] = json.RawMessage("[" + string(self) + "]")
	return whole, err
}
