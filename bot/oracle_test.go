package bot

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

// answerFunc answers a question, and streams what it has so far.
type answerFunc func(ctx context.Context, q answer.Question, stream func(string)) (answer.Answer, error)

// oracle is a scripted Answerer.
type oracle struct {
	answer  answerFunc
	recall  func(ctx context.Context, q answer.Question) (answer.Recalled, error)
	explain func(q answer.Question, id memory.MessageID) (answer.Explanation, error)
	lore    func(ctx context.Context, q answer.Question) ([]memory.Lore, error)
	find    func(q answer.Question) (answer.FindResult, error)
	look    func(q answer.Question, found []answer.FoundMessage) ([]answer.InspectedMessage, error)
	catchUp func(ctx context.Context, q answer.Question, since time.Time) (answer.CaughtUp, error)

	traceless bool // answers have no trace

	mu    sync.Mutex
	asked []answer.Question
}

// traceOf is the trace of an answer to q with other sources.
func traceOf(q answer.Question, others ...memory.Source) memory.Trace {
	question := memory.Message{Channel: q.Channel, ID: q.ID, Edited: q.Edited}.AsSource(true)
	return memory.Trace{Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker,
		Sources: append([]memory.Source{question}, others...)}
}

// Answer adds a trace, unless the oracle is traceless.
func (o *oracle) Answer(ctx context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
	o.mu.Lock()
	o.asked = append(o.asked, q)
	o.mu.Unlock()
	a, err := o.answer(ctx, q, stream)
	if err == nil && a.Trace.Asker == 0 && !o.traceless {
		a.Trace = traceOf(q)
	}
	return a, err
}

func (o *oracle) Recall(ctx context.Context, q answer.Question) (answer.Recalled, error) {
	o.mu.Lock()
	o.asked = append(o.asked, q)
	o.mu.Unlock()
	return o.recall(ctx, q)
}

func (o *oracle) Lore(ctx context.Context, q answer.Question) ([]memory.Lore, error) {
	if o.lore == nil {
		return nil, nil
	}
	return o.lore(ctx, q)
}

func (o *oracle) Find(_ context.Context, q answer.Question) (answer.FindResult, error) {
	o.mu.Lock()
	o.asked = append(o.asked, q)
	o.mu.Unlock()
	return o.find(q)
}

func (o *oracle) Inspect(_ context.Context, q answer.Question,
	found []answer.FoundMessage) ([]answer.InspectedMessage, error) {
	return o.look(q, found)
}

func (o *oracle) CatchUp(ctx context.Context, q answer.Question, since time.Time) (answer.CaughtUp, error) {
	o.mu.Lock()
	o.asked = append(o.asked, q)
	o.mu.Unlock()
	return o.catchUp(ctx, q, since)
}

func (o *oracle) Explain(_ context.Context, q answer.Question, id memory.MessageID) (answer.Explanation, error) {
	return o.explain(q, id)
}

func (o *oracle) questions() []answer.Question {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}

// traces returns the traces kept once there are n.
func (s *scene) traces(t *testing.T, n int) []memory.Trace {
	t.Helper()
	var kept []memory.Trace
	s.log.wait(t, fmt.Sprintf("%d traces", n), func() bool {
		kept = nil
		for _, e := range eventsOf[memory.Answered](s.log) {
			kept = append(kept, e.Trace)
		}
		return len(kept) >= n
	})
	return kept
}

// says streams text and answers with it.
func says(text string) answerFunc {
	return func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		stream(text)
		return answer.Answer{Text: text}, nil
	}
}

// gives answers with a and err, without streaming.
func gives(a answer.Answer, err error) answerFunc {
	return func(context.Context, answer.Question, func(string)) (answer.Answer, error) { return a, err }
}
