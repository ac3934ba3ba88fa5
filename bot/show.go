package bot

import (
	"context"
	"errors"

	"hark/bot/discord"
	"hark/internal/answer"
	"hark/memory"
)

// post shows contents of which nobody knows how they came about, and logs that.
func (b *Bot) post(last context.Context, d *delivery, a *ask, contents []string) {
	b.shown(last, d, a, d.finish(last, contents), memory.Trace{}, nil)
}

// shown logs an answer that is shown, or, if err isn't nil, as far as it is, and what is proposed below it.
// It returns the messages of the latter.
func (b *Bot) shown(last context.Context, d *delivery, a *ask, err error, trace memory.Trace,
	proposals []answer.Proposal) []memory.MessageID {
	var below []discord.Posted
	if err == nil {
		below, trace = b.propose(last, a, proposals, trace)
	} else {
		b.undelivered(last, a, err, "couldn't show an answer")
		if unfit(err) && (len(d.parts) == 0 || d.isWritten()) {
			trace, d.buttons = memory.Trace{}, nil
			sentence := []string{b.localeIn(last, a.guild, a.channel).Text(cantShow)}
			if len(d.parts) == 0 || d.finish(last, sentence) != nil {
				_ = d.afresh(last, b.thread(a, "f"+a.round), sentence)
			}
		}
	}
	b.record(last, d, a, trace, below, err != nil && passes(err))
	ids := make([]memory.MessageID, len(below))
	for i, p := range below {
		ids[i] = p.ID
	}
	return ids
}

// record logs our answer, and returns once that is committed. What shows an earlier answer still, since
// Discord didn't take what was to stand there, isn't this one: it stays if the log knows how it came about,
// and goes otherwise. Where nothing is shown for now, the question stays open for the next start.
func (b *Bot) record(last context.Context, d *delivery, a *ask, trace memory.Trace, below []discord.Posted,
	forNow bool) {
	old := d.unwritten()
	if !d.isWritten() {
		d.parts = nil
		defer b.leave(last, d, a, old)
	} else if len(old) > 0 {
		d.forgo(old)
		defer b.questions.takeBack(a.channel, old)
	}
	events := b.ours(d, a, trace, below)
	if len(d.parts) > 0 {
		trace.Answer = d.parts[0].ID
	}
	events = append(events, b.called(a, trace)...)
	if !forNow || len(d.parts) > 0 {
		events = append(events, a.closed())
	}
	_ = b.commit(last, events)
	if trace.Answer != 0 && trace.Asker != 0 {
		b.account(trace)
	}
}

// leave leaves an earlier answer as it was. One of which the log doesn't know any more what it was made from
// goes: nothing would take it back when that is forgotten.
func (b *Bot) leave(ctx context.Context, d *delivery, a *ask, old []memory.MessageID) {
	if len(old) == 0 {
		return
	}
	logged, err := b.admit.remembers(ctx, a.guild, a.channel)
	if err == nil && logged {
		_, err = memory.TraceOf(ctx, b.memory, a.channel, old[0])
	}
	if errors.Is(err, memory.ErrNotFound) {
		b.questions.takeBack(a.channel, old)
		return
	}
	d.take(old)
}

// discard takes back what went with an earlier answer in the same place.
func (b *Bot) discard(last context.Context, d *delivery, a *ask) {
	for _, id := range a.more {
		if err := d.to.Remove(last, id); err != nil && !errors.Is(err, discord.ErrGone) {
			b.log.Warn().Err(err).Int64("question", int64(a.id)).Msg("couldn't take back what went with an answer")
			continue
		}
		d.removed = append(d.removed, id)
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
func (b *Bot) ours(d *delivery, a *ask, trace memory.Trace, below []discord.Posted) []memory.Event {
	var events []memory.Event
	if len(d.removed) > 0 {
		events = append(events, memory.Deleted{Guild: a.guild, Channel: a.channel, IDs: d.removed})
	}
	if len(d.parts) == 0 {
		return events
	}
	if a.again {
		events = append(events, memory.Rewritten{Guild: a.guild, Channel: a.channel, IDs: d.ids()})
	}
	trace.Parts = nil
	for i, p := range append(d.posted(), below...) {
		m := memory.Message{
			ID: p.ID, Guild: a.guild, Channel: a.channel, Author: b.self, Kind: memory.FromHark,
			Content: p.Content, Files: p.Files, Edited: p.Edited,
		}
		if i == 0 {
			m.ReplyTo, trace.Answer = a.id, p.ID
		} else {
			trace.Parts = append(trace.Parts, p.ID)
		}
		if trace.Asker == 0 {
			m.Content, m.Files = "", nil
		}
		events = append(events, memory.Posted{Message: m})
	}
	if trace.Asker != 0 {
		events = append(events, memory.Answered{Trace: trace})
	}
	return events
}
