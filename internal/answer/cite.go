package answer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hark/memory"
	"hark/search"
)

// citation is [n], or [n, m] as some models write it.
var citation = regexp.MustCompile(`\[(\d{1,3}(?:[ \t]*,[ \t]*\d{1,3})*)\]`)

// shownTag is a mention tag as the prompt shows those in what members wrote.
var shownTag = regexp.MustCompile(`‹@(&?\d{1,20})›`)

// cite is the answer that text makes: citations of what was in the prompt stay, one number to a bracket, and
// invented ones vanish, with the space before them. Mention tags that the model repeats as it was shown them become
// Discord's again, which show a name and, in what Hark sends, ping nobody.
func (e *Engine) cite(q Question, r *recalled, text string) Answer {
	known := map[int]memory.TraceHit{}
	trace := e.trace(q, r)
	for _, hit := range trace.Recalled {
		if hit.Number > 0 {
			known[hit.Number] = hit
		}
	}
	var cited []int
	text = outsideCode(text, func(prose string) string {
		return replaceCitations(shownTag.ReplaceAllString(prose, "<@$1>"), func(n int) bool {
			_, ok := known[n]
			if ok && !slices.Contains(cited, n) {
				cited = append(cited, n)
			}
			return ok
		})
	})
	slices.Sort(cited)
	a := Answer{Text: strings.TrimSpace(text), Unranked: r.result.RerankFailed, Trace: trace}
	for _, n := range cited {
		a.Sources = append(a.Sources, e.source(r, n, known[n].Channel, known[n].Message))
	}
	for i, hit := range a.Trace.Recalled {
		a.Trace.Recalled[i].Cited = hit.Number > 0 && slices.Contains(cited, hit.Number)
	}
	return a
}

// replaceCitations rewrites the citations in prose: [n] for each number that is known, nothing for the others.
// A bracket after a letter is an index of something, and one before a parenthesis a link.
func replaceCitations(prose string, known func(int) bool) string {
	var b strings.Builder
	at := 0
	for _, m := range citation.FindAllStringSubmatchIndex(prose, -1) {
		if strings.HasPrefix(prose[m[1]:], "(") {
			continue
		}
		var kept strings.Builder
		for _, digits := range strings.Split(prose[m[2]:m[3]], ",") {
			if n, _ := strconv.Atoi(strings.TrimSpace(digits)); known(n) {
				kept.WriteString("[" + strconv.Itoa(n) + "]")
			}
		}
		before := prose[at:m[0]]
		if kept.Len() == 0 {
			if before != "" && isNameByte(before[len(before)-1]) {
				continue
			}
			before = strings.TrimRight(before, " ")
		}
		b.WriteString(before)
		b.WriteString(kept.String())
		at = m[1]
	}
	b.WriteString(prose[at:])
	return b.String()
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// outsideCode applies f to what of Markdown text is neither in a code block nor between backticks.
func outsideCode(text string, f func(string) string) string {
	var b strings.Builder
	at, from := 0, 0
	for {
		open := strings.IndexByte(text[from:], '`')
		if open < 0 {
			break
		}
		open += from
		width := tickRun(text[open:])
		end := codeEnd(text, open, width)
		if end < 0 { // backticks without a partner are text
			from = open + width
			continue
		}
		b.WriteString(f(text[at:open]))
		b.WriteString(text[open:end])
		at, from = end, end
	}
	b.WriteString(f(text[at:]))
	return b.String()
}

// codeEnd is where the code that width backticks at open begin ends: after as many again, in the same paragraph.
// Three or more open a block, which may have empty lines and which the text's end closes; fewer may have no
// partner: -1.
func codeEnd(text string, open, width int) int {
	block := width >= 3
	for i := open + width; i < len(text); i++ {
		if !block && strings.HasPrefix(text[i:], "\n\n") {
			return -1
		}
		if text[i] != '`' {
			continue
		}
		run := tickRun(text[i:])
		if run == width || block && run > width {
			return i + run
		}
		i += run - 1
	}
	if block {
		return len(text)
	}
	return -1
}

// tickRun is the number of backticks that s begins with.
func tickRun(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// source is message n of the prompt, as an answer cites it.
func (e *Engine) source(r *recalled, n int, channel memory.ChannelID, id memory.MessageID) Source {
	s := Source{Number: n, Channel: channel, Message: id, Place: r.names.channel(channel), Time: id.Time().In(r.settings.Zone), Unplaced: r.names.unplaced[channel]}
	for _, hit := range r.hits() {
		if hit.Message.ID == id && hit.Message.Channel == channel {
			s.Guild, s.Author = hit.Message.Guild, r.names.of(hit.Message.Author)
		}
	}
	return s
}

// hits are what was recalled for the prompt, and what tools found.
func (r *recalled) hits() []search.Hit {
	hits := slices.Clone(r.result.Hits)
	for _, h := range r.told.hits {
		hits = append(hits, h.Hit)
	}
	return hits
}

// trace is how an answer to q comes about, as far as it is known before the model has written.
func (e *Engine) trace(q Question, r *recalled) memory.Trace {
	t := memory.Trace{
		Guild: q.Guild, Channel: q.Channel, Question: q.ID, QuestionEdited: editedAt(memory.Message{Edited: q.Edited}), Asker: q.Asker,
		Mode: string(r.mode.Is), Search: r.search, Total: r.elapsed(), TextOnly: r.result.TextOnly,
	}
	numbers, sent := map[memory.MessageID]int{}, map[memory.MessageID]bool{}
	for _, n := range r.Prompt.Numbers {
		numbers[n.Message] = n.N
	}
	for _, s := range r.Prompt.Shown {
		sent[s.Message] = true
	}
	found := map[memory.MessageID]bool{}
	at := map[memory.MessageID]int{} // of hits in t.Recalled
	for _, n := range r.told.hits {
		numbers[n.Message.ID] = n.number
	}
	for _, m := range r.told.shown {
		sent[m.ID] = true
	}
	hits := r.hits()
	for _, hit := range hits {
		if found[hit.Message.ID] {
			continue // a tool found what the prompt had no room for
		}
		found[hit.Message.ID] = true
		at[hit.Message.ID] = len(t.Recalled)
		t.Recalled = append(t.Recalled, memory.TraceHit{
			Edited:  editedAt(hit.Message),
			Channel: hit.Message.Channel, Message: hit.Message.ID, Relevance: hit.Relevance, Why: reasonKinds(hit),
			Number: numbers[hit.Message.ID], Context: sent[hit.Message.ID],
		})
	}
	for _, hit := range hits {
		for _, m := range hit.Excerpt {
			if sent[m.ID] && !found[m.ID] {
				found[m.ID] = true
				t.Recalled = append(t.Recalled, memory.TraceHit{Channel: m.Channel, Message: m.ID, Context: true, Edited: editedAt(m)})
			}
		}
	}
	for _, m := range slices.Concat(r.sentSources(r.sentLore()), r.told.shown) {
		if i, hit := at[m.ID]; hit {
			t.Recalled[i].Context = true // the model was shown what was made of it
		}
		if !found[m.ID] {
			found[m.ID] = true
			t.Recalled = append(t.Recalled, memory.TraceHit{Channel: m.Channel, Message: m.ID, Context: true, Edited: editedAt(m)})
		}
	}
	for _, p := range r.sentPeople() {
		for _, f := range p.Person.Facts {
			if !slices.Contains(t.Facts, f.ID) {
				t.Facts = append(t.Facts, f.ID)
			}
		}
	}
	for _, l := range r.sentLore() {
		if slices.Contains(t.Lore, l.ID) {
			continue // a tool told what the prompt tells, and it is the same as long as it holds
		}
		t.Lore, t.LoreAt = append(t.Lore, l.ID), append(t.LoreAt, memory.FirstMessageID(l.At))
	}
	for _, s := range r.sentEarlier() {
		t.Summaries, t.SummariesMade = append(t.Summaries, s.ID), append(t.SummariesMade, s.Made.UnixMilli())
	}
	for _, m := range r.toldSession() {
		t.Recalled = append(t.Recalled, memory.TraceHit{Channel: m.Channel, Message: m.ID, Context: true, Edited: editedAt(m)})
	}
	t.Condensed, t.CondensedEdited = condensedFrom(r.sentCondensed())
	return t
}

// condensedFrom are the messages that a summary was made from, as a trace tells them.
func condensedFrom(messages []memory.Message) (ids []memory.MessageID, edited []int64) {
	for i, m := range messages {
		ids = append(ids, m.ID)
		if at := editedAt(m); at != 0 && edited == nil {
			edited = make([]int64, len(messages))
		}
		if edited != nil {
			edited[i] = editedAt(m)
		}
	}
	return ids, edited
}

// editedAt is when m was last edited, as a trace tells it.
func editedAt(m memory.Message) int64 {
	if m.Edited.IsZero() {
		return 0
	}
	return m.Edited.UnixMilli()
}
