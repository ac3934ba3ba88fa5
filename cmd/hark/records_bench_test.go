package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/config"
	"hark/internal/tokens"
	"hark/memory"
)

// BenchmarkRecords measures what records cost: their bytes and tokens, how many fit, and from which share of all questions on a
// tool of its own pays, which is where its description in every prompt costs what the rounds cost that it spares.
// RECALL_SET names a recall set whose questions are asked of its messages; without it, questions of a kind are made up.
func BenchmarkRecords(b *testing.B) {
	cfg, err := config.Load("", func(string) (string, bool) { return "", false })
	if err != nil {
		b.Fatal(err)
	}
	cfg.Data = b.TempDir()
	questions := someQuestions()
	if set := os.Getenv("RECALL_SET"); set != "" {
		questions = questionsOf(b, set)
		if code := run(b.Context(), environment{stdout: &buffer{}, stderr: &buffer{}, lookup: func(string) (string, bool) { return "", false }, environ: func() []string { return nil }},
			[]string{"import", "--data", cfg.Data, set}); code != 0 {
			b.Fatal(code)
		}
	}
	a, err := open(b.Context(), cfg, nil, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer a.close()
	p, err := a.placeOf(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	key, err := a.store.FingerprintKey(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		measureRecords(b, a, p, key, questions)
	}
}

func measureRecords(b *testing.B, a *app, p place, key []byte, questions []string) {
	count, random := tokens.New().Count, rand.New(rand.NewPCG(1, 2))
	var prompts, asked int
	var records []memory.Record
	before := databaseSize(b, a)
	for i, question := range questions {
		q := p.question(question, time.Now())
		q.ID = memory.FirstMessageID(q.Now.Add(time.Duration(i) * time.Minute))
		q.Asker = memory.UserID(1e17 + int64(i%20))
		if i%10 == 0 { // a prompt takes long
			r, err := a.answers.Recall(b.Context(), q)
			if err != nil {
				b.Fatal(err)
			}
			prompts, asked = prompts+r.Prompt.Report.Tokens, asked+1
		}
		records = append(records, callsOf(q, key, random)...)
	}
	var bytes, total int
	var events []memory.Event
	for i, r := range records {
		r.CallID += fmt.Sprint("-", b.N)
		r, err := r.Checked()
		if err != nil {
			b.Fatal(err)
		}
		body, err := json.Marshal(r)
		if err != nil {
			b.Fatal(err)
		}
		records[i], bytes, total = r, bytes+len(body), total+count(string(body))
		events = append(events, memory.Called{Record: r})
	}
	if err := a.store.Apply(b.Context(), events...); err != nil {
		b.Fatal(err)
	}
	inFile := float64(databaseSize(b, a)-before) / float64(len(records))
	var outcome strings.Builder
	for _, r := range records[:10] {
		fields := r
		fields.Guild, fields.Channel, fields.Question, fields.Asker, fields.Answer = 0, 0, 0, 0, 0
		line, _ := json.Marshal(fields)
		outcome.WriteString(string(line) + "\n")
	}
	tool := a.answers.HistoryTool().Spec()
	description, prompt, told := count(tool.Name+tool.Description+string(tool.Parameters)), float64(prompts)/float64(asked), count(outcome.String())
	n := float64(len(records))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(n/float64(len(questions)), "records/question")
	b.ReportMetric(float64(bytes)/n, "bytes/record")
	b.ReportMetric(inFile, "file-bytes/record")
	b.ReportMetric(float64(total)/n, "tokens/record")
	b.ReportMetric(float64(a.config.Memory.RecordsTokens)*n/float64(total), "records/"+fmt.Sprint(a.config.Memory.RecordsTokens)+"-tokens")
	b.ReportMetric(float64(told), "tokens/ten-told")
	b.ReportMetric(float64(description), "tokens/description")
	b.ReportMetric(prompt, "tokens/prompt")
	b.ReportMetric(100*float64(description)/(prompt+float64(told)), "%-share-to-break-even")
}

// databaseSize is how many bytes of the file are in use.
func databaseSize(b *testing.B, a *app) int64 {
	b.Helper()
	path := filepath.Join(b.TempDir(), "copy.db")
	info, err := a.store.Backup(b.Context(), path, true, nil)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size
}

// callsOf are the records of one question, as an engine with tools makes them: the question, none to three calls, the answer.
func callsOf(q answer.Question, key []byte, random *rand.Rand) []memory.Record {
	text := func(s string) map[string]any {
		return map[string]any{"chars": len([]rune(s)), "words": len(strings.Fields(s)), "fingerprint": memory.FingerprintOf(key, s)}
	}
	at := q.Now
	record := func(speaker memory.Speaker, method, outcome string, args []any, kwargs map[string]any) memory.Record {
		at = at.Add(700 * time.Millisecond)
		return memory.Record{CallID: fmt.Sprintf("%s-%d", q.ID, at.UnixMilli()), Timestamp: at, Speaker: speaker, Method: method, Args: args, Kwargs: kwargs, Outcome: outcome,
			Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker, Answer: q.ID + 1<<24}
	}
	all := []memory.Record{record(memory.SpeakerUser, answer.MethodAsk, "answered", []any{q.ID}, map[string]any{"text": text(q.Text)})}
	for range []int{0, 0, 1, 1, 2, 3}[random.IntN(6)] {
		switch random.IntN(4) {
		case 0:
			all = append(all, record(memory.SpeakerTool, answer.HistoryMethod, "10 records", nil, map[string]any{"filter": map[string]any{"speaker": "user", "text": text(q.Text)}, "limit": 10}))
		case 1:
			all = append(all, record(memory.SpeakerTool, "get_participant", "1 participant", nil, map[string]any{"user": q.Asker.String()}))
		default:
			all = append(all, record(memory.SpeakerTool, "search_memory", "8 messages", nil, map[string]any{"query": text(q.Text), "since": "2024-05-01", "limit": 8}))
		}
	}
	return append(all, record(memory.SpeakerAgent, "answer", "answered with 3 sources", []any{q.ID + 1<<24}, map[string]any{"text": text(strings.Repeat(q.Text, 3))}))
}

// questionsOf are those of a recall set, at most 400.
func questionsOf(b *testing.B, path string) (questions []string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(zipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && len(questions) < 400 {
		var line struct{ Type, Text string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			b.Fatal(err)
		}
		if line.Type == "question" {
			questions = append(questions, line.Text)
		}
	}
	return questions
}

func someQuestions() (questions []string) {
	for i := range 400 {
		questions = append(questions, fmt.Sprintf("When did the %s say that the deadline for project %d was moved?", []string{"harbour master", "baker", "new keeper"}[i%3], i))
	}
	return questions
}
