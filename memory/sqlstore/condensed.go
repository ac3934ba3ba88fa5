package sqlstore

import (
	"context"

	"hark/memory"
)

// condense keeps a condensed session if all its sources are unchanged.
func (t *transaction) condense(c memory.Condensed) {
	at := t.knownChannel(c.Channel)
	if at == nil { // forgotten with its guild
		return
	}
	sources := summarySources(c.Channel, c.Sources)
	if value[int64](t, "SELECT made FROM condensed WHERE channel = ?", c.Channel) >= millis(c.Made) ||
		!t.areSame(at.guild, sources) {
		return
	}
	t.changed.Text = true
	t.put(table{"condensed", 1, "channel, until, made, model, text"}, c.Channel, c.Until, millis(c.Made),
		c.Model, c.Text)
	t.derive(derived{kind: aCondensed, guild: at.guild, channel: c.Channel}, sources, nil)
}

// endSession deletes the condensed session of a channel.
func (t *transaction) endSession(e memory.CondensedGone) {
	t.invalidate(selection{`SELECT d.no AS derived, 0 AS repeats, 0 AS itself FROM condensed c
		JOIN derived d ON d.kind = ? AND d.place = c.channel WHERE c.channel = ? AND c.until <= ?`,
		[]any{aCondensed, e.Channel, e.Until}}, cause{})
}

// Condensed implements memory.Store.
func (s *Store) Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	all, err := list(ctx, s.engine, func(scan Scanner, c *memory.Condensed) error {
		err := scan(&c.Channel, &c.Until, asTime{&c.Made}, &c.Model, &c.Text, asJSON{&c.Sources})
		c.Guild, _, _ = s.channelNo(c.Channel)
		return err
	}, "SELECT c.channel, c.until, c.made, c.model, c.text, "+sourcesColumn+` FROM condensed c
		JOIN derived d ON d.kind = ?2 AND d.place = c.channel WHERE (c.channel = ?1 OR ?1 = 0) ORDER BY c.channel`,
		channel, aCondensed)
	return all, s.failed(err, "read what sessions were condensed to")
}
