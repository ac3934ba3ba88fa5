package bot

import (
	"context"
	"errors"
	"fmt"

	"hark/memory"
	"hark/search"
)

// noteShut keeps, after events that are in the log, which channels Hark was shut out of by them, and which it
// was let into again: of these nothing is used until all that is remembered of them is compared with Discord.
func (p *pump) noteShut(ctx context.Context, events []memory.Event) error {
	for guild := range p.moved(events) {
		var found []memory.Event
		err := p.insist(ctx, func() (err error) {
			found, err = p.shutIn(ctx, guild)
			return err
		})
		if err != nil {
			return err
		}
		if len(found) > 0 {
			if err := p.commit(ctx, found); err != nil {
				return err
			}
			p.bot.filler.nudge()
		}
	}
	return nil
}

// moved are the guilds of which events may have changed what Hark may read.
func (p *pump) moved(events []memory.Event) map[memory.GuildID]bool {
	moved := map[memory.GuildID]bool{}
	for _, s := range subjectsOf(events) {
		if s.guild != memory.DirectGuild && (s.shuts || s.person == p.convert.self) {
			moved[s.guild] = true
		}
	}
	return moved
}

// shutIn is what is to be kept of the channels of a guild.
func (p *pump) shutIn(ctx context.Context, guild memory.GuildID) ([]memory.Event, error) {
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
		if c.Kind == memory.CategoryChannel || c.Unplaced {
			continue
		}
		switch {
		case shut[c.ID] && (!c.Shut || waits[c.ID]):
			events = append(events, memory.ShutOut{Guild: guild, Channel: c.ID})
		case !shut[c.ID] && c.Shut && !waits[c.ID]:
			events = append(events, memory.Absent{Guild: guild, Channel: c.ID, At: p.bot.now()})
			v := &visit{guild: guild, heard: heard, since: g.Since}
			if gap, missed := p.bot.gap(v, sighted{c.ID, momentID(p.bot.now()), c.Kind.IsThread()}); missed &&
				p.bot.cfg.Policy.Remembers(g, c.ID) {
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
