package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/config"
	"hark/memory"
	"hark/memory/sqlite"
)

// withCalls is stocked with the records of some questions, one a day from 1 May on.
func withCalls(t *testing.T) (*commandLine, string) {
	t.Helper()
	c, data := stocked(t)
	store, err := sqlite.Open(t.Context(), data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var events []memory.Event
	at := func(n int) time.Time { return time.Date(2024, 5, n, 12, 0, 0, 0, time.UTC) }
	for n := range 12 {
		id := memory.FirstMessageID(at(n+1)) + 5
		trace := memory.Trace{Guild: 500, Channel: 501, Question: id, Answer: id + 1, Asker: 7}
		events = append(events, answer.Called([]memory.Record{
			{CallID: fmt.Sprint("u", n), Speaker: memory.SpeakerUser, Method: answer.MethodAsk, Args: []any{id}, Outcome: "answered"},
			{CallID: fmt.Sprint("x", n), Speaker: memory.SpeakerTool, Method: answer.HistoryMethod, Kwargs: map[string]any{"filter": map[string]any{"speaker": "user"}, "limit": 5}, Outcome: "2 records"},
			{CallID: fmt.Sprint("y", n), Speaker: memory.SpeakerTool, Method: answer.HistoryMethod, Kwargs: map[string]any{"filter": map[string]any{"speaker": "user"}, "limit": 5}, Outcome: "2 records"},
		}, trace, at(n+1))...)
	}
	shed := memory.Trace{Guild: 600, Channel: 601, Question: memory.FirstMessageID(at(3)), Asker: 7}
	events = append(events, answer.Called(nil, shed, at(3))...)
	if err := store.Apply(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return c, data
}

func TestHistoryTellsWhatWouldJustifyATool(t *testing.T) {
	t.Parallel()
	c, _ := withCalls(t)
	c.run(0, "history")
	c.sees()
	c.run(0, "history", "--since", "2024-05-02", "--until", "2024-05-03", "--channel", "general")
	c.sees()
	c.run(0, "history", "--guild", "Shed", "--json")
	var told struct {
		Questions, Reached int
		Since              *time.Time
		Repeated           answer.Pattern `json:"repeated_queries"`
		Threshold          struct {
			Share     float64
			Questions int
		}
	}
	if err := json.Unmarshal([]byte(c.out.String()), &told); err != nil {
		t.Fatal(err)
	}
	if told.Questions != 1 || told.Reached != 0 || told.Since != nil || told.Threshold.Share != answer.ToolShare || told.Threshold.Questions != answer.ToolQuestions {
		t.Errorf("told %+v", told)
	}
	c.run(0, "history", "--since", "1d", "--until", "1h", "--json")
	if !strings.Contains(c.out.String(), `"since":`) || !strings.Contains(c.out.String(), `"until":`) || !strings.Contains(c.out.String(), `"questions": 0`) {
		t.Error(c.out.String())
	}
	c.run(0, "history", "--since", "1d")
	c.sees()
}

func TestHistoryListsRecords(t *testing.T) {
	t.Parallel()
	c, _ := withCalls(t)
	c.run(0, "history", "--records", "--until", "2024-05-01")
	c.sees()
	c.run(0, "history", "--records", "--json", "--channel", "tools")
	var records []memory.Record
	if err := json.Unmarshal([]byte(c.out.String()), &records); err != nil || len(records) != 1 || records[0].Channel != 601 || records[0].Outcome != "not answered" {
		t.Errorf("listed %+v, %v", records, err)
	}
	c.run(0, "history", "--records", "--json", "--channel", "posts")
	if strings.TrimSpace(c.out.String()) != "[]" {
		t.Errorf("listed %s", c.out.String())
	}
	c.run(0, "history", "--records", "--channel", "posts")
	c.sees()
}

func TestHistoryOfNoSpan(t *testing.T) {
	t.Parallel()
	c, _ := withCalls(t)
	for _, args := range [][]string{
		{"--since", "soon"}, {"--since", "2024-05-02", "--until", "2024-05-01"}, {"more"},
	} {
		c.run(1, append([]string{"history"}, args...)...)
		c.sees()
	}
}

// What somebody asked is theirs to have and to have forgotten.
func TestCallsAreExportedAndForgotten(t *testing.T) {
	t.Parallel()
	c, data := withCalls(t)
	if e := c.exported("--user", "7"); len(e.Calls) != 37 || e.Calls[0].Asker != 7 {
		t.Errorf("%d calls are exported", len(e.Calls))
	}
	if e := c.exported("--user", "7", "--guild", "Shed"); len(e.Calls) != 1 {
		t.Errorf("of one server %d calls are", len(e.Calls))
	}
	c.run(0, "forget", "--user", "7", "--guild", "Garden", "--yes", "--json")
	var receipt receiptJSON
	if err := json.Unmarshal([]byte(c.out.String()), &receipt); err != nil || receipt.Records != 36 {
		t.Errorf("the receipt is %+v, %v", receipt, err)
	}
	c.run(0, "forget", "--user", "7", "--yes")
	c.sees()
	store, err := sqlite.Open(t.Context(), data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if left, err := store.Records(t.Context(), memory.RecordQuery{Channels: []memory.ChannelID{501, 601}}); err != nil || len(left) > 0 {
		t.Errorf("%d records are left, %v", len(left), err)
	}
	if recordCount(2) != "2 records of calls" {
		t.Error(recordCount(2))
	}
}

// In the terminal a question that fails is on record, unless none are to be, and what is too old goes at the next start.
func TestChatRecordsWhatWasAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		retention string
		want      int
	}{"kept": {"30d", 1}, "none": {"0", 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"HARK_DATA": t.TempDir(), "HARK_MEMORY_RECORDS_RETENTION": c.retention}
			cfg, err := config.Load("", func(key string) (string, bool) { v := env[key]; return v, v != "" })
			if err != nil {
				t.Fatal(err)
			}
			a, err := open(t.Context(), cfg, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer a.close()
			p, err := a.placeOf(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			talk := &conversation{app: a, place: p, speaker: "Ann", now: time.Now, out: &buffer{}, warn: &buffer{}}
			ended, cancel := context.WithCancel(t.Context())
			q := p.question("when?", time.Now())
			q.ID, q.Asker = talk.nextID(), 5
			cancel()
			if err := talk.answer(ended, q); err == nil {
				t.Fatal("answered")
			}
			all, err := a.store.Records(t.Context(), memory.RecordQuery{Channels: []memory.ChannelID{p.channel}})
			if err != nil || len(all) != c.want {
				t.Fatalf("kept %+v, %v", all, err)
			}
			if c.want > 0 && (all[0].Question != q.ID || all[0].Asker != 5 || all[0].Answer != 0) {
				t.Errorf("kept %+v", all[0])
			}
			old := memory.Record{CallID: "old", Timestamp: time.Now().AddDate(0, 0, -31), Speaker: memory.SpeakerUser, Method: "ask", Guild: p.guild, Channel: p.channel}
			if err := a.store.Apply(t.Context(), memory.Called{Record: old}); err != nil {
				t.Fatal(err)
			}
			if err := a.forgetOld(t.Context()); err != nil {
				t.Fatal(err)
			}
			if all, err := a.store.Records(t.Context(), memory.RecordQuery{Channels: []memory.ChannelID{p.channel}}); err != nil || len(all) != c.want {
				t.Errorf("left %+v, %v", all, err)
			}
			if got := recordRetention(cfg); got.Count != 1000 || got.Tokens != 150_000 || (c.want == 0) != (got.Age == 0) {
				t.Errorf("retention %+v", got)
			}
		})
	}
}
