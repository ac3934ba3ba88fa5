package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"hark/memory"
	"hark/memory/vectors"
)

// vector is a segment's vector, as it is stored.
type vector struct {
	guild            memory.GuildID
	segment, channel int64
	first, last      memory.MessageID // the segment's messages lie between them
	steps, sketch    []byte           // see vectors.Encoder
}

func setOf(shadow bool) vectorSet {
	if shadow {
		return shadowSet
	}
	return activeSet
}

// putVector stores a vector.
func (t *transaction) putVector(to vectorSet, v vector) {
	if to == activeSet {
		t.noteVector(v.segment, vectors.Row{
			Channel: channelInGuild(v.channel),
			First:   v.first,
			Last:    v.last,
			Steps:   v.steps,
			Sketch:  v.sketch,
		})
	}
	sketch := t.store.vault.sealBytes(v.sketch, vectorPlace("sketch", v.segment))
	steps := t.store.vault.sealBytes(v.steps, vectorPlace("steps", v.segment))
	t.later("DELETE FROM "+to.table+" WHERE guild = ? AND segment = ?", v.guild, v.segment)
	t.later("INSERT INTO "+to.table+" (guild, segment, sketch, steps) VALUES (?, ?, ?, ?)", v.guild, v.segment, sketch,
		steps)
}

// guildOfSegment returns the guild of a segment's number.
func (t *transaction) guildOfSegment(id int64) memory.GuildID {
	return t.guildOfNo(id >> SegmentBits << ChannelBits)
}

// numberVectorChanges raises the versions of the guilds whose active vectors the transaction changes, so that other
// processes reload only those.
func (t *transaction) numberVectorChanges() {
	for guild, c := range t.vectors {
		t.row(`INSERT INTO vector_version (guild, version) VALUES (?, 1)
			ON CONFLICT (guild) DO UPDATE SET version = vector_version.version + 1 RETURNING version`, guild).into(&c.Version)
		t.vectors[guild] = c
	}
	if t.changed.space {
		t.exec("UPDATE vector_version SET version = version + 1")
	}
}

// dropVectors drops what a transaction that failed may have changed.
func (s *Store) dropVectors(changes map[int64]vectors.Change) {
	for guild := range changes {
		s.index.Drop(guild)
	}
}

// refreshVectors has the index drop what isn't as q reads it.
func (s *Store) refreshVectors(ctx context.Context, q Querier) error {
	guilds := s.index.Guilds()
	name, _, err := readSpaces(ctx, q)
	use := parseSpace(name)
	if err != nil || use != s.index.Space() {
		s.index.Reset(use)
		return err
	}
	if len(guilds) == 0 {
		return nil
	}
	versions, err := mapOf[int64, int64](ctx, q,
		"SELECT guild, version FROM vector_version WHERE guild IN (SELECT value FROM json_each(?))", jsonOf(guilds))
	if err != nil {
		s.index.Reset(use)
		return err
	}
	s.index.Refresh(guilds, versions)
	return nil
}

// Index returns the vectors in memory, for tests and measurements.
func Index(s *Store) *vectors.Index { return s.index }

// source reads vectors for the index.
type source struct{ *Store }

// isOfSpace is the condition that the active vectors are of a space.
const isOfSpace = "EXISTS (SELECT 1 FROM meta WHERE key = 'space' AND value = ?)"

const (
	loadFrom = ` FROM vector v JOIN segment s ON s.guild = v.guild AND s.id = v.segment
		WHERE v.guild = ? AND v.segment >= ? AND v.segment < ? AND ` + isOfSpace
	loadSteps    = "SELECT v.segment, s.channel, s.first, s.last, v.steps" + loadFrom
	loadSketches = "SELECT v.segment, s.channel, s.first, s.last, v.sketch" + loadFrom
)

// Load implements vectors.Source.
func (s source) Load(ctx context.Context, guild int64, space memory.Space, begin func(rows int) bool,
	put func(vectors.Row) error) (version int64, err error) {
	err = s.engine.Snapshot(ctx, func(q Querier) error {
		version, err = s.load(ctx, q, guild, space, begin, put)
		return err
	})
	return version, err
}

func (s source) load(ctx context.Context, q Querier, guild int64, space memory.Space, begin func(rows int) bool,
	put func(vectors.Row) error) (version int64, err error) {
	first := guild << SegmentBits
	end := (guild + 1) << SegmentBits
	// Without a row the version is 0.
	_, err = Found(RowOf(ctx, q, "SELECT version FROM vector_version WHERE guild = ?", guild).Scan(&version))
	if err != nil {
		return 0, err
	}
	of := s.numbers().guilds[guild]
	segments := 0
	err = RowOf(ctx, q, "SELECT count(*) FROM segment WHERE guild = ? AND id >= ? AND id < ?", of, first, end).
		Scan(&segments)
	if err != nil {
		return 0, err
	}
	exact := begin(segments)
	query := loadSketches
	part := "sketch"
	if exact {
		query = loadSteps
		part = "steps"
	}
	return version, Each(ctx, q, func(scan Scanner) error {
		var r vectors.Row
		var channel int64
		var stored sql.RawBytes
		if err := scan(&r.ID, &channel, &r.First, &r.Last, &stored); err != nil {
			return err
		}
		plain, err := s.vault.openBytes(stored, vectorPlace(part, r.ID))
		if err != nil {
			return err
		}
		if exact {
			r.Steps = plain
		} else {
			r.Sketch = plain
		}
		r.Channel = channelInGuild(channel)
		r.ID -= first
		return put(r)
	}, query, of, first, end, nameOfSpace(space))
}

// Steps implements vectors.Source.
func (s source) Steps(ctx context.Context, guild int64, space memory.Space, ids []int64,
	put func(id int64, steps []byte) error) error {
	first := guild << SegmentBits
	segments := make([]int64, len(ids))
	for i, id := range ids {
		segments[i] = first + id
	}
	slices.Sort(segments) // neighbours share a page
	return Each(ctx, s.engine, func(scan Scanner) error {
		var segment int64
		var stored sql.RawBytes
		if err := scan(&segment, &stored); err != nil {
			return err
		}
		steps, err := s.vault.openBytes(stored, vectorPlace("steps", segment))
		if err != nil {
			return err
		}
		return put(segment-first, steps)
	}, `SELECT v.segment, v.steps FROM json_each(?) j CROSS JOIN vector v
		WHERE v.guild = ? AND v.segment = j.value AND `+isOfSpace, jsonOf(segments), s.numbers().guilds[guild],
		nameOfSpace(space))
}

// readVectors returns the next limit vectors of a set after a segment, by segment, as q sees them: of a guild or of
// memory.Everywhere. They are decrypted.
func (v *Vault) readVectors(ctx context.Context, q Querier, guild memory.GuildID, from vectorSet, space memory.Space,
	after int64, limit int) ([]vector, error) {
	query := fmt.Sprintf(`SELECT v.guild, v.segment, s.channel, s.first, s.last, v.sketch, v.steps
		FROM %s v JOIN segment s ON s.guild = v.guild AND s.id = v.segment
		WHERE (v.guild = ?1 OR ?1 = -1) AND v.segment > ?2 ORDER BY v.segment LIMIT ?3`, from.table)
	return list(ctx, q, func(scan Scanner, to *vector) error {
		err := scan(&to.guild, &to.segment, &to.channel, &to.first, &to.last, &to.sketch, &to.steps)
		if err != nil {
			return err
		}
		sketch, err1 := v.openBytes(to.sketch, vectorPlace("sketch", to.segment))
		steps, err2 := v.openBytes(to.steps, vectorPlace("steps", to.segment))
		err = cmp.Or(err1, err2)
		if err == nil {
			err = vectors.Check(steps, sketch, space.Dimensions)
		}
		to.sketch = sketch
		to.steps = steps
		return rowError(err, "the vector of segment", to.segment)
	}, query, guild, after, limit)
}

// channelInGuild returns a channel's number in its guild.
func channelInGuild(no int64) uint32 { return uint32(no & (1<<ChannelBits - 1)) }
