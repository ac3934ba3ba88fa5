package answer

import (
	"context"
	"slices"
	"time"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// presentIn keeps those who have written in the direct message: nobody is told who else writes to Hark.
func presentIn(people []search.Participant, asker memory.UserID) []search.Participant {
	return slices.DeleteFunc(people, func(p search.Participant) bool {
		return p.Person.ID != asker && p.Presence.Messages == 0
	})
}

// find searches, and returns what is worth using and the hits that aren't.
func (e *Engine) find(ctx context.Context, q Question, r *recalled, scope memory.Scope,
	skip []memory.MessageID) (result search.Result, left []search.Hit, err error) {
	if result, err = e.search.Search(ctx, e.query(q, r, scope, skip)); err != nil {
		return search.Result{}, nil, err
	}
	return e.usable(ctx, q, r, result, search.Result.Worth)
}

// confidentHits returns the hits that may be quoted; none where too little was found.
func confidentHits(result search.Result) []search.Hit {
	if result.Declined {
		return nil
	}
	return result.Hits
}

// findAgain is the last search with other messages skipped, without those deleted since.
func (e *Engine) findAgain(ctx context.Context, q Question, r *recalled,
	skip []memory.MessageID) (result search.Result, left []search.Hit, err error) {
	there := func(ctx context.Context, hits []search.Hit) ([]search.Hit, error) { // as far as is known here
		return keepHits(ctx, hits, consents{e.log.Log, r.consents.in}.existing)
	}
	if result, err = e.search.Rerank(ctx, r.result, skip, there); err != nil {
		return search.Result{}, nil, err
	}
	return e.usable(ctx, q, r, result, search.Result.Worth)
}

// usable returns what may be used of a result, and the hits that aren't worth it, which aren't looked up. Lore
// is left only where it is called, or holds half of what is asked.
func (e *Engine) usable(ctx context.Context, q Question, r *recalled, result search.Result,
	worth func(search.Result) (worth, left []search.Hit)) (_ search.Result, left []search.Hit, err error) {
	if len(q.Filter.In) > 0 { // what was told for the whole guild wasn't said there
		result.Lore = slices.DeleteFunc(result.Lore, func(hit search.LoreHit) bool { return hit.Lore.Channel == 0 })
	}
	if result, err = r.consents.filter(ctx, result); err != nil {
		return search.Result{}, nil, err
	}
	ofHark := asksWhatWasAsked(q.Text)
	result.Declined = result.Declined && !ofHark          // its words aren't those that were used
	if result.Hits, left = worth(result); len(left) > 0 { // whoever wrote only what isn't used isn't introduced
		result.People = slices.DeleteFunc(slices.Clone(result.People), func(p search.Participant) bool {
			return !p.Main && !slices.ContainsFunc(result.Hits,
				func(h search.Hit) bool { return h.Message.Author == p.Person.ID })
		})
	}
	result.Hits, err = keepHits(ctx, result.Hits, e.upstream.current)
	if err != nil || ofHark {
		return result, left, err
	}
	result.Hits, err = digest.Keep(result.Hits, func(h search.Hit) (bool, error) {
		put, err := e.asksHark(ctx, r, h.Message)
		return !put, err
	})
	return result, left, err
}

func (e *Engine) query(q Question, r *recalled, scope memory.Scope, skip []memory.MessageID) search.Query {
	now := q.Now
	if asked := q.ID.Time().Add(time.Millisecond); q.ID != 0 && asked.After(now) {
		now = asked // our clock is behind that of whoever gave out the id
	}
	return search.Query{
		Text: r.searchText, Now: now.In(r.settings.Zone), Asker: q.Asker, Mentions: q.Mentions,
		Guilds: r.guilds, Scope: scope, Skip: skip, Session: r.session, Limit: q.Limit, Local: q.Local,
		IsSearch: r.mode.Is == builder.ModeSearch, Behind: r.requestToHark(q),
		Opened: slices.ContainsFunc(scope.Channels, func(c memory.ChannelID) bool {
			return !slices.Contains(r.scope.Channels, c)
		}),
	}
}
