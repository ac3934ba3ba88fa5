package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

// FullText implements memory.Store.
func (s *Store) FullText(ctx context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error) {
	if len(terms) == 0 || limit <= 0 {
		return nil, nil
	}
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	q := TextQuery{Authors: scope.Authors, Limit: limit}
	hashes := Hashes(terms)
	q.Since, q.Until = s.bounds(ctx, scope)
	nos := s.numbers()
	var hits []memory.TextHit
	for _, q.Channels = range byGuild(s.channelNos(scope), ChannelBits) {
		q.Guild = nos.guildOf(q.Channels[0])
		q.Terms = strings.Fields(s.vault.keyed(q.Guild, hashes))
		found, err := s.engine.FindText(ctx, q)
		if err != nil {
			return nil, s.failed(err, "search the full text")
		}
		for _, m := range found {
			hits = append(hits, memory.TextHit{
				Channel: nos.ids[m.Channel],
				ID:      m.ID,
				Score:   m.Score,
			})
		}
	}
	slices.SortStableFunc(hits, func(a, b memory.TextHit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))], nil
}

// Frequencies implements memory.Store.
func (s *Store) Frequencies(ctx context.Context, scope memory.Scope, terms []string, limit int) (messages int,
	counts []int, err error) {
	if err := s.notice(ctx); err != nil {
		return 0, nil, err
	}
	counts = make([]int, len(terms))
	limit = max(limit, 0)
	nos := s.numbers()
	for _, channels := range byGuild(s.channelNos(scope), ChannelBits) {
		guild := nos.guildOf(channels[0])
		some := 0
		err := s.row(ctx, `SELECT coalesce(sum(messages), 0) FROM channel
			WHERE guild = ? AND no IN (SELECT value FROM json_each(?))`, guild, jsonOf(channels)).Scan(&some)
		if err != nil {
			return 0, nil, s.failed(err, "count messages")
		}
		messages += some
		for i, term := range terms {
			n, err := s.engine.CountText(ctx, TextQuery{
				Guild:    guild,
				Channels: channels,
				Terms:    []string{s.vault.keyed(guild, Hashes([]string{term}))},
				Limit:    limit,
			})
			if err != nil {
				return 0, nil, s.failed(err, "count a term")
			}
			counts[i] = min(limit, counts[i]+n)
		}
	}
	return messages, counts, nil
}

// byGuild splits ascending numbers by their guild's number, which is in front of the given bits.
func byGuild(nos []int64, bits int) (guilds [][]int64) {
	for len(nos) > 0 {
		n := slices.IndexFunc(nos, func(no int64) bool { return no>>bits != nos[0]>>bits })
		if n < 0 {
			n = len(nos)
		}
		guilds = append(guilds, nos[:n])
		nos = nos[n:]
	}
	return guilds
}

// bounds returns scope's times as ids; nil if they exclude nothing.
func (s *Store) bounds(ctx context.Context, scope memory.Scope) (since, until *memory.MessageID) {
	if !scope.Since.IsZero() {
		id := FirstAt(scope.Since)
		since = &id
	}
	if !scope.Until.IsZero() {
		if id := FirstAt(scope.Until); id <= s.newestMessage(ctx) {
			until = &id
		}
	}
	return since, until
}

// newestMessage returns an upper bound of all message ids. On failure it is the greatest possible id.
func (s *Store) newestMessage(ctx context.Context) memory.MessageID {
	s.mu.RLock()
	newest := s.newest
	read := s.newestRead
	written := s.othersWrote.Load()
	s.mu.RUnlock()
	if read {
		return newest
	}
	// The index gives each channel's maximum at once.
	err := s.row(ctx, `SELECT coalesce(max(newest), 0) FROM (SELECT (SELECT max(m.id) FROM message m
		WHERE m.guild = c.guild AND m.channel = c.no) AS newest FROM channel c) AS each_channel`).Scan(&newest)
	if err != nil {
		return 1<<63 - 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = max(s.newest, newest)
	if s.othersWrote.Load() != written { // there may be newer ones
		return 1<<63 - 1
	}
	s.newestRead = true
	return s.newest
}

func inScope(scope memory.Scope, id memory.MessageID, author memory.UserID) bool {
	return (len(scope.Authors) == 0 || slices.Contains(scope.Authors, author)) &&
		(scope.Since.IsZero() || id >= FirstAt(scope.Since)) && (scope.Until.IsZero() || id < FirstAt(scope.Until))
}

// termsOf returns the rows that a query finds, and their terms.
func (t *transaction) termsOf(query string, args ...any) (rows []int64, terms []string) {
	var batch text.Batch
	t.each(func(scan Scanner) error {
		var m memory.Message
		var row, channel int64
		content, extra := t.store.vault.messageText(&m, func() int64 { return channel })
		err := scan(&row, &channel, &m.ID, &m.Kind, content, extra)
		rows = append(rows, row)
		terms = append(terms, indexTerms(&batch, m))
		return err
	}, query, args...)
	return rows, terms
}

// Starred implements memory.Store.
func (s *Store) Starred(ctx context.Context, scope memory.Scope, limit int) ([]memory.MessageRef, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	all := s.numbers()
	var spots []memory.MessageRef
	read := func(scan Scanner) error {
		var no int64
		var at memory.MessageRef
		var author memory.UserID
		if err := scan(&no, &at.Message, &author); err != nil {
			return err
		}
		if inScope(scope, at.Message, author) {
			at.Channel = all.ids[no]
			spots = append(spots, at)
		}
		return nil
	}
	for _, nos := range byGuild(s.channelNos(scope), ChannelBits) {
		err := Each(ctx, s.engine, read, `SELECT m.channel, m.id, m.author FROM json_each(?) j CROSS JOIN said m
			WHERE m.guild = ? AND m.channel = j.value AND m.starred = 1 AND m.kind IN (`+recalledKinds+")", jsonOf(nos),
			all.guildOf(nos[0]))
		if err != nil {
			return nil, s.failed(err, "read what is starred")
		}
	}
	slices.SortFunc(spots, func(a, b memory.MessageRef) int {
		return cmp.Or(cmp.Compare(b.Message, a.Message), cmp.Compare(a.Channel, b.Channel))
	})
	return spots[:min(max(limit, 0), len(spots))], nil
}
