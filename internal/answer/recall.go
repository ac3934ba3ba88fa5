package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/answer/tools"
	"hark/internal/chat"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// recalled is all that an answer is made from.
type recalled struct {
	readableScope
	dialogue   // what was said before the question
	Prompt     builder.Prompt
	shown      manifest.Manifest
	result     search.Result // without weak
	weak       []search.Hit  // that it did
	titles     titles
	said       map[memory.MessageRef]memory.Message // sources of facts, lore and summaries, and what began the threads
	summaries  []search.SummaryHit                  // of the channel's earlier sessions, best first
	files      []attachment                         // of the question, as the model was told of them
	searchText string                               // the question, or as rewritten
	asked      inquiry                              // what it asks about
	question   Question                             // with the text of the message that it replies to, if it has none
	repliedBy  authors                              // of messages that others reply to
	mode       Mode
	resolved   resolvedSettings
	unlogged   bool       // whether the session isn't logged
	maxTokens  int        // of the prompt; 0: as the builder does
	reply      chat.Reply // what the model said last
	talk       tools.Talk
	log        *tools.CallLog
	started    time.Time
	search     time.Duration
	built      time.Duration // when the prompt was built, since started
	began      time.Duration // when the model began to write; 0: it hasn't
}

// recall gathers what an answer to q is made from, and builds the prompt. It searches for sought, if not empty,
// instead of the question. most bounds the prompt in tokens; 0: as the builder does. The result's log is set even
// with an error.
func (e *Engine) recall(ctx context.Context, q Question, sought string, most int) (*recalled, error) {
	now := time.Now()
	r := &recalled{started: now, unlogged: q.Session != nil, maxTokens: most,
		log: &tools.CallLog{Question: q.forTools(), Started: now}}
	var err error
	if r.readableScope, err = e.readScope(ctx, q); err != nil {
		return r, err
	}
	r.resolved = e.resolve(ctx, r.settings, q.Layout)
	if is := r.resolved.builder.Layout(); q.Layout != "" && is != q.Layout {
		return r, fmt.Errorf("lay out the prompt as %q: the configured sections and window don't allow it", q.Layout)
	}
	if r.dialogue, err = e.dialogueFor(ctx, q, r.readableScope); err != nil {
		return r, err
	}
	q = r.withQuestion(q)
	r.question = q
	if q.Text == "" && len(q.Files) == 0 && q.ReplyTo != 0 {
		return r, ErrNoQuestion
	}
	if r.mode, err = e.modeOf(ctx, q, r); err != nil {
		return r, err
	}
	if sought == "" {
		sought = e.rewritten(ctx, q, r)
	}
	r.asked, r.searchText = r.askedAbout(q, sought)
	if r.talk, err = e.offer(ctx, q, r); err != nil {
		return r, err
	}
	if err := e.readReplied(ctx, q, r, r.session); err != nil {
		return r, err
	}
	// What the session has no room for may be found like anything else.
	fits := r.turnsOf(r.resolved.builder.Build(e.input(q, r)))
	r.result, r.weak, err = e.findAsked(ctx, q, r, append(digest.IDs(fits), q.ID))
	if err != nil {
		return r, err
	}
	if err := e.build(ctx, q, r, fits); err != nil {
		return r, err
	}
	if len(r.shown.Session) != len(fits) { // the hits changed the session's room
		if r.result, r.weak, err = e.findAgain(ctx, q, r, append(digest.IDs(r.shown.Session), q.ID)); err != nil {
			return r, err
		}
		if err := e.build(ctx, q, r, r.shown.Session); err != nil {
			return r, err
		}
	}
	return r, nil
}

// offer returns the tools that the model may call; none beside a prompt that had to be made smaller.
func (e *Engine) offer(ctx context.Context, q Question, r *recalled) (tools.Talk, error) {
	if r.resolved.model == nil || !r.resolved.Tools || r.maxTokens > 0 {
		return tools.Talk{}, nil
	}
	return e.tools.Offer(ctx, e.turn(q, r))
}

// build builds the prompt from what was found and earlier summaries, except of the messages shown.
func (e *Engine) build(ctx context.Context, q Question, r *recalled, shown []memory.Message) (err error) {
	if r.summaries, err = e.earlierSummaries(ctx, q, r, slices.Concat(r.sources, shown)); err != nil {
		return err
	}
	r.titles = r.titlesFor(q)
	if err := e.verifySources(ctx, r, r.titles.openings()...); err != nil {
		return err
	}
	if err := e.readReplied(ctx, q, r, excerptsOf(r.result.Hits)); err != nil {
		return err
	}
	if q.Guild == memory.DirectGuild {
		r.result.People = presentIn(r.result.People, q.Asker)
	}
	r.search = r.elapsed()
	e.layOut(q, r)
	return nil
}

func (e *Engine) layOut(q Question, r *recalled) {
	e.withFiles(e.input(q, r), q, r)
	r.shown = manifestOf(r)
	r.titles.addTo(&r.shown, q.Channel, r.said)
	r.built = r.elapsed()
	if m, there := r.replied(q); there && !r.unlogged {
		r.shown.Add(m)
	}
}

// input returns what the prompt is built from, without files.
func (e *Engine) input(q Question, r *recalled) builder.Input {
	if r.resolved.builder.Layout() == builder.LayoutPlain {
		r.dedupe()
	}
	in := (&turn{e, q, r}).Input(r.result)
	r.nameOriginals(in.History)
	in.Persona = r.resolved.Persona
	in.MaxTokens, in.Tools = cmp.Or(r.talk.PromptTokens(r.resolved.builder), r.maxTokens), r.talk.Names()
	in.PreviousContext = asPreviousContext(r.summaries)
	for i := range in.PreviousContext {
		in.PreviousContext[i].Text = r.names.named(in.PreviousContext[i].Text)
	}
	in.Mode = r.mode.Is
	in.Session = r.asTurns(q, r.names)
	for i, messages := range r.turns {
		in.Session[i].ReplyTo = r.repliesTo(messages[0])
	}
	in.Replied = r.quotedReply(q)
	if r.condensed != nil {
		in.Condensed = r.names.named(r.condensed.Text)
	}
	in.Query = builder.Turn{Speaker: q.Name, Role: builder.RoleUser, Author: q.Asker, Time: q.Now,
		Content: r.names.named(q.Text)}
	in.Channel, in.Title = r.names.place(q.Channel)
	return in
}

func manifestOf(r *recalled) manifest.Manifest {
	m := manifest.New()
	m.Hits = slices.Clone(r.result.Hits)
	m.People = slices.Clip(r.result.People[:min(len(r.result.People), r.included(builder.SectionParticipants))])
	for _, n := range r.Prompt.Numbers {
		m.SetNumber(n.Message, n.N)
	}
	shown := map[memory.MessageID]bool{}
	for _, s := range r.Prompt.Shown {
		shown[s.Message] = true
	}
	for _, hit := range r.result.Hits {
		for _, said := range hit.Excerpt {
			if shown[said.ID] {
				m.Add(said)
				r.addOriginal(&m, said)
			}
		}
	}
	m.Lore = loreOf(r.result.Lore[:min(len(r.result.Lore), r.included(builder.SectionLore))])
	m.Summaries = summariesOf(r.summaries[:min(len(r.summaries), r.included(builder.SectionPreviousContext))])
	m.AddSources(r.said, manifest.SourcesOf(m.People, m.Lore, m.Summaries))
	m.Session = r.turnsOf(r.Prompt)
	if !r.unlogged {
		m.Add(m.Session...)
		m.Files = r.fileSources()
		m.Add(m.Files...)
	}
	if r.Prompt.Condensed {
		m.Condensed = r.sources
		m.Add(r.sources...)
	}
	return m
}

// parts returns the parts of the prompt that stand for something that is kept.
func (r *recalled) parts() []Part {
	channels := map[memory.MessageID]memory.ChannelID{}
	for _, hit := range r.result.Hits {
		for _, m := range hit.Excerpt {
			channels[m.ID] = m.Channel
		}
	}
	earlier := slices.SortedFunc(slices.Values(r.summaries), oldestFirst)
	lines := r.Prompt.Shown
	var parts []Part
	for _, s := range r.Prompt.Spans {
		part := Part{Section: s.Type, Message: s.Message, Start: s.Start, End: s.End}
		switch s.Type {
		case builder.SectionParticipants:
			p := r.result.People[s.Item].Person
			part.User, part.Guild = p.ID, p.Guild
		case builder.SectionHistory:
			id := lines[0].Message
			lines = lines[1:]
			part.Source = memory.Source{Kind: memory.SourceMessage, Channel: channels[id], ID: int64(id)}
		case builder.SectionLore:
			l := r.result.Lore[s.Item].Lore
			part.Source, part.Guild = memory.Source{Kind: memory.SourceLore, ID: l.ID}, l.Guild
		case builder.SectionPreviousContext:
			of := earlier[s.Item].Summary
			part.Source = memory.Source{Kind: memory.SourceSummary, Channel: of.Channel, ID: int64(of.ID)}
		case builder.SectionSession:
			m := r.turns[s.Item][0]
			part.Source = memory.Source{Kind: memory.SourceMessage, Channel: m.Channel, ID: int64(m.ID)}
		}
		parts = append(parts, part)
	}
	return parts
}

func loreOf(hits []search.LoreHit) []memory.Lore {
	return digest.Each(hits, func(h search.LoreHit) memory.Lore { return h.Lore })
}

func summariesOf(hits []search.SummaryHit) []memory.Summary {
	return digest.Each(hits, func(h search.SummaryHit) memory.Summary { return h.Summary })
}

// turnsOf returns the messages of the session, and those it goes back to, that p shows.
func (r *recalled) turnsOf(p builder.Prompt) (session []memory.Message) {
	for _, i := range p.Turns {
		session = append(session, r.turns[i]...)
	}
	return session
}

func (r *recalled) included(section builder.SectionType) int {
	for _, s := range r.Prompt.Report.Sections {
		if s.Type == section {
			return s.Included
		}
	}
	return 0
}

// fileSources returns the logged messages, except the question, whose files the model was shown.
func (r *recalled) fileSources() []memory.Message {
	if r.unlogged {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.session), func(m memory.Message) bool {
		return !slices.ContainsFunc(r.files, func(f attachment) bool { return f.Message == m.ID })
	})
}
