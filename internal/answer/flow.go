package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/answer/tools"
	"hark/internal/digest"
	"hark/memory"
)

// Answer answers q. stream, if not nil, is called with the whole text so far. If the model fails before it wrote
// anything, the answer quotes and ModelError says why; if it fails later, Answer returns the error with the text so
// far.
func (e *Engine) Answer(ctx context.Context, q Question, stream func(text string)) (Answer, error) {
	if stream == nil {
		stream = func(string) {}
	}
	ctx, cancel := context.WithCancel(withLookUps(ctx))
	q.fetched = e.fetch(ctx, q.Files)
	defer q.fetched.done.Wait()
	defer cancel()
	r, err := e.recall(ctx, q, "", 0)
	if err != nil {
		return Answer{Usage: r.log.Usage}, fmt.Errorf("%w: %w", ErrRecall, err)
	}
	e.recordQuestion(q, r)
	q = r.question
	a, err := e.write(ctx, q, r, stream)
	if err == nil {
		a.Trace.HeldBack = e.heldBack(ctx, r)
		e.noticeLong(q, r)
	}
	e.recordAnswer(r, a, err)
	a.Records = r.log.Records
	a.Usage = r.log.Usage
	a.ToolFailed = r.log.Failed
	a.Trace.Calls = r.log.Calls
	a.Ran = r.log.Ran
	a.Trace.Spent = a.Usage.Prompt + a.Usage.Completion
	return a, err
}

func (e *Engine) write(ctx context.Context, q Question, r *recalled, stream func(text string)) (Answer, error) {
	if r.resolved.model == nil {
		return e.quote(ctx, q, r, memory.NoModel)
	}
	if q.NoModel {
		return e.quote(ctx, q, r, memory.NoTokens)
	}
	full, err := e.ask(ctx, q, r, stream)
	var shortened error
	sent := r.Prompt.Report.Tokens + r.talk.SentTokens()
	most := worthwhile(smaller(sent, err), leastPrompt(r.resolved.builder), err)
	if most >= sent { // it was as short already
		most = 0
	}
	if most > 0 && strings.TrimSpace(full) == "" && ctx.Err() == nil {
		was := r.Prompt
		refused := err
		// Nothing of the first prompt was shown to anybody, so all of it is read again.
		again, recallErr := e.recall(ctx, q, r.searchText, most)
		if recallErr != nil {
			return Answer{}, fmt.Errorf("%w: %w", ErrRecall, recallErr)
		}
		again.started = r.started
		again.log = r.log
		r.log.Restart()
		*r = *again
		if !slices.Equal(was.Messages, r.Prompt.Messages) {
			shortened = fmt.Errorf("%w; the prompt of %d tokens was made again with %d", refused,
				was.Report.Tokens, r.Prompt.Report.Tokens)
			full, err = e.ask(ctx, q, r, stream)
		}
	}
	if err == nil && isNothing(full, r.numbers()) {
		full = ""
		err = ErrEmpty
	}
	if ok, checkErr := e.revalidate(ctx, q, r); !ok {
		if checkErr != nil { // what couldn't be revalidated isn't shown
			err = fmt.Errorf("look again at what an answer is made from: %w", checkErr)
		}
		r.log.Restart()
		return Answer{
			Text:       r.resolved.say(withdrawn),
			ModelError: err,
			Trace: memory.Trace{
				Guild:    q.Guild,
				Channel:  q.Channel,
				Question: q.ID,
				Sources:  q.asSource(),
				Asker:    q.Asker,
				Origin:   memory.Origin{Writer: memory.TakenBack},
			},
		}, nil
	}
	if err != nil && strings.TrimSpace(full) == "" && ctx.Err() == nil {
		// What was found may be gone, or closed, by now.
		again, quoteErr := e.recall(ctx, q, r.searchText, 0)
		if quoteErr != nil {
			return Answer{}, fmt.Errorf("%w: %w", ErrRecall, quoteErr)
		}
		r.log.Restart()
		a, quoteErr := e.quote(ctx, q, again, failedWith(err))
		a.ModelError = err
		return a, quoteErr
	}
	a := e.cite(ctx, q, r, full)
	a.Shortened = shortened
	a.Proposals = digest.Each(r.talk.Proposals, func(l memory.Lore) Proposal { return Proposal{l} })
	a.Model = r.resolved.model.Name()
	a.FallbackReason = r.reply.Instead
	if a.FallbackReason != nil {
		a.Model = r.reply.Model
	}
	a.Trace.Model = a.Model
	a.Trace.Origin = memory.Origin{Writer: memory.WrittenByModel, Found: r.found()}
	e.tracePrompt(&a.Trace, q, r)
	a.Trace.Total = r.elapsed()
	a.Cut = err == nil && e.isCut(r.reply)
	return a, err
}

// ask has the model write the answer. It returns the text so far even with an error.
func (e *Engine) ask(ctx context.Context, q Question, r *recalled, stream func(text string)) (text string, err error) {
	e.countPrompt(r.Prompt.Report)
	r.result = r.result.Only() // a model may write for minutes
	draft := manifest.Draft{Of: r.numbers()}
	shown := ""
	show := func(text string, done bool) {
		if r.began == 0 && strings.TrimSpace(text) != "" {
			r.began = r.elapsed()
		}
		if next := draft.Show(text, done); next != shown {
			shown = next
			stream(shown)
		}
	}
	text, r.reply, err = e.tools.Ask(ctx, e.turn(q, r), func(text string) { show(text, false) })
	show(text, true)
	return text, err
}

// Recall returns what would go into an answer to q. Its Usage is set even with an error.
func (e *Engine) Recall(ctx context.Context, q Question) (Recalled, error) {
	ctx = withLookUps(ctx)
	r, err := e.recall(ctx, q, "", 0)
	if err != nil {
		return Recalled{Usage: r.log.Usage}, fmt.Errorf("recall: %w", err)
	}
	out := Recalled{
		Result:   r.result,
		Left:     r.weak,
		Prompt:   r.Prompt,
		Earlier:  r.summaries,
		Mode:     r.mode,
		Settings: r.resolved.Settings,
		Usage:    r.log.Usage,
		Parts:    r.parts(),
		Took:     r.search,
	}
	if r.Prompt.Condensed {
		out.Condensed = r.condensed
	}
	if q.Operator {
		out.HeldBack = e.heldBack(ctx, r)
	}
	return out, nil
}

// recall gathers what an answer to q is made from, and builds the prompt. It searches for sought, if not empty,
// instead of the question. most bounds the prompt in tokens; 0: as the builder does. The result's log is set even
// with an error.
func (e *Engine) recall(ctx context.Context, q Question, sought string, most int) (*recalled, error) {
	now := time.Now()
	r := &recalled{
		started:   now,
		unlogged:  q.Session != nil,
		maxTokens: most,
		log:       &tools.CallLog{Question: q.forTools(), Started: now},
	}
	var err error
	r.readableScope, err = e.readScope(ctx, q)
	if err != nil {
		return r, err
	}
	r.resolved = e.resolve(ctx, r.settings, q.Layout)
	if is := r.resolved.builder.Layout(); q.Layout != "" && is != q.Layout {
		return r, fmt.Errorf("lay out the prompt as %q: the configured sections and window don't allow it", q.Layout)
	}
	r.dialogue, err = e.dialogueFor(ctx, q, r.readableScope)
	if err != nil {
		return r, err
	}
	q = r.withQuestion(q)
	r.question = q
	if q.Text == "" && len(q.Files) == 0 && q.ReplyTo != 0 {
		return r, ErrNoQuestion
	}
	r.mode, err = e.modeOf(ctx, q, r)
	if err != nil {
		return r, err
	}
	if sought == "" {
		sought = e.rewritten(ctx, q, r)
	}
	r.asked, r.searchText = r.askedAbout(q, sought)
	r.talk, err = e.offer(ctx, q, r)
	if err != nil {
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
		r.result, r.weak, err = e.findAgain(ctx, q, r, append(digest.IDs(r.shown.Session), q.ID))
		if err != nil {
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
	r.summaries, err = e.earlierSummaries(ctx, q, r, slices.Concat(r.sources, shown))
	if err != nil {
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
	in.MaxTokens = cmp.Or(r.talk.PromptTokens(r.resolved.builder), r.maxTokens)
	in.Tools = r.talk.Names()
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
	in.Query = builder.Turn{
		Speaker: q.Name,
		Role:    builder.RoleUser,
		Author:  q.Asker,
		Time:    q.Now,
		Content: r.names.named(q.Text),
	}
	in.Channel, in.Title = r.names.place(q.Channel)
	return in
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
		part := Part{
			Section: s.Type,
			Message: s.Message,
			Start:   s.Start,
			End:     s.End,
		}
		switch s.Type {
		case builder.SectionParticipants:
			p := r.result.People[s.Item].Person
			part.User = p.ID
			part.Guild = p.Guild
		case builder.SectionHistory:
			id := lines[0].Message
			lines = lines[1:]
			part.Source = memory.Source{
				Kind:    memory.SourceMessage,
				Channel: channels[id],
				ID:      int64(id),
			}
		case builder.SectionLore:
			l := r.result.Lore[s.Item].Lore
			part.Source = memory.Source{Kind: memory.SourceLore, ID: l.ID}
			part.Guild = l.Guild
		case builder.SectionPreviousContext:
			of := earlier[s.Item].Summary
			part.Source = memory.Source{
				Kind:    memory.SourceSummary,
				Channel: of.Channel,
				ID:      int64(of.ID),
			}
		case builder.SectionSession:
			m := r.turns[s.Item][0]
			part.Source = memory.Source{
				Kind:    memory.SourceMessage,
				Channel: m.Channel,
				ID:      int64(m.ID),
			}
		}
		parts = append(parts, part)
	}
	return parts
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
