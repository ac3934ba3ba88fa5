package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/reply"
	"hark/memory"
)

const (
	stillAtIt    locale.MessageKey = "I'm at it already."
	nothingAsked locale.MessageKey = "There is no question in that message any more. Please ask me anew."
	busyNow      locale.MessageKey = "I'm busy with other questions. Please press again in a minute or two."
)

// ownedBy reads the id of the pressed button.
func ownedBy(x *interaction) reply.Owned { return reply.ReadOwned(x.Args()) }

// notMine returns a refuse function: only the asker and members with a permission (0: nobody else) may press.
func notMine(or memory.Permissions) func(*interaction) string {
	return func(x *interaction) string {
		asker := ownedBy(x).Asker
		switch {
		case asker == 0:
			return x.Text(unknownCommandText)
		case x.who() == asker, or != 0 && x.May(or):
			return ""
		case or == discord.ManageMessages:
			return x.Text("Only <@%d>, who asked, and those who manage messages here can do that.", asker)
		case or == discord.ManageGuild:
			return x.Text("Only <@%d>, who asked, and those who manage this server can do that.", asker)
		}
		return x.Text("Only <@%d>, who asked, can do that. Ask me yourself: mention me with your question.", asker)
	}
}

// stop stops an answer that is being written. What was written stays.
func (c *Commands) stop(ctx context.Context, x *interaction) (response, error) {
	o := ownedBy(x)
	if c.questions.Stop(o.Question) {
		return response{}, errShown
	}
	buttons := o.Done(c.Replies.LocaleIn(ctx, x.guild(), memory.ChannelID(x.Channel)), false)
	if err := x.rest.EditResponse(ctx, &x.Interaction, map[string]any{"components": buttons},
		nil); err != nil { // keeps the text
		return response{}, err
	}
	return response{}, reply.NotWriting
}

// lets returns an action by which the asker lets a tool run, or not. The answer's writer deletes the request; one that
// nobody waits for any more is deleted here.
func (c *Commands) lets(run bool) action {
	return func(_ context.Context, x *interaction) (response, error) {
		if c.questions.Decide(ownedBy(x), run) {
			return response{}, errShown
		}
		if x.Message != nil {
			c.questions.RemoveRequest(memory.MessageRef{Channel: memory.ChannelID(x.Channel),
				Message: memory.MessageID(x.Message.ID)})
		}
		return response{}, reply.NotWaiting
	}
}

// askAgain answers a question again, as it is in the log now, in place of its answer.
func (c *Commands) askAgain(ctx context.Context, x *interaction) (response, error) {
	t := c.questions
	g := c.Filter.Lookup(ctx, x.guild())
	if reply.SilentIn(g, memory.ChannelID(x.Channel)) {
		return response{}, refusal(x.Text(silentHere))
	}
	o := ownedBy(x)
	a, err := c.asked(ctx, x, o.Question)
	if err != nil {
		return response{}, err
	}
	shown, more, err := c.answerOf(ctx, x, o)
	if err != nil {
		return response{}, err
	}
	if h := t.Paused(g, a.Channel, a.When()); h != nil {
		return response{}, refusal(reply.LimitReached(x.Locale, h))
	}
	a.Parent = reply.ParentOf(g, a.Channel)
	if !t.Again(a, shown, more) {
		return response{}, stillAtIt
	}
	if h := t.TooOften(g, a); h != nil {
		t.Refuse(a.ID)
		return response{}, refusal(reply.LimitReached(x.Locale, h))
	}
	if taken, _ := t.Enqueue(ctx, a); !taken {
		return response{}, busyNow
	}
	c.Queue.Put(ingest.Item{Events: []memory.Event{a.Opened()}})
	return response{}, errShown
}

// names returns Hark's names in a guild, which may be nil.
func (c *Commands) names(g *memory.Guild) ingest.Names {
	n := ingest.Names{Self: c.Self}
	if g == nil {
		return n
	}
	for _, role := range g.Roles {
		if role.Bot == c.Self {
			n.Role = role.ID
		}
	}
	return n
}

// asked returns the question in a message as it is now, asked by the user of x.
func (c *Commands) asked(ctx context.Context, x *interaction, id memory.MessageID) (*ingest.Question, error) {
	m, err := c.message(ctx, x, id)
	if err != nil {
		return nil, err
	}
	text, _ := ingest.Strip(m.Content, c.names(x.server))
	a := &ingest.Question{
		ID:      m.ID,
		Guild:   x.guild(),
		Channel: m.Channel,
		Asker:   m.Author,
		Text:    text,
		ReplyTo: m.ReplyTo,
		Edited:  m.Edited,
		Roles:   x.roles(),
		At:      memory.MessageID(x.ID).Time(),
		Reasked: true,
		Quiet:   true,
		Round:   ingest.RoundOf(memory.MessageID(x.ID).Time()),
	}
	if m.Author != x.who() {
		return nil, reply.QuestionGone
	}
	if len(m.Files) > 0 || m.ReplyTo != 0 {
		a.Files, a.Replied, err = c.Replies.Attached(ctx, m)
		if err != nil {
			return nil, err
		}
	}
	if text == "" && len(a.Files) == 0 {
		return nil, nothingAsked
	}
	if u := x.Invoker(); u != nil {
		a.Name = discord.DisplayName(u, x.Member)
	}
	for _, u := range m.Mentions {
		a.Concerns(&discord.User{ID: discord.Snowflake(u)}, c.Self)
	}
	if m.ReplyTo != 0 {
		replied, err := c.Memory.Around(ctx, m.Channel, []memory.MessageID{m.ReplyTo}, 0, 0)
		if err != nil {
			return nil, fmt.Errorf("look up what question %d replies to: %w", id, err)
		}
		for _, r := range replied {
			a.Concerns(&discord.User{ID: discord.Snowflake(r.Author)}, c.Self)
		}
	}
	return a, nil
}

// message returns a message of the channel of x: from the log or, where nothing is logged, from the session.
func (c *Commands) message(ctx context.Context, x *interaction, id memory.MessageID) (memory.Message, error) {
	channel := memory.ChannelID(x.Channel)
	remembered, err := c.Filter.Remembers(ctx, x.guild(), channel)
	if err != nil {
		return memory.Message{}, err
	}
	var found []memory.Message
	if remembered {
		found, err = c.Memory.Around(ctx, channel, []memory.MessageID{id}, 0, 0)
		if err != nil {
			return memory.Message{}, fmt.Errorf("look up message %d: %w", id, err)
		}
	} else if said := c.Buffer.Before(channel, id+1); len(said) > 0 && said[len(said)-1].ID == id {
		found = said[len(said)-1:]
	}
	if len(found) == 0 {
		return memory.Message{}, reply.QuestionGone
	}
	return found[0], nil
}

// answerOf returns the messages of the answer that x is about, and the further ones that the log knows.
func (c *Commands) answerOf(ctx context.Context, x *interaction, o reply.Owned) (shown, more []memory.MessageID,
	err error) {
	t, err := c.trace(ctx, x)
	shown = slices.Clone(o.Before)
	if x.Message != nil {
		shown = append(shown, memory.MessageID(x.Message.ID))
	}
	more = slices.DeleteFunc(slices.Clone(t.Parts), func(id memory.MessageID) bool {
		return slices.Contains(shown, id)
	})
	return shown, more, err
}

// trace returns the trace of the answer that x is about; the zero Trace if it is unknown.
func (c *Commands) trace(ctx context.Context, x *interaction) (memory.Trace, error) {
	t, err := memory.TraceOf(ctx, c.Memory, memory.ChannelID(x.Channel), memory.MessageID(x.Message.ID))
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return memory.Trace{}, fmt.Errorf("look up how an answer came about: %w", err)
	}
	return t, nil
}

// remove deletes an answer in Discord and from the log. The message with the button goes last, so that it can be
// pressed again if something fails.
func (c *Commands) remove(ctx context.Context, x *interaction) (response, error) {
	o := ownedBy(x)
	shown, more, err := c.answerOf(ctx, x, o)
	if err != nil {
		return response{}, err
	}
	if c.questions.Withdraw(o.Question) {
		return response{}, errShown // its writer withdraws it
	}
	if err := c.takeDown(ctx, x, append(more, shown...)...); err != nil {
		return response{}, err
	}
	return response{}, errShown
}

// takeDown deletes messages of Hark's in Discord and from the log.
func (c *Commands) takeDown(ctx context.Context, x *interaction, ids ...memory.MessageID) error {
	channel := memory.ChannelID(x.Channel)
	var gone []memory.MessageID
	var failed error
	for _, id := range ids {
		if err := c.Replies.Withdraw(ctx, memory.Withdrawn{Channel: channel, Message: id}); err != nil &&
			!errors.Is(err, discord.ErrGone) {
			failed = err
			break
		}
		gone = append(gone, id)
	}
	if len(gone) > 0 {
		if err := c.Queue.Commit(ctx, []memory.Event{memory.Deleted{
			Guild:   x.guild(),
			Channel: channel,
			IDs:     gone,
		}}); err != nil {
			return fmt.Errorf("keep that an answer is gone: %w", err)
		}
	}
	return failed
}
