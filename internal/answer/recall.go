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
	Prompt  builder.Prompt
	result  search.Result
	session []memory.Message // of the channel, before the question, oldest first
	scope   memory.Scope
	guilds  []memory.GuildID
	names   names
	started time.Time
	search  time.Duration
}

func (r *recalled) elapsed() time.Duration { return time.Since(r.started) }

// recall gathers what an answer to q is made from and has the prompt built.
func (e *Engine) recall(ctx context.Context, q Question) (*recalled, error) {
	r := &recalled{started: time.Now()}
	var err error
	if r.guilds, r.scope, r.names, err = e.readable(ctx, q); err != nil {
		return nil, err
	}
	if r.session, err = e.session(ctx, q, r.scope); err != nil {
		return nil, err
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
	if r.result, err = e.search.Search(ctx, e.query(q, r, r.scope, skip)); err != nil {
		return err
	}
	if q.Guild == memory.DirectGuild {
		r.result.People = presentIn(r.result.People, q.Asker)
	}
	r.search = r.elapsed()
	in := History(r.result, q.Channel, r.names.channel)
	in.Now = q.Now.In(e.options.Zone)
	in.Persona = e.options.Persona
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
	for _, s := range r.Prompt.Report.Sections {
		if s.Type == builder.SectionSession {
			return r.session[max(0, len(r.session)-s.Included):]
		}
	}
	return nil
}

func (e *Engine) query(q Question, r *recalled, scope memory.Scope, skip []memory.MessageID) search.Query {
	now := q.Now
	if asked := q.ID.Time().Add(time.Millisecond); q.ID != 0 && asked.After(now) {
		now = asked // our clock is behind that of whoever gave out the id
	}
	return search.Query{
		Text: q.Text, Now: now.In(e.options.Zone), Asker: q.Asker, Mentions: q.Mentions,
		Guilds: r.guilds, Scope: scope, Skip: skip,
	}
}

// readable is what may be used in an answer to q, and the names of who and what is there.
func (e *Engine) readable(ctx context.Context, q Question) ([]memory.GuildID, memory.Scope, names, error) {
	guilds := []memory.GuildID{q.Guild}
	if q.Everywhere && q.Operator {
		var err error
		if guilds, err = e.log.Guilds(ctx); err != nil {
			return nil, memory.Scope{}, names{}, err
		}
	}
	guilds = slices.DeleteFunc(guilds, func(id memory.GuildID) bool { return q.Operator && id == memory.DirectGuild })
	var scope memory.Scope
	n := newNames()
	for _, id := range guilds {
		g, err := e.log.Guild(ctx, id)
		if errors.Is(err, memory.ErrNotFound) {
			continue // nothing was said there yet
		}
		if err != nil {
			return nil, scope, n, err
		}
		list, err := e.log.People(ctx, id)
		if err != nil {
			return nil, scope, n, err
		}
		n.add(g, list)
		scope.Channels = append(scope.Channels, readableIn(g, q, n)...)
	}
	return guilds, scope, n, nil
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
		place.Viewer = q.Asker
	}
	return search.Readable(g, place, n.person)
}

// sessionTurns is how many messages before a question may belong to its session.
const sessionTurns = 40

// session is what was said in the channel before the question, since the last silence, oldest first, and
// before it the message that the question replies to, if that is older and may be read again. An operator sees no
// direct messages.
func (e *Engine) session(ctx context.Context, q Question, scope memory.Scope) ([]memory.Message, error) {
	if q.Operator && q.Guild == memory.DirectGuild {
		return nil, nil
	}
	asked := q.ID
	if asked == 0 {
		asked = memory.FirstMessageID(q.Now)
	}
	before, err := e.log.Around(ctx, q.Channel, []memory.MessageID{asked}, sessionTurns, 0)
	if err != nil {
		return nil, err
	}
	before = slices.DeleteFunc(before, func(m memory.Message) bool { return m.ID >= asked || m.Kind == memory.FromSystem })
	last := q.Now
	start := len(before)
	for start > 0 && last.Sub(before[start-1].Time()) <= e.options.SessionGap {
		start--
		last = before[start].Time()
	}
	session := before[start:]
	own := derivation{log: e.log, channel: q.Channel, scope: scope, present: asked, known: map[memory.MessageID]bool{}}
	if len(session) > 0 {
		own.present = session[0].ID
	}
	if session, err = own.allowed(ctx, session); err != nil {
		return nil, err
	}
	if q.ReplyTo == 0 || q.ReplyTo >= own.present || !slices.Contains(scope.Channels, q.Channel) {
		return session, nil
	}
	replied, err := e.log.Messages(ctx, q.Channel, []memory.MessageID{q.ReplyTo})
	if err != nil {
		return nil, err
	}
	replied, err = own.allowed(ctx, replied)
	return append(replied, session...), err
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
func History(result search.Result, at memory.ChannelID, channelName func(memory.ChannelID) string) builder.Input {
	var in builder.Input
	for _, p := range result.People {
		in.Participants = append(in.Participants, builder.Participant{
			ID: p.Person.ID, Name: p.Person.DisplayName(), LastActive: p.Presence.Last, Data: told(p.Person.Facts), Main: p.Main,
		})
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

// told is what facts say, as one text.
func told(facts []memory.Fact) string {
	var texts []string
	for _, f := range facts {
		if !f.Alias {
			texts = append(texts, f.Text)
		}
	}
	return strings.Join(texts, "; ")
}
