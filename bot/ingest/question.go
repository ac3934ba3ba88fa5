package ingest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/memory"
)

// Question is a question put to Hark by a message.
type Question struct {
	ID       memory.MessageID
	Guild    memory.GuildID
	Channel  memory.ChannelID
	Parent   memory.ChannelID // of a thread
	Asker    memory.UserID
	Name     string
	Text     string
	Mentions []memory.UserID
	ReplyTo  memory.MessageID
	Roles    []memory.RoleID      // the asker's
	Files    []discord.Attachment // of the message, and of the one that it replies to
	// At is when it was asked, by Discord's clock; zero for when its message was written.
	At time.Time

	// Consulted says that an Answerer was asked, where what is said is logged, and calls are the records that it made.
	Consulted bool
	Calls     []memory.Record

	Edited time.Time // of the version that is asked

	Shown []memory.MessageID // what shows an earlier answer, or one that was cut short
	More  []memory.MessageID // what goes with that

	Again   bool   // it was said before: its text changed, or it is asked once more
	Unasked bool   // nothing is asked any more: the mention was taken away
	Brief   bool   // only its text is known
	Quiet   bool   // whoever asks is told elsewhere that too many wait
	Resumed bool   // an earlier process accepted it
	Round   string // tells apart what is sent for it from what was sent when it was asked before
}

// Membership is who asks, and where.
func (a *Question) Membership() Membership { return Membership{a.Guild, a.Asker} }

// When is when it was asked.
func (a *Question) When() time.Time {
	if a.At.IsZero() {
		return a.ID.Time()
	}
	return a.At
}

// Account is the id under which it is kept what the answer took: the message's, or, if that was asked anew, one of that
// moment.
func (a *Question) Account() memory.MessageID {
	if a.At.IsZero() {
		return a.ID
	}
	return memory.FirstMessageID(a.At) | a.ID&(1<<22-1)
}

// Saying is a with the text of another version of it.
func (a *Question) Saying(now *Question) *Question {
	changed := *a
	changed.Text, changed.Edited, changed.Again, changed.Round, changed.At = now.Text, now.Edited, now.Again,
		now.Round, now.At
	changed.Quiet = now.Quiet
	return &changed
}

// RoundOf is the round of a question of that moment, in at most five letters and digits.
func RoundOf(at time.Time) string { return strconv.FormatInt(at.UnixMilli()%(36*36*36*36*36), 36) }

// EditedWithin is how long after it was sent a message that is edited counts as said anew.
const EditedWithin = time.Minute

// edited is what an edited message asks Hark, or nil: the same as a new one, if it isn't much older, and was
// edited just now: a pin or a preview tells the same time again. One that tells its text merely may have been
// a question before. One that asks nothing as it is now is unasked.
func (c *converter) edited(w *discord.Message, whole bool) *Question {
	if w.Edited.IsZero() || w.Content == nil {
		return nil
	}
	place := Question{ID: memory.MessageID(w.ID), Guild: memory.GuildID(w.Guild), Channel: memory.ChannelID(w.Channel)}
	a := &place
	if whole {
		a = c.question(w)
	} else if text, named := Strip(c.self, *w.Content); named || a.Guild == memory.DirectGuild {
		a.Text, a.Brief = memory.Clean(text), true
	} else {
		return nil
	}
	switch {
	case a == nil && c.kindOf(w) == memory.FromMember && (typeOf(w) != typeReply || w.Referenced != nil): // else nobody can tell
		place.Unasked = true
		return &place
	case a == nil || w.Edited.Sub(a.ID.Time()) > EditedWithin || c.now().Sub(w.Edited) > 2*EditedWithin:
		return nil
	}
	a.Edited, a.At, a.Again, a.Round = w.Edited, w.Edited, true, RoundOf(w.Edited)
	return a
}

// question is what a new message asks Hark, or nil: a member's message that mentions Hark by name (not by
// @everyone or a role), replies to it, or is direct.
func (c *converter) question(w *discord.Message) *Question {
	if c.kindOf(w) != memory.FromMember || w.Author == nil || w.Content == nil || w.ID == 0 {
		return nil
	}
	text, named := Strip(c.self, *w.Content)
	reply := w.Referenced
	if typeOf(w) != typeReply || reply == nil || reply.Author == nil {
		reply = nil
	}
	// A mention inside code isn't one to Discord.
	named = named && slices.ContainsFunc(w.Mentions, func(u *discord.User) bool {
		return u != nil && memory.UserID(u.ID) == c.self
	})
	answersUs := reply != nil && memory.UserID(reply.Author.ID) == c.self
	if !named && !answersUs && w.Guild != 0 {
		return nil
	}
	a := &Question{
		ID:      memory.MessageID(w.ID),
		Guild:   memory.GuildID(w.Guild),
		Channel: memory.ChannelID(w.Channel),
		Asker:   memory.UserID(w.Author.ID),
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
		a.Files = append(a.Files, discord.AttachmentsOf(reply, a.ReplyTo)...)
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

// Strip takes Hark's mentions out of text, each with the space after it.
func Strip(self memory.UserID, text string) (rest string, found bool) {
	id := strconv.FormatInt(int64(self), 10)
	for _, mention := range []string{"<@" + id + ">", "<@!" + id + ">"} {
		found = found || strings.Contains(text, mention)
		text = strings.ReplaceAll(text, mention+" ", "")
		text = strings.ReplaceAll(text, mention, "")
	}
	return strings.TrimSpace(text), found
}

// Opened is the event that the question is open: it is to be answered once, whenever the process ends.
func (a *Question) Opened() memory.Event {
	return memory.QuestionOpened{Question: memory.OpenQuestion{Guild: a.Guild, Channel: a.Channel, ID: a.ID}}
}

// Closed is the event that it is answered, or won't be.
func (a *Question) Closed() memory.Event { return memory.QuestionClosed{Channel: a.Channel, ID: a.ID} }
