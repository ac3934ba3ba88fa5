package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"hark/memory"
)

// Starred implements memory.Store.
func (s *Store) Starred(ctx context.Context, scope memory.Scope, limit int) ([]memory.MessageRef, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	ids := s.channelIDs()
	// Other guilds' newest could fill a limit by id, so SQLite filters kinds and times.
	var spots []memory.MessageRef
	err := Each(ctx, s.engine, func(scan Scanner) error {
		var no int64
		var at memory.MessageRef
		var author memory.UserID
		if err := scan(&no, &at.Message, &author); err != nil {
			return err
		}
		if inScope(scope, at.Message, author) {
			at.Channel = ids[no]
			spots = append(spots, at)
		}
		return nil
	}, `SELECT m.channel, m.id, m.author FROM json_each(?) j CROSS JOIN said m ON m.channel = j.value
		WHERE m.starred = 1 AND m.kind IN (`+recalledKinds+")", jsonOf(s.channelNos(scope)))
	if err != nil {
		return nil, s.failed(err, "read what is starred")
	}
	slices.SortFunc(spots, func(a, b memory.MessageRef) int {
		return cmp.Or(cmp.Compare(b.Message, a.Message), cmp.Compare(a.Channel, b.Channel))
	})
	return spots[:min(max(limit, 0), len(spots))], nil
}
