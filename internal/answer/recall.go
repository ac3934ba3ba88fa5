package answer

import (
	"cmp"
	"context"
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
	result     search.Result                  // but for what the gate left out
	weak       []search.Hit                   // that it did
	said       map[memory.Spot]memory.Message // what the facts of the result's people, its lore and the summaries were said in
	summaries  []search.SummaryHit            // of the channel's earlier sessions, best first
	files      []attachment                   // of the question, as the model was told of them
	searchText string                         // what is searched for: the question, or what was made of it
	mode       Mode
	resolved   resolvedSettings
	unlogged   bool       // whether the session isn't from the log
	maxTokens  int        // tokens of the prompt; 0: as the builder has it
	reply      chat.Reply // what the model said last
	talk       tools.Talk
	log        *tools.CallLog
	started    time.Time
	search     time.Duration
}

// recall gathers what an answer to q is made from and has the prompt built.
func (e *Engine) recall(ctx context.Context, q Question) (*recalled, error) {
	return e.recallFor(ctx, q, "", 0)
}

// recallFor is recall, but searches for sought in the place of the question, unless it is empty, and has the prompt
// built with at most so many tokens, unless that is 0. With an error it tells what was taken of models before that.
func (e *Engine) recallFor(ctx context.Context, q Question, sought string, most int) (*recalled, error) {
	now := time.Now()
	r := &recalled{started: now, unlogged: q.Session != nil, maxTokens: most,
		log: &tools.CallLog{Question: q.forTools(), Started: now}}
	var err error
	if r.readableScope, err = e.readScope(ctx, q); err != nil {
		return r, err
	}
	r.resolved = e.resolve(r.settings)
	if r.dialogue, err = e.dialogueFor(ctx, q, r.readableScope); err != nil {
		return r, err
	}
	if r.mode, err = e.modeOf(ctx, q, r); err != nil {
		return r, err
	}
	if r.searchText = sought; sought == "" {
		r.searchText = e.rewritten(ctx, q, r)
	}
	if r.talk, err = e.offer(ctx, q, r); err != nil {
		return r, err
	}
	// What the prompt has no room for as the session may be found like anything else.
	fits := r.turnsOf(r.resolved.builder.Build(e.input(q, r)))
	if r.result, r.weak, err = e.find(ctx, q, r, r.narrowed, append(digest.IDs(fits), q.ID)); err != nil {
		return r, err
	}
	if err := e.build(ctx, q, r, fits); err != nil {
		return r, err
	}
	if len(r.shown.Session) != len(fits) { // what was found took the room, or left some
		if r.result, r.weak, err = e.findAgain(ctx, q, r, append(digest.IDs(r.shown.Session), q.ID)); err != nil {
			return r, err
		}
		if err := e.build(ctx, q, r, r.shown.Session); err != nil {
			return r, err
		}
	}
	return r, nil
}

// offer returns the tools that the model may call; none where the prompt had to be made smaller.
func (e *Engine) offer(ctx context.Context, q Question, r *recalled) (tools.Talk, error) {
	if r.resolved.model == nil || !r.resolved.Tools || r.maxTokens > 0 {
		return tools.Talk{}, nil
	}
	return e.tools.Offer(ctx, e.turn(q, r))
}

// build has the prompt built of what was found, and of the channel's earlier sessions but for what is shown of this
// one.
func (e *Engine) build(ctx context.Context, q Question, r *recalled, shown []memory.Message) (err error) {
	if r.summaries, err = e.earlierSummaries(ctx, q, r, slices.Concat(r.sources, shown)); err != nil {
		return err
	}
	if err := e.verifySources(ctx, r); err != nil {
		return err
	}
	if q.Guild == memory.DirectGuild {
		r.result.People = presentIn(r.result.People, q.Asker)
	}
	r.search = r.elapsed()
	e.layOut(q, r)
	return nil
}

// lay has the prompt built of what was found.
func (e *Engine) layOut(q Question, r *recalled) {
	e.withFiles(e.input(q, r), q, r)
	r.shown = manifestOf(r)
}

// input is what the prompt is built of, but for files.
func (e *Engine) input(q Question, r *recalled) builder.Input {
	if r.resolved.builder.Layout() == builder.LayoutPlain {
		r.dedupe()
	}
	in := History(r.result, q.Channel, r.settings.Zone, r.names.channel, r.names.of)
	r.names.nameBots(in.History)
	in.Now = q.Now.In(r.settings.Zone)
	in.Persona = r.resolved.Persona
	in.MaxTokens, in.Tools = cmp.Or(r.talk.PromptTokens(r.resolved.builder), r.maxTokens), r.talk.Names()
	in.PreviousContext = asPreviousContext(r.summaries)
	in.Mode = r.mode.Is
	in.Session = r.asTurns(q, r.names)
	if r.condensed != nil {
		in.Condensed = r.condensed.Text
	}
	in.Query = builder.Turn{Speaker: q.Name, Role: builder.RoleUser, Author: q.Asker, Time: q.Now, Content: q.Text}
	return in
}
