package memorytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// compare fails the test unless the store returns everything as the model does.
func (t *harness) compare() {
	t.Helper()
	all := append(slices.Collect(maps.Keys(t.model.channels)), nowhere)
	spoken := slices.Sorted(maps.Keys(t.model.spoken))
	t.checkQueue()
	for _, id := range all {
		t.compareLog(id)
		t.compareFound(in(id), spoken, 1000)
	}
	t.compareFound(in(all...), spoken, 1000)
	t.compareCounts(in(all...), spoken, 1000)
	records := memory.RecordQuery{Channels: all}
	t.same("Records", t.records(records), t.model.recordsFor(records))
	t.compareGuilds()
	t.compareHeard()
}

func (t *harness) compareLog(channel memory.ChannelID) {
	t.Helper()
	m := t.model
	log := m.log(channel)
	ids, names := idsOf(log), map[memory.MessageID]string{}
	for at := range m.entries { // includes deleted messages
		if at.channel == channel {
			ids = append(ids, at.id)
		}
	}
	t.same("Log", t.log(channel), log)
	t.same("the messages by their ids", t.around(channel, ids, 0, 0), log)
	for at, name := range m.names {
		if at.channel == channel {
			names[at.id] = name
			t.same("message by external id", t.named(channel, name), at.id)
		}
	}
	t.same("ExternalIDs", got(t.store.ExternalIDs(t.ctx, channel, ids))(t), names)
	for _, id := range ids {
		want, _ := m.traceOf(channel, id)
		trace, _ := t.trace(channel, id)
		t.same("Trace", trace, want)
		prompt, _ := t.prompt(channel, id)
		t.same("Prompt", prompt, m.prompts[place{channel, id}])
	}
	bare := got(t.store.Traces(t.ctx, memory.TraceQuery{Channel: channel, Answers: append(ids, never)}))(t)
	t.same("what answers were made from", sorted(bare, func(t memory.Trace) memory.MessageID { return t.Answer }),
		m.bareTraces(channel))
	t.same("Summaries", t.summaries(channel), m.summariesOf(channel))
}

func (t *harness) compareGuilds() {
	t.Helper()
	m := t.model
	known := got(t.store.Guilds(t.ctx))(t)
	for id, g := range m.guilds {
		if g.Name != "" && !slices.Contains(known, id) || !slices.IsSorted(known) {
			t.Fatalf("Guilds: %v, without %d", known, id)
		}
	}
	for _, id := range known {
		t.same("Guild", normal(t.guild(id)), normal(m.whole(id)))
		t.same("People", t.people(id), m.everybody(id))
		t.same("Lore", t.lore(id), m.loreOf(id))
	}
	for key := range m.spent {
		day := memory.MessageID(key.id).Time()
		t.same("Spending", got(t.store.Spending(t.ctx, key.guild, day))(t), m.spending(key.guild, day))
	}
	for _, who := range authors {
		for _, where := range guilds {
			t.same("Member", got(t.store.Member(t.ctx, where, who))(t),
				memory.Member{OptedOut: m.isOut(where, who), Connection: m.connections[inGuild{where, int64(who)}]})
		}
	}
	var condensed []memory.Condensed
	for _, c := range m.channels {
		if c.condensed.Until != 0 {
			condensed = append(condensed, c.condensed)
		}
	}
	t.same("Condensed", t.condensed(0), sorted(condensed, func(c memory.Condensed) memory.ChannelID {
		return c.Channel
	}))
	for _, since := range []memory.MessageID{0, slotID(slots / 2)} {
		t.same("SummaryBacklog", t.unsummarised(since), m.unsummarised(since))
	}
	t.compareTraces(memory.TraceQuery{Limit: 3})
	t.same("Questions", got(t.store.Questions(t.ctx))(t), sorted(slices.Collect(maps.Values(m.open)),
		func(q memory.OpenQuestion) memory.MessageID { return q.ID }))
}

func (t *harness) compareTraces(q memory.TraceQuery) {
	t.Helper()
	t.same(fmt.Sprintf("Traces of %+v", q), got(t.store.Traces(t.ctx, q))(t), t.model.listed(q))
}

func (t *harness) compareHeard() {
	t.Helper()
	for id := range t.model.guilds {
		t.same("HeardUntil", got(t.store.HeardUntil(t.ctx, id))(t), t.model.listened(id))
	}
	for _, where := range []memory.GuildID{memory.Everywhere, guild, village} {
		elsewhere := func(g memory.Gap) bool { return where != memory.Everywhere && g.Guild != where }
		for _, sweep := range []bool{false, true} {
			t.same("Gaps", t.gaps(where, sweep), slices.DeleteFunc(t.model.gapsTo(sweep), elsewhere))
		}
	}
	t.compareUnfinished()
}

// compareUnfinished compares forgettings or, if none is unfinished, the withdrawn answers.
func (t *harness) compareUnfinished() {
	t.Helper()
	t.same("how much is unfinished", len(t.unfinished()), len(t.model.unfinished()))
	if len(t.model.unfinished()) == 0 {
		t.same("Withdrawn", t.withdrawn(), byMessage(slices.Collect(maps.Values(t.model.withdrawn))))
	}
}

func (t *harness) compareDryRun(f memory.Forgetting) {
	t.Helper()
	f.At = time.Time{} // so it takes effect now
	t.same(fmt.Sprintf("DryRun of %+v", f), got(t.store.DryRun(t.ctx, memory.DryRunQuery{Forgetting: f}))(t),
		t.model.dryRun(f))
}

func (t *harness) compareFound(scope memory.Scope, terms []string, limit int) {
	t.Helper()
	m := t.model
	t.same("Presence", got(t.store.Presence(t.ctx, scope, authors))(t), m.presence(scope, authors))
	for _, most := range []int{0, limit} {
		for _, byAuthor := range []bool{false, true} {
			t.same("Activity", got(t.store.Activity(t.ctx, scope, byAuthor, most))(t), m.activity(scope, byAuthor, most))
		}
	}
	want := m.fullText(scope, terms)
	hits := got(t.store.FullText(t.ctx, scope, terms, limit))(t)
	met := map[place]bool{}
	for i, h := range hits {
		at := place{h.Channel, h.ID}
		if !want[at] || met[at] || i > 0 && h.Score > hits[i-1].Score {
			t.Fatalf("FullText(%+v, %q): hit %+v doesn't match, or comes twice, or isn't in order: %+v",
				scope, terms, h, hits)
		}
		met[at] = true
	}
	t.same("how many messages are found", len(hits), min(limit, len(want)))
	starred := m.starred(scope)
	t.same("Starred", got(t.store.Starred(t.ctx, scope, limit))(t), starred[:min(limit, len(starred))])
	t.compareNearest(scope, terms, limit)
}

func (t *harness) compareCounts(scope memory.Scope, terms []string, limit int) {
	t.Helper()
	total, counts := t.model.frequencies(scope, terms)
	n, most, err := t.store.Frequencies(t.ctx, scope, terms, limit)
	if err != nil || len(most) != len(terms) {
		t.Fatalf("Frequencies(%q): %v, %v", terms, most, err)
	}
	t.same("how many messages there are", n, total)
	for i := range counts {
		t.same("how many hold "+terms[i], min(limit, most[i]), min(limit, counts[i]))
	}
}

// Stores may cut segments as they like. The comparison checks how they keep their vectors.

type embeddedSegment struct {
	memory.Segment
	vector []float32
}

// embedded gives the store vectors and keeps those that it accepted.
func (t *harness) embedded(segments []memory.Segment) {
	t.Helper()
	vectors := make([][]float32, len(segments))
	for i, s := range segments {
		vectors[i] = embedText(s.Text())
	}
	if err := t.store.Embedded(t.ctx, segments, vectors); err != nil {
		t.Fatalf("Embedded: %v", err)
	}
	pending := t.pending()
	for i, s := range segments {
		if !slices.ContainsFunc(pending, func(p memory.Segment) bool { return p.ID == s.ID }) {
			t.segments[s.ID] = embeddedSegment{s, vectors[i]}
		}
	}
	t.checkQueue()
}

func (t *harness) embedAll() {
	t.Helper()
	t.embedded(t.pending())
	t.same("pending after all was embedded", t.pending(), []memory.Segment(nil))
}

// checkQueue checks that every message lies in one segment, and that segments that aren't pending are
// unchanged since they were embedded.
func (t *harness) checkQueue() {
	t.Helper()
	where := map[place]int64{}
	put := func(s memory.Segment) {
		if ids := idsOf(s.Messages); len(ids) == 0 || !slices.IsSorted(ids) {
			t.Fatalf("segment %d holds %v", s.ID, ids)
		}
		if title := t.model.titleOf(s.Channel); s.Title != title {
			t.Fatalf("segment %d has the title %q, which is now %q", s.ID, s.Title, title)
		}
		for _, message := range s.Messages {
			at := place{message.Channel, message.ID}
			now, ok := t.model.message(at)
			if !ok || message.Channel != s.Channel || now.Text() != message.Text() {
				t.Fatalf("segment %d has %+v, which is now %+v", s.ID, message, now)
			}
			if other, twice := where[at]; twice {
				t.Fatalf("message %d lies in segments %d and %d", message.ID, other, s.ID)
			}
			where[at] = s.ID
		}
	}
	pending, waiting := t.pendingByID(), map[memory.GuildID]int{memory.Everywhere: 0}
	for _, s := range pending {
		put(s)
		waiting[memory.Everywhere]++
		waiting[s.Messages[0].Guild]++
	}
	for id, s := range t.segments {
		if _, again := pending[id]; again {
			continue
		}
		if slices.ContainsFunc(s.Messages, func(message memory.Message) bool {
			_, ok := t.model.message(place{message.Channel, message.ID})
			return !ok
		}) { // the rest of it must be pending
			delete(t.segments, id)
			continue
		}
		put(s.Segment)
	}
	for _, message := range t.model.inScope(in(slices.Collect(maps.Keys(t.model.channels))...)) {
		if _, ok := where[place{message.Channel, message.ID}]; !ok {
			t.Fatalf("message %d of channel %d lies in no segment", message.ID, message.Channel)
		}
	}
	t.compareSegments(where)
	for guild, n := range waiting {
		t.same("how much waits", got(t.store.Waiting(t.ctx, guild))(t), n)
	}
}

// compareSegments checks SegmentsOf against where every message lies.
func (t *harness) compareSegments(where map[place]int64) {
	t.Helper()
	for _, channel := range append(slices.Collect(maps.Keys(t.model.channels)), nowhere) {
		ids, segments := []memory.MessageID{never}, map[memory.MessageID]int64{}
		for at := range t.model.entries { // includes deleted messages
			if at.channel == channel {
				ids = append(ids, at.id)
			}
			if id, ok := where[at]; ok && at.channel == channel {
				segments[at.id] = id
			}
		}
		t.same("SegmentsOf", got(t.store.SegmentsOf(t.ctx, channel, ids))(t), segments)
	}
}

func (t *harness) pendingByID() map[int64]memory.Segment {
	t.Helper()
	pending := map[int64]memory.Segment{}
	for _, s := range t.pending() {
		pending[s.ID] = s
	}
	return pending
}

func embedText(s string) []float32 { return embedTerms(text.Terms(s)) }

func embedTerms(terms []string) []float32 {
	return Embedder{}.EmbedTerms(terms, func(string) float64 { return 1 })
}

// cosine returns the similarity of two vectors of length 1.
func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// tolerance is the allowed error of a similarity: stores keep vectors in few bits.
const tolerance = 0.03

// candidate is a segment that Nearest may return.
type candidate struct {
	hit  memory.VectorHit
	must bool // else it is out of date, and may be left out
}

// compareNearest checks Nearest against all that was embedded. It may find a segment that has grown by its
// old vector, but not one in which something was deleted or changed.
func (t *harness) compareNearest(scope memory.Scope, terms []string, limit int) {
	t.Helper()
	vector := embedTerms(terms)
	if vector == nil {
		return
	}
	candidates := t.candidates(scope, vector)
	hits, err := t.store.Nearest(t.ctx, scope, Embedder{}.Space(), vector, limit)
	if err != nil && !errors.Is(err, memory.ErrNoVectors) || len(hits) > limit {
		t.Fatalf("Nearest(%+v): %d of %d wanted, %v", scope, len(hits), limit, err)
	}
	worst := -2.0
	for i, h := range hits {
		n := slices.IndexFunc(candidates, func(c candidate) bool {
			return c.hit.Channel == h.Channel && slices.Equal(c.hit.Messages, h.Messages) &&
				max(c.hit.Similarity-h.Similarity, h.Similarity-c.hit.Similarity) < tolerance
		})
		if n < 0 || i > 0 && h.Similarity > hits[i-1].Similarity {
			t.Fatalf("Nearest(%+v) gave %+v, which isn't in order, or none of %+v", scope, h, candidates)
		}
		candidates = slices.Delete(candidates, n, n+1)
		if len(hits) == limit {
			worst = h.Similarity
		}
	}
	for _, c := range candidates {
		if c.must && c.hit.Similarity > worst+tolerance {
			t.Fatalf("Nearest(%+v, %q, %d) left out %+v; it gave %+v", scope, terms, limit, c.hit, hits)
		}
	}
}

// candidates are the segments with a vector and a message in scope.
func (t *harness) candidates(scope memory.Scope, vector []float32) []candidate {
	pending := t.pendingByID()
	var all []candidate
	for id, s := range t.segments {
		now, grown := pending[id]
		if s.vector == nil || !slices.Contains(scope.Channels, s.Channel) || grown &&
			(!holdsAll(now.Messages, s.Messages) || now.Title != s.Title) {
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

// holdsAll reports whether now contains all of then, unchanged.
func holdsAll(now, then []memory.Message) bool {
	for _, old := range then {
		if !slices.ContainsFunc(now, func(m memory.Message) bool { return m.ID == old.ID && m.Text() == old.Text() }) {
			return false
		}
	}
	return true
}
