package reply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/internal/crash"
	"hark/internal/metrics"
	"hark/memory"
)

// CutOff is the line below an answer that the model didn't finish, because it wrote as much as it may.
const CutOff locale.MessageKey = "-# ⚠️ Cut off: the answer reached its longest length."

// WasCut is the operator's line about such an answer.
const WasCut = "the answer was cut off at llm.max_tokens: raise it, or choose a model that thinks less"

// reply answers one question and logs the result. When work ends, the answer is interrupted and says so;
// requests go on until last ends. A question that changes is answered again in the same place. If it goes, its
// answer is removed.
func (r *Replier) reply(work, last context.Context, asked *ingest.Question) {
	d := newDelivery(r.thread(asked, "a"+asked.Round), r.Timing.Pace, r.Timing.Typing)
	for first := true; ; first = false {
		ctx, a := r.questions.begin(work, asked.ID)
		if a == nil {
			r.removeAnswer(last, d, asked)
			return
		}
		d.stream("") // what is shown stays until there is new text
		if first {
			d.adopt(a.Shown)
		}
		if r.answerOnce(ctx, work, last, d, a) == nil {
			return
		}
	}
}

// answerOnce answers one version of a question. An error means that it changed or is gone.
func (r *Replier) answerOnce(ctx, work, last context.Context, d *delivery, a *ingest.Question) error {
	l := r.LocaleFor(last, a)
	if a.IsEmpty() {
		return r.help(last, l, d, a)
	}
	d.buttons = answerButtons(a, l, false)
	limit, cancel := context.WithTimeout(ctx, r.Timing.Answer)
	defer cancel()
	writing, written := context.WithCancel(limit)
	came := make(chan Outcome, 1)
	go func() {
		defer written()
		came <- r.consult(limit, a, func(text string) {
			if limit.Err() == nil { // else another answer may be under way
				d.stream(text)
			}
		})
	}()
	gone := d.run(last, writing.Done())
	if gone != nil {
		cancel()
	}
	got := r.Await(limit, came)
	got.Answer.Ran = r.questions.allRan(a.ID, got.Answer.Ran)
	defer r.questions.Settle(last, a, got)
	if err := r.questions.interruption(a.ID); err != nil {
		return err
	}
	switch {
	case got.err == nil:
	case errors.Is(got.err, answer.ErrNoQuestion):
		return r.help(last, l, d, a)
	case work.Err() != nil && r.HandOver: // what is shown stays
		return r.questions.finish(a.ID, d.ids(), a.More, true)
	case work.Err() != nil:
		got.err = work.Err()
	case errors.Is(context.Cause(ctx), errHalted):
		got.err = errHalted
	}
	logged, err := r.Filter.Remembers(last, a.Guild, a.Channel)
	trace := traceFor(a, got, logged, err)
	if gone != nil {
		r.recordShown(last, d, a, gone, trace, nil)
		return r.questions.finish(a.ID, d.ids(), a.More, false)
	}
	return r.conclude(last, l, d, a, got, trace, logged && err == nil && trace.Asker != 0)
}

// help answers a question that asks nothing. An error means that it changed or is gone.
func (r *Replier) help(last context.Context, l locale.Locale, d *delivery, a *ingest.Question) error {
	d.buttons = nil
	r.removeExtras(last, d, a)
	r.post(last, d, a, markdown.Messages(l.Text(askMe, r.Self), "", nil))
	return r.questions.finish(a.ID, d.ids(), nil, false)
}

// answerButtons returns delivery.buttons for an answer.
func answerButtons(a *ingest.Question, l locale.Locale, sources bool) func(bool,
	[]memory.MessageID) []discord.Component {
	return func(done bool, before []memory.MessageID) []discord.Component {
		o := Owned{
			Asker:    a.Asker,
			Question: a.ID,
			Before:   before,
		}
		if !done {
			return []discord.Component{discord.Row(o.button(ButtonStop, l.Text("Stop")))}
		}
		return o.Done(l, sources)
	}
}

// removeAnswer removes an unwanted answer.
func (r *Replier) removeAnswer(last context.Context, d *delivery, a *ingest.Question) {
	known := d.ids()
	d.adopt(slices.DeleteFunc(r.questions.clear(a.ID), func(id memory.MessageID) bool {
		return slices.Contains(known, id)
	}))
	ids := d.ids()
	if err := d.finish(last, nil); err != nil {
		r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg("couldn't take an answer back")
		r.questions.removeSoon(a.Channel, d.ids())
	}
	events := []memory.Event{a.Closed()}
	if len(ids) > 0 {
		events = append(events, memory.Deleted{
			Guild:   a.Guild,
			Channel: a.Channel,
			IDs:     ids,
		})
	}
	_ = r.Queue.Commit(last, events)
}

// Await returns the outcome. Once ctx has ended, an Answerer has Timing.Unwind to return.
func (r *Replier) Await(ctx context.Context, came <-chan Outcome) Outcome {
	select {
	case got := <-came:
		return got
	case <-ctx.Done():
	}
	select {
	case got := <-came:
		return got
	case <-time.After(r.Timing.Unwind):
		return Outcome{err: ctx.Err()}
	}
}

func (r *Replier) consult(ctx context.Context, a *ingest.Question, stream func(string)) (got Outcome) {
	defer crash.Recover("answer", &got.err)
	settled := func(ctx context.Context) error { return r.Settled(ctx, a.Guild) }
	if err := settled(ctx); err != nil {
		return Outcome{err: err}
	}
	spends, err := r.questions.Allow(ctx, a)
	if err != nil {
		return Outcome{err: fmt.Errorf("%w: %w", answer.ErrRecall, err)}
	}
	got.quota = spends
	q := answer.Question{
		ID:        a.ID,
		Guild:     a.Guild,
		Channel:   a.Channel,
		Asker:     a.Asker,
		Name:      a.Name,
		Roles:     a.Roles,
		Text:      a.Text,
		Mentions:  a.Mentions,
		ReplyTo:   a.ReplyTo,
		Edited:    a.Edited,
		Now:       r.Now(),
		WaitReady: settled,
		Attended:  r.Attendance.Since,
		RoleSets:  r.MemberRoles.Sets,
		Session:   r.Filter.Session(ctx, a.Guild, a.Channel, a.ID),
		NoModel:   spends.Hit != nil,
		Files:     r.files(a),
	}
	if a.Replied != nil && !a.Replied.IsGone() {
		q.Replied = &answer.Replied{Message: a.Replied.Message, Name: a.Replied.Name}
	}
	q.SessionStands = func() bool {
		if q.Replied != nil && a.Replied.IsGone() {
			return false
		}
		return q.Session == nil || sessionUnchanged(q.Session, r.Filter.Session(context.WithoutCancel(ctx), a.Guild,
			a.Channel, a.ID))
	}
	q.Proxied = a.Proxied
	if !a.Proxied {
		q.Agree = func(ctx context.Context, asks answer.ToolRequest) answer.Consent { return r.agree(ctx, a, asks) }
	}
	q.Text = strings.TrimSpace(q.Text + " " + r.Hear(ctx, a))
	got.Answer, got.err = r.Answers.Answer(ctx, q, stream)
	got.unlogged = q.Session != nil
	if !q.SessionStands() {
		got.Answer = answer.Answer{Text: r.LocaleFor(ctx, a).Text(sessionChanged),
			Ran: got.Answer.Ran}
		got.err = nil
	}
	return got
}

// sessionChanged replaces an answer whose source messages are gone.
const sessionChanged = "While I was answering, something said here was deleted or changed, or what I may remember here changed. So I take my answer back. Please ask me again."

// sessionUnchanged reports whether an unlogged session's messages are still there unchanged, except those that
// were trimmed.
func sessionUnchanged(was, now []memory.Message) bool {
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

// conclude shows the final answer and logs it with its trace. An error means that the question changed or is
// gone.
func (r *Replier) conclude(last context.Context, l locale.Locale, d *delivery, a *ingest.Question, got Outcome,
	trace memory.Trace, logged bool) error {
	if got.err == nil && strings.TrimSpace(got.Answer.Text) == "" {
		got.err = answer.ErrEmpty
	}
	warn := func(err error) *zerolog.Event {
		if err == nil {
			return nil // a nil event logs nothing
		}
		return r.Log.Warn().Err(err).Int64("question", int64(a.ID))
	}
	warn(got.Answer.ModelError).Msg("answered without the model")
	warn(got.Answer.FallbackReason).Str("model", got.Answer.Model).Msg("answered by another model")
	warn(got.Answer.Shortened).Msg("answered from a smaller prompt")
	warn(got.Answer.Unranked).Msg("answered without the reranker")
	warn(got.Answer.ToolFailed).Msg("a tool failed")
	if got.err == nil && got.Answer.Cut {
		r.Log.Warn().Str("model", got.Answer.Model).Int64("question", int64(a.ID)).Msg(WasCut)
	}
	text, tail, err := r.compose(l, a, got)
	var contents []string
	var files []markdown.File
	if err == nil {
		contents, files, err = markdown.Answer(l, text, tail, got.Answer.Sources, true)
	}
	if err != nil {
		contents = []string{markdown.Lines(r.Failure(l, a, err), ranNote(l, got.Answer.Ran))}
		trace.Prompt = nil
	}
	d.buttons = answerButtons(a, l, logged && len(got.Answer.Sources) > 0)
	var proposals []answer.Proposal
	if logged && got.err == nil {
		proposals = got.Answer.Proposals
	}
	r.removeExtras(last, d, a)
	err = d.finish(last, contents, files...)
	if errors.Is(err, discord.ErrNoFiles) {
		tail = markdown.Lines(tail, r.noFilesNote(last, a, err))
		contents, _, err = markdown.Answer(l, text, tail, got.Answer.Sources, false)
		if err == nil {
			err = d.finish(last, contents)
		}
	}
	if plain := withoutRoles(contents); isRejected(err) && (len(d.parts) > 0 || !slices.Equal(plain, contents)) {
		err = d.resend(last, r.thread(a, "n"+a.Round), plain)
	}
	if got.err == nil && err == nil {
		r.Metrics.Questions.WithLabelValues(metrics.Answered).Inc()
	}
	more := r.recordShown(last, d, a, err, trace, proposals)
	return r.questions.finish(a.ID, d.ids(), more, logged)
}

// traceFor returns an answer's trace. It is empty if the log lacks the session: the channel is logged now, or
// that is unknown, and wasn't when the question was asked.
func traceFor(a *ingest.Question, got Outcome, logged bool, err error) memory.Trace {
	if got.unlogged && (logged || err != nil) {
		return memory.Trace{}
	}
	a.Consulted = !got.unlogged
	a.Calls = got.Answer.Records
	trace := got.Answer.Trace
	if strings.TrimSpace(got.Answer.Text) == "" {
		trace.Prompt = nil // only the reason is shown
	}
	return trace
}

// compose returns an answer's text and what stands below it. Call it once: it mentions a limit only once. It
// never panics.
func (r *Replier) compose(l locale.Locale, a *ingest.Question, got Outcome) (text, tail string, err error) {
	defer crash.Recover("word an answer", &err)
	// Text that was only streamed wasn't revalidated, so it doesn't stay.
	text = markdown.EscapeSmallPrint(got.Answer.Text)
	if got.err != nil || got.Answer.Cut {
		text = markdown.CompletePartial(text)
	}
	ran := ranNote(l, got.Answer.Ran) // whatever became of the answer
	tail = markdown.Lines(markdown.Footer(l, got.Answer.Sources, r.Now()), ran, r.questions.quotaNote(l, a, got))
	switch {
	case errors.Is(got.err, errHalted):
		tail = markdown.Lines(l.Text(stoppedLine), ran)
	case got.err != nil:
		begun := strings.TrimSpace(text) != ""
		why := r.failure(l, a, got.err, begun)
		tail = markdown.Lines(l.Text(interrupted, why), ran)
		if !begun {
			text = why
			tail = ran
		}
	case got.Answer.Cut:
		tail = markdown.Lines(l.Keyed(CutOff), tail)
	}
	return memory.Clean(text), tail, nil
}
