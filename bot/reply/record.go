package reply

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

// post shows and logs contents without a trace.
func (r *Replier) post(last context.Context, d *delivery, a *ingest.Question, contents []string) {
	r.recordShown(last, d, a, d.finish(last, contents), memory.Trace{}, nil)
}

// recordShown logs an answer as far as it is shown, which is all unless there is an err, and shows the proposals
// below it. It returns the proposals' messages.
func (r *Replier) recordShown(last context.Context, d *delivery, a *ingest.Question, err error, trace memory.Trace,
	proposals []answer.Proposal) []memory.MessageID {
	var below []discord.Posted
	if err == nil {
		below, trace = r.propose(last, a, proposals, trace)
	} else {
		r.undelivered(last, a, err, "couldn't show an answer")
		if isRejected(err) && (len(d.parts) == 0 || d.hasNewParts()) {
			trace = memory.Trace{}
			d.buttons = nil
			l := r.LocaleFor(last, a)
			sentence := []string{markdown.Lines(l.Text(cantShow), ranNote(l, r.questions.allRan(a.ID, nil)))}
			if len(d.parts) == 0 || d.finish(last, sentence) != nil {
				_ = d.resend(last, r.thread(a, "f"+a.Round), sentence)
			}
		}
	}
	r.record(last, d, a, trace, below, err != nil && isTransient(err))
	return idsOf(below)
}

// record logs an answer and returns once that is committed. Parts that still show an earlier answer, because
// Discord refused the new one, stay if their trace is logged, and are removed otherwise. If nothing is shown and
// forNow is set, the question stays open for the next start.
func (r *Replier) record(last context.Context, d *delivery, a *ingest.Question, trace memory.Trace,
	below []discord.Posted, forNow bool) {
	old := d.oldParts()
	if !d.hasNewParts() {
		d.parts = nil
		defer r.keepOld(last, d, a, old)
	} else if len(old) > 0 {
		d.drop(old)
		defer r.questions.removeSoon(a.Channel, old)
	}
	events := r.answerEvents(d, a, trace, below)
	if len(d.parts) > 0 {
		trace.Answer = d.parts[0].ID
	}
	events = append(events, r.callEvents(a, trace)...)
	if !forNow || len(d.parts) > 0 {
		events = append(events, a.Closed())
	}
	_ = r.Queue.Commit(last, events)
	if trace.Answer != 0 && trace.Asker != 0 {
		r.account(trace)
	}
}

// keepOld keeps an earlier answer if its trace is still logged. Nothing would withdraw it otherwise when its
// sources are forgotten.
func (r *Replier) keepOld(ctx context.Context, d *delivery, a *ingest.Question, old []memory.MessageID) {
	if len(old) == 0 {
		return
	}
	logged, err := r.Filter.Remembers(ctx, a.Guild, a.Channel)
	if err == nil && logged {
		_, err = memory.TraceOf(ctx, r.Memory, a.Channel, old[0])
	}
	if errors.Is(err, memory.ErrNotFound) {
		r.questions.removeSoon(a.Channel, old)
		return
	}
	d.adopt(old)
}

// removeExtras removes what stood below an earlier answer in the same place.
func (r *Replier) removeExtras(last context.Context, d *delivery, a *ingest.Question) {
	for _, id := range a.More {
		if err := d.to.Remove(last, id); err != nil && !errors.Is(err, discord.ErrGone) {
			r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg("couldn't take back what went with an answer")
			continue
		}
		d.removed = append(d.removed, id)
	}
}

// answerEvents returns the answer as Discord has it, with its trace. Without a trace the text isn't kept: it
// couldn't be found when a source is forgotten.
func (r *Replier) answerEvents(d *delivery, a *ingest.Question, trace memory.Trace,
	below []discord.Posted) []memory.Event {
	var events []memory.Event
	if len(d.removed) > 0 {
		events = append(events, memory.Deleted{
			Guild:   a.Guild,
			Channel: a.Channel,
			IDs:     d.removed,
		})
	}
	if len(d.parts) == 0 {
		return events
	}
	if a.Reasked {
		events = append(events, memory.Rewritten{
			Guild:   a.Guild,
			Channel: a.Channel,
			IDs:     d.ids(),
		})
	}
	trace.Parts = nil
	for i, p := range append(d.posted(), below...) {
		m := memory.Message{
			ID:      p.ID,
			Guild:   a.Guild,
			Channel: a.Channel,
			Author:  r.Self,
			Kind:    memory.FromHark,
			Content: p.Content,
			Files:   p.Files,
			Edited:  p.Edited,
		}
		if i == 0 {
			m.ReplyTo = a.ID
			trace.Answer = p.ID
		} else {
			trace.Parts = append(trace.Parts, p.ID)
		}
		if trace.Asker == 0 {
			m.Content = ""
			m.Files = nil
		}
		events = append(events, memory.Posted{Message: m})
	}
	if trace.Asker != 0 {
		events = append(events, memory.Answered{Trace: trace})
	}
	return events
}

// account logs an answer's cost in numbers, and warns if the prompt nearly filled the model's window.
func (r *Replier) account(t memory.Trace) {
	line := r.Log.Info()
	message := "answered"
	if t.Use() >= memory.NearlyFull {
		line = r.Log.Warn()
		message = "answered, with a prompt that takes nearly all of the model's window: lower builder.max_tokens, or use a model with a larger one"
	}
	tokens := zerolog.Dict()
	dropped := zerolog.Dict()
	for _, s := range t.Sections {
		tokens.Int(s.Section, s.Tokens)
		if s.Dropped > 0 {
			dropped.Int(s.Section, s.Dropped)
		}
	}
	line.Int64("answer", int64(t.Answer)).Int64("question", int64(t.Question)).
		Int("tokens", t.Tokens).Int("max_tokens", t.MaxTokens).
		Int("window", t.Window).Float64("window_use", math.Round(100*t.Use())/100).
		Dict("sections", tokens).Dict("dropped", dropped).Int("recalled", len(t.Recalled)).
		Int64("search_ms", t.Search.Milliseconds()).Int64("total_ms", t.Total.Milliseconds()).Msg(message)
}

// callEvents returns the records of a question's model calls, filed under its answer, or under the question
// alone if there is no answer or no trace.
func (r *Replier) callEvents(a *ingest.Question, trace memory.Trace) []memory.Event {
	if !a.Consulted || r.NoRecords {
		return nil
	}
	if trace.Asker == 0 || trace.Answer == 0 {
		trace = memory.Trace{
			Guild:    a.Guild,
			Channel:  a.Channel,
			Question: a.ID,
			Asker:    a.Asker,
		}
	}
	return answer.Recorded(a.Calls, trace, r.Now())
}

// say replies to a question with a sentence instead of an answer.
func (r *Replier) say(last context.Context, a *ingest.Question, purpose, sentence string) {
	d := newDelivery(r.thread(a, purpose), r.Timing.Pace, r.Timing.Typing)
	r.post(last, d, a, markdown.Messages(sentence, "", nil))
}

// allRan adds tools from outside that ran for a question, and returns all that did for its answer, each once.
func (t *Tracker) allRan(id memory.MessageID, ran []string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.lookup(id)
	for _, name := range ran {
		if !slices.Contains(q.ran, name) {
			q.ran = append(q.ran, name)
		}
	}
	return slices.Clone(q.ran)
}

// ranNote names the tools from outside that ran for an answer; "" if none did.
func ranNote(l locale.Locale, ran []string) string {
	var names []string
	for _, name := range ran {
		names = append(names, markdown.Plain(name, 2*longestTool))
	}
	if len(names) > mostRan {
		names = append(names[:mostRan], l.Text("and %s more", l.Number(len(ran)-mostRan)))
	}
	if len(names) == 0 {
		return ""
	}
	return l.Text(toolsRan, strings.Join(names, " · "))
}
