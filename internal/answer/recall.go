package answer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

// recalled is all that an answer is made from.
type recalled struct {
	reach
	Prompt    builder.Prompt
	result    search.Result
	said      map[spot]memory.Message // what the facts of the result's people, its lore and the summaries were said in
	summaries []search.SummaryHit     // of the channel's earlier sessions, best first
	session   []memory.Message        // of the channel, before the question, oldest first
	sought    string                  // what is searched for: the question, or what was made of it
	mode      Mode
	unlogged  bool // whether the session isn't from the log
	most      int  // tokens of the prompt; 0: as the builder has it
	started   time.Time
	search    time.Duration
}

// spot is where a message is.
type spot struct {
	channel memory.ChannelID
	id      memory.MessageID
}

// reach is what may be used in an answer at this moment.
type reach struct {
	guilds   []memory.GuildID
	scope    memory.Scope
	asked    memory.Scope // what of it the question is about
	channels map[memory.ChannelID]memory.Channel
	closed   []memory.ChannelID // what is remembered beyond scope, as far as the question is about it
	here     bool               // whether what was logged of the channel asked in may be used at all
	names    names
	consents consents
	lore     map[int64]memory.Lore // what the guilds were told, by id
	mode     builder.Mode          // chosen for the channel asked in; empty: none
}

func (r *recalled) elapsed() time.Duration { return time.Since(r.started) }

// recall gathers what an answer to q is made from and has the prompt built.
func (e *Engine) recall(ctx context.Context, q Question) (*recalled, error) {
	return e.recallFor(ctx, q, "", 0)
}

// recallFor is recall, but searches for sought in the place of the question, unless it is empty, and has the prompt
// built with at most so many tokens, unless that is 0.
func (e *Engine) recallFor(ctx context.Context, q Question, sought string, most int) (*recalled, error) {
	r := &recalled{started: time.Now(), unlogged: q.Session != nil, most: most}
	var err error
	if r.reach, err = e.readable(ctx, q); err != nil {
		return nil, err
	}
	if r.session, err = e.session(ctx, q, r.reach); err != nil {
		return nil, err
	}
	if r.mode, err = e.modeOf(ctx, q, r); err != nil {
		return nil, err
	}
	if r.sought = sought; sought == "" {
		r.sought = e.rewritten(ctx, q, r.session, r.names)
	}
	if err := e.build(ctx, q, r, r.session); err != nil {
		return nil, err
	}
	if sent := r.sentSession(); len(sent) < len(r.session) {
		// What the prompt had no room for as the session may be found like anything else.
		return r, e.build(ctx, q, r, sent)
	}
	return r, nil
}

// build searches and has the prompt built. The part of the session that is shown needs no finding.
func (e *Engine) build(ctx context.Context, q Question, r *recalled, shown []memory.Message) error {
	skip := []memory.MessageID{q.ID}
	for _, m := range shown {
		skip = append(skip, m.ID)
	}
	var err error
	if r.result, err = e.find(ctx, q, r, r.asked, skip); err != nil {
		return err
	}
	if r.summaries, err = e.earlier(ctx, q, r, shown); err != nil {
		return err
	}
	if err := e.settle(ctx, r); err != nil {
		return err
	}
	if q.Guild == memory.DirectGuild {
		r.result.People = presentIn(r.result.People, q.Asker)
	}
	r.search = r.elapsed()
	in := History(r.result, q.Channel, r.names.channel, r.names.of)
	in.Now = q.Now.In(e.options.Zone)
	in.Persona = e.options.Persona
	in.MaxTokens = r.most
	in.PreviousContext = asEarlier(r.summaries)
	in.Mode = r.mode.Is
	in.Session = e.turns(r.session, r.names)
	in.Query = builder.Turn{Speaker: q.Name, Role: builder.RoleUser, Author: q.Asker, Time: q.Now, Content: q.Text}
	r.Prompt = e.builder.Build(in)
	return nil
}

// presentIn are those of people who have written in the direct message asked in: nobody is told who else writes to
// Hark.
func presentIn(people []search.Participant, asker memory.UserID) []search.Participant {
	return slices.DeleteFunc(people, func(p search.Participant) bool {
		return p.Person.ID != asker && p.Presence.Messages == 0
	})
}

// sentSession are the messages of the session that are in the prompt: the newest.
func (r *recalled) sentSession() []memory.Message {
	return r.session[max(0, len(r.session)-r.included(builder.SectionSession)):]
}

// sentPeople are the participants that are in the prompt: the first.
func (r *recalled) sentPeople() []search.Participant {
	return r.result.People[:min(len(r.result.People), r.included(builder.SectionParticipants))]
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

// find searches, and leaves out whoever has opted out.
func (e *Engine) find(ctx context.Context, q Question, r *recalled, scope memory.Scope, skip []memory.MessageID) (search.Result, error) {
	result, err := e.search.Search(ctx, e.query(q, r, scope, skip))
	if err != nil {
		return search.Result{}, err
	}
	if len(q.Filter.In) > 0 { // what was told for the whole guild wasn't said there
		result.Lore = slices.DeleteFunc(result.Lore, func(hit search.LoreHit) bool { return hit.Lore.Channel == 0 })
	}
	return r.consents.of(ctx, result)
}

func (e *Engine) query(q Question, r *recalled, scope memory.Scope, skip []memory.MessageID) search.Query {
	now := q.Now
	if asked := q.ID.Time().Add(time.Millisecond); q.ID != 0 && asked.After(now) {
		now = asked // our clock is behind that of whoever gave out the id
	}
	return search.Query{
		Text: r.sought, Now: now.In(e.options.Zone), Asker: q.Asker, Mentions: q.Mentions,
		Guilds: r.guilds, Scope: scope, Skip: skip, Session: r.session, Limit: q.Limit,
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
	now := reach{guilds: []memory.GuildID{q.Guild}, names: newNames(), consents: e.newConsents()}
	if q.Everywhere && q.Operator {
		var err error
		if now.guilds, err = e.log.Guilds(ctx); err != nil {
			return reach{}, err
		}
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
			now.mode = builder.Mode(g.ModeIn(q.Channel))
		}
		channels := byID(g)
		now.here = now.here || id == q.Guild && e.remembered(q, g, channels[q.Channel], channels)
		readable := map[memory.ChannelID]bool{}
		for _, c := range readableIn(g, q, now.names) {
			readable[c] = true
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
	now.asked, now.closed = q.Filter.narrow(now.scope, all), q.Filter.channels(now.closed, all)
	return now, e.readLore(ctx, &now)
}

func readableIn(g *memory.Guild, q Question, n names) []memory.ChannelID {
	if q.Everywhere && q.Operator {
		all := make([]memory.ChannelID, len(g.Channels))
		for i, c := range g.Channels {
			all[i] = c.ID
		}
		return all
	}
	place := search.Place{Channel: q.Channel, Operator: q.Operator}
	if q.OnlyAsker {
		place.Viewer, place.Roles = q.Asker, q.Roles
	}
	return search.Readable(g, place, n.person)
}

// sessionTurns is how many messages before a question may belong to its session.
const sessionTurns = 40

// session is what was said in the channel before the question, since the last silence, oldest first, and
// before it the message that the question replies to, if that is older and may be read again. An operator sees no
// direct messages.
func (e *Engine) session(ctx context.Context, q Question, now reach) ([]memory.Message, error) {
	if q.Operator && q.Guild == memory.DirectGuild {
		return nil, nil
	}
	asked := q.ID
	if asked == 0 {
		asked = memory.FirstMessageID(q.Now)
	}
	before, err := e.before(ctx, q, asked, now)
	if err != nil {
		return nil, err
	}
	session := before[lastSitting(before, q.Now, e.options.SessionGap):]
	if q.Session != nil {
		return append(repliedTo(before[:len(before)-len(session)], q.ReplyTo), session...), nil
	}
	own := derivation{
		log: e.log, consents: now.consents, channel: q.Channel, scope: now.scope, lore: now.lore, present: asked, known: map[memory.MessageID]bool{},
	}
	if len(session) > 0 {
		own.present = session[0].ID
	}
	if session, err = own.allowed(ctx, session); err != nil {
		return nil, err
	}
	if q.ReplyTo == 0 || q.ReplyTo >= own.present || !slices.Contains(now.scope.Channels, q.Channel) {
		return session, nil
	}
	replied, err := e.log.Messages(ctx, q.Channel, []memory.MessageID{q.ReplyTo})
	if err == nil {
		replied, err = now.consents.given(ctx, replied)
	}
	if err == nil {
		replied, err = own.allowed(ctx, replied)
	}
	return append(replied, session...), err
}

// before are the last messages before the one asked with that may be in a session, oldest first: of the question's own
// session where nothing is logged, else of the log, if it may be used.
func (e *Engine) before(ctx context.Context, q Question, asked memory.MessageID, now reach) ([]memory.Message, error) {
	said, err := slices.Clone(q.Session), error(nil)
	if q.Session == nil && now.here {
		said, err = e.log.Around(ctx, q.Channel, []memory.MessageID{asked}, sessionTurns, 0)
	}
	if err != nil {
		return nil, err
	}
	said = slices.DeleteFunc(said, func(m memory.Message) bool { return m.ID >= asked || m.Kind == memory.FromSystem })
	return now.consents.given(ctx, said[max(0, len(said)-sessionTurns):])
}

// lastSitting is where in messages the last begins of those between which there is no silence longer than gap until now.
func lastSitting(messages []memory.Message, now time.Time, gap time.Duration) int {
	start := len(messages)
	for start > 0 && now.Sub(messages[start-1].Time()) <= gap {
		start--
		now = messages[start].Time()
	}
	return start
}

// repliedTo is the one of messages that has the id, or none.
func repliedTo(messages []memory.Message, id memory.MessageID) []memory.Message {
	for i, m := range messages {
		if m.ID == id {
			return messages[i : i+1 : i+1]
		}
	}
	return nil
}

// turns are messages as the builder takes them.
func (e *Engine) turns(messages []memory.Message, n names) []builder.Turn {
	turns := make([]builder.Turn, len(messages))
	for i, m := range messages {
		turns[i] = builder.Turn{
			Speaker: n.of(m.Author), Role: builder.RoleUser, Author: m.Author,
			Time: m.Time(), Content: m.Text(), Tokens: m.Tokens,
		}
		if m.Kind == memory.FromHark {
			turns[i].Role = builder.RoleAssistant
		}
	}
	return turns
}

// History is the part of a prompt's input that comes from a recall, for an answer in the channel at. Excerpts
// overlap: each message is shown where it stands best, and a hit that stands in a better one's excerpt needs none
// of its own.
func History(result search.Result, at memory.ChannelID, channelName func(memory.ChannelID) string, personName func(memory.UserID) string) builder.Input {
	var in builder.Input
	for _, p := range result.People {
		in.Participants = append(in.Participants, builder.Participant{
			ID: p.Person.ID, Name: p.Person.DisplayName(), LastActive: p.Presence.Last, Data: told(p.Person, personName), Main: p.Main,
		})
	}
	for _, hit := range result.Lore {
		in.Lore = append(in.Lore, hit.Lore.Name+": "+hit.Lore.Text)
	}
	shown := map[memory.MessageID]bool{}
	for _, hit := range result.Hits {
		if shown[hit.Message.ID] {
			continue
		}
		item := builder.Item{Relevance: hit.Relevance}
		if hit.Message.Channel != at && channelName != nil {
			item.Channel = channelName(hit.Message.Channel)
		}
		for _, m := range hit.Excerpt {
			if shown[m.ID] {
				continue
			}
			shown[m.ID] = true
			if m.ID == hit.Message.ID {
				item.Hit = len(item.Lines)
			}
			item.Lines = append(item.Lines, builder.Line{
				Message: m.ID, Author: m.Author, Time: m.Time(), Content: m.Text(), Tokens: m.Tokens, Starred: m.Starred,
			})
		}
		in.History = append(in.History, item)
	}
	return in
}

// told is what is known of p, as one text. What somebody else told says so.
func told(p memory.Person, name func(memory.UserID) string) string {
	var texts []string
	if aliases := p.Aliases(); len(aliases) > 0 {
		texts = append(texts, "also called "+strings.Join(aliases, ", "))
	}
	for _, f := range p.Facts {
		switch {
		case f.Alias: // told above
		case f.By == p.ID || f.By == 0:
			texts = append(texts, f.Text)
		case name == nil:
			texts = append(texts, f.Text+" (said by "+tag(f.By)+")")
		default:
			texts = append(texts, f.Text+" (said by "+name(f.By)+")")
		}
	}
	return strings.Join(texts, "; ")
}
