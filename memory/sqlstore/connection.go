package sqlstore

import (
	"context"
	"encoding/hex"

	"hark/memory"
)

// connectionEvents are about members' tokens.
var connectionEvents = []handler{
	handle((*transaction).connect),
	handle((*transaction).useConnection),
}

// connect keeps a member's token, or that they took it back, unless that is forgotten.
func (t *transaction) connect(e memory.Connected) {
	if t.chooser(e.Guild, e.User, e.At) != 0 {
		t.putNewer(connectionTable, e.Guild, e.User, e.Hash.String(), millis(e.At), 0, 0)
	}
}

func (t *transaction) useConnection(e memory.ConnectionUsed) {
	t.exec(`UPDATE connection SET uses = max(uses, ?), used = max(used, ?)
		WHERE guild = ? AND user = ? AND hash = ? AND hash <> ''`,
		e.Uses, millis(e.At), e.Guild, e.User, e.Hash.String())
}

// takeConnections takes over the tokens of the replaced database, which knows later of those that both have.
func (t *transaction) takeConnections(*Taken) {
	if t.isOld(connectionTable) {
		t.exec(connectionTable.upsert("SELECT "+connectionTable.columns+" FROM old.connection WHERE true") +
			" WHERE excluded.at >= connection.at")
	}
}

// Member implements memory.Store.
func (s *Store) Member(ctx context.Context, guild memory.GuildID, user memory.UserID) (m memory.Member, err error) {
	const query = `SELECT 0 AS out, hash, at, uses, used FROM connection WHERE guild = ?1 AND user = ?2
		UNION ALL SELECT 1, '', 0, 0, 0 FROM opted WHERE guild = ?1 AND user = ?2 AND out = 1`
	read := func(scan Scanner) error {
		var out bool
		var c memory.Connection
		var hash string
		err := scan(&out, &hash, asTime{&c.At}, &c.Uses, asTime{&c.Used})
		if err != nil {
			return err
		}
		if out {
			m.OptedOut = true
			return nil
		}
		m.Connection = c
		_, err = hex.Decode(m.Connection.Hash[:], []byte(hash))
		return err
	}
	err = Each(ctx, s.engine, read, query, guild, user)
	return m, s.failed(err, "read what user %d decided", user)
}
