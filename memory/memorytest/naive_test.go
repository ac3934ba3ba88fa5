package memorytest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// naive is a store in memory, obviously right, that can have one bug.
type naive struct {
	bug  string
	mu   sync.RWMutex
	wake chan struct{}
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

func newNaive(bug string, state *naiveState) *naive {
	if state == nil {
		state = &naiveState{newModel(), map[segmentKey]*naiveSegment{}}
	}
	return &naive{bug: bug, wake: make(chan struct{}, 1), naiveState: state}
}

func (s *naive) has(bug string) bool { return s.bug == bug }

func (s *naive) Apply(ctx context.Context, events ...memory.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range events {
		if err := ctx.Err(); err != nil && (i == 0 || s.has("applies half a batch")) && (i > 0 || !s.has("applies half a batch")) {
			return err
		}
		if s.has("shows half a batch") {
			s.mu.Unlock()
			time.Sleep(time.Microsecond) // lets readers in
			s.mu.Lock()
		}
		s.model.apply(s.spoil(e)...)
	}
	if s.cut() && !s.has("never wakes") {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// spoil changes an event as the store's bug has it.
func (s *naive) spoil(e memory.Event) []memory.Event {
	switch v := e.(type) {
	case memory.Posted:
		at := place{v.Message.Channel, v.Message.ID}
		entry := s.model.entry(at)
		switch {
		case s.has("brings the deleted back"):
			entry.deleted = false
		case s.has("lets the last version win") && entry.posted != nil:
			entry.posted.Edited = time.Time{}
			entry.edit = nil
			v.Message.Edited = v.Message.Edited.Add(time.Nanosecond)
		case s.has("takes an edit for a whole version") && entry.posted != nil && entry.edit != nil && entry.edit.At.After(v.Message.Edited):
			return nil
		case s.has("forgets files"):
			v.Message.Files = nil
		}
		return []memory.Event{v}
	case memory.Edited:
		if s.has("loses early edits") && s.model.entry(place{v.Channel, v.ID}).posted == nil {
			return nil
		}
	case memory.Deleted:
		if s.has("forgets deletes of what isn't there") {
			v.IDs = slices.DeleteFunc(slices.Clone(v.IDs), func(id memory.MessageID) bool {
				_, ok := s.model.message(place{v.Channel, id})
				return !ok
			})
		}
		if s.has("keeps names of the deleted") {
			kept := maps.Clone(s.model.names)
			s.model.apply(v)
			s.model.names = kept
			return nil
		}
		if s.has("keeps answers without sources") {
			kept := maps.Clone(s.model.traces)
			clear(s.model.traces)
			s.model.apply(v)
			maps.Copy(s.model.traces, kept)
			return nil
		}
		return []memory.Event{v}
	case memory.Named:
		if s.has("renames messages") {
			delete(s.model.names, place{v.Channel, v.ID})
		}
	case memory.ChannelSeen:
		if s.has("lets imports change channels") {
			delete(s.model.seen, v.Channel.ID)
		}
	case memory.GuildSeen:
		if s.has("adds to a guild's roles") {
			v.Guild.Roles = append(slices.Clone(v.Guild.Roles), s.model.guild(v.Guild.ID).Roles...)
		}
		return []memory.Event{v}
	case memory.PersonSeen:
		if s.has("forgets names") {
			delete(s.model.people[v.Person.Guild], v.Person.ID)
		}
	}
	return []memory.Event{e}
}

// cut cuts the log into segments again and reports whether any changed.
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
			continue
		}
		if !holdsAll(messages, seg.Messages) && !s.has("keeps vectors of the deleted") {
			seg.vector = nil
		}
		changed = true
		seg.Messages, seg.Version = messages, seg.Version+1
		seg.pending = seg.pending || !s.has("forgets to embed changes") || seg.Version == 1
	}
	for _, key := range slices.Collect(maps.Keys(s.segments)) {
		if now[key] == nil {
			*s.segments[key] = naiveSegment{Segment: memory.Segment{ID: s.segments[key].ID, Channel: key.channel, Version: s.segments[key].Version + 1}}
		}
	}
	return changed
}

func (s *naive) Guilds(context.Context) ([]memory.GuildID, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.model.guilds)), nil
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

func (s *naive) People(_ context.Context, guild memory.GuildID) ([]memory.Person, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.model.everybody(guild), nil
}

func (s *naive) Presence(_ context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("counts the whole guild's presence") && len(scope.Channels) > 0 {
		scope.Channels = channels
	}
	return s.model.presence(scope, users), nil
}

func (s *naive) Messages(_ context.Context, channel memory.ChannelID, ids []memory.MessageID) ([]memory.Message, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.DeleteFunc(s.model.log(channel), func(m memory.Message) bool { return !slices.Contains(ids, m.ID) }), nil
}

func (s *naive) Around(_ context.Context, channel memory.ChannelID, ids []memory.MessageID, before, after int) ([]memory.Message, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("looks one too far back") {
		before++
	}
	return s.model.around(channel, ids, before, after), nil
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
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := map[memory.MessageID]string{}
	for _, id := range ids {
		if name := s.model.names[place{channel, id}]; name != "" {
			names[id] = name
		}
	}
	return names, nil
}

func (s *naive) FullText(_ context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.has("ignores Until"):
		scope.Until = time.Time{}
	case s.has("begins after Since") && !scope.Since.IsZero():
		scope.Since = scope.Since.Add(time.Millisecond)
	case s.has("leaks another channel") && len(scope.Channels) > 0:
		scope.Channels = append(slices.Clone(scope.Channels), staff)
	case s.has("wants all terms") && len(terms) > 1:
		terms = terms[:1]
	}
	var hits []memory.TextHit
	for at := range s.model.fullText(scope, terms) {
		m, _ := s.model.message(at)
		hit := memory.TextHit{Channel: at.channel, ID: at.id}
		for _, term := range text.Terms(m.Text()) {
			if slices.Contains(terms, term) {
				hit.Score++
			}
		}
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, func(a, b memory.TextHit) int { return int(b.Score - a.Score) })
	if s.has("gives worst first") {
		slices.Reverse(hits)
	}
	if s.has("ignores the limit") {
		return hits, nil
	}
	return hits[:min(limit, len(hits))], nil
}

func (s *naive) Frequencies(_ context.Context, scope memory.Scope, terms []string, _ int) (int, []int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("counts frequencies everywhere") {
		scope = memory.Scope{}
		for id := range s.model.channels {
			scope.Channels = append(scope.Channels, id)
		}
	}
	n, counts := s.model.frequencies(scope, terms)
	return n, counts, nil
}

func (s *naive) Nearest(_ context.Context, scope memory.Scope, _ memory.Space, vector []float32, limit int) ([]memory.VectorHit, error) {
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
			if within(scope, m.Time()) || s.has("gives segments whole") {
				hit.Messages = append(hit.Messages, m.ID)
			}
		}
		if len(hit.Messages) > 0 || s.has("gives segments without a message") {
			hits = append(hits, hit)
		}
	}
	if !some {
		return nil, memory.ErrNoVectors
	}
	slices.SortFunc(hits, func(a, b memory.VectorHit) int {
		if a.Similarity > b.Similarity != s.has("gives farthest first") {
			return -1
		}
		return 1
	})
	return hits[:min(limit, len(hits))], nil
}

func (s *naive) Trace(_ context.Context, channel memory.ChannelID, answer memory.MessageID) (memory.Trace, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t, ok := s.model.traces[place{channel, answer}]; ok {
		return t, nil
	}
	return memory.Trace{}, memory.ErrNotFound
}

func (s *naive) KeepTrace(_ context.Context, t memory.Trace) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has("keeps answers made from older texts") {
		t.Recalled = slices.Clone(t.Recalled)
		for i, hit := range t.Recalled {
			if now, ok := s.model.message(place{hit.Channel, hit.Message}); ok {
				t.Recalled[i].Edited = editedAt(now)
			}
		}
	}
	s.model.keepTrace(t)
	s.cut()
	return nil
}

func (s *naive) Pending(_ context.Context, limit int) ([]memory.Segment, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var pending []memory.Segment
	for _, seg := range s.segments {
		if seg.pending {
			pending = append(pending, seg.Segment)
		}
	}
	slices.SortFunc(pending, func(a, b memory.Segment) int { return int(a.ID - b.ID) })
	if s.has("loses a message") {
		pending = slices.DeleteFunc(pending, func(s memory.Segment) bool { return len(s.Messages) > 3 })
	}
	return pending[:min(limit, len(pending))], nil
}

func (s *naive) Embedded(_ context.Context, segments []memory.Segment, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, given := range segments {
		for _, seg := range s.segments {
			if seg.ID == given.ID && (seg.Version == given.Version && seg.pending || s.has("takes stale vectors")) {
				seg.vector, seg.pending = vectors[i], false
			}
		}
	}
	return nil
}

func (s *naive) Wake() <-chan struct{} { return s.wake }

func (s *naive) Close() error {
	if s.has("forgets deletes when closed") {
		maps.DeleteFunc(s.model.entries, func(_ place, e *entry) bool { return e.deleted })
	}
	if s.has("forgets vectors when closed") {
		for _, seg := range s.segments {
			seg.vector = nil
		}
	}
	return nil
}
