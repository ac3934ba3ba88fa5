package memorytest

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hark/internal/text"
	"hark/memory"
)

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// harness applies the same events to a store and a model. Its methods fail the test if the store fails.
type harness struct {
	fataler
	ctx      context.Context
	store    memory.Opened
	model    *model
	segments map[int64]embeddedSegment // as they were when embedded
	replied  int                       // answers posted
}

func newHarness(t fataler, ctx context.Context, store memory.Opened) *harness {
	return &harness{fataler: t, ctx: ctx, store: store, model: newModel(), segments: map[int64]embeddedSegment{}}
}

// got returns the result of a store's method; an error fails the test.
func got[T any](v T, err error) func(*harness) T {
	return func(t *harness) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return v
	}
}

func (t *harness) apply(events ...memory.Event) {
	t.Helper()
	if err := t.store.Apply(t.ctx, events...); err != nil {
		t.Fatalf("Apply(%+v): %v", events, err)
	}
	for _, e := range events {
		if p, ok := e.(memory.Posted); ok && p.Message.Kind == memory.FromHark {
			t.replied++
		}
	}
	t.model.apply(events...)
}

// refused fails the test unless the store refuses each of events.
func (t *harness) refused(events ...memory.Event) {
	t.Helper()
	for _, e := range events {
		if err := t.store.Apply(t.ctx, e); !errors.Is(err, memory.ErrRefused) {
			t.Fatalf("Apply(%+v): %v", e, err)
		}
	}
}

func (t *harness) post(messages ...memory.Message) {
	t.Helper()
	t.apply(posted(messages...)...)
}

func (t *harness) delete(channel memory.ChannelID, ids ...memory.MessageID) {
	t.Helper()
	t.apply(memory.Deleted{Guild: guildOf(channel), Channel: channel, IDs: ids})
}

// forget runs f, completed, in the store and the model, and compares reports and dry runs.
func (t *harness) forget(f memory.Forgetting) memory.DeletionReport {
	t.Helper()
	f = completed(f)
	alone := len(t.model.unfinished()) == 0
	t.compareDryRun(f)
	want := t.model.begin(f)
	want.done = true
	r := got(t.store.Forget(t.ctx, f, nil))(t)
	t.compareReport(r, want, alone)
	t.compareDryRun(f)
	return r
}

// carryOut resumes the unfinished forgettings and returns their reports.
func (t *harness) carryOut() (all []memory.DeletionReport) {
	t.Helper()
	unfinished := t.model.unfinished()
	for i, f := range t.unfinished() {
		all = append(all, got(t.store.Forget(t.ctx, f, nil))(t))
		unfinished[i].done = true
		t.compareReport(all[i], unfinished[i], len(unfinished) == 1)
	}
	t.same("how much is unfinished then", []int{len(t.model.unfinished()), len(t.unfinished())}, []int{0, 0})
	return all
}

// compareReport compares a report with the model's if only one forgetting ran, because either of two may
// count an item. Stores may count answers as messages.
func (t *harness) compareReport(r memory.DeletionReport, want *forgetting, alone bool) {
	t.Helper()
	if !alone {
		return
	}
	t.same("answers, facts, lore, summaries, records and people forgotten",
		[]int{r.Answers, r.Facts, r.Lore, r.Summaries, r.Records, r.People},
		[]int{want.Answers, want.Facts, want.Lore, want.Summaries, want.Records, want.People})
	if r.Messages < want.Messages-t.replied || r.Messages > want.Messages+t.replied || r.Vectors > r.Segments ||
		r.Forgetting.ID == 0 {
		t.Fatalf("the report is %+v, want %+v", r, want.DeletionReport)
	}
}

func (t *harness) unfinished() []memory.Forgetting {
	t.Helper()
	var all []memory.Forgetting
	for _, r := range got(t.store.Forgettings(t.ctx, memory.Everywhere, 0))(t) {
		all = append(all, r.Forgetting)
	}
	return all
}

func (t *harness) expire(e memory.Expiry) {
	t.Helper()
	if err := t.store.Expire(t.ctx, e); err != nil {
		t.Fatalf("Expire(%+v): %v", e, err)
	}
	t.model.expire(e)
}

func (t *harness) around(channel memory.ChannelID, ids []memory.MessageID, before, after int) []memory.Message {
	t.Helper()
	return got(t.store.Around(t.ctx, channel, ids, before, after))(t)
}

func (t *harness) log(channel memory.ChannelID) []memory.Message {
	t.Helper()
	var all []memory.Message
	for after := -never; ; {
		page := got(t.store.Log(t.ctx, channel, after, never, 7))(t)
		if len(page) > 7 || len(page) > 0 && page[0].ID <= after {
			t.Fatalf("Log(%d): %d messages after %d", channel, len(page), after)
		}
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), page[len(page)-1].ID
	}
}

// find returns what full text finds, by id.
func (t *harness) find(scope memory.Scope, question string) (ids []memory.MessageID) {
	t.Helper()
	for _, h := range got(t.store.FullText(t.ctx, scope, text.QueryTerms(question), 100))(t) {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

func (t *harness) nearest(scope memory.Scope, question string, limit int) []memory.VectorHit {
	t.Helper()
	hits, err := t.store.Nearest(t.ctx, scope, Embedder{}.Space(), embedText(question), limit)
	if err != nil && !errors.Is(err, memory.ErrNoVectors) {
		t.Fatalf("Nearest(%q): %v", question, err)
	}
	return hits
}

func (t *harness) pending() []memory.Segment {
	t.Helper()
	return got(t.store.Pending(t.ctx, 1000))(t)
}

func (t *harness) guild(id memory.GuildID) memory.Guild {
	t.Helper()
	return *got(t.store.Guild(t.ctx, id))(t)
}

func (t *harness) channel(guild memory.GuildID, id memory.ChannelID) memory.Channel {
	t.Helper()
	g := t.guild(guild)
	i := slices.IndexFunc(g.Channels, func(c memory.Channel) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("guild %d doesn't list channel %d", guild, id)
	}
	return g.Channels[i]
}

// people returns a guild's people, and checks that asking for one gives the same.
func (t *harness) people(guild memory.GuildID) []memory.Person {
	t.Helper()
	all := got(t.store.People(t.ctx, guild))(t)
	for _, p := range all {
		t.same("one of the people", got(t.store.People(t.ctx, guild, nobody, p.ID))(t), []memory.Person{p})
	}
	t.same("somebody unknown", got(t.store.People(t.ctx, guild, nobody))(t), []memory.Person(nil))
	return all
}

func (t *harness) trace(channel memory.ChannelID, answer memory.MessageID) (memory.Trace, bool) {
	t.Helper()
	trace, err := memory.TraceOf(t.ctx, t.store, channel, answer)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		t.Fatalf("Traces of %d: %v", answer, err)
	}
	return trace, err == nil
}

func (t *harness) prompt(channel memory.ChannelID, answer memory.MessageID) (memory.Prompt, bool) {
	t.Helper()
	for _, trace := range got(t.store.Traces(t.ctx, memory.TraceQuery{Channel: channel, Answer: answer,
		Prompts: true}))(t) {
		if p := trace.Prompt; p != nil && trace.Answer == answer {
			return *p, true
		}
	}
	return memory.Prompt{}, false
}

func (t *harness) summaries(channel memory.ChannelID) []memory.Summary {
	t.Helper()
	return got(t.store.Summaries(t.ctx, channel))(t)
}

func (t *harness) condensed(channel memory.ChannelID) []memory.Condensed {
	t.Helper()
	return got(t.store.Condensed(t.ctx, channel))(t)
}

func (t *harness) unsummarised(since memory.MessageID) []memory.Stretch {
	t.Helper()
	return got(t.store.SummaryBacklog(t.ctx, since))(t)
}

func (t *harness) lore(guild memory.GuildID) []memory.Lore {
	t.Helper()
	return got(t.store.Lore(t.ctx, guild))(t)
}

func (t *harness) records(q memory.RecordQuery) []memory.Record {
	t.Helper()
	return got(t.store.Records(t.ctx, q))(t)
}

// named returns the message with an external id, or 0.
func (t *harness) named(channel memory.ChannelID, name string) memory.MessageID {
	t.Helper()
	id, err := memory.MessageByExternalID(t.ctx, t.store, channel, name)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		t.Fatalf("message %q: %v", name, err)
	}
	return id
}

func (t *harness) gaps(guild memory.GuildID, sweep bool) []memory.Gap {
	t.Helper()
	return got(t.store.Gaps(t.ctx, guild, sweep))(t)
}

func (t *harness) withdrawn() []memory.Withdrawn {
	t.Helper()
	return byMessage(got(t.store.Withdrawn(t.ctx, 1000))(t))
}

func byMessage(all []memory.Withdrawn) []memory.Withdrawn {
	return sorted(all, func(w memory.Withdrawn) memory.MessageID { return w.Message })
}

// alike are the allowed differences between stores.
var alike = gocmp.Options{cmpopts.EquateEmpty(), cmpopts.EquateErrors(),
	cmpopts.IgnoreFields(memory.Message{}, "Tokens")}

func (t *harness) same(what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) && !gocmp.Equal(got, want, alike) {
		t.Fatalf("%s (-want +got):\n%s", what, gocmp.Diff(want, got, alike))
	}
}

func sorted[T any, K ~int64](all []T, key func(T) K) []T {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return all
}

func idsOf(messages []memory.Message) []memory.MessageID {
	var ids []memory.MessageID
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}
