package digest

import (
	"context"
	"errors"
	"slices"

	"hark/memory"
)

// placeOf returns a stretch's place; nil if nothing may be made of it now: it isn't remembered, Hark is shut out,
// or it is still to be compared with Discord, where messages may be gone.
func (w *Worker) placeOf(ctx context.Context, s memory.Stretch) (*place, error) {
	g, err := w.Log.Guild(ctx, s.Guild)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil // forgotten meanwhile
	}
	if err != nil {
		return nil, err
	}
	channels := ByID(g)
	if c := channels[s.Channel]; !Remembers(w.Policy, g, c, channels) || c.Shut || !g.Left.IsZero() {
		return nil, nil
	}
	unswept, err := w.Log.Gaps(ctx, s.Guild, true)
	if err != nil || slices.ContainsFunc(unswept, func(gap memory.Gap) bool { return gap.Channel == s.Channel }) {
		return nil, err
	}
	list, err := w.Log.People(ctx, s.Guild)
	return &place{
		guild:  s.Guild,
		learn:  g.Learn,
		people: memory.People{list},
		out:    map[memory.UserID]bool{},
	}, err
}

// Remembers is p.Remembers for a channel of g; c is one of channels or nil.
func Remembers(p memory.Policy, g *memory.Guild, c *memory.Channel,
	channels map[memory.ChannelID]*memory.Channel) bool {
	if c == nil {
		return false
	}
	// Policy looks channels up one by one, and a guild can have ten thousand threads.
	line := memory.Guild{
		ID:     g.ID,
		Roles:  g.Roles,
		Choice: g.Choice,
	}
	for at := c; at != nil && len(line.Channels) < deepest; at = channels[at.Parent] {
		line.Channels = append(line.Channels, *at)
	}
	return p.Remembers(&line, c.ID)
}

// deepest nesting of channels: a thread, its channel, the category.
const deepest = 3

// ByID returns a guild's channels by id.
func ByID(g *memory.Guild) map[memory.ChannelID]*memory.Channel {
	channels := make(map[memory.ChannelID]*memory.Channel, len(g.Channels))
	for i := range g.Channels {
		channels[g.Channels[i].ID] = &g.Channels[i]
	}
	return channels
}

// Each returns what a function makes of each element.
func Each[A, B any](all []A, of func(A) B) []B {
	made := make([]B, len(all))
	for i, one := range all {
		made[i] = of(one)
	}
	return made
}

// IDs returns the messages' ids.
func IDs(messages []memory.Message) []memory.MessageID {
	return Each(messages, func(m memory.Message) memory.MessageID { return m.ID })
}

// Has reports whether messages contain an id.
func Has(messages []memory.Message, id memory.MessageID) bool { return at(messages, id) >= 0 }

// After returns the messages behind the one with an id; all if it isn't among them.
func After(messages []memory.Message, id memory.MessageID) []memory.Message {
	return messages[at(messages, id)+1:]
}

func at(messages []memory.Message, id memory.MessageID) int {
	return slices.IndexFunc(messages, func(m memory.Message) bool { return m.ID == id })
}

// Keep returns the wanted elements, or the first error.
func Keep[T any](all []T, wanted func(T) (bool, error)) (kept []T, err error) {
	for _, one := range all {
		ok, err := wanted(one)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, one)
		}
	}
	return kept, nil
}
