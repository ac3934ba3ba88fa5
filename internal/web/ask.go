package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"time"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/imports"
	"hark/memory"
	"hark/search"
)

const (
	hitsShown = 40
	bestHits  = 8 // that are shown at once
)

// askData is a question with its form, and what would go into its answer under one or two settings.
type askData struct {
	Question string
	Channels []choiceGroup
	Modes    []builder.Mode
	Layouts  []builder.Layout
	Compare  bool
	Forms    []trial // both, to fill in
	Trials   []trial // those that were asked
	Same     bool    // what they found doesn't differ
}

// trial is what one setting makes of a question.
type trial struct {
	N      string // "" for the first, "2" for the second: the suffix of its fields
	As     string // who asks
	In     string // the channel
	Alone  bool   // only the asker sees the answer
	Mode   string
	Layout string
	Stray  string // why it isn't known who asks: the question is a stranger's
	// Everybody: only the asker was to see the answer, and nobody knows who that is, or where.
	Everybody bool
	Result    *result
	Failure   string
}

// result is what would go into an answer.
type result struct {
	answer.Recalled
	Hits      []hit // the best
	Further   []hit
	Left      int // hits too weak to show
	People    []refOf
	Lore      []loreHit
	Summaries []search.SummaryHit
	Uses      []use
	Prompt    []promptMessage
	ModeWhy   string
	ModeWords string // of the question, by which the mode was inferred
	Audience  string // the page that says who can't read what
}

// hit is a message that was found.
type hit struct {
	Ref       string // where the log shows it
	Author    refOf
	Channel   refOf
	Time      time.Time
	Body      template.HTML
	Relevance float64
	Reasons   []reason
	InPrompt  bool
	Differs   bool // the other trial didn't find it, or its prompt differs in it
}

// reason is why a message was found, as a bar.
type reason struct {
	Kind, Detail string
	Weight       float64
	Width        float64 // of 100
}

type loreHit struct {
	search.LoreHit
	URL string
}

// use is what a section of the prompt takes, drawn as a part of the budget.
type use struct {
	memory.TraceUse
	X, W    float64 // of 1000
	Colour  int
	Differs bool
}

// promptMessage is a message to the model, in parts.
type promptMessage struct {
	Role  string
	Parts []promptPart
}

type promptPart struct {
	Text    string
	URL     string // of what it tells; empty for the prompt's own words
	Differs bool
}

// ask shows what a question would recall.
func ask(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	d := askData{
		Question: v.form("q"),
		Modes:    builder.Modes(),
		Layouts:  builder.Layouts(),
		Compare:  v.form("compare") != "",
	}
	for _, g := range v.archive.Servers {
		if g.Left.IsZero() { // else Hark answers nobody there
			d.Channels = append(d.Channels, v.choicesOf(g))
		}
	}
	for _, n := range []string{"", "2"} {
		t := v.readTrial(n)
		if d.Question != "" && (n == "" || d.Compare) {
			if err := v.try(d.Question, &t); err != nil {
				return err
			}
			d.Trials = append(d.Trials, t)
		}
		d.Forms = append(d.Forms, t)
	}
	if len(d.Trials) == 2 && d.Trials[0].Result != nil && d.Trials[1].Result != nil {
		first := markDifferences(d.Trials[0].Result, d.Trials[1].Result)
		second := markDifferences(d.Trials[1].Result, d.Trials[0].Result)
		d.Same = first+second == 0
	}
	return v.show(http.StatusOK, "ask", "Ask", d)
}

// choicesOf returns the channels of a server to choose from, each followed by its threads.
func (v *visit) choicesOf(g *memory.Guild) choiceGroup {
	group := choiceGroup{Name: v.guildRef(g.ID).Name}
	for _, c := range inOrder(g) {
		name := v.channelRef(g.ID, c.ID).Name
		switch {
		case isStray(g, c):
			name = "(thread) " + name
		case c.Kind.IsThread():
			name = "↳ " + name
		}
		if c.Kind != memory.CategoryChannel {
			group.Choices = append(group.Choices, choice{c.ID.String(), name})
		}
	}
	return group
}

// readTrial reads the settings of a trial.
func (v *visit) readTrial(n string) trial {
	return trial{
		N:      n,
		As:     v.form("as" + n),
		In:     v.form("in" + n),
		Alone:  v.form("alone"+n) != "",
		Mode:   v.form("mode" + n),
		Layout: v.form("layout" + n),
	}
}

// try asks under the settings of a trial.
func (v *visit) try(question string, t *trial) error {
	n := t.N
	q := answer.Question{
		Guild:    memory.LocalGuild,
		Channel:  1,
		Text:     question,
		Now:      time.Now(),
		Operator: true,
		Mode:     builder.Mode(t.Mode),
		Layout:   builder.Layout(t.Layout),
		Limit:    hitsShown,
	}
	if q.Mode != "" && !q.Mode.Known() {
		return complain("there is no mode %q", t.Mode)
	}
	if q.Layout != "" && !slices.Contains(builder.Layouts(), q.Layout) {
		return complain("there is no layout %q", t.Layout)
	}
	if t.In == "" { // the operator's own view
		q.Everywhere = true
	} else {
		channel, err := id[memory.ChannelID](v, "in"+n)
		if err != nil {
			return err
		}
		g, _, err := v.channelOf(channel)
		if err != nil {
			return complain("there is no channel %s", t.In)
		}
		q.Guild = g.ID
		q.Channel = channel
	}
	v.askAs(&q, t)
	t.Everybody = t.Alone && !q.OnlyAsker
	if v.Live != nil {
		q.RoleSets = v.Live().RoleSets
	}
	if q.Everywhere {
		q.Channel = 0 // it continues no session
	}
	if v.Live == nil { // else the bot does it
		_ = v.app.IndexFew(v.ctx) // what can't be indexed now is found by its words
	}
	r, err := v.app.Answers.Recall(v.ctx, q)
	if v.ctx.Err() != nil {
		return err
	}
	if err != nil {
		t.Failure = err.Error()
		return nil
	}
	t.Result = v.resultOf(q, r)
	return nil
}

// askAs makes somebody the asker: by their name or id, else a stranger.
func (v *visit) askAs(q *answer.Question, t *trial) {
	if t.As == "" {
		return
	}
	within := q.Guild
	if q.Everywhere {
		within = memory.Everywhere
	}
	user, known, err := v.archive.FindPerson(v.ctx, within, t.As)
	if err != nil || len(known) == 0 {
		t.Stray = fmt.Sprintf("nobody is known as %q", t.As)
		q.Asker = imports.UserID(t.As)
		q.Name = t.As
		if err != nil {
			t.Stray = err.Error()
		}
		return
	}
	q.Asker = user
	q.Name = cmp.Or(known[0].DisplayName(), t.As)
	q.OnlyAsker = t.Alone && !q.Everywhere
	if known[0].RolesKnown {
		q.Roles = known[0].Roles
		if q.Roles == nil {
			q.Roles = []memory.RoleID{} // known to be none
		}
	}
}

func (v *visit) resultOf(q answer.Question, r answer.Recalled) *result {
	out := &result{
		Recalled:  r,
		Left:      len(r.Left),
		Summaries: r.Earlier,
		ModeWhy:   r.Mode.Reason(),
	}
	if r.Mode.By == answer.ModeQuestion {
		out.ModeWords = r.Mode.Why
	}
	if q.Guild != memory.LocalGuild {
		out.Audience = audienceURL(q.Guild, q.Channel)
	}
	shown := map[memory.MessageID]bool{}
	for _, s := range r.Prompt.Shown {
		shown[s.Message] = true
	}
	most := 0.0
	for _, h := range r.Result.Hits {
		most = max(most, weightOf(h))
	}
	for _, h := range r.Result.Hits {
		m := h.Message
		one := hit{
			Ref:       messageURL(m.Guild, m.Channel, m.ID),
			Author:    v.personRef(m.Guild, m.Author),
			Channel:   v.channelRef(m.Guild, m.Channel),
			Time:      m.Time(),
			Body:      v.markup(m.Guild, m.Text()),
			Relevance: h.Relevance,
			InPrompt:  shown[m.ID],
		}
		for _, w := range h.Why {
			one.Reasons = append(one.Reasons, reason{cmp.Or(reasonNames[w.Kind], w.Kind), w.Detail, w.Weight,
				100 * w.Weight / max(most, 0.01)})
		}
		out.Hits = append(out.Hits, one)
	}
	if len(out.Hits) > bestHits {
		out.Further = out.Hits[bestHits:]
		out.Hits = out.Hits[:bestHits]
	}
	for _, p := range r.Result.People {
		out.People = append(out.People, v.personRef(p.Person.Guild, p.Person.ID))
	}
	for _, l := range r.Result.Lore {
		out.Lore = append(out.Lore, loreHit{l, loreURL(l.Lore.Guild, l.Lore.ID)})
	}
	out.Uses = usesOf(answer.SectionUses(r.Prompt.Report), r.Prompt.Report.MaxTokens)
	kept := answer.KeptPrompt(r.Prompt)
	parts := make([][]linked, len(kept.Messages))
	for _, p := range r.Parts {
		parts[p.Message] = append(parts[p.Message], linked{p.Start, p.End, v.sourceURL(p)})
	}
	out.Prompt = promptOf(kept, parts)
	return out
}

// reasonNames say why a message was found.
var reasonNames = map[string]string{"around": "its neighbours", "author": "who wrote it", "name": "whom it names",
	"answers": "answers the question before it", "form": "the kind of answer", "starred": "marked important",
	"channel": "the question names its channel", "linked": "the question links to it"}

func weightOf(h search.Hit) (sum float64) {
	for _, w := range h.Why {
		sum += w.Weight
	}
	return sum
}

// sourceURL is where a page shows what a part of a prompt tells.
func (v *visit) sourceURL(p answer.Part) string {
	s := p.Source
	switch s.Kind {
	case memory.SourceMessage, memory.SourceSummary:
		if g, _, err := v.channelOf(s.Channel); err == nil {
			return messageURL(g.ID, s.Channel, memory.MessageID(s.ID))
		}
	case memory.SourceLore:
		return loreURL(p.Guild, s.ID)
	default:
		if p.User != 0 {
			return v.personRef(p.Guild, p.User).URL
		}
	}
	return ""
}

// linked is a part of a message's content with a link.
type linked struct {
	start, end int
	url        string
}

// promptOf splits a prompt's messages into linked parts and the text between them.
func promptOf(p memory.Prompt, parts [][]linked) []promptMessage {
	out := make([]promptMessage, len(p.Messages))
	for i, m := range p.Messages {
		out[i].Role = m.Role
		at := 0
		add := func(end int, url string) {
			if at < end {
				out[i].Parts = append(out[i].Parts, promptPart{Text: m.Content[at:end], URL: url})
			}
			at = max(at, end)
		}
		if i < len(parts) {
			for _, l := range parts[i] {
				add(l.start, "")
				add(l.end, l.url)
			}
		}
		add(len(m.Content), "")
	}
	return out
}

// usesOf draws the sections as parts of the budget.
func usesOf(uses []memory.TraceUse, most int) []use {
	const whole = 1000
	total := 0
	for _, u := range uses {
		total += u.Tokens
	}
	out := make([]use, len(uses))
	at := 0.0
	for i, u := range uses {
		w := whole * float64(u.Tokens) / float64(max(1, most, total))
		out[i] = use{
			TraceUse: u,
			X:        at,
			W:        w,
			Colour:   i % maxSeries,
		}
		at += w
	}
	return out
}

// markDifferences marks what is in r and not in other, and returns how much that is.
func markDifferences(r, other *result) (n int) {
	found := map[string]bool{}
	for _, h := range slices.Concat(other.Hits, other.Further) {
		found[h.Ref] = h.InPrompt
	}
	for _, hits := range [][]hit{r.Hits, r.Further} {
		for i, h := range hits {
			inPrompt, there := found[h.Ref]
			hits[i].Differs = !there || inPrompt != h.InPrompt
			n += one(hits[i].Differs)
		}
	}
	for i, u := range r.Uses {
		r.Uses[i].Differs = !slices.ContainsFunc(other.Uses, func(o use) bool {
			return o.Section == u.Section && o.Tokens == u.Tokens && o.Included == u.Included && o.Dropped == u.Dropped
		})
		n += one(r.Uses[i].Differs)
	}
	// A line with a link is what it links to: its number and marks don't count.
	told := map[string]bool{}
	for _, m := range other.Prompt {
		for _, p := range m.Parts {
			told[cmp.Or(p.URL, p.Text)] = true
		}
	}
	for _, m := range r.Prompt {
		for i, p := range m.Parts {
			m.Parts[i].Differs = !told[cmp.Or(p.URL, p.Text)]
			n += one(m.Parts[i].Differs)
		}
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
