package memorytest

import (
	"errors"
	"slices"

	"hark/memory"

	"pgregory.net/rapid"
)

// tolerance is by how much a similarity may differ, as stores keep vectors in few bits.
const tolerance = 0.03

// vectorModel remembers what was embedded, as the store had cut it into segments.
type vectorModel struct {
	segments map[int64]embeddedSegment
}

// embeddedSegment is a segment as it was when its vector was stored.
type embeddedSegment struct {
	memory.Segment
	vector []float32
}

func newVectorModel() *vectorModel { return &vectorModel{segments: map[int64]embeddedSegment{}} }

// embed embeds some of what is pending; now and then something happens before the vectors arrive.
func (m *machine) embed(t *rapid.T) {
	m.checkQueue()
	segments, err := m.store.Pending(m.ctx, rapid.IntRange(1, 20).Draw(t, "pending"))
	if err != nil {
		m.Fatalf("Pending: %v", err)
	}
	if rapid.IntRange(0, 3).Draw(t, "meanwhile?") == 0 {
		m.both(drawMessageEvent(t))
	}
	m.embeddedAsModel(segments)
}

func (m *machine) embedAllAsModel() {
	m.embeddedAsModel(m.pending())
	m.same("pending after all was embedded", m.pending(), []memory.Segment(nil))
}

// embeddedAsModel gives the store vectors and notes those that it took.
func (m *machine) embeddedAsModel(segments []memory.Segment) {
	m.embedded(segments)
	left := map[int64]bool{}
	for _, s := range m.pending() {
		left[s.ID] = true
	}
	for _, s := range segments {
		if !left[s.ID] {
			m.vectors.segments[s.ID] = embeddedSegment{s, embedSegment(s.Messages)}
		}
	}
	m.checkQueue()
}

// checkQueue fails the test unless every message lies in exactly one segment, and every segment that isn't
// pending is as it was when it was embedded.
func (m *machine) checkQueue() {
	where := map[place]int64{}
	put := func(s memory.Segment) {
		if ids := idsOf(s.Messages); len(ids) == 0 || !slices.IsSorted(ids) {
			m.Fatalf("segment %d holds %v", s.ID, ids)
		}
		for _, message := range s.Messages {
			at := place{message.Channel, message.ID}
			now, ok := m.model.message(at)
			if !ok || message.Channel != s.Channel || now.Text() != message.Text() {
				m.Fatalf("segment %d has %+v, which is now %+v", s.ID, message, now)
			}
			if other, twice := where[at]; twice {
				m.Fatalf("message %d lies in segments %d and %d", message.ID, other, s.ID)
			}
			where[at] = s.ID
		}
	}
	pending := map[int64]bool{}
	for _, s := range m.pending() {
		pending[s.ID] = true
		put(s)
	}
	for id, s := range m.vectors.segments {
		switch {
		case pending[id]:
		case m.anyGone(s): // whatever is left of it must be pending
			delete(m.vectors.segments, id)
		default:
			put(s.Segment)
		}
	}
	for _, message := range m.model.inScope(memory.Scope{Channels: channels}) {
		if _, ok := where[place{message.Channel, message.ID}]; !ok {
			m.Fatalf("message %d of channel %d lies in no segment", message.ID, message.Channel)
		}
	}
}

func (m *machine) anyGone(s embeddedSegment) bool {
	return slices.ContainsFunc(s.Messages, func(message memory.Message) bool {
		_, ok := m.model.message(place{message.Channel, message.ID})
		return !ok
	})
}

// candidate is a segment that Nearest may give.
type candidate struct {
	hit  memory.VectorHit
	must bool // else it may be left out, being out of date
}

// compareNearest holds Nearest against all that was embedded. A segment that has grown since may be found by
// its old vector; one of which something was deleted or changed may not.
func (m *machine) compareNearest(scope memory.Scope, question string, limit int) {
	vector := embed(question)
	if vector == nil {
		return
	}
	candidates := m.candidates(scope, vector)
	hits, err := m.store.Nearest(m.ctx, scope, Embedder{}.Space(), vector, limit)
	if err != nil && !errors.Is(err, memory.ErrNoVectors) || len(hits) > limit {
		m.Fatalf("Nearest(%+v): %d of %d wanted, %v", scope, len(hits), limit, err)
	}
	worst := -2.0
	for i, h := range hits {
		n := slices.IndexFunc(candidates, func(c candidate) bool { return same(c.hit, h) })
		if n < 0 {
			m.Fatalf("Nearest(%+v) gave %+v, which is none of %+v", scope, h, candidates)
		}
		candidates = slices.Delete(candidates, n, n+1)
		if i > 0 && h.Similarity > hits[i-1].Similarity {
			m.Fatalf("not nearest first: %+v", hits)
		}
		if len(hits) == limit {
			worst = h.Similarity
		}
	}
	for _, c := range candidates {
		if c.must && c.hit.Similarity > worst+tolerance {
			m.Fatalf("Nearest(%+v, %q, %d) left out %+v; it gave %+v", scope, question, limit, c.hit, hits)
		}
	}
}

// candidates are the segments with a vector and a message in scope.
func (m *machine) candidates(scope memory.Scope, vector []float32) []candidate {
	pending := map[int64]memory.Segment{}
	for _, s := range m.pending() {
		pending[s.ID] = s
	}
	var all []candidate
	for id, s := range m.vectors.segments {
		if s.vector == nil || !slices.Contains(scope.Channels, s.Channel) {
			continue
		}
		now, grown := pending[id]
		if grown && !holdsAll(now.Messages, s.Messages) {
			continue
		}
		if !grown {
			now = s.Segment
		}
		c := candidate{memory.VectorHit{Channel: s.Channel, Similarity: cosine(vector, s.vector)}, !grown}
		for _, message := range now.Messages {
			if within(scope, message) {
				c.hit.Messages = append(c.hit.Messages, message.ID)
			}
		}
		if len(c.hit.Messages) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// holdsAll reports whether now holds what then held, unchanged.
func holdsAll(now, then []memory.Message) bool {
	for _, old := range then {
		if !slices.ContainsFunc(now, func(m memory.Message) bool { return m.ID == old.ID && m.Text() == old.Text() }) {
			return false
		}
	}
	return true
}

func same(a, b memory.VectorHit) bool {
	return a.Channel == b.Channel && slices.Equal(a.Messages, b.Messages) && max(a.Similarity-b.Similarity, b.Similarity-a.Similarity) < tolerance
}
