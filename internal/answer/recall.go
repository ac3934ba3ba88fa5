package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
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

// reach is what may be used in an answer at this moment.
type reach struct {
	guilds   []memory.GuildID
	scope    memory.Scope
	asked    memory.Scope // what of it the question is about
	channels map[memory.ChannelID]memory.Channel
	closed   []memory.ChannelID // what is remembered beyond scope, as far as the question is about it
	here     bool               // whether what was logged of the channel asked in may be used at all
	attended memory.MessageID   // what was said there before this is used as any other past, and isn't of the session
	names    names
	consents consents
	lore     map[int64]memory.Lore // what the guilds were told, by id
	hidden   map[int64]bool        // facts that may not be told
	settings Settings              // of the channel asked in
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

// places are messages to be looked at, by channel, each once.
type places map[memory.ChannelID][]memory.MessageID

func (p places) add(spots ...memory.Spot) {
	for _, at := range spots {
		if at.Message != 0 && !slices.Contains(p[at.Channel], at.Message) {
			p[at.Channel] = append(p[at.Channel], at.Message)
		}
	}
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

// readable is what may be used in an answer to q, and the names of who and what is there. Of a guild that removed Hark
// it is nothing.
func (e *Engine) readable(ctx context.Context, q Question) (reach, error) {
	if q.Settled != nil {
		if err := q.Settled(ctx); err != nil {
			return reach{}, err
		}
	}
	now := reach{guilds: []memory.GuildID{q.Guild}, names: newNames(),
		consents: consents{log: e.log, in: map[member]bool{}}, settings: e.settings(), attended: math.MaxInt64}
	if q.Everywhere && q.Operator {
		var err error
		if now.guilds, err = e.log.Guilds(ctx); err != nil {
			return reach{}, err
		}
	}
	if q.Guild == memory.DirectGuild {
		now.attended = 0
	}
	all := map[memory.ChannelID]memory.Channel{}
	left := map[memory.GuildID]bool{memory.DirectGuild: q.Operator}
	now.guilds = slices.DeleteFunc(slices.Clone(now.guilds), func(id memory.GuildID) bool { return left[id] })
	for _, id := range now.guilds {
		g, err := e.log.Guild(ctx, id)
		if errors.Is(err, memory.ErrNotFound) {
			continue // nothing was said there yet
		}
		if err != nil {
			return reach{}, err
		}
		if left[id] = !g.Left.IsZero(); left[id] {
			continue
		}
		list, err := e.log.People(ctx, id)
		if err != nil {
			return reach{}, err
		}
		now.names.add(g, list)
		if id == q.Guild {
			now.settings = now.settings.Set(g, q.Channel)
		}
		channels := digest.ByID(g)
		now.here = now.here || id == q.Guild && e.remembered(q, g, channels[q.Channel], channels) &&
			!channels[q.Channel].Shut
		readable := map[memory.ChannelID]bool{}
		for _, c := range readableIn(g, q, now.names) {
			readable[c] = true
		}
		switch {
		case id != q.Guild:
		case readable[q.Channel]:
			now.attended = 0
		case q.Attended != nil:
			now.attended = q.Attended(g, q.Channel)
		}
		for _, c := range g.Channels {
			all[c.ID] = c
			switch {
			case !e.remembered(q, g, channels[c.ID], channels):
			case readable[c.ID]:
				now.scope.Channels = append(now.scope.Channels, c.ID)
			case c.Kind != memory.DirectChannel:
				now.closed = append(now.closed, c.ID)
			}
		}
	}
	now.guilds = slices.DeleteFunc(now.guilds, func(id memory.GuildID) bool { return left[id] })
	now.channels = all
	now.hidden = hiddenFacts(now.scope.Channels, now.names.people)
	now.asked, now.closed = q.Filter.narrow(now.scope, all), q.Filter.channels(now.closed, all)
	return now, e.readLore(ctx, &now)
}

// hiddenFacts are the facts about people that were said or told in none of channels.
func hiddenFacts(channels []memory.ChannelID, people memory.People) map[int64]bool {
	hidden := map[int64]bool{}
	for _, guild := range people {
		for i := range guild {
			for _, f := range guild[i].Facts {
				if f.Channel != 0 && !slices.Contains(channels, f.Channel) {
					hidden[f.ID] = true
				}
			}
		}
	}
	return hidden
}

func readableIn(g *memory.Guild, q Question, n names) []memory.ChannelID {
	if q.Everywhere && q.Operator {
		return digest.Each(g.Channels, func(c memory.Channel) memory.ChannelID { return c.ID })
	}
	place := search.Place{Channel: q.Channel, Operator: q.Operator}
	if q.OnlyAsker {
		place.Viewer, place.Roles = q.Asker, q.Roles
	}
	if q.Sets != nil {
		place.Sets = q.Sets(g)
	}
	return search.Readable(g, place, n.person)
}

// Lore is the lore of q's guild that may be told to those who will read an answer to q, by name.
func (e *Engine) Lore(ctx context.Context, q Question) ([]memory.Lore, error) {
	ctx = withLookUps(ctx)
	now, err := e.readable(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read lore: %w", err)
	}
	here := slices.DeleteFunc(slices.Collect(maps.Values(now.lore)), func(l memory.Lore) bool {
		return l.Guild != q.Guild
	})
	told, _, err := e.toldLore(ctx, now, here)
	return told, err
}

// toldLore are those of lore that may be told within a reach, by name, and what they were said in.
func (e *Engine) toldLore(ctx context.Context, now reach, lore []memory.Lore) ([]memory.Lore,
	map[memory.Spot]memory.Message, error) {
	r := &recalled{reach: now}
	r.result.Lore = digest.Each(lore, func(l memory.Lore) search.LoreHit { return search.LoreHit{Lore: l} })
	if err := e.settle(ctx, r); err != nil {
		return nil, nil, fmt.Errorf("read what lore is from: %w", err)
	}
	told := loreOf(r.result.Lore)
	slices.SortFunc(told, func(a, b memory.Lore) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return told, r.said, nil
}

// names are those of the people and channels that an answer may speak of.
type names struct {
	people   memory.People
	channels map[memory.ChannelID]string
	unplaced map[memory.ChannelID]bool // channels that Discord, as far as is known, doesn't have
}

func newNames() names {
	return names{channels: map[memory.ChannelID]string{},
		unplaced: map[memory.ChannelID]bool{}}
}

func (n *names) add(g *memory.Guild, people []memory.Person) {
	n.people = append(n.people, people)
	for _, c := range g.Channels {
		n.channels[c.ID] = c.Name
		n.unplaced[c.ID] = c.Unplaced || c.Kind == memory.LocalChannel
	}
}

func (n names) person(id memory.UserID) (memory.Person, bool) { return n.people.Of(id) }

// of is the name somebody goes by; of somebody unknown, their tag.
func (n names) of(id memory.UserID) string { return n.people.Name(id) }

func tag(id memory.UserID) string { return "<@" + id.String() + ">" }

func (n names) channel(id memory.ChannelID) string { return n.channels[id] }
