package sqlite

import (
	"context"
	"database/sql"
	"reflect"
	"slices"
	"strings"
	"time"

	"hark/memory/sqlite/pagefile"
	"hark/memory/sqlstore"
)

// salvageRows finds the rows of tables on the pages of a possibly damaged file.
type salvageRows struct {
	// Damaged counts, by table, the pages that are wholly or partly unreadable.
	Damaged map[string]int

	pages         *pagefile.File
	tables        map[string]*layout
	orphans       map[string][]uint32 // table pages that no tree leads to
	vault         *sqlstore.Vault     // of a sealed database
	unknownTables bool                // the file has tables that this Hark doesn't know
}

// layout describes how a table's rows lie in the file.
type layout struct {
	name    string
	table   bool // a rowid table
	columns map[string]int
	shape   []columnKind
	create  string // CREATE statement
	root    uint32 // page; 0: unknown
}

type columnKind struct{ text, null bool }

// salvagedTables are the tables to read, in this order.
var salvagedTables = []string{"meta", "guild", "channel", "setting", "person", "external_id", "tombstone", "forgetting",
	"opted", "pending_deletion", "fact", "lore", "derived", "source", "message"}

// deletionTables are the tables that say what must stay deleted.
var deletionTables = []string{"guild", "channel", "tombstone", "forgetting", "opted", "pending_deletion", "setting"}

func layouts(ctx context.Context) (map[string]*layout, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have its own database
	for _, m := range migrations {
		if _, err := db.ExecContext(ctx, m); err != nil {
			return nil, err
		}
	}
	query := `SELECT t.name, coalesce(s.sql, ''), NOT t.wr, c.name, c.type,
			c."notnull" OR c.pk > 0 AND t.wr, NOT t.wr AND c.pk = 1 AND c.type = 'INTEGER'
		FROM pragma_table_list t JOIN pragma_table_info(t.name) c LEFT JOIN sqlite_schema s ON s.name = t.name
		WHERE t.schema = 'main' AND t.type IN ('table', 'virtual', 'shadow') ORDER BY t.name, c.cid`
	all := map[string]*layout{"sqlite_schema": {name: "sqlite_schema", table: true,
		shape:   []columnKind{{text: true}, {text: true}, {text: true}, {}, {text: true, null: true}},
		columns: map[string]int{"type": 0, "name": 1, "rootpage": 3, "sql": 4}}}
	return all, sqlstore.Each(ctx, db, func(scan sqlstore.Scanner) error {
		var table, create, column, kind string
		var numbered, full, number bool
		if err := scan(&table, &create, &numbered, &column, &kind, &full, &number); err != nil ||
			table == "sqlite_schema" {
			return err
		}
		l := all[table]
		if l == nil {
			l = &layout{name: table, create: create, table: numbered, columns: map[string]int{}}
			all[table] = l
		}
		l.columns[column] = len(l.shape)
		if number {
			l.columns[column] = -1
		}
		l.shape = append(l.shape, columnKind{text: kind != "INTEGER", null: !full || number})
		return nil
	}, query)
}

func (s *salvageRows) knows(create string) bool {
	for _, l := range s.tables {
		if l.create == create {
			return true
		}
	}
	return false
}

func (l *layout) fits(c pagefile.Cell) bool {
	if len(c.Values) != len(l.shape) {
		return false
	}
	for i, v := range c.Values {
		_, text := v.([]byte)
		if v == nil && !l.shape[i].null || v != nil && text != l.shape[i].text {
			return false
		}
	}
	return true
}

// scan walks every tree and finds orphaned pages.
func (s *salvageRows) scan() {
	seen := s.pages.NewSet()
	s.pages.Free(seen)
	s.roots(seen)
	for no := uint32(1); no <= s.pages.Count; no++ {
		if seen.Has(no) {
			continue
		}
		if l := s.ownerOf(no); l != nil {
			s.orphans[l.name] = append(s.orphans[l.name], no)
		}
	}
	for name := range s.orphans {
		s.Damaged[name]++ // its tree should lead there
	}
}

// roots reads where the trees begin and walks them.
func (s *salvageRows) roots(seen pagefile.Set) {
	schema := s.tables["sqlite_schema"]
	roots := map[string]uint32{}
	indexes := map[string]bool{}
	note := func(c pagefile.Cell) (fits bool) {
		if !schema.fits(c) {
			return false
		}
		if r := (salvagedRow{schema, c}); r.number("rootpage") > 0 {
			roots[r.text("name")], indexes[r.text("name")] = uint32(r.number("rootpage")), r.text("type") == "index"
			s.unknownTables = s.unknownTables || r.text("type") == "table" && !s.knows(r.text("sql"))
		}
		return true
	}
	if s.pages.Walk(1, true, seen, note) > 0 {
		for no := uint32(2); no <= s.pages.Count; no++ {
			if n, err := s.pages.Node(no, true); err == nil && n.Kind == pagefile.TableLeaf {
				for _, c := range n.Cells {
					note(c)
				}
			}
		}
	}
	for name, root := range roots {
		l := s.tables[name]
		table := l != nil && l.table
		if l == nil && !indexes[name] {
			n, err := s.pages.Node(root, false)
			table = err == nil && (n.Kind == pagefile.TableInner || n.Kind == pagefile.TableLeaf)
		}
		read := slices.Contains(salvagedTables, name)
		var fits func(pagefile.Cell) bool
		if read || l != nil && table { // a damaged page may lead into another tree
			fits = l.fits
		}
		if damaged := s.pages.Walk(root, table, seen, fits); read {
			l.root = root
			s.Damaged[name] += damaged
		}
	}
	for _, name := range salvagedTables {
		if s.tables[name].root == 0 {
			s.Damaged[name]++
		}
	}
}

// ownerOf returns the table of an orphaned page, if its rows identify it.
func (s *salvageRows) ownerOf(no uint32) (owner *layout) {
	n, err := s.pages.Node(no, true)
	if err != nil || len(n.Cells) == 0 {
		return nil
	}
	for _, name := range salvagedTables {
		l := s.tables[name]
		if l.table != (n.Kind == pagefile.TableLeaf) || slices.ContainsFunc(n.Cells,
			func(c pagefile.Cell) bool { return !l.fits(c) }) {
			continue
		}
		if slices.Contains(deletionTables, name) {
			s.Damaged[name]++ // it may belong to this table
		}
		if owner != nil {
			return nil
		}
		owner = l
	}
	return owner
}

// rows calls do for a table's rows in order, then for those on orphaned pages.
func (s *salvageRows) rows(table string, do func(salvagedRow)) {
	l := s.tables[table]
	one := func(c pagefile.Cell) bool {
		fits := l.fits(c) && s.open(l, c)
		if fits {
			do(salvagedRow{l, c})
		}
		return fits
	}
	if l.root != 0 {
		s.pages.Walk(l.root, l.table, s.pages.NewSet(), one)
	}
	for _, no := range s.orphans[table] {
		if n, err := s.pages.Node(no, true); err == nil {
			for _, c := range n.Cells {
				one(c)
			}
		}
	}
}

// open decrypts a row, and reports whether it is what was sealed.
func (s *salvageRows) open(l *layout, c pagefile.Cell) bool {
	if s.vault == nil {
		return true
	}
	columns, row, r := make([]string, len(l.shape)), make([]any, len(l.shape)), salvagedRow{l, c}
	for name, i := range l.columns {
		if i < 0 {
			continue
		}
		switch columns[i] = name; v := c.Values[i].(type) {
		case []byte:
			row[i] = string(v)
		case int64:
			row[i] = v
		}
	}
	for name, i := range l.columns { // the number of a row
		if i < 0 {
			columns, row = append(columns, name), append(row, r.number(name))
		}
	}
	if s.vault.OpenRow(l.name, columns, row) != nil {
		return false
	}
	for i := range c.Values {
		if text, is := row[i].(string); is {
			c.Values[i] = []byte(text)
		}
	}
	return true
}

type salvagedRow struct {
	of *layout
	pagefile.Cell
}

func (r salvagedRow) number(column string) int64 {
	i := r.of.columns[column]
	if i < 0 {
		return r.Row
	}
	n, _ := r.Values[i].(int64)
	return n
}

func (r salvagedRow) text(column string) string {
	b, _ := r.Values[r.of.columns[column]].([]byte)
	return string(b)
}

// scan returns a Scanner for columns. Only a sql.Scanner destination can fail.
func (r salvagedRow) scan(columns string) sqlstore.Scanner {
	return func(to ...any) error {
		for i, column := range strings.Split(columns, ", ") {
			switch to := to[i].(type) {
			case *time.Time:
				*to = sqlstore.FromMillis(r.number(column))
			case sql.Scanner:
				if err := to.Scan(r.Values[r.of.columns[column]]); err != nil {
					return err
				}
			default:
				switch v := reflect.ValueOf(to).Elem(); {
				case v.CanInt():
					v.SetInt(r.number(column))
				case v.CanUint():
					v.SetUint(uint64(r.number(column)))
				case v.Kind() == reflect.Bool:
					v.SetBool(r.number(column) != 0)
				default:
					v.SetString(r.text(column))
				}
			}
		}
		return nil
	}
}

// read is scan for callers whose destinations can't fail.
func (r salvagedRow) read(columns string, to ...any) { _ = r.scan(columns)(to...) }
