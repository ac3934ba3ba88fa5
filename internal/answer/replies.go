package answer

import (
	"context"
	"slices"
	"strings"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// replied returns the message that the question replies to, if the answer's readers may read it.
func (r *recalled) replied(q Question) (memory.Message, bool) {
	at := slices.IndexFunc(r.session, func(m memory.Message) bool { return q.ReplyTo != 0 && m.ID == q.ReplyTo })
	if at < 0 {
		return memory.Message{}, false
	}
	return r.session[at], true
}

// repliedText returns the text of that message; empty if there is none.
func (r *recalled) repliedText(q Question) string {
	m, there := r.replied(q)
	if !there {
		return ""
	}
	return ownText(m, m.Text())
}

// withQuestion returns q with the question itself: a mention alone, below somebody's message, asks what that says.
func (r *recalled) withQuestion(q Question) Question {
	if q.quoted {
		q.Text = "" // the message may be gone by now
		q.quoted = false
	}
	m, there := r.replied(q)
	if q.Text != "" || !there || m.Kind == memory.FromHark {
		return q
	}
	q.Text = strings.TrimSpace(r.names.withoutHark(asking(m)))
	q.quoted = q.Text != ""
	return q
}

// asking returns what a message may ask: what it says, in writing or else aloud.
func asking(m memory.Message) string {
	at := slices.IndexFunc(m.Files, func(f memory.File) bool { return f.Kind == memory.VoiceFile })
	if m.Content != "" || at < 0 {
		return m.Content
	}
	return m.Files[at].Told
}

// withoutHark returns a text without the tags of bots. A question to another bot is put to Hark then.
func (n names) withoutHark(said string) string {
	return replaceTags(said, func(t discordTag) string {
		if t.sign != "@" && t.sign != "@!" {
			return t.written
		}
		if p, known := n.person(memory.UserID(t.id)); known && p.Bot {
			return ""
		}
		return t.written
	})
}

// readReplied looks up whom messages reply to, except people who opted out, and in the channel asked in those who said
// it before everybody present could read it.
func (e *Engine) readReplied(ctx context.Context, q Question, r *recalled, messages []memory.Message) error {
	if r.repliedBy == nil {
		r.repliedBy = authors{}
	}
	for _, m := range append(slices.Clone(r.session), messages...) {
		at := memory.MessageRef{Channel: m.Channel, Message: m.ID}
		r.repliedBy[at] = m.Author
	}
	wanted := messageSet{}
	for _, m := range messages {
		to := memory.MessageRef{Channel: m.Channel, Message: m.ReplyTo}
		_, known := r.repliedBy[to]
		past := to.Channel == q.Channel && to.Message < r.from && !slices.Contains(r.scope.Channels, q.Channel)
		if m.ReplyTo == 0 || known || past || r.unlogged && m.Channel == q.Channel {
			continue
		}
		r.repliedBy[to] = 0
		wanted.add(to)
	}
	for channel, ids := range wanted {
		found, err := e.log.Log.Around(ctx, channel, ids, 0, 0) // only their authors are told
		if err == nil {
			found, err = r.consents.withConsent(ctx, found)
		}
		if err != nil {
			return err
		}
		for _, m := range found {
			r.repliedBy[memory.MessageRef{Channel: channel, Message: m.ID}] = m.Author
		}
	}
	return nil
}

// repliesTo returns the name of whom a message replies to; empty if that is nobody, or unknown.
func (r *recalled) repliesTo(m memory.Message) string {
	id := r.repliedBy[memory.MessageRef{Channel: m.Channel, Message: m.ReplyTo}]
	if m.ReplyTo == 0 || id == 0 {
		return ""
	}
	name := r.names.of(id)
	if name == tag(id) {
		return ""
	}
	return name
}

// markReplies says in the history whom its messages reply to.
func (r *recalled) markReplies(in *builder.Input, hits []search.Hit) {
	said := map[memory.MessageID]memory.Message{}
	for _, m := range excerptsOf(hits) {
		said[m.ID] = m
	}
	for _, item := range in.History {
		for i := range item.Lines {
			item.Lines[i].ReplyTo = r.repliesTo(said[item.Lines[i].Message])
		}
	}
}

func excerptsOf(hits []search.Hit) []memory.Message {
	return slices.Concat(digest.Each(hits, func(h search.Hit) []memory.Message { return h.Excerpt })...)
}

// quotedReply is the message that the question replies to, for the prompt.
func (r *recalled) quotedReply(q Question) builder.Replied {
	m, there := r.replied(q)
	if !there {
		return builder.Replied{}
	}
	name := r.names.of(m.Author)
	if m.Kind == memory.FromHark && name == tag(m.Author) {
		name = "Hark"
	}
	return builder.Replied{Name: name, Text: r.names.modelText(m, m.Text())}
}
