package bot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

const (
	askMe = "Hi! Ask me something about what was said here: mention me with a question, like \"<@%d> when is the meeting?\". " +
		"`/context` shows only you what I'd remember for it."
	tooMany     = "I'm still busy with other questions in this channel; please ask again in a moment."
	restarting  = "I'm being restarted. Please ask again in a minute."
	wentWrong   = "Something went wrong on my side. Please try again; if it keeps happening, tell whoever runs me this code: %s"
	interrupted = "-# ⚠️ Interrupted: %s"
)

// outcome is what an Answerer came to.
type outcome struct {
	answer answer.Answer
	err    error
	// unlogged says that it was made from a session that wasn't logged.
	unlogged bool
}

// reply answers one question: it shows the answer while it is being written, and logs what it became. When
// work ends the answer is cut short, and says so; requests go on until last ends.
func (b *Bot) reply(work, last context.Context, a *ask) {
	d := newDelivery(b.thread(a, "a"), b.timing.pace, b.timing.typing)
	if a.text == "" {
		b.post(last, d, a, layout(fmt.Sprintf(askMe, b.self), "", piece.String), memory.Trace{})
		return
	}
	limit, cancel := context.WithTimeout(work, b.timing.answer)
	defer cancel()
	writing, written := context.WithCancel(limit)
	came := make(chan outcome, 1)
	go func() {
		defer written()
		came <- b.consult(limit, a, d.stream)
	}()
	gone := d.run(last, writing.Done())
	if gone != nil {
		cancel()
	}
	got := b.await(limit, came)
	if err := work.Err(); err != nil && got.err != nil {
		got.err = err
	}
	if gone != nil {
		b.log.Warn().Err(gone).Int64("question", int64(a.id)).Msg("gave up an answer")
		b.record(last, d, a, b.known(last, a, got))
		return
	}
	b.conclude(last, d, a, got)
}

// await is what came of a question. Once ctx has ended an Answerer has a moment to come to an end as well.
func (b *Bot) await(ctx context.Context, came <-chan outcome) outcome {
	select {
	case got := <-came:
		return got
	case <-ctx.Done():
	}
	select {
	case got := <-came:
		return got
	case <-time.After(b.timing.unwind):
		return outcome{err: ctx.Err()}
	}
}

func (b *Bot) consult(ctx context.Context, a *ask, stream func(string)) (got outcome) {
	defer func() {
		if r := recover(); r != nil {
			got = outcome{err: errors.New(panicked("answer", r))}
		}
	}()
	settled := func(ctx context.Context) error { return b.settled(ctx, a.guild) }
	if err := settled(ctx); err != nil {
		return outcome{err: err}
	}
	q := answer.Question{
		ID: a.id, Guild: a.guild, Channel: a.channel, Asker: a.asker, Name: a.name,
		Text: a.text, Mentions: a.mentions, ReplyTo: a.replyTo, Now: b.now(), Settled: settled,
		Session: b.admit.session(ctx, a.guild, a.channel, a.id),
	}
	got.answer, got.err = b.answers.Answer(ctx, q, stream)
	if got.unlogged = q.Session != nil; got.unlogged && !stands(q.Session, b.admit.session(ctx, a.guild, a.channel, a.id)) {
		got.answer, got.err = answer.Answer{Text: sessionChanged}, nil
	}
	return got
}

// sessionChanged is said in the place of an answer that was made from what is no longer there.
const sessionChanged = "While I was answering, something that was said here was deleted or changed, or what I remember here was, so I take my answer back. Please ask me again."

// stands reports whether a session that isn't logged is still what it was, but for what it has grown out of.
func stands(was, now []memory.Message) bool {
	for _, m := range was {
		if len(now) > 0 && m.ID < now[0].ID {
			continue
		}
		if !slices.ContainsFunc(now, func(n memory.Message) bool { return n.ID == m.ID && n.Text() == m.Text() }) {
			return false
		}
	}
	return true
}

// conclude brings what Discord shows to what the answer became, and logs that with how it came about.
func (b *Bot) conclude(last context.Context, d *delivery, a *ask, got outcome) {
	if got.err == nil && strings.TrimSpace(got.answer.Text) == "" {
		got.err = errors.New("the answer is empty")
	}
	if away := got.answer.Away; away != nil {
		b.log.Warn().Err(away).Int64("question", int64(a.id)).Msg("answered without the model")
	}
	if shortened := got.answer.Shortened; shortened != nil {
		b.log.Warn().Err(shortened).Int64("question", int64(a.id)).Msg("answered from a smaller prompt")
	}
	if unranked := got.answer.Unranked; unranked != nil {
		b.log.Warn().Err(unranked).Int64("question", int64(a.id)).Msg("answered without the reranker")
	}
	trace := b.known(last, a, got)
	contents, err := b.lay(d, a, got)
	if err != nil {
		contents, trace.Prompt = []string{b.sentence(a, err)}, nil
	}
	b.post(last, d, a, contents, trace)
}

// known is how an answer came about, or nothing if the log doesn't know all that it was made from: where it is to be
// logged now, and wasn't when the question was asked.
func (b *Bot) known(ctx context.Context, a *ask, got outcome) memory.Trace {
	if got.unlogged {
		if remembered, err := b.admit.remembers(ctx, a.guild, a.channel); remembered || err != nil {
			return memory.Trace{}
		}
	}
	trace := got.answer.Trace
	if strings.TrimSpace(got.answer.Text) == "" {
		trace.Prompt = nil // what is shown is why there is no answer
	}
	return trace
}

// lay lays an answer out as messages. It never panics, whatever the answer's text does to it.
func (b *Bot) lay(d *delivery, a *ask, got outcome) (contents []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New(panicked("lay out an answer", r))
		}
	}()
	text := got.answer.Text
	if strings.TrimSpace(text) == "" {
		text = d.latest()
	}
	tail := footer(got.answer.Sources, b.now())
	if got.err != nil {
		why := b.sentence(a, got.err)
		tail = fmt.Sprintf(interrupted, why)
		if strings.TrimSpace(text) == "" {
			text, tail = why, ""
		}
	}
	return layout(text, tail, func(p piece) string { return linkSources(p, got.answer.Sources) }), nil
}

// post shows contents, which came about as trace tells, and logs them.
func (b *Bot) post(last context.Context, d *delivery, a *ask, contents []string, trace memory.Trace) {
	if err := d.finish(last, contents); err != nil {
		b.log.Warn().Err(err).Int64("question", int64(a.id)).Msg("couldn't show an answer")
	}
	b.record(last, d, a, trace)
}

// record logs our answer, and returns once that is committed.
func (b *Bot) record(last context.Context, d *delivery, a *ask, trace memory.Trace) {
	if len(d.parts) == 0 {
		return
	}
	_ = b.commit(last, b.ours(d, a, trace))
	if trace.Answer = d.parts[0].id; trace.Asker != 0 {
		b.account(trace)
	}
}

// commit has events logged after all that was taken in before, and returns once they are.
func (b *Bot) commit(ctx context.Context, events []memory.Event) error {
	logged := make(chan struct{})
	if !b.queue.put(item{events: events, logged: logged}) {
		return errStopped
	}
	select {
	case <-logged:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ours is our answer for the log, as Discord has it, with how it came about. Where nobody knows that, the text isn't
// kept: it couldn't be found when something that it repeats is forgotten.
func (b *Bot) ours(d *delivery, a *ask, trace memory.Trace) []memory.Event {
	var events []memory.Event
	trace.Parts = nil
	for i, p := range d.parts {
		m := memory.Message{
			ID: p.id, Guild: a.guild, Channel: a.channel, Author: b.self, Kind: memory.FromHark,
			Content: p.content, Edited: p.edited,
		}
		if i == 0 {
			m.ReplyTo, trace.Answer = a.id, p.id
		} else {
			trace.Parts = append(trace.Parts, p.id)
		}
		if trace.Asker == 0 {
			m.Content = ""
		}
		events = append(events, memory.Posted{Message: m})
	}
	if trace.Asker != 0 {
		events = append(events, memory.Answered{Trace: trace})
	}
	return events
}

// sentence is what a member is told about err. What it has no sentence for is logged under a code.
func (b *Bot) sentence(a *ask, err error) string {
	var told interface{ Sentence() string }
	switch {
	case errors.As(err, &told):
		b.log.Warn().Err(err).Int64("question", int64(a.id)).Msg("couldn't answer")
		return told.Sentence()
	case errors.Is(err, context.Canceled):
		return restarting
	}
	code := traceCode()
	b.log.Error().Err(err).Str("code", code).Int64("question", int64(a.id)).Msg("couldn't answer")
	return fmt.Sprintf(wentWrong, code)
}

// traceCode is a code short enough to be told to somebody, under which the log has what went wrong.
func traceCode() string { return strings.ToLower(rand.Text()[:8]) }
