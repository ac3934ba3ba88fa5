package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// Of what is deleted where nothing is remembered the log needs to keep nothing, also where that was decided
// just before.
func TestDeletionsAreToldFromWhereNothingIsRemembered(t *testing.T) {
	t.Parallel()
	log := newFakeLog(t)
	a := NewFilter(log, memory.Policy{Ask: true}, NewBuffer(0, time.Now), func([]Subject) {})
	gone := memory.Deleted{Guild: 5, Channel: 50, IDs: []memory.MessageID{7}}
	if err := a.commit(t.Context(), []memory.Event{memory.GuildSeen{Guild: memory.Guild{ID: 5}}, gone,
		memory.Chose{Guild: 5, Choice: memory.Remember, At: time.Now()}, gone}); err != nil {
		t.Fatal(err)
	}
	var unlogged []bool
	for _, e := range log.events {
		if d, is := e.(memory.Deleted); is {
			unlogged = append(unlogged, d.Unlogged)
		}
	}
	if !slices.Equal(unlogged, []bool{true, false}) {
		t.Errorf("told as %v", unlogged)
	}
}

func TestWhatIsKeptOfAnswersElsewhere(t *testing.T) {
	t.Parallel()
	trace := memory.Trace{Prompt: &memory.Prompt{}, Guild: 1, Channel: 2, Answer: 3,
		Parts: []memory.MessageID{4}, Question: 5, Asker: 6, Model: "m",
		Recalled: []memory.TraceHit{{Channel: 7, Message: 8}}, Sources: []memory.Source{
			{Kind: memory.SourceMessage, Channel: 2, ID: 5, Repeats: true}, {Kind: memory.SourceMessage,
				Channel: 7, ID: 8, Version: 9}, {Kind: memory.SourceFact, ID: 10},
			{Kind: memory.SourceLore, ID: 11},
		}, Named: []memory.UserID{6}}
	kept, ok := traceElsewhere(trace)
	if kept.Prompt != nil {
		t.Error("kept the prompt")
	}
	if !ok || kept.Asker != 0 || kept.Question != 0 || kept.Answer != 3 || len(kept.Parts) != 1 ||
		kept.Recalled != nil || kept.Named != nil ||
		!slices.Equal(kept.Sources, trace.Sources[1:3]) {
		t.Errorf("kept %+v", kept)
	}
	trace.Sources = append(trace.Sources[:1], trace.Sources[3])
	if _, ok := traceElsewhere(trace); ok {
		t.Error("kept although nothing logged was used")
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	log := newFakeLog(t)
	r, _ := newTestBuffer()
	var told []Subject
	a := NewFilter(log, memory.Policy{Ask: true}, r, func(about []Subject) { told = append(told, about...) })
	post := func(channel memory.ChannelID, id memory.MessageID, author memory.UserID, text string) memory.Posted {
		return memory.Posted{Message: messageFrom(channel, id, author, text), Live: true}
	}
	mine := post(7, 4, 99, "mine")
	mine.Live, mine.Message.Kind = false, memory.FromHark
	past := post(7, 1, 2, "long ago")
	past.Live = false
	chose := memory.Chose{Guild: 5, Channel: 8, Choice: memory.Remember}
	batch := []memory.Event{
		memory.GuildSeen{Guild: memory.Guild{ID: 5, Channels: []memory.Channel{{ID: 7}, {ID: 8}}}},
		past,
		post(7, 2, 1, "before opting out"),
		memory.Opted{Guild: 5, User: 1, Out: true},
		post(7, 3, 1, "after it"),
		mine,
		post(7, 5, 2, "typo"),
		memory.Edited{Guild: 5, Channel: 7, ID: 5, Content: "right", At: r.now()},
		memory.Answered{Trace: memory.Trace{Guild: 5, Channel: 7, Answer: 4}},
		memory.Recorded{Record: memory.Record{Guild: 5, Channel: 7, CallID: "7", Timestamp: midday,
			Speaker: memory.SpeakerTool, Method: "m"}},
		post(8, 6, 2, "too early"),
		chose,
		post(8, 7, 2, "in time"),
		memory.Answered{Trace: memory.Trace{Guild: 5, Channel: 8, Answer: 7}},
		memory.Recorded{Record: memory.Record{Guild: 5, Channel: 8, CallID: "8", Timestamp: midday,
			Speaker: memory.SpeakerTool, Method: "m"}},
	}
	for range 2 { // as after a failure
		if err := a.commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"memory.GuildSeen", "memory.Heard 2", "memory.Opted", "memory.Heard 3", "memory.Heard 5",
		"memory.Edited unlogged: ", "memory.Heard 6", "memory.Chose",
		"memory.Posted in time", "memory.Answered", "memory.Recorded 8",
	}
	var got []string
	for _, e := range log.events[:len(log.events)/2] {
		s := fmt.Sprintf("%T", e)
		switch e := e.(type) {
		case memory.Heard:
			s += " " + e.ID.String()
		case memory.Posted:
			s += " " + e.Message.Content
		case memory.Edited:
			s += " logged: "
			if e.Unlogged {
				s = strings.Replace(s, " logged", " unlogged", 1)
			}
			s += e.Content
		case memory.Recorded:
			s += " " + e.Record.CallID
		}
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		t.Errorf("logged %q\nwant   %q", got, want)
	}
	if len(told) != 2*len(batch) {
		t.Errorf("told of %d events", len(told))
	}
	if got := sessionText(r, 7); got != "mine right" {
		t.Errorf("the session is %q", got)
	}
	if got := a.Session(t.Context(), 5, 7, 5); len(got) != 1 || got[0].Content != "mine" {
		t.Errorf("before the question: %v", got)
	}
	if got := a.Session(t.Context(), 5, 8, 9); got != nil {
		t.Errorf("a session of its own where the log tells: %v", got)
	}
	if err := a.commit(t.Context(), []memory.Event{memory.Deleted{Channel: 7, IDs: []memory.MessageID{5}},
		memory.ChannelDeleted{Channel: 8}}); err != nil || sessionText(r, 7) != "mine" {
		t.Errorf("after the deletion %q, %v", sessionText(r, 7), err)
	}
	if err := a.commit(t.Context(), []memory.Event{memory.GuildLeft{Guild: 5}}); err != nil || len(r.channels) != 0 {
		t.Errorf("after leaving %d sessions, %v", len(r.channels), err)
	}
	log.readFails = errFull
	if err := a.commit(t.Context(), []memory.Event{post(7, 20, 2, "who knows")}); err == nil || sessionText(r, 7) != "" {
		t.Error("heard of somebody of whom it isn't known whether they agree")
	}
	log.fails = errFull
	if err := a.commit(t.Context(), []memory.Event{chose}); err == nil {
		t.Error("committed though the log fails")
	}
}
