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

// Connection implements memory.Store.
func (s *Store) Connection(ctx context.Context, guild memory.GuildID,
	user memory.UserID) (c memory.Connection, err error) {
	var hash string
	found, err := Found(RowOf(ctx, s.engine.In(guild), `SELECT hash, at, uses, used FROM connection
		WHERE guild = ? AND user = ?`, guild, user).Scan(&hash, asTime{&c.At}, &c.Uses, asTime{&c.Used}))
	if err == nil && found {
		_, err = hex.Decode(c.Hash[:], []byte(hash))
	}
	return c, s.failed(err, "read the connection of user %d", user)
}
