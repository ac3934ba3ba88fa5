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
	people memory.People
	out    map[memory.UserID]bool // who has opted out, as far as it was asked
}

// placeOf is where a stretch is, or nil if nothing may be made of what was said there: it isn't to be remembered, or
// its messages may be gone at Discord, since they are to be compared with it, or Hark is shut out.
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
	return &place{guild: s.Guild, learn: g.Learn, people: memory.People{list}, out: map[memory.UserID]bool{}}, err
}

// Remembers is p.Remembers for a channel of g, one of channels or nil.
func Remembers(p memory.Policy, g *memory.Guild, c *memory.Channel,
	channels map[memory.ChannelID]*memory.Channel) bool {
	if c == nil {
		return false
	}
	// Policy looks its channels up one by one, and a guild can have ten thousand threads.
	line := memory.Guild{ID: g.ID, Roles: g.Roles, Choice: g.Choice}
	for at := c; at != nil && len(line.Channels) < deepest; at = channels[at.Parent] {
		line.Channels = append(line.Channels, *at)
	}
	return p.Remembers(&line, c.ID)
}

// deepest is how many channels lie in one another: a thread, its channel, the category.
const deepest = 3

// ByID are a guild's channels.
func ByID(g *memory.Guild) map[memory.ChannelID]*memory.Channel {
	channels := make(map[memory.ChannelID]*memory.Channel, len(g.Channels))
	for i := range g.Channels {
		channels[g.Channels[i].ID] = &g.Channels[i]
	}
	return channels
}

// Each is what a function makes of each of all.
func Each[A, B any](all []A, of func(A) B) []B {
	made := make([]B, len(all))
	for i, one := range all {
		made[i] = of(one)
	}
	return made
}

// IDs are those of messages.
func IDs(messages []memory.Message) []memory.MessageID {
	return Each(messages, func(m memory.Message) memory.MessageID { return m.ID })
}

// Has reports whether the message with an id is among messages.
func Has(messages []memory.Message, id memory.MessageID) bool { return at(messages, id) >= 0 }

// After are those of messages that stand after the one with an id; all of them if that isn't among them.
func After(messages []memory.Message, id memory.MessageID) []memory.Message {
	return messages[at(messages, id)+1:]
}

func at(messages []memory.Message, id memory.MessageID) int {
	return slices.IndexFunc(messages, func(m memory.Message) bool { return m.ID == id })
}

// Keep are those of all that are wanted, or the first error of asking.
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
