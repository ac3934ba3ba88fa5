package bot

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/memory"
)

// ask is a question put to Hark by a message.
type ask struct {
	id       memory.MessageID
	guild    memory.GuildID
	channel  memory.ChannelID
	parent   memory.ChannelID // of a thread
	asker    memory.UserID
	name     string
	text     string
	mentions []memory.UserID
	replyTo  memory.MessageID
	roles    []memory.RoleID      // the asker's
	files    []discord.Attachment // of the message, and of the one that it replies to
	// at is when it was asked, by Discord's clock; zero for when its message was written.
	at time.Time

	// consulted says that an Answerer was asked, where what is said is logged, and calls are the records that it made.
	consulted bool
	calls     []memory.Record

	edited time.Time // of the version that is asked

	shown []memory.MessageID // what shows an earlier answer, or one that was cut short
	more  []memory.MessageID // what goes with that

	again   bool   // it was said before: its text changed, or it is asked once more
	unasked bool   // nothing is asked any more: the mention was taken away
	brief   bool   // only its text is known
	quiet   bool   // whoever asks is told elsewhere that too many wait
	resumed bool   // an earlier process accepted it
	round   string // tells apart what is sent for it from what was sent when it was asked before
}

func (a *ask) membership() membership { return membership{a.guild, a.asker} }

// when is when it was asked.
func (a *ask) when() time.Time {
	if a.at.IsZero() {
		return a.id.Time()
	}
	return a.at
}

// account is the id under which it is kept what the answer took: the message's, or, if that was asked anew, one of that
// moment.
func (a *ask) account() memory.MessageID {
	if a.at.IsZero() {
		return a.id
	}
	return memory.FirstMessageID(a.at) | a.id&(1<<22-1)
}

// saying is a with the text of another version of it.
func (a *ask) saying(now *ask) *ask {
	changed := *a
	changed.text, changed.edited, changed.again, changed.round, changed.at = now.text, now.edited, now.again,
		now.round, now.at
	changed.quiet = now.quiet
	return &changed
}

// roundOf is the round of a question of that moment, in at most five letters and digits.
func roundOf(at time.Time) string { return short36(at.UnixMilli() % (36 * 36 * 36 * 36 * 36)) }

// edited is what an edited message asks Hark, or nil: the same as a new one, if it isn't much older, and was
// edited just now: a pin or a preview tells the same time again. One that tells its text merely may have been
// a question before. One that asks nothing as it is now is unasked.
func (c *converter) edited(w *discord.Message, whole bool) *ask {
	if w.Edited.IsZero() || w.Content == nil {
		return nil
	}
	place := ask{id: memory.MessageID(w.ID), guild: memory.GuildID(w.Guild), channel: memory.ChannelID(w.Channel)}
	a := &place
	if whole {
		a = c.question(w)
	} else if text, named := strip(c.self, *w.Content); named || a.guild == memory.DirectGuild {
		a.text, a.brief = memory.Clean(text), true
	} else {
		return nil
	}
	switch {
	case a == nil && c.kindOf(w) == memory.FromMember && (typeOf(w) != typeReply || w.Referenced != nil): // else nobody can tell
		place.unasked = true
		return &place
	case a == nil || w.Edited.Sub(a.id.Time()) > editedWithin || c.now().Sub(w.Edited) > 2*editedWithin:
		return nil
	}
	a.edited, a.at, a.again, a.round = w.Edited, w.Edited, true, roundOf(w.Edited)
	return a
}

// question is what a new message asks Hark, or nil: a member's message that mentions Hark by name (not by
// @everyone or a role), replies to it, or is direct.
func (c *converter) question(w *discord.Message) *ask {
	if c.kindOf(w) != memory.FromMember || w.Author == nil || w.Content == nil || w.ID == 0 {
		return nil
	}
	text, named := strip(c.self, *w.Content)
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
	a := &ask{
		id:      memory.MessageID(w.ID),
		guild:   memory.GuildID(w.Guild),
		channel: memory.ChannelID(w.Channel),
		asker:   memory.UserID(w.Author.ID),
		name:    discord.DisplayName(w.Author, w.Member),
		text:    memory.Clean(text),
	}
	if w.Member != nil {
		a.roles = discord.RolesOf(w.Member)
	}
	for _, u := range w.Mentions {
		a.concerns(u, c.self)
	}
	a.files = discord.AttachmentsOf(w, a.id)
	if reply != nil {
		a.replyTo = memory.MessageID(reply.ID)
		a.files = append(a.files, discord.AttachmentsOf(reply, a.replyTo)...)
		a.concerns(reply.Author, c.self)
	}
	return a
}

// concerns adds somebody whom the question is about, once.
func (a *ask) concerns(u *discord.User, self memory.UserID) {
	if u == nil || u.ID == 0 || memory.UserID(u.ID) == self {
		return
	}
	if !slices.Contains(a.mentions, memory.UserID(u.ID)) {
		a.mentions = append(a.mentions, memory.UserID(u.ID))
	}
}

// strip takes Hark's mentions out of text, each with the space after it.
func strip(self memory.UserID, text string) (rest string, found bool) {
	id := strconv.FormatInt(int64(self), 10)
	for _, mention := range []string{"<@" + id + ">", "<@!" + id + ">"} {
		found = found || strings.Contains(text, mention)
		text = strings.ReplaceAll(text, mention+" ", "")
		text = strings.ReplaceAll(text, mention, "")
	}
	return strings.TrimSpace(text), found
}
