package memorytest

import (
	"errors"
	"slices"
	"time"

	"hark/memory"
)

var queuePromises = []promise{
	{"a segment is pending from the commit that changed it, and the queue wakes", func(t *trial) {
		m := said(general, id(1), ada, "the ferry leaves at noon")
		t.post(m)
		t.woken()
		pending := t.pending()
		if len(pending) != 1 || pending[0].Channel != general {
			t.Fatalf("pending: %+v", pending)
		}
		t.same("its messages", plain(pending[0].Messages), []memory.Message{m})
		t.embedded(pending)
		t.same("once embedded", t.pending(), []memory.Segment(nil))
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: m.ID, Content: "the ferry leaves at two", At: began.Add(time.Minute)})
		t.woken()
		again := t.pending()
		if len(again) != 1 || again[0].Messages[0].Content != "the ferry leaves at two" {
			t.Fatalf("pending after an edit: %+v", again)
		}
		if again[0].ID == pending[0].ID && again[0].Version <= pending[0].Version {
			t.Fatalf("version %d after version %d", again[0].Version, pending[0].Version)
		}
	}},
	{"every message lies in exactly one segment, in order", func(t *trial) {
		var want []memory.MessageID
		for i := range 60 {
			author := []memory.UserID{ada, ben, 503, 504}[i*i%4]
			m := said(general, id(i*70+i/20*3600), author, topics[i%len(topics)])
			if i%5 == 3 {
				m.ReplyTo = want[i-2]
			}
			want = append(want, m.ID)
			t.post(m)
		}
		t.oneSegmentEach(want)
		late := said(general, id(35), ben, "this came late")
		t.post(late)
		t.oneSegmentEach(append(want, late.ID))
	}},
	{"pending takes at most as many as wanted, the oldest first, and the rest another time", func(t *trial) {
		for i := range 10 {
			t.post(said(general, id(i*7200), ada, topics[i%len(topics)]))
		}
		for i := range 10 {
			segments, err := t.store.Pending(t.ctx, 1)
			if err != nil || len(segments) != 1 {
				t.Fatalf("Pending(1): %+v, %v", segments, err)
			}
			t.same("the oldest one", idsOf(segments[0].Messages), []memory.MessageID{id(i * 7200)})
			t.embedded(segments)
		}
		t.same("at the end", t.pending(), []memory.Segment(nil))
	}},
	{"a vector of a segment that has changed meanwhile is dropped", func(t *trial) {
		m := said(general, id(1), ada, "the password is swordfish")
		t.post(m)
		stale := t.pending()
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: m.ID, Content: "never mind", At: began.Add(time.Minute)})
		t.embedded(stale)
		if len(t.pending()) != 1 {
			t.Fatalf("it isn't pending any more")
		}
		for _, hit := range t.nearest(in(general), "password swordfish", 5) {
			t.Fatalf("the old vector is there, at %.2f", hit.Similarity)
		}
		t.delete(general, m.ID)
		t.embedded(stale)
		t.same("of a deleted message", t.nearest(in(general), "password swordfish", 5), []memory.VectorHit(nil))
		t.same("pending", t.pending(), []memory.Segment(nil))
	}},
	{"a vector that a deleted text went into goes with it", func(t *trial) {
		secret := said(general, id(1), ada, "the password is swordfish")
		t.post(secret, said(general, id(2), ada, "anyway"), said(staff, id(3), ben, "unrelated"))
		t.embedAll()
		t.delete(general, secret.ID)
		for _, hit := range t.nearest(in(general, staff), "password swordfish", 5) {
			if hit.Similarity > 0.5 {
				t.Fatalf("segment %v still answers to it, at %.2f", hit.Messages, hit.Similarity)
			}
		}
	}},
	{"what is embedded, changed or deleted after somebody has looked is near, or near no more", func(t *trial) {
		first, second := said(general, id(1), ada, "apricots"), said(general, id(7200), ada, "barley")
		t.post(first)
		t.embedAll()
		near := func(word string) []memory.VectorHit {
			return slices.DeleteFunc(t.nearest(in(general), word, 5), func(h memory.VectorHit) bool { return h.Similarity < 0.5 })
		}
		t.same("at first", len(near("apricots")), 1)
		t.post(second)
		t.embedAll()
		t.same("the second", len(near("barley")), 1)
		t.post(edited(second, 1, "cinnamon"))
		t.embedAll()
		t.same("before it was changed, and after", []int{len(near("barley")), len(near("cinnamon"))}, []int{0, 1})
		t.post(edited(second, 2, "?!"))
		t.embedAll()
		t.delete(general, first.ID)
		t.same("of what has no words, and is deleted", append(near("cinnamon"), near("apricots")...), []memory.VectorHit(nil))
	}},
	{"what waits counts down to nothing", func(t *trial) {
		for i := range 4 {
			t.post(said(general, id(i*7200), ada, topics[i]))
		}
		for left := 4; left > 0; left-- {
			t.same("waiting", t.waiting(), left)
			one, err := t.store.Pending(t.ctx, 1)
			if err != nil || len(one) != 1 {
				t.Fatalf("Pending: %+v, %v", one, err)
			}
			t.embedded(one)
		}
		t.same("waiting at the end", t.waiting(), 0)
		t.delete(general, id(0))
		t.same("waiting after a delete", t.waiting(), len(t.pending()))
	}},
	{"vectors of another space are compared with none", func(t *trial) {
		t.post(said(general, id(1), ada, "ferry"))
		t.embedAll()
		space, err := t.store.Space(t.ctx)
		if err != nil || space != (Embedder{}).Space() {
			t.Fatalf("Space: %+v, %v", space, err)
		}
		t.same("in the space in use", len(t.nearest(in(general), "ferry", 5)), 1)
		for _, other := range []memory.Space{{}, {Name: "another", Version: 1, Dimensions: dimensions}, {Name: space.Name, Version: 2, Dimensions: dimensions}} {
			if hits, err := t.store.Nearest(t.ctx, in(general), other, embed("ferry"), 5); !errors.Is(err, memory.ErrNoVectors) {
				t.Fatalf("Nearest in %+v: %+v, %v", other, hits, err)
			}
		}
	}},
	{"a segment without a vector is no longer pending, and never near", func(t *trial) {
		t.post(said(general, id(1), ada, "?!"), said(staff, id(2), ben, "a ferry"))
		t.embedAll()
		t.same("near", t.nearest(in(general), "ferry", 5), []memory.VectorHit(nil))
		t.delete(general, id(1))
		t.same("pending", t.pending(), []memory.Segment(nil))
	}},
}

// woken fails the test unless the queue has woken somebody up since it was last asked.
func (t *trial) woken() {
	t.Helper()
	select {
	case <-t.store.Wake():
	default:
		t.Fatalf("the queue didn't wake")
	}
}

// oneSegmentEach fails the test unless the pending segments hold each of want once.
func (t *trial) oneSegmentEach(want []memory.MessageID) {
	t.Helper()
	var got []memory.MessageID
	for _, s := range t.pending() {
		ids := idsOf(s.Messages)
		if !slices.IsSorted(ids) || len(ids) == 0 {
			t.Fatalf("segment %d holds %v", s.ID, ids)
		}
		got = append(got, ids...)
	}
	t.same("the messages in segments", sorted(got), sorted(slices.Clone(want)))
}
