package answer

import (
	"context"
	"fmt"
	"slices"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// FoundMessage is a message that was found for somebody: ids and a number, to be looked at again, and nothing
// that was said.
type FoundMessage struct {
	Channel   memory.ChannelID
	Message   memory.MessageID
	Before    memory.MessageID // the message before it in the same conversation; 0: there is none
	Relevance float64          // in [0, 1]
}

// FindResult is what a search found, best first.
type FindResult struct {
	Found    []FoundMessage
	TextOnly bool  // by words only, since meaning couldn't be searched
	Below    int   // messages that were found and have too little to do with it to be shown
	Unranked error // why it isn't in the order of the reranker that there is; nil if it is
}

// InspectedMessage is what was found, as it is when it is looked at.
type InspectedMessage struct {
	Relevance float64
	Message   memory.Message
	Before    *memory.Message // nil if there is none that may be read
}

// forAskerAlone returns q for what only its asker sees.
func forAskerAlone(q Question) Question {
	q.OnlyAsker, q.Operator, q.Everywhere, q.Session = true, false, false, nil
	return q
}

// Find searches what the asker may read, as q.Filter narrows it down. It asks no model, and finds what is
// being said now too. With q.ID it searches for more like that message, and finds neither it nor its
// neighbours.
func (e *Engine) Find(ctx context.Context, q Question) (FindResult, error) {
	ctx, q = withLookUps(ctx), forAskerAlone(q)
	r := &recalled{searchText: q.Text, mode: Mode{Is: builder.ModeSearch}}
	var err error
	if r.readableScope, err = e.readScope(ctx, q); err != nil {
		return FindResult{}, fmt.Errorf("find: %w", err)
	}
	var skip []memory.MessageID
	if q.ID != 0 {
		around, err := e.log.Around(ctx, q.Channel, []memory.MessageID{q.ID}, 1, 1)
		if err != nil {
			return FindResult{}, fmt.Errorf("find what is like message %d: %w", q.ID, err)
		}
		skip = append(digest.IDs(around), q.ID)
	}
	result, err := e.search.Search(ctx, e.query(q, r, r.narrowed, skip))
	if err != nil {
		return FindResult{}, fmt.Errorf("find: %w", err)
	}
	result, left, err := e.usable(ctx, q, r, result, func(result search.Result) (shown, left []search.Hit) {
		for _, hit := range result.Hits {
			switch {
			case len(hit.Why) == 0: // it is there because nothing better is
			case q.ID == 0 && !result.IsWorthShowing(hit): // what is like a message holds little of it
				left = append(left, hit)
			default:
				shown = append(shown, hit)
			}
		}
		return shown, left
	})
	if err != nil {
		return FindResult{}, fmt.Errorf("find: %w", err)
	}
	f := FindResult{TextOnly: result.TextOnly, Unranked: result.RerankFailed, Below: len(left)}
	for _, hit := range result.Hits {
		f.Found = append(f.Found, foundIn(hit, skip))
	}
	return f, nil
}

func foundIn(hit search.Hit, skip []memory.MessageID) FoundMessage {
	f := FoundMessage{Channel: hit.Message.Channel, Message: hit.Message.ID, Relevance: hit.Relevance}
	for _, m := range hit.Excerpt {
		if m.ID < f.Message && !slices.Contains(skip, m.ID) {
			f.Before = m.ID
		}
	}
	return f
}

// Inspect returns what of found the asker may read now, as it is now, in the same order.
func (e *Engine) Inspect(ctx context.Context, q Question, found []FoundMessage) ([]InspectedMessage, error) {
	ctx = withLookUps(ctx)
	r := &recalled{}
	var err error
	if r.readableScope, err = e.readScope(ctx, forAskerAlone(q)); err != nil {
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
