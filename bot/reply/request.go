package reply

import (
	"context"
	"errors"
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
const NotWaiting locale.MessageKey = "I'm not waiting for that any more, so I haven't run it."

// request is a request to run a tool that waits for the asker.
type request struct {
	id      memory.MessageID // chosen by us, so that a late press decides nothing else
	decided chan bool
}

// agree asks the asker in Discord whether a tool may run, and deletes the request when that is decided, too late, or
// needs no answer any more: nothing of it remains.
func (r *Replier) agree(ctx context.Context, a *ingest.Question, asks answer.ToolRequest) answer.Consent {
	l := r.LocaleIn(ctx, a.Guild, a.Channel)
	text := l.Text(requestText, markdown.Plain(asks.Tool, longestTool), markdown.Plain(asks.Server, longestTool)) +
		"\n```json\n" + asks.Arguments + "\n```"
	if markdown.Units(text) > markdown.MessageLimit { // nobody agrees to what they can't see
		return answer.TooLong
	}
	waiting := r.questions.ask(a.ID)
	defer r.questions.stopAsking(a.ID)
	o, t := Owned{Asker: a.Asker, Question: a.ID, Before: []memory.MessageID{waiting.id}}, r.thread(a, "t"+a.Round)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Timing.Unwind) // it has to be known what was posted
	defer cancel()
	m, err := t.Post(last, discord.Outgoing{
		Content: text, AllowedMentions: discord.NoMentions, Flags: discord.SuppressEmbeds,
		Components: []discord.Component{discord.Row(
			discord.Button(discord.StyleGreen, l.Text("Run it"), o.ID(ButtonRun)),
			discord.Button(discord.StyleGrey, l.Text("No"), o.ID(ButtonDoNot)))},
	})
	if err != nil {
		r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg("couldn't ask whether a tool may run")
		return answer.Unanswered
	}
	defer r.dropRequest(ctx, t, m.ID)
	late := time.NewTimer(r.Timing.Agree)
	defer late.Stop()
	select {
	case run := <-waiting.decided:
		if run {
			return answer.Agreed
		}
		return answer.Refused
	case <-late.C:
	case <-ctx.Done():
	}
	return answer.Unanswered
}

// dropRequest deletes a request, now or later.
func (r *Replier) dropRequest(ctx context.Context, t *discord.Sender, id memory.MessageID) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Timing.Unwind)
	defer cancel()
	if err := t.Remove(last, id); err != nil && !errors.Is(err, discord.ErrGone) {
		r.Log.Warn().Err(discord.Redact(err)).Int64("question", int64(t.Question)).
			Msg("couldn't delete what asked whether a tool may run; trying again")
		r.questions.removeRequest(memory.MessageRef{Channel: t.Channel, Message: id})
	}
}

// dropRequests deletes requests about a question that an earlier process left among messages of Hark's.
func (r *Replier) dropRequests(ctx context.Context, q memory.OpenQuestion, ours []discord.Message) {
	t := &discord.Sender{Client: r.Client, Channel: q.Channel, Question: q.ID}
	for _, m := range ours {
		if o, name := ownedOf(&m); name == ButtonRun && o.Question == q.ID {
			r.dropRequest(ctx, t, memory.MessageID(m.ID))
		}
	}
}

// removeRequest has a request deleted later.
func (t *Tracker) removeRequest(at memory.MessageRef) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removals[at] = removal{unlogged: true, always: true}
	pace.Wake(t.wake)
}

// ask begins to wait for what the asker of a question decides.
func (t *Tracker) ask(id memory.MessageID) request {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	waiting := request{memory.FirstMessageID(t.replier.Now()) + t.requests, make(chan bool, 1)}
	t.lookup(id).request = waiting
	return waiting
}

func (t *Tracker) stopAsking(id memory.MessageID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lookup(id).request = request{}
}

// Decide passes on whether the asker of a question lets a tool run. It is false if that request doesn't wait any more.
func (t *Tracker) Decide(o Owned, run bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.lookup(o.Question).request
	if waiting.id == 0 || len(o.Before) != 1 || o.Before[0] != waiting.id {
		return false
	}
	select {
	case waiting.decided <- run:
		return true
	default: // somebody pressed before
		return false
	}
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
