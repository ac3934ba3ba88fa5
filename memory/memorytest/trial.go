package memorytest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// Where and who the promises are about.
const (
	guild   memory.GuildID   = 900
	general memory.ChannelID = 911
	staff   memory.ChannelID = 912
	thread  memory.ChannelID = 913 // of general
	local   memory.ChannelID = 921
	nowhere memory.ChannelID = 999 // no message is ever there

	ada  memory.UserID = 501
	ben  memory.UserID = 502
	hark memory.UserID = 509
	// nobody never says anything, and nothing is said about them.
	nobody memory.UserID = 599
)

// began is when everything here begins.
var began = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// fataler is what testing.T and rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// trial is a store under test. Its methods fail the test where the store fails.
type trial struct {
	fataler
	ctx   context.Context
	store memory.Store
}

func start(t *testing.T, store memory.Store) *trial {
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &trial{fataler: t, ctx: t.Context(), store: store}
}

// id is of a message sent so many seconds after the beginning.
func id(seconds int) memory.MessageID {
	return memory.FirstMessageID(began.Add(time.Duration(seconds)*time.Second)) + 1
}

// said is a plain message.
func said(channel memory.ChannelID, id memory.MessageID, author memory.UserID, content string) memory.Message {
	m := memory.Message{ID: id, Guild: guild, Channel: channel, Author: author, Content: content}
	if channel == local {
		m.Guild = memory.LocalGuild
	}
	return m
}

// edited is m after an edit so many minutes after the beginning.
func edited(m memory.Message, minutes int, content string) memory.Message {
	m.Content, m.Edited = content, began.Add(time.Duration(minutes)*time.Minute)
	return m
}

// got is what a method of the store gives; an error fails the test.
func got[T any](v T, err error) func(*trial) T {
	return func(t *trial) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return v
	}
}

func (t *trial) apply(events ...memory.Event) {
	t.Helper()
	if err := t.store.Apply(t.ctx, events...); err != nil {
		t.Fatalf("Apply(%+v): %v", events, err)
	}
}

func (t *trial) post(messages ...memory.Message) {
	t.Helper()
	events := make([]memory.Event, len(messages))
	for i, m := range messages {
		events[i] = memory.Posted{Message: m}
	}
	t.apply(events...)
}

func (t *trial) delete(channel memory.ChannelID, ids ...memory.MessageID) {
	t.Helper()
	t.apply(memory.Deleted{Guild: guild, Channel: channel, IDs: ids})
}

// messages are as the store has them, but for tokens, which are its own affair.
func (t *trial) messages(channel memory.ChannelID, ids ...memory.MessageID) []memory.Message {
	t.Helper()
	return plain(got(t.store.Around(t.ctx, channel, ids, 0, 0))(t))
}

func (t *trial) around(channel memory.ChannelID, ids []memory.MessageID, before, after int) []memory.Message {
	t.Helper()
	return plain(got(t.store.Around(t.ctx, channel, ids, before, after))(t))
}

// find are the messages found by the words of a question.
func (t *trial) find(scope memory.Scope, question string) []memory.MessageID {
	t.Helper()
	hits, err := t.store.FullText(t.ctx, scope, text.QueryTerms(question), 100)
	if err != nil {
		t.Fatalf("FullText(%q): %v", question, err)
	}
	var ids []memory.MessageID
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids
}

// starred are the marked messages in scope.
func (t *trial) starred(scope memory.Scope, limit int) []memory.Spot {
	t.Helper()
	return got(t.store.Starred(t.ctx, scope, limit))(t)
}

// nearest are the segments nearest to a question; none if there are no vectors.
func (t *trial) nearest(scope memory.Scope, question string, limit int) []memory.VectorHit {
	t.Helper()
	hits, err := t.store.Nearest(t.ctx, scope, Embedder{}.Space(), embed(question), limit)
	if err != nil && !errors.Is(err, memory.ErrNoVectors) {
		t.Fatalf("Nearest(%q): %v", question, err)
	}
	return hits
}

func (t *trial) pending() []memory.Segment {
	t.Helper()
	return got(t.store.Pending(t.ctx, 1000))(t)
}

func (t *trial) embedded(segments []memory.Segment) {
	t.Helper()
	vectors := make([][]float32, len(segments))
	for i, s := range segments {
		vectors[i] = embedSegment(s.Messages)
	}
	if err := t.store.Embedded(t.ctx, segments, vectors); err != nil {
		t.Fatalf("Embedded: %v", err)
	}
}

func (t *trial) version() int64 {
	t.Helper()
	return got(t.store.Version(t.ctx))(t)
}

// embedAll embeds what is pending.
func (t *trial) embedAll() {
	t.Helper()
	t.embedded(t.pending())
	if left := t.pending(); len(left) > 0 {
		t.Fatalf("%d segments are pending after all were embedded", len(left))
	}
}

func (t *trial) guild(id memory.GuildID) memory.Guild {
	t.Helper()
	g, err := t.store.Guild(t.ctx, id)
	if err != nil {
		t.Fatalf("Guild(%d): %v", id, err)
	}
	return *g
}

// channel is the channel as its guild lists it.
func (t *trial) channel(guild memory.GuildID, id memory.ChannelID) memory.Channel {
	t.Helper()
	for _, c := range t.guild(guild).Channels {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("guild %d doesn't list channel %d", guild, id)
	return memory.Channel{}
}

func (t *trial) people(guild memory.GuildID) []memory.Person {
	t.Helper()
	all := got(t.store.People(t.ctx, guild))(t)
	for _, p := range all {
		t.same("one of the people", got(t.store.People(t.ctx, guild, nobody, p.ID))(t), []memory.Person{p})
	}
	t.same("somebody unknown", got(t.store.People(t.ctx, guild, nobody))(t), []memory.Person(nil))
	return all
}

func (t *trial) trace(channel memory.ChannelID, answer memory.MessageID) (memory.Trace, bool) {
	t.Helper()
	trace, err := memory.TraceOf(t.ctx, t.store, channel, answer)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		t.Fatalf("Traces of %d: %v", answer, err)
	}
	return trace, err == nil
}

func (t *trial) names(channel memory.ChannelID, ids ...memory.MessageID) map[memory.MessageID]string {
	t.Helper()
	return got(t.store.NameOf(t.ctx, channel, ids))(t)
}

func (t *trial) named(channel memory.ChannelID, name string) memory.MessageID {
	t.Helper()
	id, err := t.store.MessageNamed(t.ctx, channel, name)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		t.Fatalf("MessageNamed(%q): %v", name, err)
	}
	return id
}

// same fails the test unless got is want. Empty slices and maps are as good as nil.
func (t *trial) same(what string, got, want any) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if k := w.Kind(); (k == reflect.Slice || k == reflect.Map) && g.Len() == 0 && w.Len() == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %s\nwant %s", what, show(got), show(want))
	}
}

func show(v any) string {
	value := reflect.ValueOf(v)
	if value.Kind() != reflect.Slice {
		return fmt.Sprintf("%+v", v)
	}
	s := fmt.Sprintf("%d", value.Len())
	for i := range value.Len() {
		s += fmt.Sprintf("\n     %+v", value.Index(i))
	}
	return s
}

// plain takes off what two stores may differ in.
func plain(messages []memory.Message) []memory.Message {
	messages = slices.Clone(messages)
	for i := range messages {
		m := &messages[i]
		m.Tokens = 0
		if !m.Edited.IsZero() {
			m.Edited = m.Edited.UTC()
		} else {
			m.Edited = time.Time{}
		}
		if len(m.Files) == 0 {
			m.Files = nil
		}
		if len(m.Mentions) == 0 {
			m.Mentions = nil
		}
	}
	return messages
}

func textsOf(messages []memory.Message) []string {
	var texts []string
	for _, m := range messages {
		texts = append(texts, m.Text())
	}
	return texts
}

func idsOf(messages []memory.Message) []memory.MessageID {
	var ids []memory.MessageID
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

func in(channels ...memory.ChannelID) memory.Scope { return memory.Scope{Channels: channels} }

// log is all of a channel, in pages.
func (t *trial) log(channel memory.ChannelID) []memory.Message {
	t.Helper()
	var all []memory.Message
	for after := -never; ; {
		page, err := t.store.Log(t.ctx, channel, after, never, 7)
		if err != nil || len(page) > 7 || len(page) > 0 && page[0].ID <= after {
			t.Fatalf("Log(%d): %d messages after %d, %v", channel, len(page), after, err)
		}
		if len(page) == 0 {
			return plain(all)
		}
		all, after = append(all, page...), page[len(page)-1].ID
	}
}

func (t *trial) heard(guild memory.GuildID) map[memory.ChannelID]memory.MessageID {
	t.Helper()
	return got(t.store.HeardUntil(t.ctx, guild))(t)
}

func (t *trial) gaps() []memory.Gap {
	t.Helper()
	return got(t.store.Gaps(t.ctx, memory.Everywhere, false))(t)
}

func (t *trial) unswept() []memory.Gap {
	t.Helper()
	return got(t.store.Gaps(t.ctx, guild, true))(t)
}

func (t *trial) optedOut(guild memory.GuildID, user memory.UserID) bool {
	t.Helper()
	return got(t.store.OptedOut(t.ctx, guild, user))(t)
}

func (t *trial) waiting() int {
	t.Helper()
	n, guilds, all := got(t.store.Waiting(t.ctx, memory.Everywhere))(t), got(t.store.Guilds(t.ctx))(t), 0
	for _, id := range guilds {
		all += got(t.store.Waiting(t.ctx, id))(t)
	}
	if all != n {
		t.Fatalf("%d segments wait, and %d of them in %v", n, all, guilds)
	}
	return n
}

func (t *trial) forget(f memory.Forgetting) memory.Receipt {
	t.Helper()
	return got(t.store.Forget(t.ctx, f, nil))(t)
}

func (t *trial) unfinished() []memory.Forgetting {
	t.Helper()
	var all []memory.Forgetting
	for _, r := range got(t.store.Forgettings(t.ctx, memory.Everywhere, 0))(t) {
		all = append(all, r.Forgetting)
	}
	return all
}

// oneUnfinished is the one forgetting that is to be carried out.
func (t *trial) oneUnfinished() memory.Forgetting {
	t.Helper()
	all := t.unfinished()
	if len(all) != 1 {
		t.Fatalf("unfinished: %+v, want one", all)
	}
	return all[0]
}

func (t *trial) carryOut(id int64) memory.Receipt {
	t.Helper()
	return got(t.store.Resume(t.ctx, id, nil))(t)
}

func (t *trial) withdrawn() []memory.Withdrawn {
	t.Helper()
	return got(t.store.Withdrawn(t.ctx, 1000))(t)
}

func (t *trial) expire(e memory.Expiry) {
	t.Helper()
	if err := t.store.Expire(t.ctx, e); err != nil {
		t.Fatalf("Expire(%+v): %v", e, err)
	}
}
