package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	sqlitedriver "modernc.org/sqlite"
)

// remakingName is the file in the data directory that a damaged database is copied to, and restoringName the directory
// in which a backup is made ready to take its place. What an interrupted process left of them is removed.
const (
	remakingName  = FileName + ".remaking"
	restoringName = "restoring"
)

// removeLeftovers removes what processes left that didn't end by themselves. Nobody else uses dir.
func removeLeftovers(dir string) error {
	var errs []error
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(filepath.Join(dir, remakingName+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, os.RemoveAll(filepath.Join(dir, restoringName)))...)
}

// isDerived reports whether a table can be made again from the others, or done without.
func isDerived(table string) bool {
	switch table {
	case "segment", "vector", "vector_next", "presence", "prompt", "record":
		return true
	}
	return strings.HasPrefix(table, "fulltext")
}

// parts are those of a database whose pages are damaged.
type parts struct {
	tables  []string
	indexes bool // of tables that are whole, or the list of free pages
}

func (p parts) sound() bool { return len(p.tables) == 0 && !p.indexes }

// refuse is an error if what is damaged can't be made again.
func (p parts) refuse() error {
	var lost []string
	for _, table := range p.tables {
		if !isDerived(table) {
			lost = append(lost, table)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return fmt.Errorf("%w (damaged: %s)", ErrDamaged, strings.Join(lost, ", "))
}

func (p parts) names() []string {
	var names []string
	for _, table := range p.tables {
		names = append(names, "pages of the table "+table)
	}
	if p.indexes {
		names = append(names, "pages of indexes")
	}
	return names
}

// damagedParts looks at every page.
func damagedParts(ctx context.Context, db *sql.DB) (parts, error) {
	var p parts
	complaints, err := complaintsOf(ctx, db, "")
	if err != nil || len(complaints) == 0 {
		return p, err
	}
	tables, indexes := []string{"sqlite_schema"}, map[int64]bool{}
	rows, err := db.QueryContext(ctx, "SELECT type, name, rootpage FROM sqlite_schema")
	if err != nil {
		return p, err
	}
	err = eachRow(rows, func(scan func(...any) error) error {
		var kind, name string
		var root int64
		err := scan(&kind, &name, &root)
		if indexes[root] = kind == "index"; kind == "table" {
			tables = append(tables, name)
		}
		return err
	})
	if err != nil {
		return p, err
	}
	p.indexes = true // if no table says otherwise
	for _, table := range tables {
		complaints, err := complaintsOf(ctx, db, table)
		if err != nil {
			return p, err
		}
		if slices.ContainsFunc(complaints, func(c string) bool { return !isOfIndex(c, indexes) }) {
			p.tables = append(p.tables, table)
		}
	}
	return p, nil
}

// complaintsOf is what SQLite finds wrong with a table, or with the whole file.
func complaintsOf(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	query := "PRAGMA quick_check"
	if table != "" {
		query += "('" + strings.ReplaceAll(table, "'", "''") + "')"
	}
	var complaints []string
	rows, err := db.QueryContext(ctx, query)
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var line string
			err := scan(&line)
			for _, l := range strings.Split(line, "\n") {
				if l != "ok" && !strings.HasPrefix(l, "***") {
					complaints = append(complaints, l)
				}
			}
			return err
		})
	}
	var e *sqlitedriver.Error
	if errors.As(err, &e) && isCorrupt(e) { // where it is too damaged to go on
		if len(complaints) == 0 {
			complaints = append(complaints, err.Error())
		}
		err = nil
	}
	return complaints, err
}

var (
	treeComplaint  = regexp.MustCompile(`^Tree (\d+) `)
	indexComplaint = regexp.MustCompile(`missing from index|entries in index|unique entry in index|^Page \d+: never used|^Freelist`)
)

// isOfIndex reports whether a complaint is about an index, by the root pages of all, or about free pages.
func isOfIndex(complaint string, indexes map[int64]bool) bool {
	if m := treeComplaint.FindStringSubmatch(complaint); m != nil {
		root, err := strconv.ParseInt(m[1], 10, 64)
		return err == nil && indexes[root]
	}
	return indexComplaint.MatchString(complaint)
}

// checkPages looks at every page of the database in dir, which nobody has open. If what is damaged can be made again,
// all that is whole is copied to a new file, which takes the old one's place.
func (s *Store) checkPages(ctx context.Context, dir string) error {
	path := filepath.Join(dir, FileName)
	db, err := openReading(path)
	if err != nil {
		return err
	}
	p, err := damagedParts(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil || p.sound() {
		return err
	}
	if err := p.refuse(); err != nil {
		return err
	}
	if err := remake(ctx, path, filepath.Join(dir, remakingName)); err != nil {
		return fmt.Errorf("make what is damaged again: %w", errors.Join(err, removeLeftovers(dir)))
	}
	for _, name := range p.names() {
		s.told("%s were damaged", name)
	}
	return nil
}

// remake puts in the place of the database at path one with the same log and nothing that is made of it.
func remake(ctx context.Context, path, temporary string) error {
	if err := makePrivate(temporary); err != nil {
		return err
	}
	file := (&url.URL{Scheme: "file", OmitHost: true, Path: temporary}).String()
	db, err := sql.Open("sqlite", file+"?_pragma=journal_mode(off)&_pragma=synchronous(0)")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "ATTACH ? AS old", path); err != nil {
		return err
	}
	if err := copyLog(ctx, conn); err != nil {
		return err
	}
	if err := errors.Join(detach(ctx, conn), conn.Close(), db.Close(), syncPath(temporary)); err != nil {
		return err
	}
	return replaceFile(temporary, path)
}

// detach lets go of the old database, whose write-ahead log is emptied first.
func detach(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, "PRAGMA old.wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "DETACH old")
	return err
}

// copyLog copies every table that nothing could make again.
func copyLog(ctx context.Context, conn *sql.Conn) error {
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA old.user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("the database is of version %d, made by a newer Hark than this one: use the newer Hark", version)
	}
	for _, migration := range migrations[:version] {
		if _, err := conn.ExecContext(ctx, migration); err != nil {
			return err
		}
	}
	rows, err := conn.QueryContext(ctx, "SELECT name FROM old.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		return err
	}
	var tables []string
	if err := eachRow(rows, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		tables = append(tables, name)
		return err
	}); err != nil {
		return err
	}
	for _, table := range tables {
		if isDerived(table) {
			continue
		}
		if err := copyTable(ctx, conn, table); err != nil {
			return fmt.Errorf("copy the table %s: %w", table, err)
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA main.user_version = %d", version))
	return err
}

// copyTable copies a table in the order in which it lies there, and so not by way of its indexes, which may be what is
// damaged.
func copyTable(ctx context.Context, conn *sql.Conn, table string) error {
	var key string
	if err := conn.QueryRowContext(ctx, "SELECT group_concat(name ORDER BY pk) FROM pragma_table_info(?) WHERE pk > 0", table).Scan(&key); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, fmt.Sprintf("INSERT INTO main.%s SELECT * FROM old.%[1]s NOT INDEXED ORDER BY %s", table, key))
	return err
}

// replaceFile puts a database that is whole and on the disk in the place of the one at path, which nobody has open.
// Whenever it is cut short, one of the two is there, whole.
func replaceFile(from, path string) error {
	// What is left in the old one's write-ahead log mustn't be taken for the new one's.
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(from, path); err != nil {
		return err
	}
	return syncPath(filepath.Dir(path))
}

// syncPath sees to it that a file or a directory is on the disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func isCorrupt(e *sqlitedriver.Error) bool {
	return e.Code()&0xff == 11 || e.Code()&0xff == 26 // SQLITE_CORRUPT, SQLITE_NOTADB
}
