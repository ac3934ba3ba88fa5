package sqlstore

import (
	"context"

	"hark/memory"
)

func (t *transaction) keepExternalID(e memory.ExternalIDSeen) {
	name := memory.Clean(e.ExternalID)
	known, err := t.store.messageByExternalID(t.ctx, t, e.Channel, name)
	ensure(err)
	if known != 0 {
		return
	}
	t.exec(`INSERT INTO external_id (channel, id, name, token) SELECT ?1, ?2, ?3, ?4
		WHERE EXISTS (SELECT 1 FROM channel c JOIN said m ON m.channel = c.no AND m.id = ?2 WHERE c.id = ?1)
		ON CONFLICT DO NOTHING`, e.Channel, e.ID, t.seal(at("external_id", "name", e.Channel, e.ID), name),
		t.store.vault.token(e.Channel, name))
}

// ExternalIDs implements memory.Store.
func (s *Store) ExternalIDs(ctx context.Context, channel memory.ChannelID, messages []memory.MessageID,
	ids ...string) (map[memory.MessageID]string, error) {
	q := s.inGuildOf(channel)
	found := map[memory.MessageID]string{}
	for _, name := range ids {
		id, err := s.messageByExternalID(ctx, q, channel, memory.Clean(name))
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
	err := Each(ctx, q, func(scan Scanner) error {
		var id memory.MessageID
		var name string
		err := scan(&id, s.vault.opened(&name, func() Place { return at("external_id", "name", channel, id) }))
		found[id] = name
		return err
	}, "SELECT id, name FROM external_id WHERE channel = ? AND id IN (SELECT value FROM json_each(?))", channel,
		jsonOf(messages))
	return found, s.failed(err, "read the external ids of messages")
}

// messageByExternalID returns the message of a channel with an external id; 0 if there is none.
func (s *Store) messageByExternalID(ctx context.Context, q Querier, channel memory.ChannelID,
	name string) (id memory.MessageID, err error) {
	query := "SELECT id FROM external_id WHERE channel = ? AND name = ?"
	var as any = name
	if s.vault != nil {
		query = "SELECT id FROM external_id WHERE channel = ? AND token = ?"
		as = s.vault.token(channel, name)
	}
	_, err = Found(RowOf(ctx, q, query, channel, as).Scan(&id))
	return id, err
}
