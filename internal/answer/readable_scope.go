package answer

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// sortByID sorts messages in place, by time.
func sortByID(messages []memory.Message) []memory.Message {
	slices.SortFunc(messages, func(a, b memory.Message) int { return cmp.Compare(a.ID, b.ID) })
	return messages
}

// readableScope is what an answer may use at this moment.
type readableScope struct {
	guilds   []memory.GuildID
	scope    memory.Scope
	narrowed memory.Scope       // what the question is about
	closed   []memory.ChannelID // what is remembered outside scope, as far as the question is about it
	here     bool               // whether the log of the channel asked in may be used at all
	attended memory.MessageID   // earlier messages there count as past, and not as the session
	names    names
	consents consents
	lore     map[int64]memory.Lore     // by id
	hidden   map[int64]bool            // facts that may not be told
	settings Settings                  // of the channel asked in
	proxied  map[memory.ChannelID]bool // where webhooks speak for people
}

// readScope returns what an answer to q may use now; nothing of a guild that removed Hark.
func (e *Engine) readScope(ctx context.Context, q Question) (readableScope, error) {
	if q.WaitReady != nil {
		if err := q.WaitReady(ctx); err != nil {
			return readableScope{}, err
		}
	}
	now := readableScope{
		guilds:   []memory.GuildID{q.Guild},
		names:    newNames(),
		consents: consents{log: e.log, in: map[memory.Membership]bool{}},
		settings: e.settings(),
		attended: math.MaxInt64,
		proxied:  map[memory.ChannelID]bool{},
	}
	all := now.names.channels
	if q.Everywhere && q.Operator {
		var err error
		now.guilds, err = e.log.Guilds(ctx)
		if err != nil {
			return readableScope{}, err
		}
	}
	if q.Guild == memory.DirectGuild {
		now.attended = 0
	}
	left := map[memory.GuildID]bool{memory.DirectGuild: q.Operator}
	now.guilds = slices.DeleteFunc(slices.Clone(now.guilds), func(id memory.GuildID) bool { return left[id] })
	for _, id := range now.guilds {
		g, err := e.log.Guild(ctx, id)
		if errors.Is(err, memory.ErrNotFound) {
			continue // nothing was said there yet
		}
		if err != nil {
			return readableScope{}, err
		}
		left[id] = !g.Left.IsZero()
		if left[id] {
			continue
		}
		list, err := e.log.People(ctx, id)
		if err != nil {
			return readableScope{}, err
		}
		now.names.people = append(now.names.people, list)
		if id == q.Guild {
			now.settings = now.settings.Set(g, q.Channel)
			now.settings.spoken = spokenLanguage(g, q.Channel, q.Text)
		}
		channels := digest.ByID(g)
		now.here = now.here || id == q.Guild && e.remembered(q, g, channels[q.Channel], channels) &&
			!channels[q.Channel].Shut
		readable := map[memory.ChannelID]bool{}
		for _, c := range readableIn(g, q, now.names) {
			readable[c] = true
		}
		switch {
		case id != q.Guild:
		case readable[q.Channel]:
			now.attended = 0
		case q.Attended != nil:
			now.attended = q.Attended(g, q.Channel)
		}
		now.names.addRoles(g)
		for _, c := range g.Channels {
			all[c.ID] = c
			now.proxied[c.ID] = g.BotsIn(c.ID, memory.BotsForgotten) == memory.BotsHeard
			switch {
			case !e.remembered(q, g, channels[c.ID], channels):
			case readable[c.ID]:
				now.scope.Channels = append(now.scope.Channels, c.ID)
			case c.Kind != memory.DirectChannel:
				now.closed = append(now.closed, c.ID)
			}
		}
		now.names.seen(q.Channel, readable)
	}
	now.names.zone = now.settings.Zone
	now.guilds = slices.DeleteFunc(now.guilds, func(id memory.GuildID) bool { return left[id] })
	now.names.readable = map[memory.ChannelID]bool{}
	for _, id := range now.scope.Channels {
		now.names.readable[id] = true
	}
	now.hidden = hiddenFacts(now.scope.Channels, now.names.people)
	now.narrowed, now.closed = q.Filter.narrow(now.scope, all), q.Filter.channels(now.closed, all)
	return now, e.readLore(ctx, &now)
}

// hiddenFacts returns the facts that were said or told outside channels.
func hiddenFacts(channels []memory.ChannelID, people memory.People) map[int64]bool {
	hidden := map[int64]bool{}
	for _, guild := range people {
		for i := range guild {
			for _, f := range guild[i].Facts {
				if f.Channel != 0 && !slices.Contains(channels, f.Channel) {
					hidden[f.ID] = true
				}
			}
		}
	}
	return hidden
}

func readableIn(g *memory.Guild, q Question, n names) []memory.ChannelID {
	if q.Everywhere && q.Operator {
		return digest.Each(g.Channels, func(c memory.Channel) memory.ChannelID { return c.ID })
	}
	place := search.Place{
		Channel:  q.Channel,
		Operator: q.Operator,
		Asker:    q.Roles,
	}
	if q.OnlyAsker {
		place.Viewer = q.Asker
		place.Roles = q.Roles
	}
	if q.RoleSets != nil {
		place.Sets = q.RoleSets(g)
	}
	return search.Readable(g, place, n.person)
}

// readLore reads the scope's lore, except of people who opted out.
func (e *Engine) readLore(ctx context.Context, now *readableScope) error {
	now.lore = map[int64]memory.Lore{}
	for _, guild := range now.guilds {
		all, err := e.log.Lore(ctx, guild)
		if err != nil {
			return err
		}
		for _, l := range search.LoreIn(now.scope, all) {
			if ok, err := now.consents.agrees(ctx, guild, l.By); err != nil {
				return err
			} else if ok {
				now.lore[l.ID] = l
			}
		}
	}
	return nil
}

// usable reports whether lore may be used and is unchanged.
func (now *readableScope) usable(l memory.Lore) bool {
	known, ok := now.lore[l.ID]
	return ok && known.Guild == l.Guild && known.At.Equal(l.At)
}

// remembered reports whether messages of c, one of channels or nil, may be recalled for q. Imports of a guild that
// was never asked are the operator's own until somebody decides.
func (e *Engine) remembered(q Question, g *memory.Guild, c *memory.Channel,
	channels map[memory.ChannelID]*memory.Channel) bool {
	policy := e.options.Policy
	if c != nil && q.Operator && c.Unplaced && !g.Asked {
		policy.Ask = false
	}
	return digest.Remembers(policy, g, c, channels)
}

func (now *readableScope) source(n int, m memory.Message) Source {
	channel := now.names.channels[m.Channel]
	return Source{
		Number:    n,
		Guild:     m.Guild,
		Channel:   m.Channel,
		Message:   m.ID,
		Author:    now.names.of(m.Author),
		Place:     memory.PlaceName(&channel, now.names.parent(channel)),
		Time:      m.Time().In(now.settings.Zone),
		Unplaced:  channel.Unplaced || channel.Kind == memory.LocalChannel,
		Forwarded: m.IsCopy(),
	}
}
