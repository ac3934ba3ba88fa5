package reply

import (
	"context"
	"regexp"
	"sync"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/memory"
)

// refusalOf returns the message, of Hark's after a question, that says instead of an answer why there is none; nil if
// there is none.
func refusalOf(page []discord.Message, q memory.OpenQuestion) *discord.Message {
	for i, m := range page {
		replies := m.Reference != nil && memory.MessageID(m.Reference.Message) == q.ID
		if replies && m.Content != nil && refusals()[shapeOf(*m.Content)] {
			return &page[i]
		}
	}
	return nil
}

// recordRefusal logs what an earlier process said instead of an answer, and that the question is closed.
func (r *Replier) recordRefusal(last context.Context, a *ingest.Question, told *discord.Message) {
	d := newDelivery(nil, r.Timing.Pace, r.Timing.Typing)
	d.parts = []sentPart{{Posted: discord.Posted{ID: memory.MessageID(told.ID)}}}
	r.record(last, d, a, memory.Trace{}, nil, false)
}

// refusals are the shapes of all sentences that are said instead of an answer, in every language.
var refusals = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, l := range everyLocale() {
		for _, text := range refusalsIn(l) {
			all[shapeOf(text)] = true
		}
	}
	return all
})

func everyLocale() []locale.Locale {
	all := []locale.Locale{{}}
	for _, c := range locale.Catalogs() {
		all = append(all, locale.Locale{Catalog: c})
	}
	return all
}

// refusalsIn returns those sentences in one language, with any numbers.
func refusalsIn(l locale.Locale) []string {
	all := []string{l.Text(restarting), l.Text(askMe, 1), tooMany(l, &fullError{}), tooMany(l, &fullError{guild: true}),
		LimitReached(l, &Hit{Of: pausedQuestion})}
	for _, of := range LimitNames {
		for limit := 1; limit <= 2; limit++ {
			all = append(all, LimitReached(l, &Hit{
				Of:    of,
				Limit: limit,
				until: time.Unix(1, 0),
			}))
		}
	}
	return all
}

// written matches a number as any language writes it.
var written = regexp.MustCompile(`-?[0-9][0-9.,'’\x{a0}\x{202f}]*`)

// shapeOf returns a sentence without its numbers.
func shapeOf(text string) string { return written.ReplaceAllString(text, "#") }
