package sqlstore

import (
	"context"

	"hark/memory"
)

func (t *transaction) keepExternalID(e memory.ExternalIDSeen) {
	c := t.knownChannel(e.Channel)
	if c == nil {
		return
	}
	name := memory.Clean(e.ExternalID)
	known, err := t.store.messageByExternalID(t.ctx, t, c.guild, e.Channel, name)
	ensure(err)
	if known != 0 {
		return
	}
	m := t.stored(c, e.ID)
	if m.row == 0 || m.pendingDeletion {
		return
	}
	t.exec("INSERT INTO external_id (guild, channel, id, name, token) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		c.guild, e.Channel, e.ID, t.seal(at("external_id", "name", e.Channel, e.ID), name),
		t.store.vault.token(e.Channel, name))
}

// ExternalIDs implements memory.Store.
func (s *Store) ExternalIDs(ctx context.Context, channel memory.ChannelID, messages []memory.MessageID,
	ids ...string) (map[memory.MessageID]string, error) {
	guild, _, ok := s.channelNo(channel)
	found := map[memory.MessageID]string{}
	if !ok {
		return found, nil
	}
	for _, name := range ids {
		id, err := s.messageByExternalID(ctx, s.engine, guild, channel, memory.Clean(name))
		if err != nil {
			return nil, s.failed(err, "message %q of channel %d", name, channel)
		}
		if id != 0 {
			found[id] = name
		}
	}
	if len(messages) == 0 {
		return found, nil
	}
	read := func(scan Scanner) error {
		var id memory.MessageID
		var name string
		err := scan(&id, s.vault.opened(&name, func() Place { return at("external_id", "name", channel, id) }))
		found[id] = name
		return err
	}
	err := Each(ctx, s.engine, read, `SELECT id, name FROM external_id
		WHERE guild = ? AND channel = ? AND id IN (SELECT value FROM json_each(?))`, guild, channel, jsonOf(messages))
	return found, s.failed(err, "read the external ids of messages")
}

// messageByExternalID returns the message of a channel with an external id; 0 if there is none.
func (s *Store) messageByExternalID(ctx context.Context, q Querier, guild memory.GuildID, channel memory.ChannelID,
	name string) (id memory.MessageID, err error) {
	query := "SELECT id FROM external_id WHERE guild = ? AND channel = ? AND name = ?"
	var as any = name
	if s.vault != nil {
		query = "SELECT id FROM external_id WHERE guild = ? AND channel = ? AND token = ?"
		as = s.vault.token(channel, name)
	}
	_, err = Found(RowOf(ctx, q, query, guild, channel, as).Scan(&id))
	return id, err
}
