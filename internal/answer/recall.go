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
	reach
	dialogue  // what was said before the question
	Prompt    builder.Prompt
	shown     manifest.Manifest
	result    search.Result                  // but for what the gate left out
	left      []search.Hit                   // that it did
	said      map[memory.Spot]memory.Message // what the facts of the result's people, its lore and the summaries were said in
	summaries []search.SummaryHit            // of the channel's earlier sessions, best first
	files     []attachment                   // of the question, as the model was told of them
	sought    string                         // what is searched for: the question, or what was made of it
	mode      Mode
	voice     voice
	unlogged  bool       // whether the session isn't from the log
	most      int        // tokens of the prompt; 0: as the builder has it
	reply     chat.Reply // what the model said last
	talk      tools.Talk
	log       *tools.CallLog
	started   time.Time
	search    time.Duration
}

func (r *recalled) elapsed() time.Duration { return time.Since(r.started) }

// recall gathers what an answer to q is made from and has the prompt built.
func (e *Engine) recall(ctx context.Context, q Question) (*recalled, error) {
	return e.recallFor(ctx, q, "", 0)
}

// recallFor is recall, but searches for sought in the place of the question, unless it is empty, and has the prompt
// built with at most so many tokens, unless that is 0. With an error it tells what was taken of models before that.
func (e *Engine) recallFor(ctx context.Context, q Question, sought string, most int) (*recalled, error) {
	now := time.Now()
	r := &recalled{started: now, unlogged: q.Session != nil, most: most,
		log: &tools.CallLog{Question: q.forTools(), Started: now}}
	var err error
	if r.reach, err = e.readable(ctx, q); err != nil {
		return r, err
	}
	r.voice = e.voice(r.settings)
	if r.dialogue, err = e.dialogueBefore(ctx, q, r.reach); err != nil {
		return r, err
	}
	if r.mode, err = e.modeOf(ctx, q, r); err != nil {
		return r, err
	}
	if r.sought = sought; sought == "" {
		r.sought = e.rewritten(ctx, q, r)
	}
	if r.talk, err = e.offer(ctx, q, r); err != nil {
		return r, err
	}
	// What the prompt has no room for as the session may be found like anything else.
	fits := r.turnsOf(r.voice.builder.Build(e.input(q, r)))
	if r.result, r.left, err = e.find(ctx, q, r, r.asked, append(digest.IDs(fits), q.ID)); err != nil {
		return r, err
	}
	if err := e.build(ctx, q, r, fits); err != nil {
		return r, err
	}
	if len(r.shown.Session) != len(fits) { // what was found took the room, or left some
		if r.result, r.left, err = e.findAgain(ctx, q, r, append(digest.IDs(r.shown.Session), q.ID)); err != nil {
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
	if r.voice.model == nil || !r.voice.Tools || r.most > 0 {
		return tools.Talk{}, nil
	}
	return e.tools.Offer(ctx, e.turn(q, r))
}

// turnsOf are the messages of the session, and of what it goes back to, that a prompt shows.
func (r *recalled) turnsOf(p builder.Prompt) (session []memory.Message) {
	for _, i := range p.Turns {
		session = append(session, r.turns[i]...)
	}
	return session
}

// build has the prompt built of what was found, and of the channel's earlier sessions but for what is shown of this
// one.
func (e *Engine) build(ctx context.Context, q Question, r *recalled, shown []memory.Message) (err error) {
	if r.summaries, err = e.earlier(ctx, q, r, slices.Concat(r.sources, shown)); err != nil {
		return err
	}
	if err := e.settle(ctx, r); err != nil {
		return err
	}
	if q.Guild == memory.DirectGuild {
		r.result.People = presentIn(r.result.People, q.Asker)
	}
	r.search = r.elapsed()
	e.lay(q, r)
	return nil
}

// lay has the prompt built of what was found.
func (e *Engine) lay(q Question, r *recalled) {
	e.withFiles(e.input(q, r), q, r)
	r.shown = manifestOf(r)
}

// input is what the prompt is built of, but for files.
func (e *Engine) input(q Question, r *recalled) builder.Input {
	if r.voice.builder.Layout() == builder.LayoutPlain {
		r.sayOnce()
	}
	in := History(r.result, q.Channel, r.settings.Zone, r.names.channel, r.names.of)
	r.names.name(in.History)
	in.Now = q.Now.In(r.settings.Zone)
	in.Persona = r.voice.Persona
	in.MaxTokens, in.Tools = cmp.Or(r.talk.PromptTokens(r.voice.builder), r.most), r.talk.Names()
	in.PreviousContext = asEarlier(r.summaries)
	in.Mode = r.mode.Is
	in.Session = r.asTurns(q, r.names)
	if r.condensed != nil {
		in.Condensed = r.condensed.Text
	}
	in.Query = builder.Turn{Speaker: q.Name, Role: builder.RoleUser, Author: q.Asker, Time: q.Now, Content: q.Text}
	return in
}

// presentIn are those of people who have written in the direct message asked in: nobody is told who else writes to
// Hark.
func presentIn(people []search.Participant, asker memory.UserID) []search.Participant {
	return slices.DeleteFunc(people, func(p search.Participant) bool {
		return p.Person.ID != asker && p.Presence.Messages == 0
	})
}

// included is how many items of a section are in the prompt.
func (r *recalled) included(section builder.SectionType) int {
	for _, s := range r.Prompt.Report.Sections {
		if s.Type == section {
			return s.Included
		}
	}
	return 0
}

// find searches, and tells what of that is worth using, and the hits that aren't. It leaves out whoever has opted out.
// Lore is there only where it is called, or holds half of what is asked.
func (e *Engine) find(ctx context.Context, q Question, r *recalled, scope memory.Scope,
	skip []memory.MessageID) (result search.Result, left []search.Hit, err error) {
	if result, err = e.search.Search(ctx, e.query(q, r, scope, skip)); err != nil {
		return search.Result{}, nil, err
	}
	return e.mayUse(ctx, q, r, result, search.Result.Worth)
}

// sureHits are the hits of a result that may be quoted: what too little was found of isn't an answer.
func sureHits(result search.Result) []search.Hit {
	if result.Declined {
		return nil
	}
	return result.Hits
}

// findAgain is what was found, with other messages skipped, and without those that were deleted since.
func (e *Engine) findAgain(ctx context.Context, q Question, r *recalled,
	skip []memory.MessageID) (result search.Result, left []search.Hit, err error) {
	there := func(ctx context.Context, hits []search.Hit) ([]search.Hit, error) { // as far as is known here
		return hitsLeft(ctx, hits, consents{e.log.Log, r.consents.in}.still)
	}
	if result, err = e.search.Again(ctx, r.result, skip, there); err != nil {
		return search.Result{}, nil, err
	}
	return e.mayUse(ctx, q, r, result, search.Result.Worth)
}

// mayUse is what may be used of a result, and of its hits those worth using, as they are now. The others are left as
// they were, and nowhere looked up.
func (e *Engine) mayUse(ctx context.Context, q Question, r *recalled, result search.Result,
	worth func(search.Result) (worth, left []search.Hit)) (_ search.Result, left []search.Hit, err error) {
	if len(q.Filter.In) > 0 { // what was told for the whole guild wasn't said there
		result.Lore = slices.DeleteFunc(result.Lore, func(hit search.LoreHit) bool { return hit.Lore.Channel == 0 })
	}
	if result, err = r.consents.of(ctx, result); err != nil {
		return search.Result{}, nil, err
	}
	ofHark := asksWhatWasAsked(q.Text)
	result.Declined = result.Declined && !ofHark          // its words aren't those that were used
	if result.Hits, left = worth(result); len(left) > 0 { // whoever wrote only what isn't used isn't introduced
		result.People = slices.DeleteFunc(slices.Clone(result.People), func(p search.Participant) bool {
			return !p.Main && !slices.ContainsFunc(result.Hits,
				func(h search.Hit) bool { return h.Message.Author == p.Person.ID })
		})
	}
	result.Hits, err = hitsLeft(ctx, result.Hits, e.upstream.now)
	if err != nil || ofHark {
		return result, left, err
	}
	result.Hits, err = digest.Keep(result.Hits, func(h search.Hit) (bool, error) {
		put, err := e.putToHark(ctx, r, h.Message)
		return !put, err
	})
	return result, left, err
}

func (e *Engine) query(q Question, r *recalled, scope memory.Scope, skip []memory.MessageID) search.Query {
	now := q.Now
	if asked := q.ID.Time().Add(time.Millisecond); q.ID != 0 && asked.After(now) {
		now = asked // our clock is behind that of whoever gave out the id
	}
	return search.Query{
		Text: r.sought, Now: now.In(r.settings.Zone), Asker: q.Asker, Mentions: q.Mentions,
		Guilds: r.guilds, Scope: scope, Skip: skip, Session: r.session, Limit: q.Limit, Local: q.Local,
		Seeks: r.mode.Is == builder.ModeSearch, Behind: r.askedOfHark(q),
		Opened: slices.ContainsFunc(scope.Channels, func(c memory.ChannelID) bool {
			return !slices.Contains(r.scope.Channels, c)
		}),
	}
}
