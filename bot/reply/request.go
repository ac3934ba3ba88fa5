package reply

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/internal/pace"
	"hark/memory"
)

// The names of the buttons below a request to run a tool. Their ids name the request beside the question.
const (
	ButtonRun   = "run"
	ButtonDoNot = "dont"
)

const (
	longestTool = 64 // characters shown of a server's or a tool's name
	mostRan     = 5  // tools named below an answer
)

const (
	requestText = "May I run **%s** of **%s** for this? It gets exactly what is below, and so does whoever runs it. Without an answer I don't run it."
	toolsRan    = "-# With tools from outside: %s"
)

// NotWaiting is what those are told who press below a request too late.
const NotWaiting locale.MessageKey = "I'm not waiting for that any more."

// agree asks the asker in Discord whether a tool may run. The request is deleted when that is decided, too late, or
// needs no answer any more. Meanwhile other channels' questions are answered.
func (r *Replier) agree(ctx context.Context, a *ingest.Question, asks answer.ToolRequest) answer.Consent {
	if ctx.Err() != nil {
		return answer.Unanswered
	}
	l := r.LocaleFor(ctx, a)
	text := fmt.Sprintf("<@%d> ", a.Asker) +
		l.Text(requestText, markdown.Plain(asks.Tool, longestTool), markdown.Plain(asks.Server, longestTool)) +
		"\n```json\n" + asks.Arguments + "\n```"
	if markdown.Units(text) > markdown.MessageLimit { // nobody agrees to what they can't see
		return answer.TooLong
	}
	waiting := r.questions.ask(a.ID)
	asked := false
	r.questions.scheduler.start(func() { r.showRequest(context.WithoutCancel(ctx), l, a, waiting, text) })
	r.questions.scheduler.pause(ctx, a.Channel, func() {
		asked = waiting.wait(ctx, r.Timing.Agree)
		r.questions.stopAsking(waiting)
	})
	switch {
	case waiting.run:
		return answer.Agreed
	case waiting.pressed:
		return answer.Refused
	case !asked:
		return answer.NotAsked
	}
	return answer.Unanswered
}

// wait waits until the asker decides, or may no longer. It is false if the request can't be shown.
func (w *request) wait(ctx context.Context, limit time.Duration) bool {
	select {
	case err := <-w.posted:
		if err != nil {
			return false
		}
	case <-ctx.Done():
		return true
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-w.decided:
	case <-late.C:
	case <-ctx.Done():
	}
	return true
}

// showRequest posts a request, and deletes it when nobody waits for it any more. Until then it is an open question in
// the log, so that the next process deletes it otherwise.
func (r *Replier) showRequest(ctx context.Context, l locale.Locale, a *ingest.Question, waiting *request, text string) {
	o := Owned{
		Asker:    a.Asker,
		Question: a.ID,
		Before:   []memory.MessageID{waiting.id},
	}
	t := r.thread(a, "t"+Short36(int64(waiting.id)))
	last, cancel := context.WithTimeout(ctx, r.Timing.Post)
	defer cancel()
	m, err := t.Create(last, 0, text, []discord.Component{discord.Row(
		discord.Button(discord.StyleGreen, l.Text("Run it"), o.ID(ButtonRun)),
		discord.Button(discord.StyleGrey, l.Text("No"), o.ID(ButtonDoNot)))}, nil)
	if err != nil {
		r.Log.Warn().Err(discord.Redact(err)).Int64("question", int64(a.ID)).Msg("couldn't ask whether a tool may run")
		waiting.posted <- err
		if !errors.Is(err, discord.ErrGone) { // it may be there all the same
			r.findRequest(ctx, a, waiting.id)
		}
		return
	}
	at := memory.MessageRef{Channel: a.Channel, Message: m.ID}
	_ = r.Queue.Commit(last, []memory.Event{memory.QuestionOpened{Question: memory.OpenQuestion{
		Guild:   a.Guild,
		Channel: at.Channel,
		ID:      at.Message,
	}}})
	waiting.posted <- nil
	<-waiting.over
	r.dropRequest(ctx, at)
}

// dropRequest deletes a request, now or later.
func (r *Replier) dropRequest(ctx context.Context, at memory.MessageRef) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Timing.Unwind)
	defer cancel()
	err := (&discord.Sender{Client: r.Client, Channel: at.Channel}).Change(last, "DELETE", at.Message, nil, nil)
	if err == nil || discord.Status(err) == http.StatusNotFound {
		r.requestGone(at)
		return
	}
	r.Log.Warn().Err(discord.Redact(err)).Int64("request", int64(at.Message)).
		Msg("couldn't delete what asked whether a tool may run; trying again")
	r.questions.RemoveRequest(at)
}

// requestGone logs that a request is deleted.
func (r *Replier) requestGone(at memory.MessageRef) {
	r.Queue.Put(ingest.Item{Events: []memory.Event{memory.QuestionClosed{Channel: at.Channel, ID: at.Message}}})
}

// findRequest deletes a request that Discord may have posted although it didn't say so.
func (r *Replier) findRequest(ctx context.Context, a *ingest.Question, id memory.MessageID) {
	last, cancel := context.WithTimeout(ctx, r.Timing.Post)
	defer cancel()
	page, err := r.Client.Messages(last, a.Guild, a.Channel, a.ID)
	if err != nil {
		r.Log.Warn().Err(discord.Redact(err)).Int64("question", int64(a.ID)).
			Msg("couldn't look whether a request to run a tool was posted")
		return
	}
	page = slices.DeleteFunc(page, func(m discord.Message) bool {
		o, _ := ownedOf(&m)
		return !r.IsOurs(&m) || !slices.Contains(o.Before, id)
	})
	r.dropRequests(ctx, a.Channel, a.ID, page)
}

// dropRequests deletes the requests about a question among messages of Hark's.
func (r *Replier) dropRequests(ctx context.Context, channel memory.ChannelID, question memory.MessageID,
	ours []discord.Message) {
	for _, m := range ours {
		if o, name := ownedOf(&m); name == ButtonRun && o.Question == question {
			r.dropRequest(ctx, memory.MessageRef{Channel: channel, Message: memory.MessageID(m.ID)})
		}
	}
}

// RemoveRequest has a request deleted soon.
func (t *Tracker) RemoveRequest(at memory.MessageRef) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removals[at] = removal{unlogged: true, request: true}
	pace.Wake(t.wake)
}

// requestIDs is how many ids of requests there are: eight characters of a nonce.
const requestIDs = 1 << 40

// ask begins to wait for what the asker of a question decides.
func (t *Tracker) ask(id memory.MessageID) *request {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := &request{
		id:      memory.MessageID(1 + rand.Int64N(requestIDs)),
		posted:  make(chan error, 1),
		decided: make(chan struct{}),
		over:    make(chan struct{}),
	}
	t.lookup(id).request = waiting
	return waiting
}

// stopAsking ends a request: no press decides it any more.
func (t *Tracker) stopAsking(waiting *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(waiting.over)
}

// Decide passes on whether the asker of a question lets a tool run. A second press changes nothing. It is false if that
// request doesn't wait any more.
func (t *Tracker) Decide(o Owned, run bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.lookup(o.Question).request
	if waiting == nil || len(o.Before) != 1 || o.Before[0] != waiting.id {
		return false
	}
	if waiting.pressed {
		return true
	}
	select {
	case <-waiting.over:
		return false
	default:
	}
	waiting.pressed = true
	waiting.run = run
	close(waiting.decided)
	return true
}

// ownedOf reads the buttons below m. first is ButtonStop if the answer was being written.
func ownedOf(m *discord.Message) (o Owned, first string) {
	for _, id := range m.Uses() {
		name, args, _ := strings.Cut(id, ":")
		switch name {
		case ButtonStop, ButtonSources, ButtonAgain, ButtonDelete, ButtonRun:
			return ReadOwned(strings.Split(args, ":")), name
		}
	}
	return Owned{}, ""
}

// IsOurs reports whether Hark wrote a message.
func (r *Replier) IsOurs(m *discord.Message) bool {
	return m.Author != nil && memory.UserID(m.Author.ID) == r.Self
}

// tryWithdraw withdraws a message if a try is due. done: it is withdrawn or gone.
func (t *Tracker) tryWithdraw(ctx context.Context, w memory.Withdrawn) (done bool) {
	at := memory.MessageRef{Channel: w.Channel, Message: w.Message}
	now := t.replier.Now()
	t.mu.Lock()
	r := t.removals[at]
	t.mu.Unlock()
	if now.Before(r.next) || ctx.Err() != nil {
		return false
	}
	var err error
	if t.replier.EditAnswers || r.request {
		err = t.replier.Withdraw(ctx, w)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r = t.removals[at]
	switch {
	case err == nil || discord.Status(err) == http.StatusNotFound:
		delete(t.removals, at)
		if r.request {
			t.replier.requestGone(at)
		}
		return true
	case ctx.Err() != nil:
		return false
	}
	// other errors are retried the next time
	r.wait = min(max(minRetry, 2*r.wait), maxRetry)
	if errors.Is(err, discord.ErrGone) {
		r.next = now.Add(r.wait)
	}
	t.removals[at] = r
	t.replier.Log.Warn().Err(err).Int64("answer", int64(w.Message)).Msg("couldn't take an answer back yet")
	return false
}

// withdrawAll makes answers with forgotten or changed sources say so, and removes those whose question is
// gone. What fails is retried the next time; what Discord refuses, at growing intervals.
func (t *Tracker) withdrawAll(ctx context.Context) {
	unlogged, refused := t.unloggedRemovals()
	for _, at := range unlogged {
		t.tryWithdraw(ctx, memory.Withdrawn{Channel: at.Channel, Message: at.Message})
	}
	limit := withdrawBatch + refused // the refused ones must not block others
	for {
		list, err := t.replier.Memory.Withdrawn(ctx, limit)
		if err != nil {
			if ctx.Err() == nil {
				t.replier.Log.Error().Err(err).Msg("couldn't find which answers are to be taken back")
			}
			return
		}
		var done []memory.Event
		for _, w := range list {
			// One that is being rewritten changes anyway.
			if !t.isRewriting(memory.MessageRef{Channel: w.Channel, Message: w.Message}) && t.tryWithdraw(ctx, w) {
				done = append(done, memory.Marked{Channel: w.Channel, Message: w.Message})
			}
		}
		if len(done) == 0 || ctx.Err() != nil {
			return
		}
		if err := t.replier.Memory.Apply(ctx, done...); err != nil {
			t.replier.Log.Error().Err(err).Msg("couldn't keep which answers were taken back")
			return
		}
		if len(list) < limit {
			return
		}
	}
}
