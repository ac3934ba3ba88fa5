package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hark/memory"
	"hark/search"
)

// noteShut keeps, after events that are in the log, which channels Hark was shut out of by them, and which it was let into
// again: of these nothing is used until all that is remembered of them is compared with Discord.
func (p *pump) noteShut(ctx context.Context, events []memory.Event) error {
	for guild, channels := range p.moved(events) {
		var found []memory.Event
		err := p.insist(ctx, func() (err error) {
			found, err = p.shutIn(ctx, guild, channels)
			return err
		})
		if err == nil && len(found) > 0 {
			err = p.commit(ctx, found)
		}
		if err != nil {
			return err
		}
		if len(found) > 0 {
			p.bot.filler.nudge()
		}
	}
	return nil
}

// moved are the guilds and the channels of which events may have changed what Hark may read; of a guild without channels it is all.
func (p *pump) moved(events []memory.Event) map[memory.GuildID][]memory.ChannelID {
	moved := map[memory.GuildID][]memory.ChannelID{}
	whole := map[memory.GuildID]bool{}
	for _, s := range subjectsOf(events) {
		switch {
		case !s.shuts && s.person != p.convert.self:
		case s.channel != 0:
			moved[s.guild] = append(moved[s.guild], s.channel)
		default:
			whole[s.guild] = true
		}
	}
	for guild := range whole {
		moved[guild] = nil
	}
	delete(moved, memory.DirectGuild)
	return moved
}

// shutIn is what is to be kept of the channels of a guild, or of those given and their threads.
func (p *pump) shutIn(ctx context.Context, guild memory.GuildID, channels []memory.ChannelID) ([]memory.Event, error) {
	g, err := p.bot.memory.Guild(ctx, guild)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	shut, err := shutOut(ctx, p.bot.memory, g)
	if err != nil || shut == nil {
		return nil, err
	}
	unswept, err := p.bot.memory.Gaps(ctx, guild, true)
	if err != nil {
		return nil, err
	}
	waits := map[memory.ChannelID]bool{}
	for _, gap := range unswept {
		waits[gap.Channel] = true
	}
	heard, err := p.bot.memory.HeardUntil(ctx, guild)
	if err != nil {
		return nil, err
	}
	var events []memory.Event
	for _, c := range g.Channels {
		if c.Kind == memory.CategoryChannel || c.Unplaced || channels != nil && !slices.Contains(channels, c.ID) && !(c.Kind.IsThread() && slices.Contains(channels, c.Parent)) {
			continue
		}
		switch {
		case shut[c.ID] && (!c.Shut || waits[c.ID]):
			events = append(events, memory.ShutOut{Guild: guild, Channel: c.ID})
		case !shut[c.ID] && c.Shut && !waits[c.ID]:
			events = append(events, memory.Absent{Guild: guild, Channel: c.ID, At: p.bot.now()})
			v := &visit{sighting: &sighting{guild: guild}, heard: heard, since: g.Since}
			if gap, missed := p.bot.gap(v, sighted{c.ID, momentID(p.bot.now()), c.Kind.IsThread()}); missed && p.bot.cfg.Policy.Remembers(g, c.ID) {
				events = append(events, memory.GapFound{Gap: gap})
			}
		}
	}
	return events, nil
}

// shutOut are the channels of g that Hark was shut out of, by its roles alone: nobody else's matter.
func shutOut(ctx context.Context, log memory.Store, g *memory.Guild) (map[memory.ChannelID]bool, error) {
	self, err := log.People(ctx, g.ID, g.Self)
	if err != nil {
		return nil, fmt.Errorf("look up Hark in guild %d: %w", g.ID, err)
	}
	return search.ShutOut(g, func(memory.UserID) (memory.Person, bool) { return first(self) }), nil
}
