package answer

import (
	"context"
	"slices"

	"hark/memory"
)

// withdrawn is said in the place of an answer that mustn't be given any more.
const withdrawn = "While I was answering, something that I relied on was deleted, changed, or closed to some of you, so I take my answer back. Please ask me again."

// holds reports whether all that the model was shown is still as it was, and may still be read by everybody who
// will read the answer: writing one can take minutes.
func (e *Engine) holds(ctx context.Context, q Question, r *recalled) (bool, error) {
	_, scope, _, err := e.readable(ctx, q)
	if err != nil {
		return false, err
	}
	session := r.sentSession()
	for channel, sent := range r.sent() {
		ids := make([]memory.MessageID, 0, len(sent))
		for id := range sent {
			ids = append(ids, id)
		}
		now, err := e.log.Messages(ctx, channel, ids)
		if err != nil {
			return false, err
		}
		if len(now) < len(sent) {
			return false, nil
		}
		for _, m := range now {
			present := channel == q.Channel && slices.ContainsFunc(session, func(s memory.Message) bool { return s.ID == m.ID })
			if m.Text() != sent[m.ID].Text() || !present && !slices.Contains(scope.Channels, channel) {
				return false, nil
			}
		}
	}
	return true, nil
}

// sent are the messages that the prompt shows, by channel.
func (r *recalled) sent() map[memory.ChannelID]map[memory.MessageID]memory.Message {
	shown := map[memory.MessageID]bool{}
	for _, s := range r.Prompt.Shown {
		shown[s.Message] = true
	}
	sent := map[memory.ChannelID]map[memory.MessageID]memory.Message{}
	add := func(m memory.Message) {
		if sent[m.Channel] == nil {
			sent[m.Channel] = map[memory.MessageID]memory.Message{}
		}
		sent[m.Channel][m.ID] = m
	}
	for _, hit := range r.result.Hits {
		for _, m := range hit.Excerpt {
			if shown[m.ID] {
				add(m)
			}
		}
	}
	for _, m := range r.sentSession() {
		add(m)
	}
	return sent
}
