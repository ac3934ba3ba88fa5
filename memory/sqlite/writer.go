package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"hark/memory"
)

// writer lets one goroutine write at a time, and lets that one take along what the others are waiting to
// have written: whoever gets the turn commits the batches of all in one transaction. Nothing runs in the
// background: a House tidies up (Store.Tidy).
type writer struct {
	turn     chan struct{} // holds a token while somebody writes
	name     string        // of this writer among those that have the file open
	patience time.Duration

	mu      sync.Mutex
	waiting []*batch

	// What follows is used by the holder of turn only.
	closed     bool
	removed    time.Time // since when text that was removed may lie in the write-ahead log; zero if none does
	scrubbed   bool      // no text was removed since what it left in unused parts of pages was overwritten
	removals   int       // transactions that removed text
	version    int64     // PRAGMA data_version after the last transaction: another means somebody else wrote
	channels   map[memory.ChannelID]*channel
	guildNos   map[memory.GuildID]int64
	segments   map[int64]int64 // last segment id by guild number
	decisions  *decisions
	dropped    dropped
	statements map[string]*sql.Stmt
}

// batch is the work of one Apply.
type batch struct {
	events []event
	done   chan error // buffered: gets the outcome once
}

// maxCommit bounds the events of one transaction, so that nobody waits long for a turn.
const maxCommit = 2000

// Apply implements memory.Store.
func (s *Store) Apply(ctx context.Context, events ...memory.Event) error {
	prepared, err := s.prepare(events)
	if err != nil || len(prepared) == 0 {
		return err
	}
	b := &batch{events: prepared, done: make(chan error, 1)}
	s.writer.mu.Lock()
	s.writer.waiting = append(s.writer.waiting, b)
	s.writer.mu.Unlock()
	for {
		select {
		case err := <-b.done:
			return err
		case s.writer.turn <- struct{}{}:
			s.commitWaiting()
		case <-ctx.Done():
			if s.writer.withdraw(b) {
				return ctx.Err()
			}
			return <-b.done
		}
	}
}

// withdraw takes b back unless it is being committed already.
func (w *writer) withdraw(b *batch) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, other := range w.waiting {
		if other == b {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// take is the next batches to commit together.
func (w *writer) take() []*batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, events := 0, 0
	for n < len(w.waiting) && (n == 0 || events+len(w.waiting[n].events) <= maxCommit) {
		events += len(w.waiting[n].events)
		n++
	}
	taken := w.waiting[:n:n]
	w.waiting = w.waiting[n:]
	return taken
}

// commitWaiting commits some of what is waiting, and gives the turn back. The transaction is nobody's in
// particular, so that one caller's giving up doesn't undo the others' work.
func (s *Store) commitWaiting() {
	defer s.endTurn()
	batches := s.writer.take()
	if len(batches) == 0 {
		return
	}
	panicked := errors.New("write to the database: the goroutine that wrote panicked")
	err := panicked
	defer func() {
		for _, b := range batches {
			b.done <- err
		}
	}()
	if err = s.commit(batches); len(batches) == 1 || !errors.Is(err, memory.ErrRefused) {
		return
	}
	for err = panicked; len(batches) > 0; batches = batches[1:] { // what is refused mustn't be the others' loss
		batches[0].done <- s.commit(batches[:1])
	}
}

// commit commits batches in one transaction.
func (s *Store) commit(batches []*batch) error {
	return s.transact(context.Background(), func(t *transaction) error {
		for _, b := range batches {
			for i := range b.events {
				if err := t.apply(&b.events[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// writing runs f in a transaction of its own.
func (s *Store) writing(ctx context.Context, f func(*transaction) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.takeTurn(ctx); err != nil {
		return err
	}
	defer s.endTurn()
	return s.transact(ctx, f)
}

func (s *Store) takeTurn(ctx context.Context) error {
	select {
	case s.writer.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// transact runs f in a transaction and lets readers see what came of it. The caller holds the turn. Once begun
// it isn't cut short by ctx, for SQLite's driver can't tell then whether a statement was carried out: f looks at
// ctx itself where its work is long.
func (s *Store) transact(ctx context.Context, f func(*transaction) error) error {
	if s.writer.closed {
		return errors.New("write to the database: the store is closed")
	}
	ctx = context.WithoutCancel(ctx)
	var done *transaction
	err := s.tryTransact(ctx, func(t *transaction) error {
		done = t
		return f(t)
	})
	if err == nil {
		err = s.publish(ctx, done.changed)
	}
	if err != nil {
		s.writer.forget() // what it knew may not have been committed
		return fmt.Errorf("write to the database: %w", explain(err))
	}
	return nil
}

func (s *Store) tryTransact(ctx context.Context, f func(*transaction) error) error {
	t := &transaction{ctx: ctx, store: s}
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			s.writer.forget()
			_ = t.exec("ROLLBACK") // fails if SQLite has done so itself, as when the disk is full
		}
	}()
	if err := t.noticeOthers(); err != nil {
		return err
	}
	if err := f(t); err != nil {
		return err
	}
	if err := t.flush(); err != nil {
		return err
	}
	if t.changed.text && s.writer.scrubbed {
		if err := t.exec("DELETE FROM meta WHERE key = '" + scrubbedKey + "'"); err != nil {
			return err
		}
		s.writer.scrubbed = false
	}
	if err := t.exec("COMMIT"); err != nil {
		return err
	}
	committed = true
	return nil
}

// noticeOthers throws away what is held in memory if another process has written, and says in the file who
// writes now.
func (t *transaction) noticeOthers() error {
	var version int64
	if err := t.row("PRAGMA data_version").Scan(&version); err != nil {
		return err
	}
	s := t.store
	if s.writer.version == version {
		return nil
	}
	s.writer.forget()
	s.writer.version = version
	t.changed.others = true
	var err error
	if s.writer.scrubbed, err = found(t.row("SELECT 1 FROM meta WHERE key = '" + scrubbedKey + "'").Scan(new(int))); err != nil {
		return err
	}
	if err := t.exec("INSERT OR REPLACE INTO meta VALUES ('writer', ?)", s.writer.name); err != nil {
		return err
	}
	if err := s.loadSpace(t.ctx); err != nil {
		return err
	}
	s.wakeUp()
	return s.reload(t.ctx)
}

// close closes the statements.
func (w *writer) close() error {
	var errs []error
	for _, s := range w.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// forget drops what the writer holds in memory; it is read again when needed.
func (w *writer) forget() {
	w.channels, w.guildNos, w.segments, w.decisions, w.dropped = nil, nil, nil, nil, dropped{}
	w.version = 0
}

// changes is what a transaction changed that readers hold in memory.
type changes struct {
	structure bool                    // guilds, roles or channels
	people    map[memory.GuildID]bool // guilds with people or lore that changed
	removed   []int64                 // segments that have no vector now
	stored    []storedVector          // new vectors in the space in use
	space     bool                    // the space in use
	pending   bool
	newest    memory.MessageID
	text      bool // text was removed
	others    bool // others have written, and may have removed some
}

// publish brings what readers hold in memory up to date after a commit.
func (s *Store) publish(ctx context.Context, c changes) error {
	defer s.published.Add(1)
	if c.text || c.others {
		if s.writer.removals++; s.writer.removed.IsZero() {
			s.writer.removed = time.Now()
		}
	}
	if c.space {
		if err := s.loadSpace(ctx); err != nil {
			return err
		}
	}
	s.vectors.remove(c.removed)
	if err := s.vectors.put(c.stored); err != nil {
		return err
	}
	s.mu.Lock()
	s.newest = max(s.newest, c.newest)
	if len(c.people) > 0 {
		s.peopleVersion++
		for guild := range c.people {
			delete(s.people, guild)
			delete(s.lore, guild)
		}
	}
	s.mu.Unlock()
	if c.pending {
		s.wakeUp()
	}
	if !c.structure {
		return nil
	}
	return s.reload(ctx)
}

func (s *Store) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// longRemoved is how long a writer that is never idle lets removed text lie in the write-ahead log.
const longRemoved = 5 * time.Second

// endTurn lets the next one write. Text that was removed is still in the write-ahead log then: whoever leaves no work behind
// takes it out.
func (s *Store) endTurn() {
	w := &s.writer
	if !w.closed && !w.removed.IsZero() && (w.isIdle() || time.Since(w.removed) > longRemoved) {
		_ = s.truncateLog(context.Background()) // the next to write or to ask for what is pending tries again
	}
	<-w.turn
}

// tryEmptyLog empties the write-ahead log of removed text unless somebody writes, who will do so.
func (s *Store) tryEmptyLog() {
	select {
	case s.writer.turn <- struct{}{}:
		s.endTurn()
	default:
	}
}

func (w *writer) isIdle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) == 0
}

// truncateLog moves what the write-ahead log holds to its place, and truncates it. It doesn't wait for readers: where one is in
// the way, the next to write or to ask for what is pending tries again, and opening the file does it at the latest. The caller
// holds the turn.
func (s *Store) truncateLog(ctx context.Context) error {
	if _, err := s.write.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	defer func() {
		_, _ = s.write.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", s.writer.patience.Milliseconds()))
	}()
	var busy, pages, moved int
	err := s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if err == nil && busy > 0 {
		err = errReaders
	}
	if err == nil {
		s.writer.removed = time.Time{}
	}
	return err
}

// diskFull is what to do about a full disk.
const diskFull = "the disk is full: free some space; nothing that was stored is lost"

// explained is an error that says what to do about it.
type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// explain says what to do about an error of SQLite's, unless it says so already.
func explain(err error) error {
	var e *sqlitedriver.Error
	if errors.As(err, &explained{}) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return explained{fmt.Errorf("%s: %w", diskFull, err)}
	}
	if !errors.As(err, &e) {
		return err
	}
	advice := ""
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		advice = diskFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		advice = "the file or its directory can't be written: check their owner and permissions"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		advice = "another process holds the database: stop it or wait"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		advice = "the file is damaged or not a database of Hark's: " + Rescue
	default:
		return err
	}
	return explained{fmt.Errorf("%s: %w", advice, err)}
}
