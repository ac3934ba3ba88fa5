package memorytest

import (
	"slices"

	"hark/memory"
)

// keepRecord keeps what is known of a call, unless what it is about is gone.
func (m *model) keepRecord(r memory.Record) {
	r, err := r.Checked()
	if err != nil || m.opted[member{r.Guild, r.Asker}].Out {
		return
	}
	m.meet(r.Guild, r.Channel)
	isSame := func(of memory.Record) bool { return of.CallID == r.CallID }
	switch {
	case slices.ContainsFunc(m.forgettings, func(g *forgetting) bool { return m.coversRecord(g, r) }):
	case r.Question != 0 && m.isGone(place{r.Channel, r.Question}), r.Answer != 0 && m.isGone(place{r.Channel, r.Answer}):
	case slices.ContainsFunc(r.Named(), func(id int64) bool { return m.isOutFor(r, memory.UserID(id)) }):
	case slices.ContainsFunc(m.records, isSame):
	default:
		m.records = append(m.records, r)
	}
}

// coversRecord reports whether a record falls under a forgetting, by itself or by whom it names.
func (m *model) coversRecord(g *forgetting, r memory.Record) bool {
	of := memory.Message{ID: r.Question, Guild: r.Guild, Channel: r.Channel, Author: r.Asker}
	made := memory.FirstMessageID(r.Timestamp)
	if of.ID == 0 {
		of.ID = made
	}
	if m.covers(g, of) {
		return true
	}
	f := g.Forgetting
	if of.ID, of.Author = r.Answer, 0; f.User == 0 && r.Answer != 0 && m.covers(g, of) {
		return true
	}
	return f.User != 0 && f.Channel == 0 && g.all && made < g.end && (g.of(r.Guild) || r.Guild == memory.LocalGuild) && slices.Contains(r.Named(), int64(f.User))
}

// isOutFor reports whether somebody has opted out of where a record is from.
func (m *model) isOutFor(r memory.Record, who memory.UserID) bool {
	return m.isOutIn(memory.Trace{Guild: r.Guild}, who)
}

func (m *model) dropRecords(goes func(memory.Record) bool) {
	m.records = slices.DeleteFunc(slices.Clone(m.records), goes)
}

// forgetRecords forgets what falls under a forgetting.
func (m *model) forgetRecords(g *forgetting) {
	m.dropRecords(func(r memory.Record) bool { return m.coversRecord(g, r) })
}

// recordsFor are those that q asks for.
func (m *model) recordsFor(q memory.RecordQuery) []memory.Record {
	var all []memory.Record
	for _, r := range m.records {
		if slices.Contains(q.Channels, r.Channel) && (q.Since.IsZero() || !r.Timestamp.Before(q.Since)) && (q.Until.IsZero() || r.Timestamp.Before(q.Until)) &&
			(q.Speaker == "" || r.Speaker == q.Speaker) && (q.Method == "" || r.Method == q.Method) && (q.Asker == 0 || r.Asker == q.Asker) {
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

// limitRecords takes away what is too old, and of each channel all but the newest. What records cost is the store's affair.
func (m *model) limitRecords(l memory.RecordLimits) int {
	n := len(m.records)
	goes := map[string]bool{}
	for channel := range m.channels {
		for i, r := range m.recordsFor(memory.RecordQuery{Channels: []memory.ChannelID{channel}}) {
			goes[r.CallID] = r.Timestamp.Before(l.Before) || l.Count > 0 && i >= l.Count
		}
	}
	m.dropRecords(func(r memory.Record) bool { return goes[r.CallID] })
	return n - len(m.records)
}
