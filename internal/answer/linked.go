package answer

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"

	"hark/memory"
	"hark/search"
)

// messageLink matches a link to a message.
var messageLink = regexp.MustCompile(
	`https?://(?:www\.|canary\.|ptb\.)?discord(?:app)?\.com/channels/(?:\d{1,20}|@me)/(\d{1,20})/(\d{1,20})`)

// linksIn returns the messages that texts link to, each once.
func linksIn(texts ...string) (refs []memory.MessageRef) {
	for _, said := range texts {
		for _, part := range messageLink.FindAllStringSubmatch(said, -1) {
			channel, _ := strconv.ParseInt(part[1], 10, 64)
			message, _ := strconv.ParseInt(part[2], 10, 64)
			ref := memory.MessageRef{Channel: memory.ChannelID(channel), Message: memory.MessageID(message)}
			if !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// linked returns the messages that the question, or the message that it replies to, links to, with their neighbours,
// as far as all readers may read them.
func (e *Engine) linked(ctx context.Context, q Question, r *recalled,
	skip []memory.MessageID) (hits []search.Hit, err error) {
	for _, ref := range linksIn(q.Text, r.repliedText(q)) {
		if len(hits) == mostLinked {
			break
		}
		if slices.Contains(skip, ref.Message) || !slices.Contains(r.narrowed.Channels, ref.Channel) {
			continue
		}
		said, err := e.log.Around(ctx, ref.Channel, []memory.MessageID{ref.Message}, linkedNeighbours, linkedNeighbours)
		if err == nil {
			said, err = r.audienceIn(ref.Channel, math.MaxInt64).usable(ctx, said)
		}
		if err != nil {
			return nil, err
		}
		said = slices.DeleteFunc(said, func(m memory.Message) bool { return slices.Contains(skip, m.ID) })
		at := slices.IndexFunc(said, func(m memory.Message) bool { return m.ID == ref.Message })
		if at < 0 {
			continue
		}
		hits = append(hits, search.Hit{
			Message:   said[at],
			Excerpt:   said,
			To:        len(said[at].Text()),
			Relevance: linkedRelevance,
			Why:       []search.Reason{{Kind: whyLinked}},
		})
	}
	return hits, nil
}

// addAsked adds what findAsked adds.
func (e *Engine) addAsked(ctx context.Context, q Question, r *recalled, skip []memory.MessageID,
	result *search.Result) error {
	if len(r.asked.named) > 0 && (r.asked.whole || result.Declined) {
		latest, err := e.latestOf(ctx, q, r, skip)
		if err != nil {
			return err
		}
		addHits(result, latest)
		result.Declined = result.Declined && len(latest) == 0
	}
	linked, err := e.linked(ctx, q, r, skip)
	if err != nil {
		return err
	}
	if len(linked) == 0 {
		return nil
	}
	result.Declined = false
	found := result.Hits
	result.Hits = nil
	addHits(result, linked)
	addHits(result, found)
	r.introduce(result, linked)
	return nil
}
