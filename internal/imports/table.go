package imports

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"hark/memory"
)

// MessageTable is a SQLite database with a table of messages, as other bots keep them.
const MessageTable Kind = "SQLite table of messages"

// TableKnown is what reading a table of messages needs to know besides. A memory.Store is one.
type TableKnown interface {
	Known
	Guilds(ctx context.Context) ([]memory.GuildID, error)
	Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error)
	OptedOut(ctx context.Context, guild memory.GuildID, user memory.UserID) (bool, error)
}

// tableMagic begins every SQLite database.
const tableMagic = "SQLite format 3\x00"

// IsTable reports whether a file that begins with head is for ReadTable. 16 bytes tell.
func IsTable(head []byte) bool { return strings.HasPrefix(string(head), tableMagic) }

// ReadTable reads the table of messages in the SQLite database at path, which it doesn't change, and passes its events on as
// Read does. What tells of a message shows in the names of the columns; see columns. progress, if not nil, is told now and
// then how many rows of how many have been read.
//
// A channel of which neither the database nor what is remembered tells the server goes into memory.LocalGuild, under an id of
// its own, without the messages of those who have opted out anywhere.
func ReadTable(ctx context.Context, path string, known TableKnown, emit func([]memory.Event) error, progress func(done, total int64)) (Summary, error) {
	sum := Summary{Kind: MessageTable}
	if err := isWhole(path); err != nil {
		return sum, err
	}
	db, err := openTable(path)
	if err != nil {
		return sum, err
	}
	defer db.Close()
	f, err := findForm(ctx, db)
	if err != nil {
		return sum, tableFault(ctx, err, "the list of tables")
	}
	t := &table{form: f, db: db, known: known, guildOf: map[memory.ChannelID]memory.GuildID{}, rooms: map[string]room{}, folk: map[string]folk{}, out: map[memory.UserID]bool{}}
	if t.self, err = t.ownAuthor(ctx); err != nil {
		return sum, err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+quoteName(f.table)).Scan(&t.total); err != nil {
		return sum, tableFault(ctx, err, "the table "+f.table)
	}
	t.b = &batch{known: known, emit: emit, told: newSeen(), sum: sum, read: func() {
		if progress != nil {
			progress(t.done, t.total)
		}
	}}
	err = t.read(ctx)
	if ctx.Err() != nil {
		return t.b.sum, ctx.Err()
	}
	if t.b.failed {
		return t.b.sum, err
	}
	err = errors.Join(err, t.b.flush(ctx))
	if err == nil {
		err = t.b.sum.fault()
	}
	return t.b.sum, err
}

// isWhole reports whether a database has as many pages as it says of itself: those that are missing would read as empty.
// https://sqlite.org/fileformat.html#the_database_header
func isWhole(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, 100)
	if n, _ := file.ReadAt(head, 0); n < len(head) {
		return nil // which SQLite says better
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 65536
	}
	told := binary.BigEndian.Uint32(head[24:]) == binary.BigEndian.Uint32(head[92:]) // else the count isn't kept
	if pages := int64(binary.BigEndian.Uint32(head[28:])); told && info.Size() < size*pages {
		return fmt.Errorf("the SQLite file is cut off: it has %d bytes of %d; copy the file anew, while the bot that writes it is stopped", info.Size(), size*pages)
	}
	return nil
}

// openTable opens a database for reading only. One without a log beside it is taken as it is, since SQLite would make one
// to read a database that was last written with one.
func openTable(path string) (*sql.DB, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	options := "?mode=ro&immutable=1"
	for _, beside := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(whole + beside); err == nil && info.Size() > 0 {
			options = "?mode=ro"
		}
	}
	// What the file's author wrote into its schema isn't run.
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: whole}).EscapedPath()+options+"&_pragma=trusted_schema(0)&_pragma=query_only(1)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(2) // one for the messages, one for who and where
	return db, nil
}

// tableFault says what can't be read of a database, and what to do.
func tableFault(ctx context.Context, err error, what string) error {
	var wrong *FormError
	if ctx.Err() != nil || errors.As(err, &wrong) || errors.Is(err, errOwnMemory) {
		return err
	}
	return fmt.Errorf("read %s of the SQLite file: %w: stop the bot that writes it and copy the file anew, with its -wal file if there is one; %s", what, err, kept)
}

// table is a table of messages being read.
type table struct {
	form
	db          *sql.DB
	known       TableKnown
	b           *batch
	self        string // the author of the bot's own messages; empty if they don't tell
	done, total int64
	guildOf     map[memory.ChannelID]memory.GuildID // of the channels that are remembered; filled when it is first needed
	asked       bool
	rooms       map[string]room
	folk        map[string]folk
	out         map[memory.UserID]bool // whether somebody has opted out anywhere
}

func (t *table) read(ctx context.Context) error {
	rows, err := t.db.QueryContext(ctx, t.query())
	if err != nil {
		return tableFault(ctx, err, "the table "+t.table)
	}
	defer rows.Close()
	for rows.Next() {
		row, err := t.scan(rows)
		if err != nil {
			return tableFault(ctx, err, "the table "+t.table)
		}
		t.done++
		if err := t.message(ctx, row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return tableFault(ctx, err, fmt.Sprintf("the table %s after row %d", t.table, t.done))
	}
	return nil
}

// query reads what there is of a message, all of it as text: the types of columns are what bots happened to declare.
func (t *table) query() string {
	var parts []string
	for _, p := range partNames {
		parts = append(parts, asText(t.columns[p]))
	}
	return "SELECT " + strings.Join(parts, ", ") + " FROM " + quoteName(t.table)
}

// asText is a column as text, or nothing where there is no column.
func asText(column string) string {
	if column == "" {
		return "NULL"
	}
	return "CAST(" + quoteName(column) + " AS TEXT)"
}

// quoteName is the name of a table or a column as SQL has it.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// scan is a row by its parts.
func (t *table) scan(rows *sql.Rows) (map[string]string, error) {
	values := make([]sql.NullString, len(partNames))
	into := make([]any, len(values))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	row := map[string]string{}
	for i, p := range partNames {
		if len(values[i].String) > maxItem {
			values[i].String = values[i].String[:maxItem]
		}
		row[p] = memory.Clean(values[i].String)
	}
	return row, nil
}
