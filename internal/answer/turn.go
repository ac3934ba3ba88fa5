package answer

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"hark/builder"
	"hark/internal/answer/tools"
	"hark/internal/chat"
	"hark/memory"
	"hark/search"
)

// turn returns q's answer for the model and its tools. It is valid until *r is replaced.
func (e *Engine) turn(q Question, r *recalled) *tools.Turn {
	return &tools.Turn{
		Question:    q.forTools(),
		Model:       r.resolved.model,
		Builder:     r.resolved.builder,
		Temperature: r.resolved.Temperature,
		Brief:       r.result.SmallTalk(),
		Prompt:      &r.Prompt,
		Shown:       &r.shown,
		Talk:        &r.talk,
		Log:         r.log,
		Answer:      &turn{e, q, r},
		Servers:     e.serversFor(q, r.resolved.Settings),
	}
}

func (q Question) forTools() tools.Question {
	return tools.Question{
		ID:       q.ID,
		Guild:    q.Guild,
		Channel:  q.Channel,
		Asker:    q.Asker,
		Name:     q.Name,
		Text:     q.Text,
		Mentions: q.Mentions,
		Now:      q.Now,
		Using:    q.Using,
		Agree:    q.Agree,
	}
}

// serversFor returns whose tools the model is offered. In the terminal's own room nobody but the operator chooses.
func (e *Engine) serversFor(q Question, s Settings) []string {
	if q.Guild == memory.LocalGuild && e.options.Remote != nil {
		return e.options.Remote.Servers()
	}
	return s.Servers
}

// turn is what tools may use of an answer. See tools.Answer.
type turn struct {
	e *Engine
	q Question
	r *recalled
}

func (t *turn) Messages() []chat.Message { return t.r.messages() }

func (t *turn) Refresh(ctx context.Context) error {
	now, err := t.e.readScope(ctx, t.q)
	if err == nil {
		now.names.told = t.r.names.told
		t.r.readableScope = now
	}
	return err
}

func (t *turn) Valid(ctx context.Context) (bool, error) {
	return t.e.revalidateOnce(withLookUps(ctx), t.q, t.r)
}

func (t *turn) IsOn(server string) bool {
	return t.r.settings.Tools && slices.Contains(t.e.serversFor(t.q, t.r.settings), server)
}

func (t *turn) KeepsRecords() bool { return t.r.keepsRecords() }

// MayRemember needs an asker who can be asked, and agreed to be remembered here.
func (t *turn) MayRemember(ctx context.Context) (bool, error) {
	q := t.q
	if q.ID == 0 || q.Asker == 0 || q.Proxied || q.Operator && !q.Confirms || !t.r.keepsRecords() {
		return false, nil
	}
	return t.r.consents.agrees(ctx, q.Guild, q.Asker)
}

// Zone is in which times are shown.
func (t *turn) Zone() *time.Location  { return t.r.settings.Zone }
func (t *turn) Scope() memory.Scope   { return t.r.narrowed }
func (t *turn) People() memory.People { return t.r.names.people }

func (t *turn) Channels() map[memory.ChannelID]memory.Channel { return t.r.names.channels }

func (t *turn) In(ids, in []memory.ChannelID) []memory.ChannelID {
	return Filter{In: in}.channels(ids, t.r.names.channels)
}

func (t *turn) Query(scope memory.Scope, skip []memory.MessageID) search.Query {
	return t.e.query(t.q, t.r, scope, skip)
}

func (t *turn) Search(ctx context.Context, q search.Query) (search.Result, error) {
	q.Text = t.r.names.searchText(q.Text)
	result, err := t.e.search.Search(ctx, q)
	if err != nil {
		return result, err
	}
	result, err = t.r.consents.filter(ctx, result)
	if err != nil {
		return result, err
	}
	result.Hits, err = keepHits(ctx, result.Hits, t.e.upstream.current)
	if err == nil {
		err = t.e.readReplied(ctx, t.q, t.r, excerptsOf(result.Hits))
	}
	return result, err
}

func (t *turn) Introduce(ctx context.Context, q search.Query) ([]search.Participant, error) {
	people, err := t.e.search.Introduce(ctx, q)
	if err != nil {
		return nil, err
	}
	result, err := t.r.consents.filter(ctx, search.Result{People: people})
	if err != nil {
		return nil, err
	}
	switch {
	case t.q.Guild == memory.DirectGuild:
		result.People = presentIn(result.People, t.q.Asker)
	case t.q.OnlyAsker && t.q.Channel == 0:
		result.People = t.r.met(result.People, t.q.Asker)
	}
	return result.People, nil
}

func (t *turn) Facts(ctx context.Context, people []search.Participant) ([]search.Participant,
	map[memory.MessageRef]memory.Message, error) {
	found := &recalled{readableScope: t.r.readableScope, result: search.Result{People: people}}
	err := t.e.verifySources(ctx, found)
	return found.result.People, found.said, err
}

func (t *turn) HasLore() bool { return len(t.lore()) > 0 }

func (t *turn) Lore(ctx context.Context) ([]memory.Lore, map[memory.MessageRef]memory.Message, error) {
	return t.e.verifyLore(ctx, t.r.readableScope, t.lore())
}

func (t *turn) lore() []memory.Lore {
	return slices.DeleteFunc(search.LoreIn(t.r.narrowed, slices.Collect(maps.Values(t.r.readableScope.lore))),
		func(l memory.Lore) bool {
			elsewhere := len(t.q.Filter.In) > 0 && l.Channel == 0 // guild-wide lore wasn't said there
			return elsewhere || len(t.r.narrowed.Authors) > 0 && !slices.Contains(t.r.narrowed.Authors, l.By)
		})
}

func (t *turn) Named(said string) string { return t.r.names.named(said) }

func (t *turn) Input(result search.Result) builder.Input {
	in := History(result, t.q.Channel, t.Zone(), t.r.place, t.r.names.of)
	t.r.names.nameTags(&in)
	t.r.markReplies(&in, result.Hits)
	in.Now = t.q.Now.In(t.Zone())
	return in
}

// Records returns the records that every reader of the answer may know of.
func (t *turn) Records(ctx context.Context, query memory.RecordQuery, matches func(tools.Record) bool,
	limit int) (found []tools.Record, more bool, err error) {
	here := t.q.Channel
	now, err := t.e.readScope(ctx, t.q) // the question may have been asked a minute ago
	if err != nil || !now.here || !slices.Contains(now.narrowed.Channels, here) {
		return nil, false, err
	}
	if now.narrowed.Since.After(query.Since) {
		query.Since = now.narrowed.Since
	}
	if until := now.narrowed.Until; !until.IsZero() && (query.Until.IsZero() || until.Before(query.Until)) {
		query.Until = until
	}
	most := query.Limit
	query.Channels = []memory.ChannelID{here}
	query.Limit = most + 1
	all, err := t.e.log.Records(ctx, query)
	if err != nil {
		return nil, false, err
	}
	more = len(all) > most
	if more {
		all = all[:most]
	}
	wanted := messageSet{}
	for _, r := range all {
		wanted.add(memory.MessageRef{Channel: here, Message: r.Question}, memory.MessageRef{Channel: here,
			Message: r.Answer})
	}
	there, err := now.consents.lookUp(ctx, wanted, nil)
	if err != nil {
		return nil, false, err
	}
	said := func(id memory.MessageID) *memory.Message {
		if m, is := there[memory.MessageRef{Channel: here, Message: id}]; is {
			return &m
		}
		return nil
	}
	audience := now.audienceIn(here, math.MaxInt64)
	for _, r := range all {
		rec := tools.Record{
			Record:   r,
			Question: said(r.Question),
			Answer:   said(r.Answer),
		}
		if len(now.narrowed.Authors) > 0 && !slices.Contains(now.narrowed.Authors, r.Asker) || !matches(rec) {
			continue
		}
		if ok, err := audience.mayTell(ctx, rec); err != nil {
			return nil, false, err
		} else if !ok {
			continue
		}
		if len(found) == limit {
			return found, true, nil
		}
		found = append(found, rec)
	}
	return found, more, nil
}

// mayTell reports whether a record may be told. It carries the audience of all sources of its answer: an outcome
// counts them, and arguments may name them. Without an answer the sources are unknown, except of the question's own
// record. A record must point to a message, so that what is made from it goes with that.
func (d *answerAudience) mayTell(ctx context.Context, r tools.Record) (bool, error) {
	if r.Record.Question != 0 && r.Question == nil || r.Question == nil && r.Answer == nil {
		return false, nil
	}
	if ok, err := d.consents.agrees(ctx, r.Guild, r.Asker); !ok || err != nil {
		return false, err
	}
	if r.Record.Answer == 0 {
		return r.Speaker == memory.SpeakerUser, nil
	}
	if r.Answer == nil {
		return false, nil
	}
	return d.mayRepeat(ctx, r.Record.Answer)
}

// met returns the people whom a reader outside Discord may be told of: themselves, and those who wrote where they can
// read, or of whom something was told that they may know. Who else is a member isn't told.
func (now readableScope) met(people []search.Participant, reader memory.UserID) []search.Participant {
	return slices.DeleteFunc(slices.Clone(people), func(p search.Participant) bool {
		return p.Person.ID != reader && p.Presence.Messages == 0 && len(p.Person.Facts) == 0
	})
}
