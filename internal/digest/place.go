package digest

import (
	"context"
	"errors"
	"slices"
	"time"

	"hark/memory"
)

// place is a channel of which digests may be made.
type place struct {
	guild  memory.GuildID
	learn  time.Time // since when facts may be learned in the guild
	people People
	out    map[memory.UserID]bool // who has opted out, as far as it was asked
}

// placeOf is where a stretch is, or nil if nothing may be made of what was said there: it isn't to be remembered, or its messages
// may be gone at Discord, since they are to be compared with it, or Hark is shut out.
func (w *Worker) placeOf(ctx context.Context, s memory.Stretch) (*place, error) {
	g, err := w.Log.Guild(ctx, s.Guild)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil // forgotten meanwhile
	}
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(g.Channels, func(c memory.Channel) bool { return c.ID == s.Channel })
	if at < 0 || g.Channels[at].Shut || !g.Left.IsZero() || !w.Policy.Remembers(g, s.Channel) {
		return nil, nil
	}
	unswept, err := w.Log.Unswept(ctx, s.Guild)
	if err != nil || slices.ContainsFunc(unswept, func(gap memory.Gap) bool { return gap.Channel == s.Channel }) {
		return nil, err
	}
	list, err := w.Log.People(ctx, s.Guild)
	p := &place{guild: s.Guild, learn: g.Learn, people: People{}, out: map[memory.UserID]bool{}}
	for _, person := range list {
		p.people[person.ID] = person
	}
	return p, err
}

// People are those of a guild, by their ids.
type People map[memory.UserID]memory.Person

// Name is the name somebody goes by; of somebody unknown, their tag.
func (p People) Name(id memory.UserID) string {
	if known, ok := p[id]; ok && known.DisplayName() != "" {
		return known.DisplayName()
	}
	return "<@" + id.String() + ">"
}

// Bot reports whether somebody is known to be a bot.
func (p People) Bot(id memory.UserID) bool { return p[id].Bot }
