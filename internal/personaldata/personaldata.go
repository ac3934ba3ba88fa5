// Package personaldata exports everything about one person, for "hark export --user" and "/memory export". Of other
// people it holds at most ids.
package personaldata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"hark/internal/exports"
	"hark/memory"
)

// Store is the part of memory.Store that an export reads.
type Store interface {
	People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
	memory.Members
	Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error)
	Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error)
	Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error)
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before,
		after int) ([]memory.Message, error)
	Spending(ctx context.Context, guild memory.GuildID, day time.Time) (map[memory.UserID]int, error)
	Records(ctx context.Context, q memory.RecordQuery) ([]memory.Record, error)
	Forgettings(ctx context.Context, guild memory.GuildID, user memory.UserID) ([]memory.DeletionReport, error)
	MessagesBy(ctx context.Context, guild memory.GuildID, user memory.UserID, do func(memory.Message) error) error
	Traces(ctx context.Context, q memory.TraceQuery) ([]memory.Trace, error)
}

// View says what the reader of an export may see.
type View struct {
	Guilds []*memory.Guild // to export from
	Now    time.Time
	// Guild and Channel return names.
	Guild   func(*memory.Guild) string
	Channel func(*memory.Guild, memory.ChannelID) string
	// Lore reports whether lore of the person's is shown, which others may have changed since. Nil: all is.
	Lore func(memory.Lore) bool
	// Most bounds the JSON, in bytes; a little more may come. 0: no bound.
	Most int
}

// ErrNothing means that nothing is kept about the person.
var ErrNothing = errors.New("nothing is remembered")

// ErrTooLarge means that the export would exceed View.Most.
var ErrTooLarge = errors.New("there is too much of it")

// Of returns everything kept about a person that v may see.
func Of(ctx context.Context, s Store, user memory.UserID, v View) (Person, error) {
	e := Person{
		User:      user,
		Exported:  v.Now.UTC().Truncate(time.Second),
		Servers:   []Server{},
		Messages:  []exports.Message{},
		Questions: []Question{},
		Calls:     []memory.Record{},
	}
	room := &room{cmp.Or(v.Most, math.MaxInt)}
	guilds := map[memory.GuildID]*memory.Guild{}
	var channels []memory.ChannelID
	for _, g := range v.Guilds {
		guilds[g.ID] = g
		for _, c := range g.Channels {
			channels = append(channels, c.ID)
		}
		server, known, err := v.server(ctx, s, g, user)
		if err == nil && known {
			err = take(room, &e.Servers, server)
		}
		if err != nil {
			return e, err
		}
	}
	err := s.MessagesBy(ctx, memory.Everywhere, user, func(m memory.Message) error {
		g := guilds[m.Guild]
		if g == nil {
			return ctx.Err()
		}
		x := exports.Of(m, nil)
		x.Author = ""
		x.AuthorID = 0 // the person
		x.Server = m.Guild.String()
		x.Channel = v.Channel(g, m.Channel)
		return errors.Join(ctx.Err(), take(room, &e.Messages, x))
	})
	if err != nil {
		return e, err
	}
	traces, err := s.Traces(ctx, memory.TraceQuery{Asker: user})
	slices.SortFunc(traces, func(a, b memory.Trace) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Answer, b.Answer))
	})
	for _, t := range traces {
		if err == nil && guilds[t.Guild] != nil {
			err = take(room, &e.Questions, Question{t.Guild, t.Channel, t.Question, t.Answer, t.Model})
		}
	}
	if err != nil {
		return e, err
	}
	calls, err := s.Records(ctx, memory.RecordQuery{
		Channels: channels,
		Asker:    user,
		Oldest:   true,
	})
	for _, call := range calls {
		if err == nil {
			err = take(room, &e.Calls, call)
		}
	}
	if err == nil && len(e.Servers)+len(e.Messages)+len(e.Questions)+len(e.Calls) == 0 {
		err = fmt.Errorf("%w about %d", ErrNothing, user)
	}
	return e, err
}

// Write writes p as JSON.
func (p Person) Write(w io.Writer) error {
	encoder := exports.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(p)
}

// server returns what is known of a person in g.
func (v View) server(ctx context.Context, s Store, g *memory.Guild, user memory.UserID) (e Server, known bool,
	err error) {
	e = Server{ID: g.ID, Name: v.Guild(g)}
	member, err := s.Member(ctx, g.ID, user)
	if err != nil {
		return e, false, err
	}
	e.OptedOut = member.OptedOut
	people, err := s.People(ctx, g.ID, user)
	if err != nil {
		return e, false, err
	}
	for _, p := range people {
		e.Username = p.Username
		e.Display = p.Name
		e.Nick = p.Nick
		e.Bot = p.Bot
		e.Learning = p.Learn
		for _, r := range p.Roles {
			e.Roles = append(e.Roles, r.String())
		}
		for _, f := range p.Facts {
			e.Facts = append(e.Facts, Fact{f.Text, f.Alias, f.By, f.Channel, f.Message})
		}
	}
	lore, err := s.Lore(ctx, g.ID)
	if err != nil {
		return e, false, err
	}
	for _, l := range lore {
		if l.By == user && (v.Lore == nil || v.Lore(l)) {
			e.Lore = append(e.Lore, LoreOf(l))
		}
	}
	e.Summaries, err = summariesFrom(ctx, s, g, user)
	if err != nil {
		return e, false, err
	}
	e.Tokens = map[string]int{}
	for _, day := range []time.Time{v.Now, v.Now.AddDate(0, 0, -1)} {
		spent, err := s.Spending(ctx, g.ID, day)
		if err != nil {
			return e, false, err
		}
		if n := spent[user]; n > 0 {
			e.Tokens[day.UTC().Format(time.DateOnly)] = n
		}
	}
	e.Chose = g.ChosenBy(user)
	if c := member.Connection; c.IsOpen() {
		e.Program = &Program{
			Since: c.At.UTC(),
			Uses:  c.Uses,
			Used:  c.Used.UTC(),
		}
	}
	receipts, err := s.Forgettings(ctx, g.ID, user)
	for _, r := range receipts {
		f := r.Forgetting
		e.Receipts = append(e.Receipts, Receipt{
			ID:        f.ID,
			At:        f.At.UTC().Truncate(time.Second),
			Why:       string(f.Why),
			Before:    f.Before.UTC(),
			Messages:  r.Messages,
			Answers:   r.Answers,
			Facts:     r.Facts,
			Lore:      r.Lore,
			Summaries: r.Summaries,
			Records:   r.Records,
		})
	}
	return e, e.OptedOut || e.Program != nil || len(people)+len(e.Lore)+len(e.Tokens)+len(e.Chose)+len(e.Receipts) > 0, err
}

// kindGoesOn is the kind of a running session's summary.
const kindGoesOn memory.SummaryKind = "session"

// summariesFrom returns a guild's summaries, of running sessions too, with messages of the person's as sources. If
// others' messages are sources too, it omits text, topics and those messages.
func summariesFrom(ctx context.Context, s Store, g *memory.Guild, user memory.UserID) (all []Summary, err error) {
	for _, c := range g.Channels {
		summaries, err := s.Summaries(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		condensed, err := s.Condensed(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		summaries = slices.Clip(summaries)
		for _, s := range condensed {
			summaries = append(summaries, memory.Summary{
				ID:      s.Until,
				Guild:   s.Guild,
				Channel: s.Channel,
				Text:    s.Text,
				Kind:    kindGoesOn,
				Sources: s.Sources,
				Made:    s.Made,
				Model:   s.Model,
			})
		}
		for _, summary := range summaries {
			var ids, own []memory.MessageID
			for _, source := range summary.Sources {
				ids = append(ids, source.Message)
			}
			messages, err := s.Around(ctx, c.ID, ids, 0, 0)
			if err != nil {
				return nil, err
			}
			for _, m := range messages {
				if m.Author == user {
					own = append(own, m.ID)
				}
			}
			if len(own) == 0 {
				continue
			}
			out := SummaryOf(summary)
			if len(own) < len(ids) {
				out.Text = ""
				out.Topics = []string{}
				out.Sources = nil
				for _, id := range own {
					out.Sources = append(out.Sources, id.String())
				}
			}
			all = append(all, out)
		}
	}
	return all, nil
}

// room is the number of bytes left.
type room struct{ left int }

// Write counts bytes. It fails with ErrTooLarge if there is no room.
func (r *room) Write(p []byte) (int, error) {
	r.left -= len(p)
	if r.left < 0 {
		return 0, ErrTooLarge
	}
	return len(p), nil
}

// take appends v to a list if there is room.
func take[T any](r *room, list *[]T, v T) error {
	*list = append(*list, v)
	encoder := exports.NewEncoder(r)
	encoder.SetIndent("    ", "  ")
	return encoder.Encode(v)
}
