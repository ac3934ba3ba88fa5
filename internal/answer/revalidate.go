package answer

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// revalidateTime bounds revalidating a stopped answer.
const revalidateTime = 2 * time.Second

// revalidate is revalidateOnce, also for an answer that was stopped or took too long.
func (e *Engine) revalidate(ctx context.Context, q Question, r *recalled) (bool, error) {
	ctx = withLookUps(ctx)
	ok, err := e.revalidateOnce(ctx, q, r)
	if ctx.Err() == nil {
		return ok, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revalidateTime)
	defer cancel()
	return e.revalidateOnce(ctx, q, r)
}

// revalidateOnce reports whether all that the model was shown is unchanged, and every reader of the answer may
// still read it: writing can take minutes.
func (e *Engine) revalidateOnce(ctx context.Context, q Question, r *recalled) (bool, error) {
	if q.SessionStands != nil && !q.SessionStands() {
		return false, nil
	}
	now, err := e.readScope(ctx, q)
	if err != nil {
		return false, err
	}
	if !now.names.stillVisible(r.names.told) {
		return false, nil
	}
	now.names.told = r.names.told
	if ok, err := now.samePeople(ctx, r.shown.People); !ok || err != nil {
		return false, err
	}
	if !r.titles.remain(now.names) {
		return false, nil
	}
	if slices.ContainsFunc(r.shown.Lore, func(l memory.Lore) bool { return !now.usable(l) }) {
		return false, nil
	}
	if ok, err := e.sameSummaries(ctx, &now, q.Channel, r); !ok || err != nil {
		return false, err
	}
	session := r.shown.Session
	condensed := r.shown.Condensed
	if (len(session) > 0 && !r.unlogged || len(condensed) > 0) && !now.here {
		return false, nil
	}
	if ok, err := now.consents.mentionsAgree(ctx, q.Guild, condensed); !ok || err != nil {
		return false, err
	}
	if given, err := now.consents.withConsent(ctx, session); len(given) < len(session) || err != nil {
		return false, err
	}
	if slices.ContainsFunc(session, func(m memory.Message) bool { return m.ID < now.attended }) {
		return false, nil
	}
	for channel, sent := range r.shown.ByChannel() {
		sent = q.withoutReplied(sent)
		was := map[memory.MessageID]memory.Message{}
		for _, m := range sent {
			was[m.ID] = m
		}
		found, err := now.consents.messages(ctx, channel, digest.IDs(sent))
		if len(found) < len(sent) || err != nil {
			return false, err
		}
		present := memory.MessageID(math.MaxInt64) // nobody was present
		if channel == q.Channel {
			present = max(r.from, now.attended)
		}
		// Hark's own answers are judged by their sources, which may have been closed since.
		allowed, err := now.audienceIn(channel, present).repeatable(ctx, sortByID(slices.Clone(found)))
		if len(allowed) < len(found) || err != nil {
			return false, err
		}
		for _, m := range found {
			if changed(was[m.ID], m) || m.ID < present && !slices.Contains(now.scope.Channels, channel) {
				return false, nil
			}
		}
	}
	r.readableScope = now
	return true, nil
}

// changed reports whether a message was edited since. Hark's answers grow while they are sent; a rewritten one
// begins differently.
func changed(was, now memory.Message) bool {
	if now.Kind == memory.FromHark {
		return !strings.HasPrefix(now.Text(), was.Text())
	}
	return now.Text() != was.Text()
}

// samePeople reports whether nobody has opted out, and all facts are unchanged.
func (now *readableScope) samePeople(ctx context.Context, people []search.Participant) (bool, error) {
	for _, p := range people {
		if ok, err := now.consents.agrees(ctx, p.Person.Guild, p.Person.ID); !ok || err != nil {
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

const (
	heldBackHits      = 10  // the best hits of all that is remembered that are counted
	heldBackRelevance = 0.2 // from which on one counts as mattering
)

// heldBack counts the best hits in channels closed to the readers. No server is given their text. If counting fails
// it returns 0: the answer is worth more.
func (e *Engine) heldBack(ctx context.Context, r *recalled) (n int) {
	if len(r.closed) == 0 {
		return 0
	}
	hits, err := e.search.SearchOutside(ctx, r.result, r.closed, heldBackHits)
	if err != nil {
		return 0
	}
	for _, hit := range hits {
		agrees, err := r.consents.agrees(ctx, hit.Message.Guild, hit.Message.Author)
		if agrees && err == nil && hit.Relevance >= heldBackRelevance {
			n++
		}
	}
	return n
}
