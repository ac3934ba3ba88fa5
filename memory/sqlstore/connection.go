package sqlstore

import (
	"context"
	"encoding/hex"
	"fmt"

	"hark/memory"
)

// connectionEvents are about members' tokens.
var connectionEvents = []handler{
	handle((*transaction).connect),
	handle((*transaction).useConnection),
}

// connect keeps a member's token, or that they took it back, unless that is forgotten.
func (t *transaction) connect(e memory.Connected) {
	if t.chooser(e.Guild, e.User, e.At) == 0 {
		return
	}
	t.exec(connectionTable.upsertNewer(values(6))+" OR excluded.at = connection.at AND excluded.hash = ''",
		e.Guild, e.User, e.Hash.String(), millis(e.At), 0, 0)
}

func (t *transaction) useConnection(e memory.ConnectionUsed) {
	t.exec(`UPDATE connection SET uses = max(uses, ?), used = max(used, ?)
		WHERE guild = ? AND user = ? AND hash = ? AND hash <> ''`,
		e.Uses, millis(e.At), e.Guild, e.User, e.Hash.String())
}

// asHash scans a column of a token's hash.
type asHash struct{ *memory.TokenHash }

func (a asHash) Scan(from any) error {
	text, isText := from.(string)
	if !isText {
		return fmt.Errorf("%T where a hash should be", from)
	}
	*a.TokenHash = memory.TokenHash{}
	_, err := hex.Decode(a.TokenHash[:], []byte(text))
	return err
}

// Member implements memory.Store.
func (s *Store) Member(ctx context.Context, guild memory.GuildID, user memory.UserID) (m memory.Member, err error) {
	const query = `SELECT 0 AS out, hash, at, uses, used FROM connection WHERE guild = ?1 AND user = ?2
		UNION ALL SELECT 1, '', 0, 0, 0 FROM opted WHERE guild = ?1 AND user = ?2 AND out = 1`
	read := func(scan Scanner) error {
		var out bool
		var c memory.Connection
		err := scan(&out, asHash{&c.Hash}, asTime{&c.At}, &c.Uses, asTime{&c.Used})
		if out {
			m.OptedOut = true
		} else {
			m.Connection = c
		}
		return err
	}
	err = Each(ctx, s.engine, read, query, guild, user)
	return m, s.failed(err, "read what user %d decided", user)
}
