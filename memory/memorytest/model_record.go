package memorytest

import (
	"slices"

	"hark/memory"
)

// keepRecord keeps a record, unless its subject is gone.
func (m *model) keepRecord(r memory.Record) {
	r, err := r.Checked()
	if err != nil || m.isOut(r.Guild, r.Asker) {
		return
	}
	m.meet(r.Guild, r.Channel)
	switch {
	case m.isForgotten(*recordAsMessage(r)), m.areForgotten(r.Guild, namedIn(r), recordAsMessage(r).ID):
	case r.Question != 0 && m.isGone(place{r.Channel, r.Question}), r.Answer != 0 &&
		m.isGone(place{r.Channel, r.Answer}):
	case slices.ContainsFunc(m.records, func(of memory.Record) bool { return of.CallID == r.CallID }):
	default:
		m.records = append(m.records, r)
	}
}

// recordAsMessage is the message by which rules cover r.
func recordAsMessage(r memory.Record) *memory.Message {
	of := memory.Message{ID: r.Question, Guild: r.Guild, Channel: r.Channel, Author: r.Asker}
	if of.ID == 0 {
		of.ID = memory.FirstMessageID(r.Timestamp)
	}
	return &of
}

// namedIn returns the people whom r's arguments name.
func namedIn(r memory.Record) (all []memory.UserID) {
	for _, id := range r.Named() {
		all = append(all, memory.UserID(id))
	}
	return all
}

func (m *model) recordsFor(q memory.RecordQuery) []memory.Record {
	var all []memory.Record
	for _, r := range m.records {
		if slices.Contains(q.Channels, r.Channel) && (q.Since.IsZero() || !r.Timestamp.Before(q.Since)) &&
			(q.Until.IsZero() || r.Timestamp.Before(q.Until)) &&
			(q.Speaker == "" || r.Speaker == q.Speaker) && (q.Method == "" || r.Method == q.Method) &&
			(q.Asker == 0 || r.Asker == q.Asker) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b memory.Record) int { return a.Timestamp.Compare(b.Timestamp) })
	if !q.Oldest {
		slices.Reverse(all)
	}
	if q.Limit > 0 {
		all = all[:min(q.Limit, len(all))]
	}
	return all
}

// limitRecords deletes what is too old and, of each channel, all but the newest. The tokens of records are
// left to the store.
func (m *model) limitRecords(l memory.RecordLimits) {
	goes := map[string]bool{}
	for channel := range m.channels {
		for i, r := range m.recordsFor(memory.RecordQuery{Channels: []memory.ChannelID{channel}}) {
			goes[r.CallID] = r.Timestamp.Before(l.Before) || l.Count > 0 && i >= l.Count
		}
	}
	m.records = slices.DeleteFunc(slices.Clone(m.records), func(r memory.Record) bool { return goes[r.CallID] })
}
