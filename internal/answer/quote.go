package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"hark/memory"
	"hark/search"
)

// What an extractive answer says of itself, and when it found nothing.
const (
	noModel     = "*No language model is configured, so I quote what was said.*"
	modelAway   = "*The language model can't be reached right now, so I quote what was said.*"
	foundNone   = "I found nothing about that in what everyone here may read."
	onlyYouNone = "I found nothing about that in what you may read."
)

const (
	maxQuotes   = 3
	quoteLength = 700 // graphemes of a quoted message
	// strong is the share of the best quote's relevance that another needs to stand beside it.
	strong = 0.75
	// weak is the relevance below which nothing is worth quoting.
	weak = 0.05
)

// quote is the answer that consists of the best messages themselves.
func (e *Engine) quote(ctx context.Context, q Question, r *recalled, note string) (Answer, error) {
	hits, err := e.quotable(ctx, q, r)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Trace: e.trace(q, r)}
	a.Trace.Recalled, a.Trace.Sections = nil, nil // the prompt wasn't sent
	var text strings.Builder
	for i, hit := range hits {
		m := hit.Message
		s := Source{
			Number: i + 1, Guild: m.Guild, Channel: m.Channel, Message: m.ID,
			Author: r.names.of(m.Author), Place: r.names.channel(m.Channel), Time: m.Time().In(e.options.Zone), Unplaced: r.names.unplaced[m.Channel],
		}
		a.Sources = append(a.Sources, s)
		a.Trace.Recalled = append(a.Trace.Recalled, memory.TraceHit{
			Channel: m.Channel, Message: m.ID, Relevance: hit.Relevance, Why: reasonKinds(hit), Number: s.Number, Cited: true,
		})
		text.WriteString(quoted(m.Text()))
		fmt.Fprintf(&text, "— %s, %s [%d]\n\n", who(s), s.Time.Format("2 Jan 2006 15:04"), s.Number)
	}
	switch {
	case len(hits) == 0 && q.OnlyAsker:
		text.WriteString(onlyYouNone + "\n\n")
	case len(hits) == 0:
		text.WriteString(foundNone + "\n\n")
	}
	text.WriteString(note)
	a.Text = text.String()
	a.Trace.Total = r.elapsed()
	return a, nil
}

// quotable are the hits to quote: the best, and at most two that are hardly worse. What is being said right now
// may be quoted to those present even where the channel's past can't be read by all of them.
func (e *Engine) quotable(ctx context.Context, q Question, r *recalled) ([]search.Hit, error) {
	hits := slices.Clone(r.result.Hits)
	if e.model != nil || !slices.Contains(r.scope.Channels, q.Channel) {
		more, err := e.searchSession(ctx, q, r)
		if err != nil {
			return nil, err
		}
		hits = append(hits, more...)
	}
	hits = slices.DeleteFunc(hits, func(h search.Hit) bool {
		return h.Message.ID == q.ID || h.Relevance < weak || !slices.ContainsFunc(h.Why, func(w search.Reason) bool { return w.Kind == "words" || w.Kind == "answers" })
	})
	slices.SortStableFunc(hits, func(a, b search.Hit) int {
		switch {
		case a.Relevance > b.Relevance:
			return -1
		case a.Relevance < b.Relevance:
			return 1
		}
		return 0
	})
	n := 0
	for n < len(hits) && n < maxQuotes && hits[n].Relevance >= strong*hits[0].Relevance {
		n++
	}
	return hits[:n], nil
}

// searchSession searches the session alone.
func (e *Engine) searchSession(ctx context.Context, q Question, r *recalled) ([]search.Hit, error) {
	if len(r.session) == 0 {
		return nil, nil
	}
	scope := memory.Scope{Channels: []memory.ChannelID{q.Channel}, Since: r.session[0].Time()}
	result, err := e.search.Search(ctx, e.query(q, r, scope, []memory.MessageID{q.ID}))
	if err != nil {
		return nil, err
	}
	present := map[memory.MessageID]bool{}
	for _, m := range r.session {
		present[m.ID] = true
	}
	for _, h := range r.result.Hits {
		delete(present, h.Message.ID)
	}
	return slices.DeleteFunc(result.Hits, func(h search.Hit) bool { return !present[h.Message.ID] }), nil
}

func reasonKinds(h search.Hit) []string {
	kinds := make([]string, len(h.Why))
	for i, w := range h.Why {
		kinds[i] = w.Kind
	}
	return kinds
}

// who is the author and the place of a quote.
func who(s Source) string {
	if s.Place == "" {
		return "**" + escapeName(s.Author) + "**"
	}
	return "**" + escapeName(s.Author) + "** in #" + escapeName(s.Place)
}

// escapeName keeps a name from being read as Markdown.
func escapeName(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, "\n", " ").Replace(name)
}

// quoted is text as a Markdown quotation, shortened where it is long. Backticks are kept from opening a block
// that would swallow what follows.
func quoted(text string) string {
	text = strings.ReplaceAll(clip(strings.TrimSpace(text), quoteLength), "```", "'''")
	return "> " + strings.Join(strings.FieldsFunc(text, isLineBreak), "\n> ") + "\n"
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// clip is the first n graphemes of s.
func clip(s string, n int) string {
	rest, state := s, -1
	for range n {
		if rest == "" {
			return s
		}
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	if rest == "" {
		return s
	}
	return strings.TrimRight(s[:len(s)-len(rest)], " \n") + "…"
}
