package memorytest

import (
	"errors"
	"time"

	"hark/memory"
)

// checkedSummary is an event with its summary as it is kept, if it tells of one.
func checkedSummary(e memory.Event) (memory.Summarised, error) {
	v, ok := e.(memory.Summarised)
	if !ok {
		return v, nil
	}
	if v.Channel == 0 {
		return v, errors.New("no channel")
	}
	if v.Summary == nil {
		return v, nil
	}
	checked, err := v.Summary.Checked()
	if v.Summary = &checked; checked.Channel != v.Channel || checked.ID != v.Until {
		err = errors.New("of another stretch")
	}
	return v, err
}

// spoilSummary changes what tells of a summary as the store's bug has it.
func (s *naive) spoilSummary(v memory.Summarised) []memory.Event {
	known := s.model.summaries[place{v.Channel, v.Until}]
	if known != nil && v.Summary != nil && s.has("brings summaries back") {
		known.gone = false
	}
	if known.there() && s.has("sums up by the last told") {
		known.Made = time.Time{}
	}
	if s.has("never makes room for summaries") {
		v.Evicted = nil
	}
	if s.has("sums up backwards") {
		delete(s.model.summarised, v.Channel)
	}
	if v.Summary == nil {
		return []memory.Event{v}
	}
	switch {
	case s.has("keeps summaries of older texts"):
		for i, source := range v.Summary.Sources {
			if now, ok := s.model.message(place{v.Channel, source.Message}); ok {
				v.Summary.Sources[i].Edited = editedAt(now)
			}
		}
	case s.has("keeps summaries without their sources"):
		s.model.apply(v)
		if now := s.model.summaries[place{v.Channel, v.Until}]; now.there() {
			now.Sources = append([]memory.SummarySource{{Message: -1}}, now.Sources[1:]...)
		}
		return nil
	}
	return []memory.Event{v}
}
