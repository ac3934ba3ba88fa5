package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"hark/memory"
	"hark/memory/sqlstore"
)

// Salvage is what can be read of a database that may be damaged. The file isn't changed.
//
// Its pages are read one by one, without SQLite and without the indexes: what lies on a page that is whole is
// read whatever became of the others. SQLite's pages have no checksums, so what is wrong within a row and
// still can be read isn't noticed.
type Salvage struct {
	Guilds []*memory.Guild // with their channels
	// Events are what else is to be taken over: first what was decided and forgotten, then what people told
	// Hark to remember.
	Events []memory.Event
	// Unsure are the parts that can't be read wholly and tell what must stay gone.
	Unsure []string
	// Damaged tells by table how many of its pages can't be read, or not wholly.
	Damaged map[string]int
	// Places tells by channel how many messages of it were read, as far as Messages has read, and how many there were.
	Places map[memory.ChannelID]*SalvagedPlace
	Left   LeftOut

	pages    *pageFile
	lock     *dirLock
	tables   map[string]*layout
	orphans  map[string][]uint32 // pages of tables that their trees don't lead to
	people   map[memory.GuildID][]memory.Person
	byNumber map[int64]*SalvagedPlace
	names    map[memory.Spot]string
	decided  *sqlstore.Decisions
	gone     map[memory.Spot]bool
	doomed   map[int64]bool
	kept     map[memory.ChannelID]memory.MessageID // messages before that are older than they may be
	reads    int                                   // pages
	newer    bool                                  // whether the file has tables that this Hark doesn't know
}

// SalvagedPlace is how much was read of a channel.
type SalvagedPlace struct {
	Channel  memory.Channel
	Read     int // messages
	Recalled int // of them those that Known counts
	Known    int // messages that people, bots and webhooks wrote there, by the channel's own count
}

// LeftOut are messages that were read and are left out.
type LeftOut struct {
	Gone    int // deleted or forgotten, or by somebody who has opted out
	Expired int // older than they may be
	Answers int // Hark's own
	Nowhere int // of channels that can't be read
}

// layout is how a table's rows lie in the file.
type layout struct {
	name    string
	table   bool // whether rows are numbered
	columns map[string]int
	shape   []columnKind
	create  string // its statement
	root    uint32 // page; 0 if it isn't known
}

type columnKind struct{ text, null bool }

// mustTell are the tables without which nobody knows what must stay gone.
var mustTell = []string{"guild", "channel", "tombstone", "forgetting", "opted", "doomed", "setting"}

// OpenSalvage reads the database in dir, which nobody may have open (ErrInUse), but for its messages. most is
// how long the operator keeps messages; 0: without end. progress, if not nil, is told how many pages it has
// seen.
func OpenSalvage(ctx context.Context, dir string, now time.Time, most time.Duration,
	progress func(done, total int)) (_ *Salvage, err error) {
	s := &Salvage{
		Damaged: map[string]int{}, Places: map[memory.ChannelID]*SalvagedPlace{}, orphans: map[string][]uint32{}, people: map[memory.GuildID][]memory.Person{},
		byNumber: map[int64]*SalvagedPlace{}, names: map[memory.Spot]string{}, gone: map[memory.Spot]bool{}, doomed: map[int64]bool{}, kept: map[memory.ChannelID]memory.MessageID{},
		decided: sqlstore.NewDecisions(),
	}
	if s.lock, err = lockAlone(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.tables, err = layouts(ctx); err != nil {
		return nil, err
	}
	if s.pages, err = openPages(filepath.Join(dir, FileName)); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	s.pages.asked = func() error {
		if s.reads++; progress != nil && s.reads%100 == 0 {
			progress(min(s.reads, 2*int(s.pages.count)), 2*int(s.pages.count)) // each page is read about twice
		}
		return ctx.Err()
	}
	if s.look(); s.newer && s.pages.version() > len(migrations) {
		return nil, newerVersion(s.pages.version())
	}
	s.read(now, most)
	return s, ctx.Err()
}

// Close closes the file.
func (s *Salvage) Close() error {
	var err error
	if s.pages != nil {
		err = s.pages.close()
	}
	return errors.Join(err, s.lock.release())
}

// layouts are those of the tables of this Hark's schema.
func layouts(ctx context.Context) (map[string]*layout, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // another would have another database
	for _, m := range migrations {
		if _, err := db.ExecContext(ctx, m); err != nil {
			return nil, err
		}
	}
	query := `SELECT t.name, coalesce(s.sql, ''), NOT t.wr, c.name, c.type, c."notnull" OR c.pk > 0 AND t.wr, NOT t.wr AND c.pk = 1 AND c.type = 'INTEGER'
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

// knows reports whether a table is made as this Hark makes one.
func (s *Salvage) knows(create string) bool {
	for _, l := range s.tables {
		if l.create == create {
			return true
		}
	}
	return false
}

// salvagedRow is a row of a table.
type salvagedRow struct {
	of *layout
	cell
}

func (r salvagedRow) number(column string) int64 {
	i := r.of.columns[column]
	if i < 0 {
		return r.row
	}
	n, _ := r.values[i].(int64)
	return n
}

func (r salvagedRow) text(column string) string {
	b, _ := r.values[r.of.columns[column]].([]byte)
	return string(b)
}

func (r salvagedRow) isNull(column string) bool { return r.values[r.of.columns[column]] == nil }

// fits reports whether a row may be one of a table's.
func (l *layout) fits(c cell) bool {
	if len(c.values) != len(l.shape) {
		return false
	}
	for i, v := range c.values {
		_, text := v.([]byte)
		if v == nil && !l.shape[i].null || v != nil && text != l.shape[i].text {
			return false
		}
	}
	return true
}

// look goes through every tree and finds the pages that none leads to.
func (s *Salvage) look() {
	seen := s.pages.none()
	s.pages.free(seen)
	s.roots(seen)
	for no := uint32(1); no <= s.pages.count; no++ {
		if seen.has(no) {
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

// wanted are the tables that are read, in that order.
var wanted = []string{"meta", "guild", "channel", "setting", "person", "called", "tombstone", "forgetting",
	"opted", "doomed", "fact", "lore", "derived", "source", "message"}

// roots reads where the trees begin, and what they lead to.
func (s *Salvage) roots(seen pages) {
	schema := s.tables["sqlite_schema"]
	roots := map[string]uint32{}
	indexes := map[string]bool{}
	note := func(c cell) error {
		if !schema.fits(c) {
			return errForeign
		}
		if r := (salvagedRow{schema, c}); r.number("rootpage") > 0 {
			roots[r.text("name")], indexes[r.text("name")] = uint32(r.number("rootpage")), r.text("type") == "index"
			s.newer = s.newer || r.text("type") == "table" && !s.knows(r.text("sql"))
		}
		return nil
	}
	if damaged, _ := s.pages.walk(1, true, seen, note); damaged > 0 {
		for no := uint32(2); no <= s.pages.count; no++ {
			if n, err := s.pages.node(no, true); err == nil && n.kind == tableLeaf {
				for _, c := range n.cells {
					_ = note(c)
				}
			}
		}
	}
	for name, root := range roots {
		l := s.tables[name]
		table := l != nil && l.table
		if l == nil && !indexes[name] {
			n, err := s.pages.node(root, false)
			table = err == nil && (n.kind == tableInner || n.kind == tableLeaf)
		}
		read := slices.Contains(wanted, name)
		var fits func(cell) error
		if read || l != nil && table { // a damaged page may lead to another table's
			fits = func(c cell) error {
				if !l.fits(c) {
					return errForeign
				}
				return nil
			}
		}
		if damaged, _ := s.pages.walk(root, table, seen, fits); read {
			l.root = root
			s.Damaged[name] += damaged
		}
	}
	for _, name := range wanted {
		if s.tables[name].root == 0 {
			s.Damaged[name]++
		}
	}
}

// ownerOf is the table that a page is of which no tree leads to, if its rows tell.
func (s *Salvage) ownerOf(no uint32) (owner *layout) {
	n, err := s.pages.node(no, true)
	if err != nil || len(n.cells) == 0 {
		return nil
	}
	for _, name := range wanted {
		l := s.tables[name]
		if l.table != (n.kind == tableLeaf) || slices.ContainsFunc(n.cells, func(c cell) bool { return !l.fits(c) }) {
			continue
		}
		if slices.Contains(mustTell, name) {
			s.Damaged[name]++ // it may be this one's
		}
		if owner != nil {
			return nil
		}
		owner = l
	}
	return owner
}

// each reads the rows of a table, in its order, then those that are found apart from it.
func (s *Salvage) each(table string, do func(salvagedRow) error) error {
	l := s.tables[table]
	one := func(c cell) error {
		if !l.fits(c) {
			return nil
		}
		return do(salvagedRow{l, c})
	}
	if l.root != 0 {
		if _, err := s.pages.walk(l.root, l.table, s.pages.none(), one); err != nil {
			return err
		}
	}
	for _, no := range s.orphans[table] {
		n, err := s.pages.node(no, true)
		if err != nil {
			continue
		}
		for _, c := range n.cells {
			if err := one(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads all but the messages.
func (s *Salvage) read(now time.Time, most time.Duration) {
	s.readPlaces()
	open := s.readDecisions()
	for _, g := range s.Guilds {
		for i := range g.Channels {
			keep, _, _ := g.Retention(g.Channels[i].ID, most)
			since := memory.MessageID(math.MinInt64)
			if at := memory.KeptSince(now, keep); !at.IsZero() {
				since = memory.FirstMessageID(at)
			}
			if !g.Left.IsZero() && now.Sub(g.Left) >= memory.LeftFor {
				since = math.MaxInt64
			}
			s.kept[g.Channels[i].ID] = since
		}
	}
	s.readPeople()
	s.readTold()
	if s.pages.logLost || open && !s.pages.hasLog {
		s.Unsure = append(s.Unsure, FileName+"-wal")
	}
	for _, name := range mustTell {
		if s.Damaged[name] > 0 {
			s.Unsure = append(s.Unsure, name)
		}
	}
}

// rows reads the rows of a table.
func (s *Salvage) rows(table string) []salvagedRow {
	var all []salvagedRow
	_ = s.each(table, func(r salvagedRow) error { // which never fails
		all = append(all, r)
		return nil
	})
	return all
}

// guild is the guild with an id, of which a row may be missing.
func (s *Salvage) guild(id memory.GuildID) *memory.Guild {
	for _, g := range s.Guilds {
		if g.ID == id {
			return g
		}
	}
	g := &memory.Guild{ID: id, Settings: map[memory.Setting]string{}}
	s.Guilds = append(s.Guilds, g)
	return g
}

// readPlaces reads the guilds, their channels, and what was decided for them.
func (s *Salvage) readPlaces() {
	for _, r := range s.rows("guild") {
		g := s.guild(memory.GuildID(r.number("id")))
		g.Name, g.Left = r.text("name"), sqlstore.FromMillis(r.number("gone"))
		if chosen := r.number("chosen"); chosen != 0 {
			s.Events = append(s.Events, memory.Chose{Guild: g.ID, Choice: memory.Choice(r.number("choice")),
				At: sqlstore.FromMillis(chosen)})
		}
		if g.Name != "" && g.ID != memory.LocalGuild && g.ID != memory.DirectGuild {
			s.Events = append(s.Events, memory.GuildNamed{Guild: g.ID, Name: g.Name})
		}
	}
	set := map[memory.ChannelID]map[memory.Setting]string{}
	for _, r := range s.rows("setting") {
		e := memory.SettingChosen{
			Guild: memory.GuildID(r.number("guild")), Channel: memory.ChannelID(r.number("channel")), Key: memory.Setting(r.text("key")),
			Value: r.text("value"), At: sqlstore.FromMillis(r.number("at")),
		}
		if e.Key == memory.SettingExpiring || e.Key == memory.SettingPast {
			continue // of the old file's messages
		}
		s.Events = append(s.Events, e)
		of := s.guild(e.Guild).Settings
		if e.Channel != 0 {
			if set[e.Channel] == nil {
				set[e.Channel] = map[memory.Setting]string{}
			}
			of = set[e.Channel]
		}
		of[e.Key] = e.Value
	}
	for _, r := range s.rows("channel") {
		c := memory.Channel{
			ID: memory.ChannelID(r.number("id")), Guild: memory.GuildID(r.number("guild")), Parent: memory.ChannelID(r.number("parent")),
			Kind: memory.ChannelKind(r.number("kind")), Name: r.text("name"), Owner: memory.UserID(r.number("owner")),
		}
		c.Settings = set[c.ID]
		if chosen := r.number("chosen"); chosen != 0 {
			s.Events = append(s.Events, memory.ChannelSeen{Channel: memory.Channel{ID: c.ID, Guild: c.Guild,
				Parent: c.Parent, Kind: c.Kind, Name: c.Name, Owner: c.Owner, Unplaced: true}},
				memory.Chose{Guild: c.Guild, Channel: c.ID, Choice: memory.Choice(r.number("choice")),
					At: sqlstore.FromMillis(chosen)})
		}
		g := s.guild(c.Guild)
		g.Channels = append(g.Channels, c)
		s.byNumber[r.row] = &SalvagedPlace{Channel: c, Known: int(r.number("messages"))}
		s.Places[c.ID] = s.byNumber[r.row]
	}
}

// readDecisions reads what is forgotten, and who has opted out. open is whether nobody has closed the file.
func (s *Salvage) readDecisions() (open bool) {
	var forgotten, deleted []memory.Event
	for _, r := range s.rows("forgetting") {
		f, _ := s.decided.ReadForgetting(r.scan(strings.Split(sqlstore.ForgettingColumns, ", ")...))
		if f.ID = 0; f.At.IsZero() {
			continue // none is; it is damaged
		}
		forgotten = append(forgotten, f)
	}
	for _, r := range s.rows("opted") {
		e := memory.Opted{Guild: memory.GuildID(r.number("guild")), User: memory.UserID(r.number("user")),
			Out: r.number("out") == 1, At: sqlstore.FromMillis(r.number("at"))}
		s.decided.Opt(e.Guild, e.User, e.Out)
		forgotten = append(forgotten, e)
	}
	ids := map[memory.ChannelID][]memory.MessageID{}
	for _, r := range s.rows("tombstone") {
		at := memory.Spot{Channel: memory.ChannelID(r.number("channel")), Message: memory.MessageID(r.number("id"))}
		s.gone[at] = true
		ids[at.Channel] = append(ids[at.Channel], at.Message)
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		for some := range slices.Chunk(ids[id], 500) {
			e := memory.Deleted{Channel: id, IDs: some}
			if p := s.Places[id]; p != nil {
				e.Guild = p.Channel.Guild
			}
			deleted = append(deleted, e)
		}
	}
	for _, r := range s.rows("doomed") {
		s.doomed[r.row] = true
	}
	for _, r := range s.rows("meta") {
		open = open || r.text("key") == openMark
	}
	s.Events = slices.Concat(forgotten, s.Events, deleted)
	return open
}

// scan sets what columns hold, as sql.Rows.Scan does.
func (r salvagedRow) scan(columns ...string) func(...any) error {
	return func(to ...any) error {
		for i, column := range columns {
			if own, ok := to[i].(sql.Scanner); ok {
				if err := own.Scan(r.values[r.of.columns[column]]); err != nil {
					return err
				}
				continue
			}
			switch v := reflect.ValueOf(to[i]).Elem(); {
			case v.CanInt():
				v.SetInt(r.number(column))
			case v.CanUint():
				v.SetUint(uint64(r.number(column)))
			case v.Kind() == reflect.Bool:
				v.SetBool(r.number(column) != 0)
			case v.Kind() == reflect.String:
				v.SetString(r.text(column))
			}
		}
		return nil
	}
}

// readPeople reads who there is, and what messages are called outside Discord.
func (s *Salvage) readPeople() {
	for _, r := range s.rows("person") {
		p := memory.Person{
			Guild: memory.GuildID(r.number("guild")), ID: memory.UserID(r.number("id")), Username: r.text("username"), Name: r.text("name"), Nick: r.text("nick"), Bot: r.number("bot") != 0,
		}
		if !s.decided.OptedOut(p.Guild, p.ID) {
			s.people[p.Guild] = append(s.people[p.Guild], p)
		}
	}
	for _, r := range s.rows("called") {
		s.names[memory.Spot{Channel: memory.ChannelID(r.number("channel")), Message: memory.MessageID(r.number("id"))}] = r.text("name")
	}
}

// readTold reads the facts and the lore that aren't gone.
func (s *Salvage) readTold() {
	for _, r := range s.rows("fact") {
		e := memory.FactTold{Guild: memory.GuildID(r.number("guild")), User: memory.UserID(r.number("user")),
			Fact: memory.Fact{
				ID: r.number("id"), Text: r.text("text"), Alias: r.number("alias") != 0, By: memory.UserID(r.number("by")),
				Channel: memory.ChannelID(r.number("channel")), Message: memory.MessageID(r.number("message")),
			}}
		out := s.decided.OptedOut(e.Guild, e.User) || e.Fact.Message != 0 &&
			s.isGone(e.Guild, e.Fact.Channel, e.Fact.Message, 0)
		if !r.isNull("text") && !out {
			s.Events = append(s.Events, e)
		}
	}
	type loreID struct {
		guild memory.GuildID
		id    int64
	}
	sources, lore := map[loreID][]memory.Spot{}, map[int64]loreID{}
	_ = s.each("derived", func(r salvagedRow) error {
		if r.number("kind") == sqlstore.LoreKind {
			lore[r.row] = loreID{memory.GuildID(r.number("guild")), r.number("id")}
		}
		return nil
	})
	_ = s.each("source", func(r salvagedRow) error {
		if k, ok := lore[r.number("derived")]; ok {
			sources[k] = append(sources[k], memory.Spot{Channel: memory.ChannelID(r.number("place")),
				Message: memory.MessageID(r.number("id"))})
		}
		return nil
	})
	if s.Damaged["derived"]+s.Damaged["source"] > 0 {
		return // what lore is from says who may be told of it, and with what it goes
	}
	for _, r := range s.rows("lore") {
		l := memory.Lore{
			ID: r.number("id"), Guild: memory.GuildID(r.number("guild")), Name: r.text("name"), Text: r.text("text"), By: memory.UserID(r.number("by")),
			Channel: memory.ChannelID(r.number("channel")), At: memory.MessageID(r.number("at")).Time(),
		}
		l.Sources = sources[loreID{l.Guild, l.ID}]
		gone := r.isNull("text") || json.Unmarshal([]byte(r.text("own")), &l.Own) != nil ||
			s.decided.OptedOut(l.Guild, l.By) ||
			s.isGone(l.Guild, l.Channel, memory.FirstMessageID(l.At), l.By) ||
			slices.ContainsFunc(l.Sources, func(at memory.Spot) bool {
				return s.isGone(l.Guild, at.Channel, at.Message, 0)
			})
		if l, err := l.Checked(); err == nil && !gone {
			s.Events = append(s.Events, memory.LoreTold{Lore: l})
		}
	}
}

// isGone reports whether a message is deleted or forgotten, or older than it may be.
func (s *Salvage) isGone(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID,
	author memory.UserID) bool {
	at := memory.Channel{Guild: guild, ID: channel}
	if p := s.Places[channel]; p != nil {
		at = p.Channel
	}
	return s.gone[memory.Spot{Channel: channel, Message: id}] || s.decided.Forgotten(at, id, author) ||
		id < s.kept[channel]
}

// People are those of a guild.
func (s *Salvage) People(guild memory.GuildID) []memory.Person { return s.people[guild] }

// NameOf is what a message is called outside Discord; empty where it isn't.
func (s *Salvage) NameOf(channel memory.ChannelID, id memory.MessageID) string {
	return s.names[memory.Spot{Channel: channel, Message: id}]
}

// Messages has do take each message that was read and isn't gone.
func (s *Salvage) Messages(ctx context.Context, do func(memory.Channel, memory.Message) error) error {
	// those that were read, where a page may be there twice; damage may give two the same row
	twice := map[[2]int64]bool{}
	err := s.each("message", func(r salvagedRow) error {
		which := [2]int64{r.row, r.number("id")}
		if err := ctx.Err(); err != nil || twice[which] {
			return err
		}
		if s.Damaged["message"] > 0 {
			twice[which] = true
		}
		p := s.byNumber[r.number("channel")]
		if p == nil || r.row>>sqlstore.SequenceBits != r.number("channel") {
			s.Left.Nowhere++
			return nil
		}
		c := p.Channel
		m := memory.Message{Guild: c.Guild, Channel: c.ID}
		columns := strings.Split(sqlstore.MessageColumns, ", ")
		if err := sqlstore.ScanMessage(r.scan(columns...), &m); err != nil {
			s.Damaged["message"]++
			return nil
		}
		switch p.Read++; {
		case s.doomed[r.row], s.decided.OptedOut(c.Guild, m.Author),
			s.gone[memory.Spot{Channel: c.ID, Message: m.ID}], s.decided.Forgotten(c, m.ID, m.Author):
			s.Left.Gone++
			return nil
		case m.Kind.Recalled():
			p.Recalled++
		}
		switch {
		case m.ID < s.kept[c.ID]:
			s.Left.Expired++
			return nil
		case m.Kind == memory.FromHark:
			s.Left.Answers++
			return nil
		}
		return do(c, m)
	})
	return errors.Join(err, ctx.Err())
}
