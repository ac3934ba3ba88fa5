package answer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// presentIn keeps those who wrote in the direct message: nobody is told who else writes to Hark.
func presentIn(people []search.Participant, asker memory.UserID) []search.Participant {
	return slices.DeleteFunc(people, func(p search.Participant) bool {
		return p.Person.ID != asker && p.Presence.Messages == 0
	})
}

// find searches, and returns what is worth using and the other hits.
func (e *Engine) find(ctx context.Context, q Question, r *recalled, scope memory.Scope,
	skip []memory.MessageID) (result search.Result, left []search.Hit, err error) {
	result, err = e.search.Search(ctx, e.query(q, r, scope, skip))
	if err != nil {
		return search.Result{}, nil, err
	}
	return e.usable(ctx, q, r, result, search.Result.Worth)
}

// confidentHits returns the hits that may be quoted; none if too little was found.
func confidentHits(result search.Result) []search.Hit {
	if result.Declined {
		return nil
	}
	return result.Hits
}

// findAgain ranks the last search's hits again, without those to skip and those deleted since.
func (e *Engine) findAgain(ctx context.Context, q Question, r *recalled,
	skip []memory.MessageID) (result search.Result, left []search.Hit, err error) {
	there := func(ctx context.Context, hits []search.Hit) ([]search.Hit, error) { // as far as is known here
		return keepHits(ctx, hits, consents{e.log.Log, r.consents.in}.existing)
	}
	result, err = e.search.Rerank(ctx, r.result, skip, there)
	if err != nil {
		return search.Result{}, nil, err
	}
	result, left, err = e.usable(ctx, q, r, result, search.Result.Worth)
	if err == nil {
		err = e.addAsked(ctx, q, r, skip, &result)
	}
	return result, left, err
}

// usable returns what may be used of a result, and the hits that aren't worth it, which aren't looked up.
func (e *Engine) usable(ctx context.Context, q Question, r *recalled, result search.Result,
	worth func(search.Result) (worth, left []search.Hit)) (_ search.Result, left []search.Hit, err error) {
	if len(q.Filter.In) > 0 { // what was told for the whole guild wasn't said there
		result.Lore = slices.DeleteFunc(result.Lore, func(hit search.LoreHit) bool { return hit.Lore.Channel == 0 })
	}
	result, err = r.consents.filter(ctx, result)
	if err != nil {
		return search.Result{}, nil, err
	}
	ofHark := asksWhatWasAsked(q.Text)
	result.Declined = result.Declined && !ofHark // its words aren't those that were used
	result.Hits, left = worth(result)
	if len(left) > 0 { // authors only of unused hits aren't introduced
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
		now = asked // our clock may be behind Discord's
	}
	return search.Query{
		Text:     r.searchText,
		Now:      now.In(r.settings.Zone),
		Asker:    q.Asker,
		Mentions: q.Mentions,
		Guilds:   r.guilds,
		Scope:    scope,
		Skip:     skip,
		Session:  r.session,
		ReplyTo:  q.ReplyTo,
		Limit:    q.Limit,
		Local:    q.Local,
		Named:    r.names.searchText,
		IsSearch: r.mode.Is == builder.ModeSearch,
		Behind:   r.requestToHark(q),
		Proxied:  func(channel memory.ChannelID) bool { return r.proxied[channel] },
		Opened: slices.ContainsFunc(scope.Channels, func(c memory.ChannelID) bool {
			return !slices.Contains(r.scope.Channels, c)
		}),
	}
}

// FoundMessage is a message that was found for somebody, without its text.
type FoundMessage struct {
	Channel   memory.ChannelID
	Message   memory.MessageID
	Before    memory.MessageID // the message before it in the conversation; 0: none
	Relevance float64          // in [0, 1]
}

// FindResult is what a search found, best first.
type FindResult struct {
	Found    []FoundMessage
	TextOnly bool  // meaning couldn't be searched
	Below    int   // messages that were found and are too weak to be shown
	Unranked error // why the reranker's order is missing; nil if it isn't
}

// InspectedMessage is a found message as it is now.
type InspectedMessage struct {
	Relevance float64
	Message   memory.Message
	Before    *memory.Message // nil if there is none that may be read
}

func forAskerAlone(q Question) Question {
	q.OnlyAsker = true
	q.Operator = false
	q.Everywhere = false
	q.Session = nil
	return q
}

// Find searches what the asker may read, narrowed down by q.Filter, and finds what is being said now too. It asks
// no model. With q.ID it searches for more like that message, without it and its neighbours.
func (e *Engine) Find(ctx context.Context, q Question) (FindResult, error) {
	ctx = withLookUps(ctx)
	q = forAskerAlone(q)
	r := &recalled{mode: Mode{Is: builder.ModeSearch}}
	var err error
	r.readableScope, err = e.readScope(ctx, q)
	if err != nil {
		return FindResult{}, fmt.Errorf("find: %w", err)
	}
	r.asked, r.searchText = r.askedAbout(q, q.Text)
	var skip []memory.MessageID
	if q.ID != 0 {
		around, err := e.log.Around(ctx, q.Channel, []memory.MessageID{q.ID}, 1, 1)
		if err != nil {
			return FindResult{}, fmt.Errorf("find what is like message %d: %w", q.ID, err)
		}
		skip = append(digest.IDs(around), q.ID)
	}
	result, err := e.search.Search(ctx, e.query(q, r, r.asked.scope, skip))
	if err != nil {
		return FindResult{}, fmt.Errorf("find: %w", err)
	}
	result, left, err := e.usable(ctx, q, r, result, func(result search.Result) (shown, left []search.Hit) {
		for _, hit := range result.Hits {
			switch {
			case len(hit.Why) == 0: // only because nothing is better
			case q.ID == 0 && !result.IsWorthShowing(hit): // similar messages share few words
				left = append(left, hit)
			default:
				shown = append(shown, hit)
			}
		}
		return shown, left
	})
	if err == nil {
		err = e.addAsked(ctx, q, r, skip, &result)
	}
	if err != nil {
		return FindResult{}, fmt.Errorf("find: %w", err)
	}
	f := FindResult{
		TextOnly: result.TextOnly,
		Unranked: result.RerankFailed,
		Below:    len(left),
	}
	for _, hit := range result.Hits {
		f.Found = append(f.Found, foundIn(hit, skip))
	}
	return f, nil
}

func foundIn(hit search.Hit, skip []memory.MessageID) FoundMessage {
	f := FoundMessage{
		Channel:   hit.Message.Channel,
		Message:   hit.Message.ID,
		Relevance: hit.Relevance,
	}
	for _, m := range hit.Excerpt {
		if m.ID < f.Message && !slices.Contains(skip, m.ID) {
			f.Before = m.ID
		}
	}
	return f
}

// Inspect returns what of found the asker may read now, as it is now, in order.
func (e *Engine) Inspect(ctx context.Context, q Question, found []FoundMessage) ([]InspectedMessage, error) {
	ctx = withLookUps(ctx)
	r := &recalled{}
	var err error
	r.readableScope, err = e.readScope(ctx, forAskerAlone(q))
	if err != nil {
		return nil, fmt.Errorf("look at what was found: %w", err)
	}
	wanted := messageSet{}
	for _, f := range found {
		if slices.Contains(r.scope.Channels, f.Channel) {
			wanted.add(memory.MessageRef{Channel: f.Channel, Message: f.Message},
				memory.MessageRef{Channel: f.Channel, Message: f.Before})
		}
	}
	if err := e.readSources(ctx, r, wanted); err != nil {
		return nil, fmt.Errorf("look at what was found: %w", err)
	}
	var seen []InspectedMessage
	for _, f := range found {
		m, there := r.said[memory.MessageRef{Channel: f.Channel, Message: f.Message}]
		if !there {
			continue
		}
		s := InspectedMessage{Relevance: f.Relevance, Message: m}
		if before, there := r.said[memory.MessageRef{Channel: f.Channel, Message: f.Before}]; there {
			s.Before = &before
		}
		seen = append(seen, s)
	}
	return seen, nil
}

// findAsked is find for what the question asks about. It adds the messages that the question links to, and the latest
// of the channels that it names if it asks for all of them or too little else was found there.
func (e *Engine) findAsked(ctx context.Context, q Question, r *recalled,
	skip []memory.MessageID) (result search.Result, left []search.Hit, err error) {
	result, left, err = e.find(ctx, q, r, r.asked.scope, skip)
	if err != nil {
		return search.Result{}, nil, err
	}
	return result, left, e.addAsked(ctx, q, r, skip, &result)
}
