package builder

import (
	"cmp"
	"strings"
)

// check reports whether what was written is within the budget. It counts tokens only if the bytes don't prove
// it: no text has more tokens than bytes, and the system message's tokens are known.
func (w *work) check() (tokens int, within bool) {
	most := w.maxTokens()
	bytes := len(w.buf) - w.ends[0] + w.systemTokens() + w.b.costs.systemHead + promptOverhead +
		MessageOverhead*len(w.ends) + w.imageTokens()
	if bytes <= most {
		return min(w.tokens, bytes), true
	}
	tokens = w.counted()
	return tokens, tokens <= most
}

// counted returns the tokens of what was written.
func (w *work) counted() int {
	tokens := promptOverhead + MessageOverhead*len(w.ends) + w.imageTokens()
	start := 0
	for _, end := range w.ends {
		tokens += w.b.tally.of(w.buf[start:end])
		start = end
	}
	return tokens
}

// numbers returns the numbers of the shown history items; nil without Options.Citations.
func (w *work) numbers() []Number {
	if !w.b.options.Citations {
		return nil
	}
	s := &w.sections[kindHistory]
	numbers := make([]Number, s.shown)
	for n := range numbers {
		e := &s.entries[n]
		numbers[n] = Number{
			N:       w.first + n,
			Item:    e.index,
			Message: w.in.History[e.index].Lines[e.lead].Message,
		}
	}
	return numbers
}

// shownLines returns the shown lines of the history, in order.
func (w *work) shownLines() []Shown {
	s := &w.sections[kindHistory]
	shown := []Shown{}
	for i := range s.entries[:s.shown] {
		e := &s.entries[i]
		for j := range e.pieces {
			p := &e.pieces[j]
			line := Shown{
				Item:     e.index,
				Message:  w.in.History[e.index].Lines[j].Message,
				Fraction: 1,
			}
			if p.at < len(p.text) {
				line.Fraction = float64(strings.Count(p.text[:p.at], "")-1) / float64(p.chars)
			}
			shown = append(shown, line)
		}
	}
	return shown
}

// Use returns the share of the model's window that the prompt and the longest answer take, in [0, 1]. If the
// window is unknown, it is the share of the longest prompt and answer.
func (r Report) Use() float64 {
	return float64(r.Tokens+r.Answer) / float64(max(1, cmp.Or(r.Window, r.MaxTokens+r.Answer)))
}

// report returns the use of the budget.
func (w *work) report(tokens int) Report {
	b := w.b
	all := int64(w.maxTokens())
	share := func(of int64) int { return int(of * all / b.shares.whole) }
	titles := w.headings()
	names := b.labels.sectionTitles()
	names[kindSession] = titles[2]
	system := SectionReport{
		Type:     SectionSystem,
		Title:    titles[0],
		Ceiling:  share(b.shares.systemMost),
		Included: 1,
		Tokens:   w.systemTokens() + b.costs.titles[kindSession],
	}
	if w.personaShown != w.persona || w.rulesShown < len(w.rules.lines) {
		system.Cut = 1
		system.Why = whyCut(w.personaSize+w.rules.all(), system.Ceiling)
	}
	query := SectionReport{
		Type:     SectionQuery,
		Title:    titles[3],
		Ceiling:  share(b.shares.query),
		Included: 1,
		Tokens:   w.count(w.queryShown, w.queryBlock()) + b.costs.titles[kindSession],
	}
	if w.queryShown == "" {
		query.Tokens += b.Tokens(b.labels.NoText)
	}
	if w.queryHead {
		query.Tokens += w.queryFixed + w.repliedShown.tokens
	}
	if w.queryPlace {
		query.Tokens += w.placeFixed
	}
	if w.queryShown != w.query {
		query.Cut = 1
		query.Why = whyCut(w.querySize, query.Ceiling)
	}
	r := Report{
		Tokens:    tokens,
		MaxTokens: w.maxTokens(),
		Window:    b.options.Window,
		Answer:    b.options.Answer,
		Sections:  make([]SectionReport, 0, 8),
	}
	r.Sections = append(r.Sections, system)
	for _, k := range []kind{kindEarlier, kindParticipants, kindHistory, kindLore, kindSession} {
		r.Sections = append(r.Sections, w.sectionReport(&w.sections[k], names[k]))
	}
	r.Sections = append(r.Sections, query)
	if len(w.in.Files) > 0 {
		r.Sections = append(r.Sections, w.sectionReport(&w.sections[kindFiles], names[kindFiles]))
	}
	last := SectionReport{
		Type:     SectionInstruction,
		Included: 1,
		Tokens:   b.costs.reminder,
	}
	if w.bare {
		last = SectionReport{
			Type:    SectionInstruction,
			Dropped: 1,
			Why:     WhyBudget,
		}
	}
	r.Sections = append(r.Sections, last)
	return r
}

// whyCut returns why a text of that many tokens was cut.
func whyCut(tokens, ceiling int) Why {
	if tokens > ceiling {
		return WhyCeiling
	}
	return WhyBudget
}

// span notes that an item stands from start to the end of buf. See at.
func (w *work) span(t SectionType, item, line, start int) {
	w.spans = append(w.spans, Span{
		Type:    t,
		Item:    item,
		Line:    line,
		Message: len(w.ends),
		Start:   start,
		End:     w.at(),
	})
}

// at returns how many bytes the message being written has.
func (w *work) at() int {
	if len(w.ends) == 0 {
		return len(w.buf)
	}
	return len(w.buf) - w.ends[len(w.ends)-1]
}

// section starts a section at the end of buf. It ends at the next one or with its message.
func (w *work) section(t SectionType) {
	w.bounds = append(w.bounds, Boundary{
		Type:    t,
		Message: len(w.ends),
		Start:   w.at(),
	})
}

// boundaries returns the places of all sections.
func (w *work) boundaries(messages []ChatMessage) []Boundary {
	all := make([]Boundary, len(w.bounds))
	for i, b := range w.bounds {
		text := messages[b.Message].Content
		if i+1 < len(w.bounds) && w.bounds[i+1].Message == b.Message {
			text = text[:w.bounds[i+1].Start]
		}
		b.End = b.Start + len(strings.TrimRight(text[b.Start:], "\n"))
		all[i] = b
	}
	return all
}

// Layout returns the prompt's layout.
func (p Prompt) Layout() Layout { return p.layout }

// headings returns the headings of the system message, of recalled data, of the session and of the query.
func (w *work) headings() [4]string {
	if w.plain() {
		return [...]string{plainSystem, plainPrevious, plainSession, plainQuery}
	}
	return [...]string{headSystem, headPrevious, headSession, headQuery}
}
