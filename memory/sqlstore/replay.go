package sqlstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"hark/memory"
	"hark/memory/seal"
)

// Decisions are those that stand in a memory: of one guild, or of all.
type Decisions struct {
	from  Querier
	vault *Vault
	guild memory.GuildID
}

// DecisionsOf returns the decisions about a guild, or memory.Everywhere, in a store.
func DecisionsOf(s *Store, guild memory.GuildID) Decisions {
	return Decisions{from: s.engine, vault: s.vault, guild: guild}
}

// ReadDecisions returns all decisions in a database of the current version that isn't opened as a store. secret is its
// key, if it is sealed.
func ReadDecisions(ctx context.Context, from Querier, secret *seal.Secret) (d Decisions, err error) {
	d = Decisions{from: from, guild: memory.Everywhere}
	sealing, err := ReadSealing(ctx, from)
	if err == nil && sealing.IsSealed() {
		d.vault, err = sealing.Unlock(secret, false)
	}
	return d, err
}

// Replayed counts what a replay changed.
type Replayed struct {
	Deleted int // messages
	Edited  int // messages
	Facts   int // taken away
	Lore    int // deleted or changed
	OptOuts int // opt-outs and opt-ins
	Choices int // about remembering

	Unknown error // why not all decisions could be read; nil: all were
}

// Replay applies to a store the decisions of another memory that it doesn't know, by the handlers of events. It replays
// what can be read: r says what couldn't. It may be interrupted and run again.
func Replay(ctx context.Context, d Decisions, to *Store, r *Replayed) error {
	for _, k := range decided {
		err := k.replay(ctx, d, to, r)
		if err != nil {
			return err
		}
	}
	return nil
}

// replayedAtOnce is how many events a replay applies in one transaction.
const replayedAtOnce = 500

func (k decidedKind) replay(ctx context.Context, d Decisions, to *Store, r *Replayed) error {
	here := DecisionsOf(to, d.guild)
	known, err := k.list(ctx, here, nil)
	if err != nil {
		return to.failed(err, "read the %s", k.what)
	}
	fresh, unread := k.list(ctx, d, known.has)
	if unread != nil {
		r.Unknown = errors.Join(r.Unknown, fmt.Errorf("read the %s: %w", k.what, unread))
	}
	found := 0
	if k.there != nil {
		found, err = k.find(ctx, to, &fresh)
		if err != nil {
			return to.failed(err, "look for the %s", k.what)
		}
	}
	for some := range slices.Chunk(fresh.events, replayedAtOnce) {
		refused, err := to.applyOr(ctx, some)
		if err != nil {
			return err
		}
		r.Unknown = errors.Join(r.Unknown, refused)
	}
	if k.count == nil || len(fresh.events) == 0 {
		return nil
	}
	if !k.staysOut {
		found, err = k.held(ctx, here, fresh)
	}
	k.count(r, found)
	return to.failed(err, "read the %s", k.what)
}

// print tells events apart.
type print [sha256.Size]byte

// listed are decisions of one kind.
type listed struct {
	events []memory.Event
	prints map[print]bool
}

func (l listed) has(p print) bool { return l.prints[p] }

// list returns the decisions of a kind, except those that are known, and those before an error as well. Without known it
// returns only their prints.
func (k decidedKind) list(ctx context.Context, d Decisions, known func(print) bool) (all listed, err error) {
	all.prints = map[print]bool{}
	err = Each(ctx, d.from, func(scan Scanner) error {
		e, err := k.read(d.vault, scan)
		if err != nil {
			return err
		}
		p := print(sha256.Sum256(fmt.Appendf(nil, "%#v", e)))
		switch {
		case known == nil:
			all.prints[p] = true
		case !known(p):
			all.prints[p] = true
			all.events = append(all.events, e)
		}
		return nil
	}, k.query, d.guild)
	return all, err
}

// find returns how many events are about something that a store has. It removes the others, unless they keep out what
// comes later.
func (k decidedKind) find(ctx context.Context, to *Store, fresh *listed) (found int, err error) {
	var concerned []memory.Event
	for _, e := range fresh.events {
		there, err := k.there(ctx, to.engine, e)
		if err != nil {
			return 0, err
		}
		if there {
			found++
		}
		if there || k.staysOut {
			concerned = append(concerned, e)
		}
	}
	fresh.events = concerned
	return found, nil
}

// held returns how many of the replayed decisions stand now.
func (k decidedKind) held(ctx context.Context, d Decisions, replayed listed) (n int, err error) {
	now, err := k.list(ctx, d, nil)
	for p := range replayed.prints {
		if now.has(p) {
			n++
		}
	}
	return n, err
}

// applyOr applies events, and says which it had to leave out since they were refused.
func (s *Store) applyOr(ctx context.Context, events []memory.Event) (refused, err error) {
	err = s.Apply(ctx, events...)
	if !errors.Is(err, memory.ErrRefused) {
		return nil, err
	}
	if len(events) == 1 {
		return err, nil
	}
	for _, e := range events {
		one, err := s.applyOr(ctx, []memory.Event{e})
		if err != nil {
			return refused, err
		}
		refused = errors.Join(refused, one)
	}
	return refused, nil
}

// FinishForgettings carries out every forgetting that isn't finished.
func FinishForgettings(ctx context.Context, s *Store, progress func(done, total int)) ([]memory.DeletionReport, error) {
	unfinished, err := s.Forgettings(ctx, memory.Everywhere, 0)
	if err != nil {
		return nil, err
	}
	var reports []memory.DeletionReport
	for _, f := range unfinished {
		report, err := s.Forget(ctx, f.Forgetting, progress)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}
