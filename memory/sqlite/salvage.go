package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"hark/memory"
	"hark/memory/seal"
	"hark/memory/sqlite/pagefile"
	"hark/memory/sqlstore"
)

// Salvage reads what it can of a possibly damaged database and doesn't change the file. It reads page by page,
// without SQLite and indexes, so damage to a page doesn't affect others. SQLite's pages have no checksums:
// errors in a row that still decodes go unnoticed.
type Salvage struct {
	Guilds []*memory.Guild // with their channels
	// Events are what else to take over: first decisions and forgettings, then what people told Hark to
	// remember.
	Events []memory.Event
	// Unsure names the damaged parts that say what must stay deleted.
	Unsure []string
	// Places counts, by channel, the messages that Messages has read so far, and how many there were.
	Places map[memory.ChannelID]*SalvagedPlace
	People map[memory.GuildID][]memory.Person
	Names  map[memory.MessageRef]string // messages' names outside Discord
	Left   LeftOut

	salvageRows
	lock            *dirLock
	byNumber        map[int64]*SalvagedPlace
	decisions       *sqlstore.Decisions
	gone            map[memory.MessageRef]bool
	pendingDeletion map[int64]bool
	retainedFrom    map[memory.ChannelID]memory.MessageID // older messages have expired
}

type SalvagedPlace struct {
	Channel  memory.Channel
	Read     int // messages
	Recalled int // those of them that Known counts
	Known    int // messages of people, bots and webhooks, by the channel's own count
}

// LeftOut counts messages that were read but left out.
type LeftOut struct {
	Gone    int // deleted, forgotten, or their author has opted out
	Expired int // too old to keep
	Answers int // Hark's own
	Nowhere int // of unreadable channels
}

// OpenSalvage reads the database in dir, except its messages. No other process may have it open (ErrInUse). most
// is how long the operator keeps messages; 0: forever. secret is the key of a sealed database. progress, if not nil,
// gets the pages read and the expected total.
func OpenSalvage(ctx context.Context, dir string, secret *seal.Secret, now time.Time, most time.Duration,
	progress func(done, total int)) (_ *Salvage, err error) {
	s := &Salvage{
		salvageRows: salvageRows{Damaged: map[string]int{}, orphans: map[string][]uint32{}},
		Places:      map[memory.ChannelID]*SalvagedPlace{}, byNumber: map[int64]*SalvagedPlace{},
		People: map[memory.GuildID][]memory.Person{}, Names: map[memory.MessageRef]string{},
		gone: map[memory.MessageRef]bool{}, pendingDeletion: map[int64]bool{},
		retainedFrom: map[memory.ChannelID]memory.MessageID{},
		decisions:    sqlstore.NewDecisions(),
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
	if s.pages, err = pagefile.Open(filepath.Join(dir, FileName)); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	reads := 0
	s.pages.OnRead = func() error {
		if reads++; progress != nil && reads%100 == 0 {
			progress(min(reads, 2*int(s.pages.Count)), 2*int(s.pages.Count)) // each page is read about twice
		}
		return ctx.Err()
	}
	if s.scan(); s.unknownTables && s.pages.Version() > len(migrations) {
		return nil, newerVersion(s.pages.Version())
	}
	if err := s.unlock(secret); err != nil {
		return nil, err
	}
	s.read(now, most)
	return s, ctx.Err()
}

// unlock reads the data key of a sealed database.
func (s *Salvage) unlock(secret *seal.Secret) (err error) {
	var sealing sqlstore.Sealing
	s.rows("meta", func(r salvagedRow) {
		if r.text("key") == sqlstore.SealKey {
			_ = json.Unmarshal([]byte(r.text("value")), &sealing) // else it counts as plain
		}
	})
	s.vault, err = sealing.Unlock(secret, false)
	return err
}

// Close lets others use the database.
func (s *Salvage) Close() error {
	var err error
	if s.pages != nil {
		err = s.pages.Close()
	}
	return errors.Join(err, s.lock.release())
}

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
			s.retainedFrom[g.Channels[i].ID] = since
		}
	}
	s.readPeople()
	s.readFactsAndLore()
	if s.pages.LogLost || open && !s.pages.HasLog {
		s.Unsure = append(s.Unsure, FileName+"-wal")
	}
	for _, name := range deletionTables {
		if s.Damaged[name] > 0 {
			s.Unsure = append(s.Unsure, name)
		}
	}
}

// guild returns a guild by id; its row may be missing.
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

func (s *Salvage) readPlaces() {
	s.rows("guild", func(r salvagedRow) {
		var e memory.Chose
		r.read("id, choice, chosen", &e.Guild, &e.Choice, &e.At)
		g := s.guild(e.Guild)
		r.read("name, gone", &g.Name, &g.Left)
		if !e.At.IsZero() {
			s.Events = append(s.Events, e)
		}
		if g.Name != "" && g.ID != memory.LocalGuild && g.ID != memory.DirectGuild {
			s.Events = append(s.Events, memory.GuildNamed{Guild: g.ID, Name: g.Name})
		}
	})
	set := map[memory.ChannelID]map[memory.Setting]string{}
	s.rows("setting", func(r salvagedRow) {
		var e memory.SettingChosen
		r.read("guild, channel, key, value, at", &e.Guild, &e.Channel, &e.Key, &e.Value, &e.At)
		if e.Key == memory.SettingExpiring || e.Key == memory.SettingPast {
			return // they concern the old file's messages
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
	})
	s.rows("channel", func(r salvagedRow) {
		var c memory.Channel
		r.read("id, guild, parent, kind, name, owner", &c.ID, &c.Guild, &c.Parent, &c.Kind, &c.Name, &c.Owner)
		e := memory.Chose{Guild: c.Guild, Channel: c.ID}
		if r.read("choice, chosen", &e.Choice, &e.At); !e.At.IsZero() {
			seen := c
			seen.Unplaced = true
			s.Events = append(s.Events, memory.ChannelSeen{Channel: seen}, e)
		}
		c.Settings = set[c.ID]
		g := s.guild(c.Guild)
		g.Channels = append(g.Channels, c)
		s.byNumber[r.Row] = &SalvagedPlace{Channel: c, Known: int(r.number("messages"))}
		s.Places[c.ID] = s.byNumber[r.Row]
	})
}

// readDecisions reads the forgettings, opt-outs and tombstones. open is whether the file wasn't closed.
func (s *Salvage) readDecisions() (open bool) {
	var forgotten, deleted []memory.Event
	s.rows("forgetting", func(r salvagedRow) {
		f, _ := s.decisions.ReadForgetting(r.scan(sqlstore.ForgettingColumns))
		if f.ID = 0; !f.At.IsZero() { // else the row is damaged
			forgotten = append(forgotten, f)
		}
	})
	s.rows("opted", func(r salvagedRow) {
		var e memory.Opted
		r.read("guild, user, out, at", &e.Guild, &e.User, &e.Out, &e.At)
		s.decisions.Opt(e.Guild, e.User, e.Out)
		forgotten = append(forgotten, e)
	})
	ids := map[memory.ChannelID][]memory.MessageID{}
	s.rows("tombstone", func(r salvagedRow) {
		var at memory.MessageRef
		r.read("channel, id", &at.Channel, &at.Message)
		s.gone[at] = true
		ids[at.Channel] = append(ids[at.Channel], at.Message)
	})
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		for some := range slices.Chunk(ids[id], 500) {
			e := memory.Deleted{Channel: id, IDs: some}
			if p := s.Places[id]; p != nil {
				e.Guild = p.Channel.Guild
			}
			deleted = append(deleted, e)
		}
	}
	s.rows("pending_deletion", func(r salvagedRow) { s.pendingDeletion[r.Row] = true })
	s.rows("meta", func(r salvagedRow) { open = open || r.text("key") == openMark })
	s.Events = slices.Concat(forgotten, s.Events, deleted)
	return open
}

func (s *Salvage) readPeople() {
	s.rows("person", func(r salvagedRow) {
		var p memory.Person
		r.read("guild, id, username, name, nick, bot", &p.Guild, &p.ID, &p.Username, &p.Name, &p.Nick, &p.Bot)
		if !s.decisions.OptedOut(p.Guild, p.ID) {
			s.People[p.Guild] = append(s.People[p.Guild], p)
		}
	})
	s.rows("external_id", func(r salvagedRow) {
		var at memory.MessageRef
		r.read("channel, id", &at.Channel, &at.Message)
		s.Names[at] = r.text("name")
	})
}

// readFactsAndLore reads the facts and lore that aren't deleted.
func (s *Salvage) readFactsAndLore() {
	s.rows("fact", func(r salvagedRow) {
		var e memory.FactTold
		var text sql.NullString
		f := &e.Fact
		r.read("guild, user, id, text, alias, by, channel, message",
			&e.Guild, &e.User, &f.ID, &text, &f.Alias, &f.By, &f.Channel, &f.Message)
		f.Text = text.String
		if text.Valid && !s.decisions.OptedOut(e.Guild, e.User) &&
			(f.Message == 0 || !s.isGone(e.Guild, f.Channel, f.Message, 0)) {
			s.Events = append(s.Events, e)
		}
	})
	type loreID struct {
		guild memory.GuildID
		id    int64
	}
	sources, lore := map[loreID][]memory.MessageRef{}, map[int64]loreID{}
	s.rows("derived", func(r salvagedRow) {
		if r.number("kind") == sqlstore.LoreKind {
			lore[r.Row] = loreID{memory.GuildID(r.number("guild")), r.number("id")}
		}
	})
	s.rows("source", func(r salvagedRow) {
		if k, ok := lore[r.number("derived")]; ok {
			var from memory.MessageRef
			r.read("place, id", &from.Channel, &from.Message)
			sources[k] = append(sources[k], from)
		}
	})
	if s.Damaged["derived"]+s.Damaged["source"] > 0 {
		return // without sources it is unknown who may read lore and when it must go
	}
	s.rows("lore", func(r salvagedRow) {
		var l memory.Lore
		var text sql.NullString
		var at memory.MessageID
		r.read("id, guild, name, text, by, channel, at", &l.ID, &l.Guild, &l.Name, &text, &l.By, &l.Channel, &at)
		l.Text, l.At, l.Sources = text.String, at.Time(), sources[loreID{l.Guild, l.ID}]
		gone := !text.Valid || json.Unmarshal([]byte(r.text("own")), &l.Own) != nil ||
			s.decisions.OptedOut(l.Guild, l.By) ||
			s.isGone(l.Guild, l.Channel, at, l.By) ||
			slices.ContainsFunc(l.Sources, func(from memory.MessageRef) bool {
				return s.isGone(l.Guild, from.Channel, from.Message, 0)
			})
		if l, err := l.Checked(); err == nil && !gone {
			s.Events = append(s.Events, memory.LoreTold{Lore: l})
		}
	})
}

func (s *Salvage) isGone(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID,
	author memory.UserID) bool {
	at := memory.Channel{Guild: guild, ID: channel}
	if p := s.Places[channel]; p != nil {
		at = p.Channel
	}
	return s.gone[memory.MessageRef{Channel: channel, Message: id}] || s.decisions.Forgotten(at, id, author) ||
		id < s.retainedFrom[channel]
}

// Messages calls do for each message that was read and isn't gone, until do fails or ctx ends.
func (s *Salvage) Messages(ctx context.Context, do func(memory.Channel, memory.Message) error) error {
	var failed error
	s.pages.OnRead = func() error { return cmp.Or(failed, ctx.Err()) }
	// A page may occur twice; damage may give two messages the same row.
	twice := map[[2]int64]bool{}
	s.rows("message", func(r salvagedRow) {
		which := [2]int64{r.Row, r.number("id")}
		if failed != nil || twice[which] {
			return
		}
		if s.Damaged["message"] > 0 {
			twice[which] = true
		}
		p := s.byNumber[r.number("channel")]
		if p == nil || r.Row>>sqlstore.SequenceBits != r.number("channel") {
			s.Left.Nowhere++
			return
		}
		c := p.Channel
		m := memory.Message{Guild: c.Guild, Channel: c.ID}
		if sqlstore.ScanMessage(r.scan(sqlstore.MessageColumns), &m) != nil {
			s.Damaged["message"]++
			return
		}
		p.Read++
		gone := s.pendingDeletion[r.Row] || s.decisions.OptedOut(c.Guild, m.Author) ||
			s.gone[memory.MessageRef{Channel: c.ID, Message: m.ID}] || s.decisions.Forgotten(c, m.ID, m.Author)
		if !gone && m.Kind.Recalled() {
			p.Recalled++
		}
		switch {
		case gone:
			s.Left.Gone++
		case m.ID < s.retainedFrom[c.ID]:
			s.Left.Expired++
		case m.Kind == memory.FromHark:
			s.Left.Answers++
		default:
			failed = do(c, m)
		}
	})
	return cmp.Or(failed, ctx.Err())
}
