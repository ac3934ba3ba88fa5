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
	return Decisions{
		from:  s.engine,
		vault: s.vault,
		guild: guild,
	}
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

// list returns the decisions of a kind, except those that are known, and those before an error as well. Without known
// it returns only their prints.
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

// decided are all kinds of decisions, in the order in which they are replayed: what keeps something out comes before
// what it keeps out. Facts, and lore that a memory doesn't have, aren't among them: like messages, they were added
// later.
var decided = []decidedKind{
	decidedAs("forgettings", fmt.Sprintf(`SELECT `+forgettingColumns+` FROM forgetting
		WHERE guild IN (?1, %[1]d) OR ?1 = %[1]d ORDER BY id`, memory.Everywhere), readRule),
	decidedAs("opt-outs", "SELECT guild, user, out, at FROM opted WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.Opted) error {
			return scan(&e.Guild, &e.User, &e.Out, asTime{&e.At})
		}).counted(func(r *Replayed, n int) { r.OptOuts += n }),
	decidedAs("consents to learning", "SELECT guild, user, allow, at FROM learn WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.Learn) error {
			return scan(&e.Guild, &e.User, &e.On, asTime{&e.At})
		}),
	decidedAs("tokens", "SELECT guild, user, hash, at FROM connection WHERE "+inTheGuild, readConnected),
	decidedAs("uses of tokens", "SELECT guild, user, hash, uses, used FROM connection WHERE uses > 0 AND "+inTheGuild,
		readUse),
	decidedAs("channels",
		"SELECT no, guild, id, parent, kind, name, tags, owner FROM channel WHERE chosen <> 0 AND "+inTheGuild,
		readChannel),
	decidedAs("servers", fmt.Sprintf("SELECT id, name FROM guild WHERE chosen <> 0 AND (id = ?1 OR ?1 = %d)",
		memory.Everywhere), readGuildName),
	decidedAs("choices for servers", fmt.Sprintf(`SELECT id, 0 AS channel, choice, chosen, chooser FROM guild
		WHERE chosen <> 0 AND (id = ?1 OR ?1 = %d)`, memory.Everywhere), readChoice).counted(countChoices),
	decidedAs("choices for channels", "SELECT guild, id, choice, chosen, chooser FROM channel WHERE chosen <> 0 AND "+
		inTheGuild, readChoice).counted(countChoices),
	decidedAs("deleted facts", "SELECT guild, id FROM fact WHERE text IS NULL AND "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.FactGone) error { return scan(&e.Guild, &e.Fact) }).
		counted(func(r *Replayed, n int) { r.Facts += n }),
	decidedAs("deleted lore", "SELECT guild, id FROM lore WHERE text IS NULL AND "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.LoreGone) error { return scan(&e.Guild, &e.ID) }).counted(countLore),
	decidedAs("lore", selectLore(fmt.Sprintf("(l.guild = ?1 OR ?1 = %d)", memory.Everywhere)), readLore).
		ifThere(isLoreThere).counted(countLore),
	deletions(),
	decidedAs("answers written anew", `SELECT c.guild, c.id, m.id, m.channel, m.edited, m.content, coalesce(w.edited, -1)
		FROM rewritten w CROSS JOIN channel c CROSS JOIN message m
		WHERE c.guild = w.guild AND c.id = w.channel AND m.guild = c.guild AND m.channel = c.no AND m.id = w.id
		AND `+ofTheChannel, readRewrote),
	decidedAs("edits", `SELECT c.guild, c.id, m.id, m.edited, m.channel, m.content FROM channel c
		CROSS JOIN said m WHERE m.guild = c.guild AND m.channel = c.no AND m.edited <> 0 AND `+ofTheChannel, readEdit).
		ifThere(isMessageThere).counted(func(r *Replayed, n int) { r.Edited += n }),
	decidedAs("stars", "SELECT guild, channel, id, starred, at FROM star WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.Starred) error {
			return scan(&e.Guild, &e.Channel, &e.ID, &e.On, asTime{&e.At})
		}),
	decidedAs("messages that went with others", `SELECT d.guild, d.channel, d.id, k.id IS NOT NULL FROM tombstone d
		LEFT JOIN taken k ON k.guild = d.guild AND k.channel = d.channel AND k.id = d.id
		WHERE (k.id IS NOT NULL OR NOT EXISTS (SELECT 1 FROM channel p WHERE p.guild = d.guild AND p.id = d.channel))
		AND `+ofTombstones,
		func(_ *Vault, scan Scanner, e *gone) error { return scan(&e.Guild, &e.Channel, &e.ID, &e.Taken) }),
	decidedAs("withdrawn answers", "SELECT guild, channel, message, first, unasked FROM withdrawn WHERE "+inTheGuild+
		" ORDER BY no",
		func(_ *Vault, scan Scanner, e *withdrew) error {
			return scan(&e.Guild, &e.Channel, &e.Message, &e.First, &e.Unasked)
		}),
	decidedAs("answers that Discord shows", selectLeft, readLeft),
	decidedAs("settings", "SELECT guild, channel, key, value, at, chooser FROM setting WHERE "+inTheGuild, readSetting),
	decidedAs("limits", "SELECT guild, role, messages, tokens, at, chooser FROM role_limit WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.LimitChosen) error {
			return scan(&e.Guild, &e.Role, &e.Messages, &e.Tokens, asTime{&e.At}, &e.By)
		}),
	decidedAs("spent tokens", "SELECT guild, user, question, tokens FROM spent WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.Spent) error {
			return scan(&e.Guild, &e.User, &e.Question, &e.Tokens)
		}),
}
