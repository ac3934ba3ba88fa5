package sqlstore

import (
	"context"

	"hark/memory"
)

// condense keeps what the older part of a session was condensed to, if all of its sources are as they were.
func (t *transaction) condense(c memory.Condensed) error {
	at, err := t.knownChannel(c.Channel)
	if at == nil || err != nil {
		return err // forgotten with its guild
	}
	var made int64
	known, err := Found(t.row("SELECT made FROM condensed WHERE channel = ?", int64(c.Channel)).Scan(&made))
	if err != nil || known && made >= millis(c.Made) {
		return err
	}
	sources := summarySources(c.Channel, c.Sources)
	if same, err := t.areSame(at.guild, sources); !same || err != nil {
		return err
	}
	t.changed.Text = true
	if err := t.put("condensed", 1, "channel, until, made, model, text",
		int64(c.Channel), int64(c.Until), millis(c.Made), c.Model, c.Text); err != nil {
		return err
	}
	return t.derive(derived{kind: aCondensed, guild: at.guild, channel: c.Channel}, sources, nil)
}

// endSession takes away what the session of a channel was condensed to that is over.
func (t *transaction) endSession(e memory.CondensedGone) error {
	return t.invalidate(selection{`SELECT d.no AS derived, 0 AS repeats, 0 AS itself FROM condensed c JOIN derived d ON d.kind = ? AND d.place = c.channel
		WHERE c.channel = ? AND c.until <= ?`, []any{int(aCondensed), int64(e.Channel), int64(e.Until)}}, cause{})
}

// Condensed implements memory.Store.
func (s *Store) Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	all, err := list(ctx, s.engine, func(scan Scanner, c *memory.Condensed) error {
		var made int64
		var sources sourceList
		err := scan(&c.Channel, &c.Until, &made, &c.Model, &c.Text, &sources)
		c.Guild, _, _ = s.place(c.Channel)
		c.Made, c.Sources = FromMillis(made), sources.inChannel()
		return err
	}, "SELECT c.channel, c.until, c.made, c.model, c.text, "+sourcesColumn+` FROM condensed c
		JOIN derived d ON d.kind = ?2 AND d.place = c.channel WHERE (c.channel = ?1 OR ?1 = 0) ORDER BY c.channel`, int64(channel), int(aCondensed))
	return all, s.failed(err, "read what sessions were condensed to")
}
