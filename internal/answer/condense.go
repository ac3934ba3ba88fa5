package answer

import (
	"context"
	"slices"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
)

const minCondensed = 4 // turns; fewer are never condensed

// A session that has dueTenths of its tokens is condensed: its oldest condenseTenths become a summary.
const (
	dueTenths      = 7
	condenseTenths = 4
)

// noticeLong reports the session if it may be too long. It keeps no text of the question.
func (e *Engine) noticeLong(q Question, r *recalled) {
	if e.options.Long == nil || r.resolved.model == nil || q.NoModel || q.Session != nil || !r.here ||
		!e.isDue(r.resolved, r.turns[r.older:], r.names) {
		return
	}
	at := Question{
		ID:        q.ID,
		Guild:     q.Guild,
		Channel:   q.Channel,
		Now:       q.Now,
		WaitReady: q.WaitReady,
		Attended:  q.Attended,
		RoleSets:  q.RoleSets,
	}
	e.options.Long(q.Channel, func(ctx context.Context) (*digest.Part, error) { return e.longPart(ctx, at) })
}

// isDue reports whether there are CondenseTurns turns, or they take 70 % of the session's tokens.
func (e *Engine) isDue(v resolvedSettings, turns [][]memory.Message, n names) bool {
	if due := e.options.CondenseTurns; len(turns) >= due || len(turns) < minCondensed {
		return len(turns) >= due
	}
	in := digest.Each(turns, func(messages []memory.Message) builder.Turn { return asTurn(messages, n) })
	tokens, room := v.builder.SessionUse(in)
	return 10*tokens >= dueTenths*room
}

// olderPart returns the oldest 40 % of the turns; of more than due turns, all but the newest 60 % of due. It returns
// at most digest.PartMost messages.
func olderPart(turns [][]memory.Message, due int) []memory.Message {
	n := min(len(turns), due)
	kept := n - n*condenseTenths/10
	part := slices.Concat(turns[:len(turns)-kept]...)
	return part[:min(len(part), digest.PartMost)]
}

// longPart returns the part of a session to condense, with the model that answers there; nil if the session isn't
// long. It takes only what a public answer there may use.
func (e *Engine) longPart(ctx context.Context, q Question) (*digest.Part, error) {
	now, err := e.readScope(ctx, q)
	v := e.resolve(ctx, now.settings, "")
	if err != nil || !now.here || v.model == nil { // the model setting has changed
		return nil, err
	}
	_, sitting, err := e.sessionBefore(ctx, q, now)
	if err != nil {
		return nil, err
	}
	t, said, err := e.dialogueIn(ctx, q, now, sitting)
	turns := joined(said, sitting)
	if err != nil || !e.isDue(v, turns, now.names) {
		return nil, err
	}
	return &digest.Part{
		Guild:    q.Guild,
		Channel:  q.Channel,
		Messages: olderPart(turns, e.options.CondenseTurns),
		Before:   t.condensed,
		Sources:  t.sources,
		Name:     now.names.of,
		Model:    v.model,
		Builder:  v.builder,
		Holds: func(ctx context.Context, messages []memory.Message) (bool, error) {
			now, err := e.readScope(ctx, q)
			if err != nil || !now.here {
				return false, err
			}
			left, err := now.audienceIn(q.Channel, t.from).usable(ctx, slices.Clone(messages))
			return len(left) == len(messages), err
		},
	}, nil
}

// findCondensed sets t's condensed part, if all its sources may be used, and returns the audience that judged them.
func (e *Engine) findCondensed(ctx context.Context, q Question, now readableScope, sitting []memory.Message,
	t *dialogue) (*answerAudience, error) {
	if e.options.Long == nil || len(sitting) == 0 {
		return nil, nil
	}
	all, err := e.log.Condensed(ctx, q.Channel)
	if err != nil || len(all) == 0 || all[0].Sources[0].Message < now.attended {
		return nil, err
	}
	c := all[0]
	if !digest.Has(sitting, c.Until) {
		return nil, nil // it is another session's, or too much was said since
	}
	ids := digest.Each(c.Sources, func(s memory.SummarySource) memory.MessageID { return s.Message })
	sources, err := e.log.Around(ctx, q.Channel, ids, 0, 0)
	if err != nil {
		return nil, err
	}
	from := min(t.from, ids[0])
	own := now.audienceIn(q.Channel, from)
	sources, err = own.usable(ctx, slices.Clone(sources))
	if err != nil || !slices.Equal(memory.SourcesOf(sources), c.Sources) {
		return nil, err
	}
	if ok, err := now.consents.mentionsAgree(ctx, q.Guild, sources); !ok || err != nil {
		return nil, err
	}
	t.condensed = &c
	t.sources = sources
	t.from = from
	return own, nil
}

// dialogueFor returns what was said before the question since the last silence, and what that goes back to. An
// operator sees no direct messages.
func (e *Engine) dialogueFor(ctx context.Context, q Question, now readableScope) (dialogue, error) {
	if q.Operator && q.Guild == memory.DirectGuild {
		return dialogue{}, nil
	}
	before, sitting, err := e.sessionBefore(ctx, q, now)
	if err != nil {
		return dialogue{}, err
	}
	t, said, err := e.dialogueIn(ctx, q, now, sitting)
	if err != nil {
		return dialogue{}, err
	}
	said = slices.DeleteFunc(slices.Clone(said),
		func(m memory.Message) bool { return isNotice(m) && m.ID != q.ReplyTo })
	turns := joined(said, sitting)
	turns = turns[max(0, len(turns)-e.options.SessionTurns):]
	var older []memory.Message
	if q.Session != nil {
		older = e.unloggedChain(q, before, slices.Concat(turns...))
	} else if older, err = e.olderThan(ctx, q, now, t, slices.Concat(turns...)); err != nil {
		return dialogue{}, err
	}
	older = q.withReplied(older, slices.Concat(turns...), now.attended)
	t.older = len(older)
	t.turns = append(digest.Each(older, func(m memory.Message) []memory.Message {
		return []memory.Message{m}
	}), turns...)
	t.session = slices.Concat(t.turns...)
	return t, nil
}

// dialogueIn returns a dialogue without its turns, and the uncondensed messages that may be shown.
func (e *Engine) dialogueIn(ctx context.Context, q Question, now readableScope, sitting []memory.Message) (t dialogue,
	said []memory.Message, err error) {
	t.from = askedAt(q)
	if q.Session != nil {
		return t, sitting, nil
	}
	if len(sitting) > 0 {
		t.from = sitting[0].ID
	}
	own, err := e.findCondensed(ctx, q, now, sitting, &t)
	if err != nil {
		return t, nil, err
	}
	if t.condensed == nil {
		own = now.audienceIn(q.Channel, t.from)
	} else {
		sitting = digest.After(sitting, t.condensed.Until)
	}
	said, err = own.repeatable(ctx, sitting)
	return t, said, err
}
