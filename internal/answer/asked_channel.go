package answer

import (
	"context"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

// elsewhere reports whether the question is about other channels than that one.
func (a inquiry) elsewhere(channel memory.ChannelID) bool {
	return a.narrow && !slices.Contains(a.named, channel)
}

// askedAbout returns what q asks about, as far as its readers may read it, and the text to search for. In direct
// messages, where no other channel may be read, a channel's name is a word like any other.
func (now *readableScope) askedAbout(q Question, sought string) (about inquiry, searched string) {
	about.scope = now.narrowed
	if q.Guild == memory.DirectGuild {
		return about, now.names.searchText(sought)
	}
	named, any := now.names.channelsIn(q.Text)
	if !any {
		return about, now.names.searchText(sought)
	}
	about.narrow = true
	about.named = named
	about.scope.Channels = nil
	if len(named) > 0 {
		about.scope.Channels = Filter{In: named}.channels(now.narrowed.Channels, now.names.channels)
	}
	searched = now.names.searchText(now.names.withoutChannels(sought, named))
	about.whole = asksForAll(searched)
	return about, searched
}

// overview are terms of a question for all that was said somewhere, besides those that only ask.
var overview = func() map[string]bool {
	terms := map[string]bool{}
	for _, t := range text.Terms(`summary summaries summarize summarise recap tldr overview digest sum catch up
		latest newest last recent recently new news update updates going happening happened
		discuss discussed discussion discussions conversation conversations topic topics talk talked talking
		message messages post posted posts chat channel thread please tell show give read list describe explain
		everything anything something all whole
		zusammenfassung zusammenfassen fasse fass zusammen neues neu passiert los besprochen gesprochen gesagt kanal
		résumé résume résumer nouveau quoi neuf passe passé dit discuté salon
		resumen resume resumir nuevo pasa pasó dijo hablado canal
		要約 まとめ まとめて 何 話 最近 總結 总结 摘要 最近 說 说 什麼 什么`) {
		terms[t] = true
	}
	return terms
}()

// asksForAll reports whether a question without its channels has no words of its own.
func asksForAll(question string) bool {
	return !slices.ContainsFunc(text.QueryTerms(text.WithoutHark(question)), func(term string) bool {
		return !overview[term] && !search.OnlyAsks(term)
	})
}

// The reasons of messages that weren't found by a search.
const (
	whyChannel = "channel" // the question names their channel
	whyLinked  = "linked"  // the question has a link to them
)

// Relevances of such messages.
const (
	linkedRelevance  = 0.99
	wholeRelevance   = 0.65 // asked for
	beyondRelevance  = 0.3  // instead of what was asked for
	mostLinked       = 3
	linkedNeighbours = 2
	latestRead       = 100 // messages of a channel, of which some may be notices, answers and the session
)

// addHits adds hits that aren't there.
func addHits(result *search.Result, hits []search.Hit) {
	result.Hits = slices.Clone(result.Hits)
	for _, h := range hits {
		if !slices.ContainsFunc(result.Hits, func(known search.Hit) bool { return known.Message.ID == h.Message.ID }) {
			result.Hits = append(result.Hits, h)
		}
	}
}

// introduce adds the authors of hits to the people, without facts: these were looked for with the question.
func (r *recalled) introduce(result *search.Result, hits []search.Hit) {
	result.People = slices.Clone(result.People)
	for _, h := range hits {
		for _, m := range h.Excerpt {
			p, known := r.names.person(m.Author)
			if !known || slices.ContainsFunc(result.People, func(i search.Participant) bool { return i.Person.ID == p.ID }) {
				continue
			}
			p.Facts = nil
			result.People = append(result.People, search.Participant{Person: p})
		}
	}
}

// latestOf returns the latest messages of the channels that the question names, newest first.
func (e *Engine) latestOf(ctx context.Context, q Question, r *recalled,
	skip []memory.MessageID) (hits []search.Hit, err error) {
	relevance := beyondRelevance
	if r.asked.whole {
		relevance = wholeRelevance
	}
	most := q.Limit
	if most <= 0 {
		most = search.DefaultLimit
	}
	var latest []memory.Message
	for _, channel := range r.asked.scope.Channels {
		said, err := e.log.Log.Around(ctx, channel, []memory.MessageID{askedAt(q)}, latestRead, 0)
		if err != nil {
			return nil, err
		}
		latest = append(latest, said...)
	}
	latest = slices.DeleteFunc(latest, func(m memory.Message) bool {
		return !m.Kind.Recalled() || strings.TrimSpace(m.Text()) == "" || slices.Contains(skip, m.ID) ||
			isRequest(m) && r.addressesHark(m) || !within(r.asked.scope, m)
	})
	latest = sortByID(latest)
	latest = latest[max(0, len(latest)-most):]
	latest, err = r.consents.withConsent(ctx, latest)
	if err == nil {
		latest, err = e.upstream.current(ctx, latest)
	}
	for _, m := range slices.Backward(latest) {
		hits = append(hits, search.Hit{
			Message:   m,
			Excerpt:   []memory.Message{m},
			To:        len(m.Text()),
			Relevance: relevance,
			Why:       []search.Reason{{Kind: whyChannel}},
		})
	}
	return hits, err
}

// within reports whether a message of a scope's channels is of its time and authors.
func within(scope memory.Scope, m memory.Message) bool {
	at := m.Time()
	return !at.Before(scope.Since) && (scope.Until.IsZero() || at.Before(scope.Until)) &&
		(len(scope.Authors) == 0 || slices.Contains(scope.Authors, m.Author))
}
