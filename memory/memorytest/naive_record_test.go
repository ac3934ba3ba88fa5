package memorytest

import (
	"context"
	"crypto/rand"
	"slices"

	"hark/memory"
)

// spoilRecord changes what tells of a call as the store's bug has it.
func (s *naive) spoilRecord(v memory.Called) []memory.Event {
	r := v.Record
	switch {
	case s.has("loses what newer records hold"):
		r.More = nil
	case s.has("records who opted out"):
		was := s.model.opted[member{r.Guild, r.Asker}]
		delete(s.model.opted, member{r.Guild, r.Asker})
		s.model.apply(v)
		if was.Out {
			s.model.opted[member{r.Guild, r.Asker}] = was
		}
		return nil
	case s.has("takes the last record of a name"):
		s.model.dropRecords(func(of memory.Record) bool { return of.CallID == r.CallID })
	case s.has("lets records of what is gone in"):
		r.Question, r.Answer = 0, 0
		s.model.apply(memory.Called{Record: r})
		for i, of := range s.model.records {
			if of.CallID == r.CallID {
				s.model.records[i].Question, s.model.records[i].Answer = v.Record.Question, v.Record.Answer
			}
		}
		return nil
	}
	return []memory.Event{memory.Called{Record: r}}
}

// keepRecords has a change leave the records alone that the store's bug keeps.
func (s *naive) keepRecords(e memory.Event) func() {
	was := slices.Clone(s.model.records)
	_, isEdit := e.(memory.Edited)
	_, isDelete := e.(memory.Deleted)
	_, isRewrite := e.(memory.Rewritten)
	if isRewrite && s.has("keeps the records of the rewritten") || isEdit && s.has("keeps records of other questions") || isDelete && s.has("keeps records without their questions") {
		return func() { s.model.records = was }
	}
	return func() {}
}

func (s *naive) Records(_ context.Context, q memory.RecordQuery) ([]memory.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("finds anybody's records") {
		q.Asker = 0
	}
	if s.has("finds records of everywhere") && len(q.Channels) > 0 {
		q.Channels = append(channels, square)
	}
	return s.model.recordsFor(q), nil
}

func (s *naive) ForgetRecords(_ context.Context, l memory.RecordLimits) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.has("forgets records of that very moment") && !l.Before.IsZero() {
		l.Before = l.Before.Add(1)
	}
	if s.has("keeps one record too few") && l.Count > 0 {
		l.Count--
	}
	return s.model.limitRecords(l), nil
}

func (s *naive) FingerprintKey(context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.model.key == nil || s.has("makes keys anew") {
		s.writes++
		s.model.key = make([]byte, memory.FingerprintKeyBytes)
		_, _ = rand.Read(s.model.key) // never fails
	}
	return s.model.key, nil
}
