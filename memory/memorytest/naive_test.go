package memorytest

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// naive is a store in memory that asks the model everything: it shows that the suite can be passed.
type naive struct {
	mu   sync.RWMutex
	wake chan struct{}
	// writes counts the calls that may have changed something.
	writes int64
	*naiveState
}

// naiveState is what outlives closing.
type naiveState struct {
	model    *model
	segments map[segmentKey]*naiveSegment
}

// segmentKey cuts a channel into stretches of ten minutes.
type segmentKey struct {
	channel memory.ChannelID
	stretch int64
}

type naiveSegment struct {
	memory.Segment
	pending bool
	vector  []float32
}

func newNaive(state *naiveState) *naive {
	if state == nil {
		state = &naiveState{newModel(), map[segmentKey]*naiveSegment{}}
	}
	return &naive{wake: make(chan struct{}, 1), naiveState: state}
}

// read calls f with the model, which isn't changed.
func read[T any](s *naive, f func(*model) T) (T, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return f(s.model), nil
}

// write calls f with the model, to be changed.
func write[T any](s *naive, f func(*model) T) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	return f(s.model), nil
}

func (s *naive) Apply(ctx context.Context, events ...memory.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	events, err := checked(events)
	if err != nil {
		return err
	}
	_, err = write(s, func(m *model) bool {
		for _, e := range events {
			begun := len(m.forgettings)
			m.apply(e)
			for _, g := range m.forgettings[begun:] {
				s.count(g)
			}
		}
		return s.cut()
	})
	return err
}

// checked are events as they are kept, unless one of them can't be.
func checked(events []memory.Event) ([]memory.Event, error) {
	events = slices.Clone(events)
	for i, e := range events {
		var err error
		switch e := e.(type) {
		case memory.LoreTold:
			e.Lore, err = e.Lore.Checked()
			events[i] = e
		case memory.Called:
			_, err = e.Record.Checked()
		case memory.LimitChosen:
			err = e.Check()
		case memory.Forgetting:
			if e.At.IsZero() {
				err = memory.ErrRefused
			}
		case memory.Spent:
			if e.Question == 0 || e.Tokens < 0 {
				err = memory.ErrRefused
			}
		case memory.SessionCondensed:
			e.Condensed, err = e.Condensed.Checked()
			events[i] = e
		case memory.Summarised:
			if e.Channel == 0 {
				err = memory.ErrRefused
			} else if e.Summary != nil {
				var kept memory.Summary
				if kept, err = e.Summary.Checked(); kept.Channel != e.Channel || kept.ID != e.Until {
					err = memory.ErrRefused
				}
				e.Summary, events[i] = &kept, e
			}
			events[i] = e
		}
		if err != nil {
			return nil, memory.ErrRefused
		}
	}
	return events, nil
}

// cut cuts the log into segments again, reports whether any changed, and wakes whoever embeds if so.
func (s *naive) cut() bool {
	now := map[segmentKey][]memory.Message{}
	for at := range s.model.entries {
		if m, ok := s.model.message(at); ok && m.Kind.Recalled() {
			key := segmentKey{at.channel, m.Time().Unix() / 600}
			now[key] = append(now[key], m)
		}
	}
	changed := false
	for key, messages := range now {
		slices.SortFunc(messages, func(a, b memory.Message) int { return compare(a.ID, b.ID) })
		seg := s.segments[key]
		if seg == nil {
			seg = &naiveSegment{Segment: memory.Segment{ID: int64(len(s.segments)+1)<<20 | key.stretch%(1<<20), Channel: key.channel}}
			s.segments[key] = seg
		}
		if holdsAll(messages, seg.Messages) && len(messages) == len(seg.Messages) {
			seg.Messages = messages // with their stars
			continue
		}
		if !holdsAll(messages, seg.Messages) {
			seg.vector = nil
		}
		changed = true
		seg.Messages, seg.Version, seg.pending = messages, seg.Version+1, true
	}
	for _, key := range slices.Collect(maps.Keys(s.segments)) {
		if now[key] == nil {
			*s.segments[key] = naiveSegment{Segment: memory.Segment{ID: s.segments[key].ID, Channel: key.channel, Version: s.segments[key].Version + 1}}
		}
	}
	if changed {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return changed
}

func (s *naive) Pending(_ context.Context, limit int) ([]memory.Segment, error) {
	return read(s, func(*model) []memory.Segment {
		var pending []memory.Segment
		for _, seg := range s.segments {
			if seg.pending {
				pending = append(pending, seg.Segment)
			}
		}
		slices.SortFunc(pending, func(a, b memory.Segment) int { return int(a.ID - b.ID) })
		return first(limit, pending)
	})
}

// first are at most so many of all.
func first[T any](limit int, all []T) []T { return all[:min(limit, len(all))] }

func (s *naive) Waiting(ctx context.Context, guild memory.GuildID) (int, error) {
	pending, err := s.Pending(ctx, 1<<30)
	return len(slices.DeleteFunc(pending, func(seg memory.Segment) bool {
		return guild != memory.Everywhere && seg.Messages[0].Guild != guild
	})), err
}

func (s *naive) Embedded(_ context.Context, segments []memory.Segment, vectors [][]float32) error {
	_, err := write(s, func(*model) bool {
		for i, given := range segments {
			for _, seg := range s.segments {
				if seg.ID == given.ID && seg.Version == given.Version && seg.pending {
					seg.vector, seg.pending = vectors[i], false
				}
			}
		}
		return true
	})
	return err
}

func (s *naive) Wake() <-chan struct{} { return s.wake }
func (s *naive) Close() error          { return nil }

func (s *naive) Forget(ctx context.Context, f memory.Forgetting, progress func(done, total int)) (memory.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return memory.Receipt{}, err
	}
	g, _ := write(s, func(m *model) *forgetting {
		g := m.begin(f)
		s.count(g)
		s.cut()
		return g
	})
	return s.carryOut(ctx, g, progress)
}

// count tells a receipt of the segments, as they were, from which something has gone.
func (s *naive) count(g *forgetting) {
	for _, seg := range s.segments {
		if slices.ContainsFunc(seg.Messages, func(m memory.Message) bool { _, ok := s.model.message(place{m.Channel, m.ID}); return !ok }) {
			g.Segments++
			if seg.vector != nil {
				g.Vectors++
			}
		}
	}
}

func (s *naive) Resume(ctx context.Context, id int64, progress func(done, total int)) (memory.Receipt, error) {
	g, _ := read(s, func(m *model) *forgetting {
		for _, g := range m.forgettings {
			if g.Forgetting.ID == id {
				return g
			}
		}
		return nil
	})
	if g == nil {
		return memory.Receipt{}, memory.ErrNotFound
	}
	return s.carryOut(ctx, g, progress)
}

// carryOut has nothing left to do but to say so, a hundred messages a step.
func (s *naive) carryOut(ctx context.Context, g *forgetting, progress func(done, total int)) (memory.Receipt, error) {
	for done := 0; progress != nil && !g.done && done < g.Messages; {
		done = min(done+100, g.Messages)
		progress(done, g.Messages)
		if err := ctx.Err(); err != nil {
			return memory.Receipt{}, err
		}
	}
	return write(s, func(*model) memory.Receipt {
		g.done = true
		return g.Receipt
	})
}

// Extent isn't asked for single messages, nor within channels.
func (s *naive) Extent(_ context.Context, q memory.ExtentQuery) (memory.Extent, error) {
	return read(s, func(m *model) memory.Extent { return m.extent(q.Forgetting) })
}

// Forgettings isn't asked for those of a person.
func (s *naive) Forgettings(context.Context, memory.GuildID, memory.UserID) ([]memory.Receipt, error) {
	return read(s, func(m *model) (all []memory.Receipt) {
		for _, f := range m.unfinished() {
			all = append(all, memory.Receipt{Forgetting: f})
		}
		return all
	})
}

func (s *naive) Erase(context.Context, bool) error { return nil }

func (s *naive) Withdrawn(_ context.Context, limit int) ([]memory.Withdrawn, error) {
	return read(s, func(m *model) []memory.Withdrawn { return slices.Clone(first(limit, m.withdrawn)) })
}

func (s *naive) Expire(_ context.Context, e memory.Expiry) error {
	_, err := write(s, func(m *model) int {
		return m.forgetOld(e.Prompts) + m.forgetOldSpending(e.Spending) + m.limitRecords(e.Records)
	})
	return err
}

func (s *naive) FingerprintKey(context.Context) ([]byte, error) {
	return write(s, func(m *model) []byte {
		if m.key == nil {
			m.key = make([]byte, memory.FingerprintKeyBytes)
			_, _ = rand.Read(m.key) // never fails
		}
		return m.key
	})
}

func (s *naive) Spending(_ context.Context, guild memory.GuildID, day time.Time) (map[memory.UserID]int, error) {
	return read(s, func(m *model) map[memory.UserID]int { return m.spending(guild, day) })
}

func (s *naive) Records(_ context.Context, q memory.RecordQuery) ([]memory.Record, error) {
	return read(s, func(m *model) []memory.Record { return m.recordsFor(q) })
}

func (s *naive) Guilds(context.Context) ([]memory.GuildID, error) {
	return read(s, func(m *model) []memory.GuildID { return slices.Sorted(maps.Keys(m.guilds)) })
}

func (s *naive) Guild(_ context.Context, id memory.GuildID) (*memory.Guild, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.model.guilds[id] == nil {
		return nil, memory.ErrNotFound
	}
	g := s.model.whole(id)
	return &g, nil
}

func (s *naive) People(_ context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	return read(s, func(m *model) []memory.Person {
		return slices.DeleteFunc(m.everybody(guild), func(p memory.Person) bool { return len(ids) > 0 && !slices.Contains(ids, p.ID) })
	})
}

func (s *naive) Lore(_ context.Context, guild memory.GuildID) ([]memory.Lore, error) {
	return read(s, func(m *model) []memory.Lore { return m.loreOf(guild) })
}

func (s *naive) Summaries(_ context.Context, channel memory.ChannelID) ([]memory.Summary, error) {
	return read(s, func(m *model) []memory.Summary { return m.summariesOf(channel) })
}

func (s *naive) Condensed(_ context.Context, channel memory.ChannelID) ([]memory.Condensed, error) {
	return read(s, func(m *model) []memory.Condensed { return m.condensedIn(channel) })
}

func (s *naive) SummaryBacklog(_ context.Context, since memory.MessageID) ([]memory.Stretch, error) {
	return read(s, func(m *model) []memory.Stretch { return m.unsummarised(since) })
}

func (s *naive) Presence(_ context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error) {
	return read(s, func(m *model) map[memory.UserID]memory.Presence { return m.presence(scope, users) })
}

// Written isn't asked for by the suite.
func (s *naive) Written(context.Context, memory.GuildID, memory.UserID, func(memory.Message) error) error {
	return nil
}

func (s *naive) Around(_ context.Context, channel memory.ChannelID, ids []memory.MessageID, before, after int) ([]memory.Message, error) {
	return read(s, func(m *model) []memory.Message { return m.around(channel, ids, before, after) })
}

func (s *naive) Log(_ context.Context, channel memory.ChannelID, after, until memory.MessageID, limit int) ([]memory.Message, error) {
	return read(s, func(m *model) []memory.Message {
		return first(limit, slices.DeleteFunc(m.log(channel), func(m memory.Message) bool { return m.ID <= after || m.ID > until }))
	})
}

func (s *naive) MessageNamed(_ context.Context, channel memory.ChannelID, name string) (memory.MessageID, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id, ok := s.model.named(channel, name); ok {
		return id, nil
	}
	return 0, memory.ErrNotFound
}

func (s *naive) NameOf(_ context.Context, channel memory.ChannelID, ids []memory.MessageID) (map[memory.MessageID]string, error) {
	return read(s, func(m *model) map[memory.MessageID]string {
		names := map[memory.MessageID]string{}
		for _, id := range ids {
			if name := m.names[place{channel, id}]; name != "" {
				names[id] = name
			}
		}
		return names
	})
}

func (s *naive) FullText(_ context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error) {
	return read(s, func(m *model) []memory.TextHit {
		var hits []memory.TextHit
		for at := range m.fullText(scope, terms) {
			message, _ := m.message(at)
			hit := memory.TextHit{Channel: at.channel, ID: at.id}
			for _, term := range text.Terms(message.Text()) {
				if slices.Contains(terms, term) {
					hit.Score++
				}
			}
			hits = append(hits, hit)
		}
		slices.SortFunc(hits, func(a, b memory.TextHit) int { return int(b.Score - a.Score) })
		return first(limit, hits)
	})
}

func (s *naive) Starred(_ context.Context, scope memory.Scope, limit int) ([]memory.Spot, error) {
	return read(s, func(m *model) []memory.Spot { return first(limit, m.starred(scope)) })
}

func (s *naive) Frequencies(_ context.Context, scope memory.Scope, terms []string, _ int) (int, []int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, counts := s.model.frequencies(scope, terms)
	return n, counts, nil
}

func (s *naive) Nearest(_ context.Context, scope memory.Scope, space memory.Space, vector []float32, limit int) ([]memory.VectorHit, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var hits []memory.VectorHit
	some := false
	for _, seg := range s.segments {
		some = some || seg.vector != nil
		if seg.vector == nil || !slices.Contains(scope.Channels, seg.Channel) {
			continue
		}
		hit := memory.VectorHit{Channel: seg.Channel, Similarity: cosine(vector, seg.vector)}
		for _, m := range seg.Messages {
			if within(scope, m) {
				hit.Messages = append(hit.Messages, m.ID)
			}
		}
		if len(hit.Messages) > 0 {
			hits = append(hits, hit)
		}
	}
	if !some || space != (Embedder{}).Space() {
		return nil, memory.ErrNoVectors
	}
	slices.SortFunc(hits, func(a, b memory.VectorHit) int {
		if a.Similarity > b.Similarity {
			return -1
		}
		return 1
	})
	return first(limit, hits), nil
}

func (s *naive) HeardUntil(_ context.Context, guild memory.GuildID) (map[memory.ChannelID]memory.MessageID, error) {
	return read(s, func(m *model) map[memory.ChannelID]memory.MessageID { return m.listened(guild) })
}

func (s *naive) Gaps(_ context.Context, guild memory.GuildID, sweep bool) ([]memory.Gap, error) {
	return read(s, func(m *model) []memory.Gap {
		if sweep {
			return m.unswept(guild)
		}
		return m.missing()
	})
}

func (s *naive) Questions(context.Context) ([]memory.OpenQuestion, error) {
	return read(s, func(m *model) []memory.OpenQuestion {
		return slices.SortedFunc(maps.Values(m.open), func(a, b memory.OpenQuestion) int { return compare(a.ID, b.ID) })
	})
}

func (s *naive) OptedOut(_ context.Context, guild memory.GuildID, user memory.UserID) (bool, error) {
	return read(s, func(m *model) bool { return m.opted[member{guild, user}].Out })
}

func (s *naive) Version(context.Context) (int64, error) {
	return read(s, func(*model) int64 { return s.writes })
}

func (s *naive) Space(context.Context) (memory.Space, error) { return Embedder{}.Space(), nil }

func (s *naive) Traces(_ context.Context, q memory.TraceQuery) ([]memory.Trace, error) {
	return read(s, func(m *model) []memory.Trace {
		if q.Answer == 0 {
			return m.lastTraces(q.Before, cmp.Or(q.Limit, 1<<30))
		}
		for at, t := range m.traces {
			if at.channel == q.Channel && (at.id == q.Answer || slices.Contains(t.Parts, q.Answer)) {
				if p, ok := m.prompts[at]; ok && q.Prompts {
					t.Prompt = &p
				}
				return []memory.Trace{t.Trace}
			}
		}
		return nil
	})
}
