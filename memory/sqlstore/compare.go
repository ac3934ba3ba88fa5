package sqlstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"maps"
	"slices"

	"hark/memory"
)

// compare returns errDiffers unless both stores have the same rows.
func (m *mover) compare(ctx context.Context) error {
	total, err := m.count(ctx, "message")
	if err != nil {
		return m.from.failed(err, "compare")
	}
	done := 0
	for _, table := range m.tables() {
		count := func(of string) {
			if of == "" {
				return
			}
			done++
			if done%movedRows == 0 || done == 2*total {
				m.progress("comparing", done, 2*total)
			}
		}
		columns, err := m.columns(ctx, table)
		if err != nil {
			return err
		}
		slices.Sort(columns) // as the schemas may order them otherwise
		want, err := table.sums(ctx, m.from.vault, m.read, columns, count)
		if err != nil {
			return m.from.failed(err, "compare the table %s", table.name)
		}
		got, err := table.sums(ctx, m.to.vault, m.to.engine, columns, count)
		if err != nil {
			return m.to.failed(err, "compare the table %s", table.name)
		}
		if !maps.Equal(want, got) {
			return fmt.Errorf("the table %s differs: %w", table.name, errDiffers)
		}
		for _, s := range got {
			switch table.name {
			case "guild":
				m.moved.Guilds = s.rows
			case "channel":
				m.moved.Channels = s.rows
			case "message":
				m.moved.Messages += s.rows
			}
		}
	}
	return nil
}

type sum struct {
	rows int
	hash [sha256.Size]byte
}

// sums returns the number of rows and their hash: of messages by channel, of other tables as a whole.
func (table moved) sums(ctx context.Context, v *Vault, of Querier, columns []string,
	counted func(channel string)) (map[string]sum, error) {
	hashes := map[string]hash.Hash{}
	sums := map[string]sum{}
	var line bytes.Buffer
	err := table.each(ctx, v, of, columns, nil, "", func(row []any) bool {
		group := ""
		if table.name == "message" {
			group = fmt.Sprint(row[slices.Index(columns, "channel")])
		}
		if hashes[group] == nil {
			hashes[group] = sha256.New()
		}
		line.Reset()
		for _, v := range row {
			fmt.Fprintf(&line, "%T %q\n", v, fmt.Sprint(v))
		}
		hashes[group].Write(line.Bytes())
		s := sums[group]
		s.rows++
		sums[group] = s
		counted(group)
		return true
	})
	for group, s := range sums {
		hashes[group].Sum(s.hash[:0])
		sums[group] = s
	}
	return sums, err
}

// Verify decrypts everything in a sealed memory, and returns an error that names the first value that isn't what was
// sealed in its place. It does nothing in a memory without a key.
func Verify(ctx context.Context, s *Store) error {
	if s.vault == nil {
		return nil
	}
	for _, t := range sealedTables {
		columns := append(t.keyColumns(), t.columns...)
		table := moved{name: t.name, key: t.key}
		err := table.each(ctx, s.vault, s.engine, columns, nil, "", func([]any) bool { return true })
		if err != nil {
			return s.failed(err, "verify what is sealed")
		}
	}
	use, next, err := Spaces(ctx, s.engine)
	for i, space := range []memory.Space{use, next} {
		for after := int64(-1); err == nil && space != (memory.Space{}); {
			var some []vector
			some, err = s.vault.readVectors(ctx, s.engine, memory.Everywhere, setOf(i > 0), space, after, movedRows)
			if len(some) == 0 {
				break
			}
			after = some[len(some)-1].segment
		}
	}
	return s.failed(err, "verify what is sealed")
}
