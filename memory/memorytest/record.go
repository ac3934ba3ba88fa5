package memorytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hark/memory"

	"pgregory.net/rapid"
)

func (t *trial) records(q memory.RecordQuery) []memory.Record {
	t.Helper()
	return got(t.store.Records(t.ctx, q))(t)
}

func (t *trial) fingerprintKey() []byte {
	t.Helper()
	key, err := t.store.FingerprintKey(t.ctx)
	if err != nil || len(key) != memory.FingerprintKeyBytes {
		t.Fatalf("FingerprintKey: %d bytes, %v", len(key), err)
	}
	return key
}

// call is a tool's, so many seconds after the beginning, that came of a question there.
func call(name string, channel memory.ChannelID, question int, asker memory.UserID, seconds int) memory.Record {
	r := memory.Record{
		CallID: name, Timestamp: began.Add(time.Duration(seconds) * time.Second), Speaker: memory.SpeakerTool, Method: "search_memory",
		Args: []any{}, Kwargs: map[string]any{}, Outcome: "3 messages",
		Guild: guildOf(channel), Channel: channel, Asker: asker,
	}
	if channel == square {
		r.Guild = village
	}
	if question != 0 {
		r.Question = id(question)
	}
	return r
}

func (t *trial) called(records ...memory.Record) {
	t.Helper()
	for _, r := range records {
		t.apply(memory.Called{Record: r})
	}
}

// all are the records of everywhere, oldest first.
func (t *trial) allRecords() []memory.Record {
	t.Helper()
	return t.records(memory.RecordQuery{Channels: []memory.ChannelID{general, staff, thread, local, square}, Oldest: true})
}

// leaves fails the test unless these records are left.
func (t *trial) leaves(what string, records ...memory.Record) {
	t.Helper()
	t.same(what, t.allRecords(), records)
}

// wherever are records of several places, askers and times, with what they came of in the log.
func (t *trial) wherever() []memory.Record {
	t.Helper()
	t.settle()
	t.apply(memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "thread"}})
	return t.calledAll(call("a", general, 1, ada, 100), call("b", general, 2, ben, 101), call("c", staff, 3, ada, 102), call("d", thread, 5, ada, 103),
		call("e", square, 6, ada, 104), call("f", local, 7, ada, 105), call("g", general, 0, ben, 106))
}

func (t *trial) calledAll(records ...memory.Record) []memory.Record {
	t.Helper()
	t.called(records...)
	t.leaves("what was told", records...)
	return records
}

// recordsGone fails the test unless those of all with these names are gone, of which a receipt tells, and come back no more.
func (t *trial) recordsGone(all []memory.Record, receipt memory.Receipt, names string) {
	t.Helper()
	var left []memory.Record
	for _, r := range all {
		isGone := false
		for _, name := range names {
			isGone = isGone || r.CallID == string(name)
		}
		if !isGone {
			left = append(left, r)
		}
	}
	t.leaves("without "+names, left...)
	t.same("records forgotten", receipt.Records, len(names))
	t.called(all...)
	t.leaves("told again", left...)
}

func recordPromises() []promise {
	return []promise{
		{"records are found by where, when, who and what", func(t *trial) {
			all := t.wherever()
			own := call("own", general, 0, ada, 100)
			own.Speaker, own.Method = memory.SpeakerUser, "ask"
			t.called(own)
			at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
			for _, test := range []struct {
				q    memory.RecordQuery
				want []memory.Record
			}{
				{memory.RecordQuery{}, nil},
				{memory.RecordQuery{Channels: []memory.ChannelID{general}}, []memory.Record{all[6], all[1], own, all[0]}},
				{memory.RecordQuery{Channels: []memory.ChannelID{general}, Oldest: true, Limit: 2}, []memory.Record{all[0], own}},
				{memory.RecordQuery{Channels: []memory.ChannelID{general, staff}, Since: at(101), Until: at(106)}, []memory.Record{all[2], all[1]}},
				{memory.RecordQuery{Channels: []memory.ChannelID{general}, Since: at(101).Add(1), Limit: 9}, []memory.Record{all[6]}},
				{memory.RecordQuery{Channels: []memory.ChannelID{general}, Until: at(100).Add(1)}, []memory.Record{own, all[0]}},
				{memory.RecordQuery{Channels: []memory.ChannelID{general}, Speaker: memory.SpeakerUser}, []memory.Record{own}},
				{memory.RecordQuery{Channels: []memory.ChannelID{general}, Method: "search_memory", Asker: ada}, []memory.Record{all[0]}},
				{memory.RecordQuery{Channels: []memory.ChannelID{nowhere}}, nil},
			} {
				t.same(fmt.Sprintf("records for %+v", test.q), t.records(test.q), test.want)
			}
		}},
		{"records come back as they were told", func(t *trial) {
			told := call("a", general, 0, ada, 1)
			told.Timestamp = began.Add(1234567 * time.Nanosecond).In(time.FixedZone("", 3600))
			told.Args = []any{id(5), 1.5, nil, true, []string{"newest"}}
			told.Kwargs = map[string]any{"text": map[string]int{"chars": 12, "words": 3}, "nothing": func() {}}
			told.More = map[string]json.RawMessage{"weather": json.RawMessage(`{"n":1e3}`)}
			t.called(told)
			want, err := told.Checked()
			if err != nil {
				t.Fatalf("Checked: %v", err)
			}
			t.leaves("what was told", want)
		}},
		{"a record that can't be is refused", func(t *trial) {
			for _, change := range []func(*memory.Record){
				func(r *memory.Record) { r.CallID = "" }, func(r *memory.Record) { r.Speaker = "somebody" }, func(r *memory.Record) { r.Channel = 0 },
			} {
				r := call("a", general, 0, ada, 1)
				change(&r)
				if err := t.store.Apply(t.ctx, memory.Called{Record: r}); !errors.Is(err, memory.ErrRefused) {
					t.Fatalf("Called %+v: %v", r, err)
				}
			}
			t.leaves("what is refused")
		}},
		{"of two records with one name the first stays", func(t *trial) {
			first, second := call("a", general, 0, ada, 2), call("a", general, 0, ada, 1)
			t.called(first, first, second)
			t.leaves("both", first)
		}},
		{"a record goes with its question and its answer", func(t *trial) {
			all := t.wherever()
			t.delete(general, id(1), id(9))
			t.recordsGone(all, memory.Receipt{Records: 1}, "a")
			answered := call("h", general, 2, ben, 107)
			answered.Answer = id(8)
			t.called(answered)
			t.delete(general, id(8))
			t.leaves("without the answer", all[1:]...)
			trace := t.answered()
			from := call("i", trace.Channel, 0, ada, 108)
			from.Question, from.Answer = trace.Question, trace.Answer
			t.called(from)
			t.leaves("with another", append(all[1:], from)...)
			t.delete(staff, id(1)) // a source of the answer
			t.answerGone(trace)
			t.leaves("without a source of the answer", all[1:]...)
		}},
		{"a record goes when its question changes, and not when its answer grows", func(t *trial) {
			all := t.wherever()
			reply := said(general, id(50), hark, "so")
			reply.Kind = memory.FromHark
			t.post(reply)
			own := call("h", general, 2, ben, 107)
			own.Answer = reply.ID
			t.called(own)
			t.apply(memory.Edited{Guild: guild, Channel: general, ID: reply.ID, Content: "so I heard", At: later})
			t.leaves("with an answer that has grown", append(all, own)...)
			t.apply(memory.Edited{Guild: guild, Channel: general, ID: id(2), Content: "never mind", At: later})
			t.leaves("without the question", append(all[:1:1], all[2:]...)...)
		}},
		{"a record goes with whoever asked", func(t *trial) {
			all := t.wherever()
			t.recordsGone(all, t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later}), "acd")
		}},
		{"a record goes with whoever asked, everywhere", func(t *trial) {
			all := t.wherever()
			t.recordsGone(all, t.forget(memory.Forgetting{Guild: memory.Everywhere, User: ada, Why: memory.WhyPurge, At: later}), "acdef")
		}},
		{"nothing is recorded of who has opted out", func(t *trial) {
			all := t.wherever()
			t.apply(memory.Opted{Guild: guild, User: ben, Out: true, At: later})
			t.leaves("without ben", all[0], all[2], all[3], all[4], all[5])
			late := call("h", general, 0, ben, 2000*3600)
			t.called(late)
			t.leaves("told late", all[0], all[2], all[3], all[4], all[5])
			t.apply(memory.Opted{Guild: guild, User: ben, At: later.Add(time.Hour)})
			t.called(late)
			t.leaves("once ben is back", all[0], all[2], all[3], all[4], all[5], late)
		}},
		{"a record goes with its channel", func(t *trial) {
			all := t.wherever()
			t.recordsGone(all, t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: later}), "abdg")
		}},
		{"a record goes with a channel that is deleted", func(t *trial) {
			all := t.wherever()
			t.apply(memory.ChannelDeleted{Guild: guild, Channel: thread, At: later})
			t.recordsGone(all, memory.Receipt{Records: 1}, "d")
		}},
		{"a record goes with its guild", func(t *trial) {
			all := t.wherever()
			t.recordsGone(all, t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later}), "abcdg")
		}},
		{"a record goes with what was said before a time", func(t *trial) {
			all := t.wherever()
			t.recordsGone(all, t.forget(memory.Forgetting{Guild: guild, Before: began.Add(3 * time.Second), Why: memory.WhyAge, At: later}), "ab")
			t.recordsGone(all[2:], t.forget(memory.Forgetting{Guild: guild, Before: began.Add(107 * time.Second), Why: memory.WhyAge, At: later}), "cdg")
		}},
		{"a record goes with all of somebody whom it names", func(t *trial) {
			all := t.wherever()
			about := func(name string, channel memory.ChannelID) memory.Record {
				r := call(name, channel, 0, ben, 200)
				r.Kwargs = map[string]any{"who": map[string]any{"user": "<@503>"}}
				r, _ = r.Checked()
				return r
			}
			named := []memory.Record{about("h", general), about("i", square), about("j", local)}
			t.called(named...)
			t.forget(memory.Forgetting{Guild: guild, User: 503, Channel: general, Why: memory.WhyPurge, At: later})
			t.forget(memory.Forgetting{Guild: guild, User: 50, Why: memory.WhyMember, At: later})
			t.leaves("with others forgotten", append(all, named...)...)
			r := t.forget(memory.Forgetting{Guild: guild, User: 503, Why: memory.WhyMember, At: later})
			t.same("records forgotten", r.Records, 2)
			t.called(named...)
			t.leaves("without 503", append(all, named[1])...)
			t.apply(memory.Opted{Guild: village, User: 503, Out: true, At: later})
			late := about("k", square)
			late.Timestamp = later.Add(time.Hour)
			t.called(late)
			t.leaves("once 503 is out", all...)
		}},
		{"records are kept for a time, and of a channel the newest", func(t *trial) {
			all := t.wherever()
			t.expire(memory.Expiry{Records: memory.RecordLimits{Count: 3}})
			t.expire(memory.Expiry{Records: memory.RecordLimits{Before: began.Add(100 * time.Second)}})
			t.leaves("nothing gone", all...)
			t.expire(memory.Expiry{Records: memory.RecordLimits{Count: 2}})
			t.leaves("two of each channel", all[1:]...)
			t.expire(memory.Expiry{Records: memory.RecordLimits{Before: began.Add(103 * time.Second), Count: 2}})
			t.leaves("the newer", all[3:]...)
		}},
		{"the key of fingerprints stays the same", func(t *trial) {
			key := t.fingerprintKey()
			t.same("the key again", t.fingerprintKey(), key)
			t.forget(memory.Forgetting{Guild: memory.Everywhere, Why: memory.WhyPurge, At: later})
			t.same("the key, though all is forgotten", t.fingerprintKey(), key)
		}},
	}
}

// drawCall is one of many; what it says depends on its name alone.
func drawCall(t *rapid.T) memory.Called {
	channel, slot := drawSlot(t)
	n := rapid.IntRange(0, 11).Draw(t, "call")
	r := memory.Record{
		CallID: fmt.Sprintf("%d-%d-%d", channel, slot, n), Timestamp: began.Add(time.Duration(slot+n%3) * time.Minute),
		Speaker: []memory.Speaker{memory.SpeakerUser, memory.SpeakerAgent, memory.SpeakerTool}[n%3], Method: []string{"ask", "answer", "search_memory"}[n%3],
		Guild: guildOf(channel), Channel: channel, Asker: version(channel, slot, 0).Author, Outcome: fmt.Sprintf("%d messages", n),
	}
	if n%4 > 0 {
		r.Question = slotID(slot)
	}
	if n%4 > 1 {
		r.Answer = slotID(slots) + memory.MessageID(100*(slot%3+1))
	}
	if n%5 == 4 {
		r.Args, r.Kwargs = []any{slot}, map[string]any{"user": authors[n%len(authors)]}
	}
	if n == 11 {
		r.Timestamp = later.Add(time.Hour)
		r.More = map[string]json.RawMessage{"extra": json.RawMessage("[1]")}
	}
	return memory.Called{Record: r}
}

func (m *machine) someCalls(t *rapid.T) {
	for range rapid.IntRange(1, 5).Draw(t, "calls") {
		e := drawCall(t)
		if r := e.Record; r.Question != 0 && m.isUnknown(place{r.Channel, r.Question}) || r.Answer != 0 && m.isUnknown(place{r.Channel, r.Answer}) {
			continue
		}
		m.both(e)
	}
	m.compareRecords(t)
}

func (m *machine) compareRecords(t *rapid.T) {
	scope := drawScope(t)
	q := memory.RecordQuery{
		Channels: scope.Channels, Since: scope.Since, Until: scope.Until, Oldest: rapid.Bool().Draw(t, "oldest"), Limit: rapid.IntRange(0, 4).Draw(t, "limit"),
		Speaker: rapid.SampledFrom([]memory.Speaker{"", "", memory.SpeakerTool}).Draw(t, "speaker"), Method: rapid.SampledFrom([]string{"", "", "ask"}).Draw(t, "method"),
	}
	if len(scope.Authors) > 0 {
		q.Asker = scope.Authors[0]
	}
	m.same("Records", m.records(q), m.model.recordsFor(q))
	all := memory.RecordQuery{Channels: append(channels, nowhere)}
	m.same("all Records", m.records(all), m.model.recordsFor(all))
}

// forgetOldRecords has the records of a moment, and older ones, go, or those that are too many.
func (m *machine) forgetOldRecords(t *rapid.T) {
	l := memory.RecordLimits{Count: rapid.SampledFrom([]int{0, 1, 3, 5}).Draw(t, "count")}
	if rapid.Bool().Draw(t, "by age") {
		l.Before = began.Add(time.Duration(rapid.IntRange(0, slots).Draw(t, "before")) * time.Minute)
	}
	m.expire(memory.Expiry{Records: l})
	m.model.limitRecords(l)
}
