package sqlstore

import (
	"context"

	"hark/memory"
)

// summaryEvents are about summaries and condensed sessions.
var summaryEvents = []handler{
	handle((*transaction).summarise),
	handle((*transaction).condense),
	handle((*transaction).endSession),
}

// summarise records how far a channel is summarised, and keeps the summary if its sources are unchanged. Else
// the range goes to the backlog.
func (t *transaction) summarise(e memory.Summarised) {
	c := t.knownChannel(e.Channel)
	if c == nil { // forgotten with its guild
		return
	}
	t.exec("UPDATE channel SET summarised = max(summarised, ?) WHERE guild = ? AND no = ?", e.Until, c.guild, c.no)
	if e.Summary == nil {
		t.makeRoom(c.guild, e)
		t.exec("DELETE FROM summary WHERE guild = ? AND channel = ? AND id = ? AND text IS NULL",
			c.guild, e.Channel, e.Until)
		return
	}
	s := e.Summary
	sources := summarySources(e.Channel, s.Sources)
	switch {
	case t.has("SELECT 1 FROM summary WHERE guild = ? AND channel = ? AND id = ? AND made >= ?", c.guild, e.Channel,
		e.Until, millis(s.Made)):
	case !t.areSame(c.guild, sources):
		t.exec(`INSERT INTO summary (guild, channel, id, after, made, model, kind, topics)
			VALUES (?, ?, ?, ?, 0, '', '', '') ON CONFLICT DO NOTHING`, c.guild, e.Channel, e.Until, e.After)
	default:
		t.makeRoom(c.guild, e)
		t.changed.Text = true // the replaced text
		t.put(table{"summary", 3, "channel, id, guild, after, made, model, kind, topics, text"},
			s.Channel, s.ID, c.guild, e.After, millis(s.Made), s.Model, s.Kind,
			t.seal(at("summary", "topics", s.Channel, s.ID), t.jsonText(s.Topics)),
			t.seal(at("summary", "text", s.Channel, s.ID), s.Text))
		t.derive(derived{
			kind:    aSummary,
			guild:   c.guild,
			channel: c.channel,
			id:      int64(e.Until),
		}, sources, nil)
	}
}

func summarySources(channel memory.ChannelID, from []memory.SummarySource) []memory.Source {
	all := make([]memory.Source, len(from))
	for i, s := range from {
		all[i] = memory.Source{
			Kind:    memory.SourceMessage,
			Channel: channel,
			ID:      int64(s.Message),
			Version: s.Edited,
			Repeats: true,
		}
	}
	return all
}

// makeRoom deletes the summaries that the new one replaces or that exceed the channel's limit.
func (t *transaction) makeRoom(guild memory.GuildID, e memory.Summarised) {
	for _, id := range e.Evicted {
		t.changed.Text = true
		t.underive(derived{
			kind:    aSummary,
			guild:   guild,
			channel: e.Channel,
			id:      int64(id),
		})
		t.exec("DELETE FROM summary WHERE guild = ? AND channel = ? AND id = ? AND text IS NOT NULL", guild, e.Channel, id)
	}
}

// Summaries implements memory.Store.
func (s *Store) Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	guild, _, ok := s.channelNo(channel)
	if !ok {
		return nil, nil
	}
	read := func(scan Scanner, next *memory.Summary) error {
		next.Guild = guild
		next.Channel = channel
		opened := func(name string, to any) any {
			return s.vault.opened(to, func() Place { return at("summary", name, channel, next.ID) })
		}
		err := scan(&next.ID, asTime{&next.Made}, &next.Model, &next.Kind, opened("topics", asJSON{&next.Topics}),
			opened("text", &next.Text), asJSON{&next.Sources})
		return rowError(err, "summary", next.ID)
	}
	all, err := list(ctx, s.engine, read, "SELECT s.id, s.made, s.model, s.kind, s.topics, s.text, "+sourcesColumn+`
		FROM summary s CROSS JOIN derived d WHERE s.guild = ?1 AND s.channel = ?2 AND s.text IS NOT NULL
		AND d.guild = ?1 AND d.kind = ?3 AND d.place = ?2 AND d.id = s.id ORDER BY s.id`, guild, channel, aSummary)
	return all, s.failed(err, "read the summaries of channel %d", channel)
}

// SummaryBacklog implements memory.Store.
func (s *Store) SummaryBacklog(ctx context.Context, since memory.MessageID) ([]memory.Stretch, error) {
	all, err := list(ctx, s.engine, func(scan Scanner, next *memory.Stretch) error {
		return scan(&next.Guild, &next.Channel, &next.After, &next.Until, &next.Again)
	}, `SELECT c.guild, c.id, s.after, s.id, 1 AS again FROM summary s CROSS JOIN channel c
		WHERE s.text IS NULL AND c.guild = s.guild AND c.id = s.channel
		UNION ALL SELECT * FROM (SELECT c.guild, c.id, iif(c.summarised > 0, c.summarised, ?1) AS after,
			(SELECT m.id FROM said m WHERE m.guild = c.guild AND m.channel = c.no
			AND m.id > iif(c.summarised > 0, c.summarised, ?1) AND m.kind IN (`+
		recalledKinds+`) ORDER BY m.id DESC LIMIT 1) AS last, 0 FROM channel c) AS fresh
		WHERE last IS NOT NULL ORDER BY 5 DESC, 4, 2`, max(int64(since)-1, 0))
	return all, s.failed(err, "read what is to be summed up")
}

// condense keeps a condensed session if all its sources are unchanged.
func (t *transaction) condense(e memory.SessionCondensed) {
	c := e.Condensed
	at := t.knownChannel(c.Channel)
	if at == nil { // forgotten with its guild
		return
	}
	sources := summarySources(c.Channel, c.Sources)
	made := value[int64](t, "SELECT made FROM condensed WHERE guild = ? AND channel = ?", at.guild, c.Channel)
	if made >= millis(c.Made) || !t.areSame(at.guild, sources) {
		return
	}
	t.changed.Text = true
	t.put(table{"condensed", 2, "channel, guild, until, made, model, text"}, c.Channel, at.guild, c.Until, millis(c.Made),
		c.Model, t.seal(atID("condensed", "text", c.Channel), c.Text))
	t.derive(derived{
		kind:    aCondensed,
		guild:   at.guild,
		channel: c.Channel,
	}, sources, nil)
}

// endSession deletes the condensed session of a channel.
func (t *transaction) endSession(e memory.CondensedGone) {
	guild := t.guildAt(e.Guild, e.Channel)
	t.invalidate(selects(guild, `SELECT d.guild, d.no AS derived, 0 AS repeats, 0 AS itself
		FROM condensed c CROSS JOIN derived d WHERE c.guild = ?1 AND c.channel = ?2 AND c.until <= ?3
		AND d.guild = ?1 AND d.kind = ?4 AND d.place = ?2`, guild, e.Channel, e.Until, aCondensed), cause{})
}

// Condensed implements memory.Store.
func (s *Store) Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	read := func(scan Scanner, c *memory.Condensed) error {
		text := s.vault.opened(&c.Text, func() Place { return atID("condensed", "text", c.Channel) })
		err := scan(&c.Channel, &c.Until, asTime{&c.Made}, &c.Model, text, asJSON{&c.Sources})
		c.Guild, _, _ = s.channelNo(c.Channel)
		return err
	}
	all, err := list(ctx, s.engine, read, "SELECT c.channel, c.until, c.made, c.model, c.text, "+sourcesColumn+`
		FROM condensed c CROSS JOIN derived d WHERE (c.guild = ?1 OR ?1 = -1) AND (c.channel = ?2 OR ?2 = 0)
		AND d.guild = c.guild AND d.kind = ?3 AND d.place = c.channel ORDER BY c.channel`,
		s.guildOf(channel), channel, aCondensed)
	return all, s.failed(err, "read what sessions were condensed to")
}
