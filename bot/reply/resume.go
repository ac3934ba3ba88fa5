package reply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/markdown"
	"hark/memory"
)

// The commit of its message opens a question in the log; the commit of its answer, or of what is said instead, closes
// it. Where the process ended between that and its commit, Discord has it. So each is answered once, or refused once.

// Resume takes up the questions that an earlier process left open. It answers recent ones in place of what is
// shown, and marks the partial answers of others as interrupted. It returns when all are taken up, or ctx ends.
func (r *Replier) Resume(ctx, last context.Context, open []memory.OpenQuestion) {
	byGuild := map[memory.GuildID][]memory.OpenQuestion{}
	for _, q := range open {
		byGuild[q.Guild] = append(byGuild[q.Guild], q)
	}
	var guilds sync.WaitGroup
	for guild, questions := range byGuild {
		guilds.Go(func() {
			for r.Settled(ctx, guild) != nil {
				if ctx.Err() != nil {
					return
				}
			}
			for _, q := range questions {
				if err := r.resumeQuestion(ctx, last, q); err != nil && ctx.Err() == nil {
					r.Log.Warn().Err(discord.Redact(err)).Int64("question",
						int64(q.ID)).Msg("couldn't take up an open question; trying at the next start")
				}
			}
		})
	}
	guilds.Wait()
}

// resumeQuestion has an open question answered, or marks its answer as interrupted. A request to run a tool is deleted.
func (r *Replier) resumeQuestion(ctx, last context.Context, q memory.OpenQuestion) error {
	a, ours, err := r.fetchQuestion(ctx, q)
	if err != nil {
		return err
	}
	if ours {
		r.dropRequest(ctx, memory.MessageRef{Channel: q.Channel, Message: q.ID})
		return nil
	}
	if a == nil { // deleted, or it asks nothing now
		a = &ingest.Question{
			ID:        q.ID,
			Guild:     q.Guild,
			Channel:   q.Channel,
			Withdrawn: true,
		}
	}
	a.Resumed = true
	page, err := r.ownAfter(ctx, q)
	if err != nil {
		return err
	}
	shown := partsShown(page, q)
	if told := refusalOf(page, q); told != nil && len(shown) == 0 {
		r.recordRefusal(last, a, told)
		return nil
	}
	for _, m := range shown {
		a.Shown = append(a.Shown, memory.MessageID(m.ID))
	}
	left := false
	if !a.Withdrawn && r.IsFresh(a) {
		// it may also have been taken as a missed one
		_, left = r.questions.accept(last, a)
		if r.questions.isOpen(a.ID) {
			return nil
		}
	}
	if n := len(shown); n > 0 {
		if err := r.markCut(ctx, a, &shown[n-1]); err != nil && !errors.Is(err, discord.ErrGone) {
			return err
		}
	}
	if left {
		return nil
	}
	return r.Queue.Commit(ctx, []memory.Event{a.Closed()})
}

// fetchQuestion returns what an open question asks now; nil if nothing, or if it is gone. ours: it is a request to run
// a tool.
func (r *Replier) fetchQuestion(ctx context.Context, q memory.OpenQuestion) (a *ingest.Question, ours bool, err error) {
	w, err := r.Client.Message(ctx, q.Channel, q.ID)
	switch {
	case discord.Denied(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("fetch question %d: %w", q.ID, err)
	}
	w.Guild = discord.Snowflake(q.Guild)
	w.Channel = discord.Snowflake(q.Channel)
	return r.Filler.Question(w), r.IsOurs(w), nil
}

// ownAfter returns Hark's messages after a question, and deletes requests to run a tool for it.
func (r *Replier) ownAfter(ctx context.Context, q memory.OpenQuestion) ([]discord.Message, error) {
	page, err := r.Client.Messages(ctx, q.Guild, q.Channel, q.ID)
	switch {
	case discord.Denied(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for an answer to question %d: %w", q.ID, err)
	}
	page = slices.DeleteFunc(page, func(m discord.Message) bool { return !r.IsOurs(&m) })
	r.dropRequests(ctx, q.Channel, q.ID, page)
	return page, nil
}

// partsShown returns the messages of an unlogged answer, of Hark's after its question. Their buttons name the question
// and the messages before.
func partsShown(page []discord.Message, q memory.OpenQuestion) (shown []discord.Message) {
	for _, m := range page {
		if o, name := ownedOf(&m); o.Question == q.ID && name != ButtonRun {
			of := append(o.Before, memory.MessageID(m.ID))
			shown = append(shown, slices.DeleteFunc(slices.Clone(page), func(p discord.Message) bool {
				return !slices.Contains(of, memory.MessageID(p.ID))
			})...)
		}
	}
	return shown
}

// markCut makes an unfinished answer's last message say that it was interrupted.
func (r *Replier) markCut(ctx context.Context, a *ingest.Question, end *discord.Message) error {
	l := r.LocaleFor(ctx, a)
	o, first := ownedOf(end)
	if first != ButtonStop || end.Content == nil {
		return nil
	}
	tail := l.Text(interrupted, l.Keyed(NotWriting))
	content := markdown.First(memory.Clean(*end.Content), markdown.MessageLimit-markdown.Units(tail)-1) + "\n" + tail
	t := r.thread(a, "c")
	t.Asker = o.Asker
	_, err := t.Edit(ctx, memory.MessageID(end.ID), content, o.Done(l, false), nil)
	return err
}
