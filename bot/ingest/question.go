package ingest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/internal/body"
	"hark/memory"
)

// Membership returns the asker in the guild.
func (a *Question) Membership() memory.Membership {
	return memory.Membership{Guild: a.Guild, User: a.Asker}
}

// When returns when it was asked.
func (a *Question) When() time.Time {
	if a.At.IsZero() {
		return a.ID.Time()
	}
	return a.At
}

// IsEmpty reports whether it asks nothing: a mention alone asks what the message above it says.
func (a *Question) IsEmpty() bool { return a.Text == "" && len(a.Files) == 0 && !a.Below }

// Account returns the id under which its cost is kept: the message's, or one of that moment if it was asked
// again.
func (a *Question) Account() memory.MessageID {
	if a.At.IsZero() {
		return a.ID
	}
	return memory.FirstMessageID(a.At) | a.ID&(1<<22-1)
}

// WithText returns a with the text of another version.
func (a *Question) WithText(now *Question) *Question {
	changed := *a
	changed.Text = now.Text
	changed.Edited = now.Edited
	changed.At = now.At
	changed.Reasked = now.Reasked
	changed.Round = now.Round
	changed.Quiet = now.Quiet
	return &changed
}

// RoundOf returns a moment's round in at most five letters and digits.
func RoundOf(at time.Time) string { return strconv.FormatInt(at.UnixMilli()%(36*36*36*36*36), 36) }

// asks reports whether a decoded event asks Hark something, or takes a question back. It is false if that can't be
// told: convert reports why.
func (c *converter) asks(e *rawEvent) (is bool) {
	defer func() { _ = recover() }()
	w := e.decoded.message
	if w == nil {
		return false
	}
	if e.kind == "MESSAGE_CREATE" {
		return c.question(w) != nil
	}
	return c.edited(w) != nil
}

// EditedWithin is how long after it was sent an edited message can still become a question.
const EditedWithin = time.Minute

// edited returns what an edited message asks Hark, or nil. Message and edit must be recent: a pin repeats the old
// edit time. An update with only a text is Brief. A message that now asks nothing is Withdrawn.
func (c *converter) edited(w *discord.Message) *Question {
	if w.Edited.IsZero() || w.Content == nil {
		return nil
	}
	place := Question{
		ID:      memory.MessageID(w.ID),
		Guild:   memory.GuildID(w.Guild),
		Channel: memory.ChannelID(w.Channel),
	}
	a := &place
	if isWhole(w) {
		a = c.question(w)
	} else if text, named := Strip(*w.Content, c.names(w.Guild)); named || a.Guild == memory.DirectGuild {
		a.Text = memory.Clean(text)
		a.Brief = true
	} else {
		return nil
	}
	switch {
	case a == nil && c.mayAsk(w) && (typeOf(w) != body.Reply || w.Referenced != nil): // else unknown
		place.Withdrawn = true
		return &place
	case a == nil || w.Edited.Sub(a.ID.Time()) > EditedWithin || c.now().Sub(w.Edited) > 2*EditedWithin:
		return nil
	}
	a.Edited = w.Edited
	a.At = w.Edited
	a.Reasked = true
	a.Round = RoundOf(w.Edited)
	return a
}

// question returns what a new message asks Hark, or nil. Its author must be one who mayAsk. It must mention Hark or
// the role that only Hark has, reply to Hark, or be direct. Guests of a voice channel can't ask: they may read nothing
// else.
func (c *converter) question(w *discord.Message) *Question {
	if w.Author == nil || w.Content == nil || w.ID == 0 || w.Member.IsGuest() || !c.mayAsk(w) {
		return nil
	}
	text, named := Strip(*w.Content, c.names(w.Guild))
	reply := w.Referenced
	if typeOf(w) != body.Reply || reply == nil || reply.Author == nil {
		reply = nil
	}
	named = named && c.names(w.Guild).mentioned(w)
	answersUs := reply != nil && memory.UserID(reply.Author.ID) == c.self
	if !named && !answersUs && w.Guild != 0 {
		return nil
	}
	a := &Question{
		ID:      memory.MessageID(w.ID),
		Guild:   memory.GuildID(w.Guild),
		Channel: memory.ChannelID(w.Channel),
		Asker:   authorOf(w, c.kindOf(w)),
		Proxied: w.Webhook != 0,
		Name:    discord.DisplayName(w.Author, w.Member),
		Text:    memory.Clean(text),
	}
	if w.Member != nil {
		a.Roles = discord.RolesOf(w.Member)
	}
	for _, u := range w.Mentions {
		a.Concerns(u, c.self)
	}
	a.Files = discord.AttachmentsOf(w, a.ID)
	if reply != nil {
		a.ReplyTo = memory.MessageID(reply.ID)
		a.Below = !answersUs
		a.Files = append(a.Files, discord.AttachmentsOf(reply, a.ReplyTo)...)
		a.Replied = c.unlogged(reply, w)
		a.Concerns(reply.Author, c.self)
	}
	return a
}

// Concerns adds somebody whom the question is about, once.
func (a *Question) Concerns(u *discord.User, self memory.UserID) {
	if u == nil || u.ID == 0 || memory.UserID(u.ID) == self {
		return
	}
	if !slices.Contains(a.Mentions, memory.UserID(u.ID)) {
		a.Mentions = append(a.Mentions, memory.UserID(u.ID))
	}
}

// Names are the ids by which a text mentions Hark.
type Names struct {
	Self memory.UserID
	Role memory.RoleID // the role that Discord made for Hark in the guild, and nobody else has; 0: none is known
}

// names returns Hark's names in a guild.
func (c *converter) names(guild discord.Snowflake) Names {
	role, _ := c.ownRoles.Load(memory.GuildID(guild))
	own, _ := role.(memory.RoleID)
	return Names{c.self, own}
}

// mentioned reports whether Discord took a message's mention of Hark for one: inside code it isn't.
func (n Names) mentioned(w *discord.Message) bool {
	isSelf := func(u *discord.User) bool { return u != nil && memory.UserID(u.ID) == n.Self }
	isRole := func(id discord.Snowflake) bool { return memory.RoleID(id) == n.Role }
	return slices.ContainsFunc(w.Mentions, isSelf) || slices.ContainsFunc(w.MentionRoles, isRole)
}

// Strip removes Hark's mentions from text, each with the space after it.
func Strip(text string, n Names) (rest string, found bool) {
	self := n.Self.String()
	mentions := []string{"<@" + self + ">", "<@!" + self + ">"}
	if n.Role != 0 {
		mentions = append(mentions, "<@&"+n.Role.String()+">")
	}
	for _, mention := range mentions {
		found = found || strings.Contains(text, mention)
		text = strings.ReplaceAll(text, mention+" ", "")
		text = strings.ReplaceAll(text, mention, "")
	}
	return strings.TrimSpace(text), found
}

// Opened returns the event that opens the question: it is to be answered once, even by a later process.
func (a *Question) Opened() memory.Event {
	return memory.QuestionOpened{Question: memory.OpenQuestion{
		Guild:   a.Guild,
		Channel: a.Channel,
		ID:      a.ID,
	}}
}

// Closed returns the event that it is answered, or won't be.
func (a *Question) Closed() memory.Event { return memory.QuestionClosed{Channel: a.Channel, ID: a.ID} }

// messageCreate is a new message, and the question that it may ask.
func (c *converter) messageCreate(w *discord.Message, out *converted) {
	out.heard = memory.MessageID(w.ID)
	c.sawIn(out, w)
	c.message(w, true, out)
	out.ask = c.question(w)
}

// messageUpdate is an edit, or another change such as a pin. A partial update has only the new text.
func (c *converter) messageUpdate(w *discord.Message, out *converted) {
	c.sawIn(out, w)
	if c.sourceWasDeleted(w, out) {
		return
	}
	out.update = true
	out.ask = c.edited(w)
	if isWhole(w) || !c.isLogged(w) {
		c.message(w, false, out)
		return
	}
	if w.Content != nil && !w.Edited.IsZero() && w.ID != 0 && w.Channel != 0 {
		edited := editOf(w, false)
		edited.Content = memory.Clean(*w.Content)
		out.events = append(out.events, edited)
	}
}
