package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"hark/memory"
)

// loreKey is which lore.
type loreKey struct {
	guild memory.GuildID
	id    int64
}

// tellLore keeps lore, or its newer version, unless it was taken away, falls under what was forgotten, or was said by
// somebody who has opted out.
func (t *transaction) tellLore(l memory.Lore) error {
	d, err := t.decisions()
	if err != nil || d.out[member{l.Guild, l.By}] {
		return err
	}
	var taken bool
	var last memory.MessageID
	known, err := found(t.row("SELECT text IS NULL, at FROM lore WHERE guild = ? AND id = ?", int64(l.Guild), l.ID).Scan(&taken, &last))
	at := memory.FirstMessageID(l.At)
	if err != nil || taken || known && at <= last {
		return err
	}
	where := spot{guild: l.Guild, channel: l.Channel}
	if c, err := t.knownChannel(l.Channel); err != nil {
		return err
	} else if c != nil {
		where.parent = c.parent
	}
	if d.forgotten(where, at, l.By) {
		return nil
	}
	for _, s := range l.Sources {
		if gone, err := t.isGone(l.Guild, s.Channel, s.Message); err != nil {
			return err
		} else if gone {
			return t.takeLore(l.Guild, l.ID)
		}
	}
	if _, err := t.guildNo(l.Guild); err != nil {
		return err
	}
	if known {
		if _, err := t.dropAnswersByLore([]int64{l.ID}); err != nil {
			return err
		}
	}
	return t.putLore(l, at)
}

// putLore writes lore in the place of its older version.
func (t *transaction) putLore(l memory.Lore, at memory.MessageID) error {
	own, err := json.Marshal(l.Own)
	if err != nil {
		return err
	}
	if err := t.eraseLore(loreKey{l.Guild, l.ID}); err != nil { // what it said before
		return err
	}
	if err := t.exec("INSERT INTO lore (guild, id, by, channel, at, name, own, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		int64(l.Guild), l.ID, int64(l.By), int64(l.Channel), int64(at), l.Name, string(own), l.Text); err != nil {
		return err
	}
	for _, s := range l.Sources {
		if err := t.exec("INSERT INTO lore_source (guild, lore, channel, message) VALUES (?, ?, ?, ?)", int64(l.Guild), l.ID, int64(s.Channel), int64(s.Message)); err != nil {
			return err
		}
	}
	return nil
}

// takeLore takes lore away for good, with the answers that used it: of it only its id stays.
func (t *transaction) takeLore(guild memory.GuildID, id int64) error {
	if _, err := t.dropAnswersByLore([]int64{id}); err != nil {
		return err
	}
	return t.buryLore(loreKey{guild, id})
}

// buryLore leaves nothing of lore but its id, under which none is kept any more.
func (t *transaction) buryLore(k loreKey) error {
	if err := t.eraseLore(k); err != nil {
		return err
	}
	return t.exec("INSERT INTO lore (guild, id, by, channel, at, name, own, text) VALUES (?, ?, 0, 0, 0, '', '', NULL)", int64(k.guild), k.id)
}

// eraseLore leaves nothing of lore.
func (t *transaction) eraseLore(k loreKey) error {
	t.changed.person(k.guild)
	t.changed.text = true
	for _, query := range []string{"DELETE FROM lore WHERE guild = ? AND id = ?", "DELETE FROM lore_source WHERE guild = ? AND lore = ?"} {
		if err := t.exec(query, int64(k.guild), k.id); err != nil {
			return err
		}
	}
	return nil
}

// dropAnswersByLore deletes the answers that used lore, in whatever guild they were given, and tells how many.
func (t *transaction) dropAnswersByLore(ids []int64) (int, error) {
	return t.deleteAnswers(`SELECT t.body FROM trace t WHERE t.body LIKE '%"lore":[%'
		AND EXISTS (SELECT 1 FROM json_each(t.body, '$.lore') l WHERE l.value IN (SELECT value FROM json_each(?)))`, jsonOf(ids))
}

// dropLore takes away the lore that a message is a source of.
func (t *transaction) dropLore(channel memory.ChannelID, id memory.MessageID) error {
	_, _, err := t.dropLoreWhere(t.buryLore, "(guild, id) IN (SELECT guild, lore FROM lore_source WHERE channel = ? AND message = ?)", int64(channel), int64(id))
	return err
}

// dropLoreWhere has drop take away the lore that a condition holds for, and deletes the answers that used it. It tells
// how many there were of each.
func (t *transaction) dropLoreWhere(drop func(loreKey) error, where string, args ...any) (lore, answers int, err error) {
	var keys []loreKey
	var ids []int64
	err = t.each(func(scan func(...any) error) error {
		var k loreKey
		err := scan(&k.guild, &k.id)
		keys, ids = append(keys, k), append(ids, k.id)
		return err
	}, "SELECT guild, id FROM lore WHERE text IS NOT NULL AND ("+where+")", args...)
	if err != nil || len(keys) == 0 {
		return 0, 0, err
	}
	for _, k := range keys {
		if err := drop(k); err != nil {
			return 0, 0, err
		}
	}
	answers, err = t.dropAnswersByLore(ids)
	return len(keys), answers, err
}

// The conditions for lore that falls under an order by itself, and by a source. The arguments are the ids of the channels
// that the order is about, as JSON, its end, user, guild and channel.
const (
	loreCovered = `at < ?2 AND ?3 IN (0, by) AND ?4 IN (guild, -1) AND (?5 IN (0, channel) OR channel IN (SELECT value FROM json_each(?1)))`

	loreSourceCovered = `(guild, id) IN (SELECT s.guild, s.lore FROM lore_source s WHERE s.channel IN (SELECT value FROM json_each(?1)) AND s.message < ?2
		AND (?3 = 0 OR EXISTS (SELECT 1 FROM channel c CROSS JOIN said m ON m.channel = c.no AND m.id = s.message WHERE c.id = s.channel AND m.author = ?3)))`
)

// dropCoveredLore takes away the lore that falls under the order. It comes before the messages are doomed, which it asks
// for their authors. Of lore that falls under it by itself the order keeps out all that was told before, so that what is
// told under its id later may stay; of other lore an older version might come back.
func (b *beginning) dropCoveredLore() error {
	for _, step := range []struct {
		drop  func(loreKey) error
		where string
	}{{b.eraseLore, loreCovered}, {b.buryLore, loreSourceCovered}} {
		lore, answers, err := b.dropLoreWhere(step.drop, step.where, b.args(int64(b.of.guild), int64(b.of.channel))...)
		if err != nil {
			return err
		}
		b.Lore += lore
		b.Answers += answers
	}
	return nil
}

// selectLore reads lore with its sources, a row each, of a guild, or with a condition on l.
const selectLore = `SELECT l.id, l.guild, l.name, l.text, l.own, l.by, l.channel, l.at, s.channel, s.message
	FROM %[1]slore l LEFT JOIN %[1]slore_source s ON s.guild = l.guild AND s.lore = l.id
	WHERE l.text IS NOT NULL AND %[2]s ORDER BY l.guild, l.id, s.channel, s.message`

// addLore adds what a row of selectLore tells to lore.
func addLore(scan func(...any) error, lore *[]memory.Lore) error {
	var l memory.Lore
	var own []byte
	var at memory.MessageID
	var channel, message sql.NullInt64
	if err := scan(&l.ID, &l.Guild, &l.Name, &l.Text, &own, &l.By, &l.Channel, &at, &channel, &message); err != nil {
		return err
	}
	if n := len(*lore); n == 0 || (*lore)[n-1].ID != l.ID || (*lore)[n-1].Guild != l.Guild {
		if err := json.Unmarshal(own, &l.Own); err != nil {
			return fmt.Errorf("the aliases of lore %d: %w", l.ID, err)
		}
		l.At = at.Time()
		*lore = append(*lore, l)
	}
	if channel.Valid {
		last := &(*lore)[len(*lore)-1]
		last.Sources = append(last.Sources, memory.Spot{Channel: memory.ChannelID(channel.Int64), Message: memory.MessageID(message.Int64)})
	}
	return nil
}

// Lore implements memory.Store.
func (s *Store) Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	lore, ok := s.lore[guild]
	version := s.peopleVersion
	s.mu.RUnlock()
	if ok {
		return lore, nil
	}
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(selectLore, "", "l.guild = ?"), int64(guild))
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error { return addLore(scan, &lore) })
	}
	if err != nil {
		return nil, fmt.Errorf("read the lore of guild %d: %w", guild, explain(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peopleVersion == version { // nothing was written meanwhile
		s.lore[guild] = lore
	}
	return lore, nil
}

// takeOldLore takes away what the database that is replaced knows to be gone, and takes over what changed there since.
func (t *transaction) takeOldLore(r *Restored) error {
	var gone []loreKey
	err := t.each(func(scan func(...any) error) error {
		var k loreKey
		err := scan(&k.guild, &k.id)
		gone = append(gone, k)
		return err
	}, `SELECT guild, id FROM old.lore o WHERE o.text IS NULL AND NOT EXISTS
		(SELECT 1 FROM main.lore l WHERE l.guild = o.guild AND l.id = o.id AND l.text IS NULL)`)
	if err != nil {
		return err
	}
	for _, k := range gone {
		if err := t.takeLore(k.guild, k.id); err != nil {
			return err
		}
	}
	var changed []memory.Lore
	err = t.each(func(scan func(...any) error) error { return addLore(scan, &changed) },
		fmt.Sprintf(selectLore, "old.", "EXISTS (SELECT 1 FROM main.lore m WHERE m.guild = l.guild AND m.id = l.id AND m.text IS NOT NULL AND m.at < l.at)"))
	if err != nil {
		return err
	}
	for _, l := range changed {
		if err := t.tellLore(l); err != nil {
			return err
		}
	}
	r.Lore += len(gone) + len(changed)
	return nil
}
