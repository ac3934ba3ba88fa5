package sqlite

import (
	"context"
	"fmt"

	"hark/memory"
)

// condense keeps what the older part of a session was condensed to, if all of its sources are as they were.
func (t *transaction) condense(c memory.Condensed) error {
	at, err := t.knownChannel(c.Channel)
	if at == nil || err != nil {
		return err // forgotten with its guild
	}
	var made int64
	known, err := found(t.row("SELECT made FROM condensed WHERE channel = ?", int64(c.Channel)).Scan(&made))
	if err != nil || known && made >= millis(c.Made) {
		return err
	}
	for _, source := range c.Sources {
		m, row, err := t.stored(at, source.Message)
		if err != nil || row == 0 || m.doomed || millis(m.Edited) != source.Edited {
			return err
		}
	}
	if _, err := t.dropCondensedWhere("channel = ?", int64(c.Channel)); err != nil {
		return err
	}
	if err := t.exec("INSERT INTO condensed (channel, until, made, model, text) VALUES (?, ?, ?, ?, ?)",
		int64(c.Channel), int64(c.Until), millis(c.Made), c.Model, c.Text); err != nil {
		return err
	}
	for _, source := range c.Sources {
		if err := t.exec("INSERT INTO condensed_source (channel, message, edited) VALUES (?, ?, ?)", int64(c.Channel), int64(source.Message), source.Edited); err != nil {
			return err
		}
	}
	return nil
}

// dropCondensed takes away what a message is a source of.
func (t *transaction) dropCondensed(channel memory.ChannelID, id memory.MessageID) error {
	_, err := t.dropCondensedWhere("channel IN (SELECT channel FROM condensed_source WHERE channel = ? AND message = ?)", int64(channel), int64(id))
	return err
}

// dropCondensedWhere takes away what a condition holds for, and tells how much.
func (t *transaction) dropCondensedWhere(where string, args ...any) (int, error) {
	var gone []int64
	err := t.each(func(scan func(...any) error) error {
		var channel int64
		err := scan(&channel)
		gone = append(gone, channel)
		return err
	}, "DELETE FROM condensed WHERE "+where+" RETURNING channel", args...)
	if err != nil {
		return 0, err
	}
	for _, channel := range gone {
		t.changed.text = true
		if err := t.exec("DELETE FROM condensed_source WHERE channel = ?", channel); err != nil {
			return 0, err
		}
	}
	return len(gone), nil
}

// condensedCovered is for what sessions were condensed to what summaryCovered is for summaries.
const condensedCovered = `channel IN (SELECT s.channel FROM condensed_source s WHERE s.channel IN (SELECT value FROM json_each(?1)) AND s.message < ?2
	AND (?3 = 0 OR EXISTS (SELECT 1 FROM channel c CROSS JOIN said m ON m.channel = c.no AND m.id = s.message WHERE c.id = s.channel AND m.author = ?3)))`

// dropCoveredCondensed takes away what falls under the order. It comes before the messages are doomed, as dropCoveredSummaries does.
func (b *beginning) dropCoveredCondensed() error {
	n, err := b.dropCondensedWhere(condensedCovered, b.args()...)
	b.Summaries += n
	return err
}

// Condensed implements memory.Store.
func (s *Store) Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error) {
	all, err := s.condensed(ctx, channel)
	if err != nil {
		return nil, fmt.Errorf("read what sessions were condensed to: %w", explain(err))
	}
	return all, nil
}

func (s *Store) condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, `SELECT c.channel, c.until, c.made, c.model, c.text, o.message, o.edited FROM condensed c
		JOIN condensed_source o ON o.channel = c.channel WHERE ?1 IN (0, c.channel) ORDER BY c.channel, o.message`, int64(channel))
	if err != nil {
		return nil, err
	}
	var all []memory.Condensed
	return all, eachRow(rows, func(scan func(...any) error) error {
		var next memory.Condensed
		var made int64
		var source memory.SummarySource
		if err := scan(&next.Channel, &next.Until, &made, &next.Model, &next.Text, &source.Message, &source.Edited); err != nil {
			return err
		}
		if n := len(all); n == 0 || all[n-1].Channel != next.Channel {
			next.Guild, _, _ = s.place(next.Channel)
			next.Made = fromMillis(made)
			all = append(all, next)
		}
		last := &all[len(all)-1]
		last.Sources = append(last.Sources, source)
		return nil
	})
}
