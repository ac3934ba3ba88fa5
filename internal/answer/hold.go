package answer

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"hark/memory"
	"hark/search"
)

// withdrawn is said in the place of an answer that mustn't be given any more.
const withdrawn = "While I was answering, something that I relied on was deleted, changed, or closed to some of you, so I take my answer back. Please ask me again."

// lookAgain is how long looking again at what an answer was made from may take.
const lookAgain = 2 * time.Second

// stillHolds is holds, also for what is left of an answer that was stopped or that took too long.
func (e *Engine) stillHolds(ctx context.Context, q Question, r *recalled) (bool, error) {
	ctx = withLookUps(ctx)
	ok, err := e.holds(ctx, q, r)
	if ctx.Err() == nil {
		return ok, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookAgain)
	defer cancel()
	return e.holds(ctx, q, r)
}

// holds reports whether all that the model was shown is still as it was, and may still be read by everybody who
// will read the answer: writing one can take minutes.
func (e *Engine) holds(ctx context.Context, q Question, r *recalled) (bool, error) {
	now, err := e.readable(ctx, q)
	if err != nil {
		return false, err
	}
	if ok, err := now.holdsPeople(ctx, r.sentPeople()); !ok || err != nil {
		return false, err
	}
	if !now.holdsLore(r.sentLore()) {
		return false, nil
	}
	if ok, err := e.holdsEarlier(ctx, &now, q.Channel, r); !ok || err != nil {
		return false, err
	}
	if len(r.loggedSession())+len(r.sentCondensed()) > 0 && !now.here {
		return false, nil
	}
	if out, err := mentionsOut(ctx, now.consents, q.Guild, r.sentCondensed()); out || err != nil {
		return false, err
	}
	if given, err := now.consents.given(ctx, r.sentSession()); len(given) < len(r.sentSession()) || err != nil {
		return false, err
	}
	if slices.ContainsFunc(r.sentSession(), func(m memory.Message) bool { return m.ID < now.attended }) {
		return false, nil
	}
	for channel, sent := range r.sent() {
		ids := make([]memory.MessageID, 0, len(sent))
		for id := range sent {
			ids = append(ids, id)
		}
		found, err := e.log.Messages(ctx, channel, ids)
		if err == nil {
			found, err = now.consents.given(ctx, found)
		}
		if len(found) < len(sent) || err != nil {
			return false, err
		}
		present := memory.MessageID(math.MaxInt64) // nobody has seen it for being there
		if channel == q.Channel {
			present = max(r.from, now.attended)
		}
		// Hark's own answers among them are judged by what they were made from, which may have been closed since.
		allowed, err := e.derivationIn(channel, now, present).allowed(ctx, inOrder(slices.Clone(found)))
		if len(allowed) < len(found) || err != nil {
			return false, err
		}
		for _, m := range found {
			if isAnother(sent[m.ID], m) || m.ID < present && !slices.Contains(now.scope.Channels, channel) {
				return false, nil
			}
		}
	}
	r.reach = now
	return true, nil
}

// isAnother reports whether a message doesn't say any more what it said when the model was shown it. Hark's own answers grow
// while they are sent; one that is taken back isn't in the log any more, and one that is written anew begins differently.
func isAnother(was, now memory.Message) bool {
	if now.Kind == memory.FromHark {
		return !strings.HasPrefix(now.Text(), was.Text())
	}
	return now.Text() != was.Text()
}

// holdsPeople reports whether nobody of people has opted out, and all that was told of them is still so.
func (now *reach) holdsPeople(ctx context.Context, people []search.Participant) (bool, error) {
	for _, p := range people {
		if out, err := now.consents.isOut(ctx, p.Person.Guild, p.Person.ID); out || err != nil {
			return false, err
		}
		known, _ := now.names.person(p.Person.ID)
		for _, f := range p.Person.Facts {
			if !slices.Contains(known.Facts, f) || now.hidden[f.ID] {
				return false, nil
			}
		}
	}
	return true, nil
}

// loggedSession are the messages of the log that the prompt shows as the session.
func (r *recalled) loggedSession() []memory.Message {
	if r.unlogged {
		return nil
	}
	return r.sentSession()
}

// sent are the messages of the log that the model was shown, or that what it was told was made from, by channel.
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
	for _, m := range slices.Concat(r.sentSources(r.sentLore()), r.sentCondensed(), r.toldSession(), r.told.shown) {
		add(m)
	}
	return sent
}
