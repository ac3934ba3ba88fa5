package ingest

import (
	"slices"

	"hark/bot/discord"
	"hark/internal/body"
	"hark/memory"
)

// typeForward is a forwarded message's type of reference.
const typeForward = 1

// editOf returns an edit of a message, without its text.
func editOf(w *discord.Message, unlogged bool) memory.Edited {
	return memory.Edited{
		Guild:    memory.GuildID(w.Guild),
		Channel:  memory.ChannelID(w.Channel),
		ID:       memory.MessageID(w.ID),
		At:       w.Edited,
		Unlogged: unlogged,
	}
}

// originalOf returns what a forward or a crosspost copies.
func originalOf(w *discord.Message) memory.Original {
	r := w.Reference
	if r == nil {
		return memory.Original{}
	}
	copied := memory.Original{
		Guild:   memory.GuildID(r.Guild),
		Channel: memory.ChannelID(r.Channel),
		Message: memory.MessageID(r.Message),
	}
	switch {
	case r.Type == typeForward && len(w.Snapshots) > 0:
		return copied.Of(w.Snapshots[0].Message.Version())
	case w.Flags&isCrosspost != 0: // it is edited with its original
		return copied.Of(w.Version())
	}
	return memory.Original{}
}

// isWhole reports whether an update has the whole message.
func isWhole(w *discord.Message) bool {
	return w.Author != nil && w.Content != nil && w.Type != nil && w.Mentions != nil && w.Attachments != nil
}

// Flags of messages.
// https://discord.com/developers/docs/resources/message#message-object-message-flags
const (
	isCrosspost   = 1 << 1 // of a message in a channel that this one follows
	sourceDeleted = 1 << 3 // a crosspost whose source was deleted
)

// sourceWasDeleted reports whether a crosspost's source was deleted, and then logs the message as deleted.
func (c *converter) sourceWasDeleted(w *discord.Message, out *converted) bool {
	if w.Flags&sourceDeleted == 0 || w.ID == 0 || w.Channel == 0 {
		return false
	}
	out.events = append(out.events, memory.Deleted{
		Guild:   memory.GuildID(w.Guild),
		Channel: memory.ChannelID(w.Channel),
		IDs:     []memory.MessageID{memory.MessageID(w.ID)},
	})
	return true
}

// messageDelete is one deleted message or several.
func (c *converter) messageDelete(w *discord.Deletion, out *converted) {
	gone := memory.Deleted{Guild: memory.GuildID(w.Guild), Channel: memory.ChannelID(w.Channel)}
	if w.ID != 0 {
		gone.IDs = append(gone.IDs, memory.MessageID(w.ID))
	}
	for _, id := range w.IDs {
		gone.IDs = append(gone.IDs, memory.MessageID(id))
	}
	if len(gone.IDs) > 0 {
		out.events = append(out.events, gone)
	}
}

// interaction records who used a command, and whom they chose.
func (c *converter) interaction(w *discord.Interaction, out *converted) {
	for id, m := range w.Data.Resolved.Members {
		c.saw(out, w.Guild, w.Data.Resolved.Users[id], m)
	}
	if w.Member != nil {
		out.heard = memory.MessageID(w.ID)
		c.saw(out, w.Guild, w.Member.User, w.Member)
		c.person(out, memory.GuildID(w.Guild), w.Member.User, w.Member)
	}
}

// message logs a message's current state. bot/reply logs Hark's own: the gateway repeats every edit of an answer,
// and the log needs only the final text.
func (c *converter) message(w *discord.Message, live bool, out *converted) {
	kind := c.kindOf(w)
	if w.ID == 0 || w.Channel == 0 || w.Author == nil || c.sourceWasDeleted(w, out) {
		return
	}
	if !c.isLogged(w) {
		if kind != memory.FromHark && !w.Edited.IsZero() {
			out.events = append(out.events, editOf(w, true))
		}
		return
	}
	guild := memory.GuildID(w.Guild)
	m := messageOf(w, kind)
	if r := w.Reference; r != nil && typeOf(w) == body.Reply && r.Type != typeForward && r.Channel == w.Channel {
		m.ReplyTo = memory.MessageID(r.Message)
	}
	if guild == memory.DirectGuild && c.news(m.Channel, "") {
		out.events = append(out.events, memory.ChannelSeen{Channel: memory.Channel{
			ID:    m.Channel,
			Guild: guild,
			Kind:  memory.DirectChannel,
		}})
	}
	c.person(out, guild, speakerOf(w, m.Author), w.Member)
	for _, u := range w.Mentions {
		if u != nil {
			m.Mentions = append(m.Mentions, memory.UserID(u.ID))
			c.person(out, guild, u, u.Member)
		}
	}
	for i := range w.Snapshots {
		m.Mentions = mentionedIn(&w.Snapshots[i].Message, m.Mentions)
	}
	out.events = append(out.events, memory.Posted{Message: m, Live: live})
}

// mentionedIn adds to known whom a forwarded message mentions. Discord tells their names with the original.
func mentionedIn(w *discord.Message, known []memory.UserID) []memory.UserID {
	for _, u := range w.Mentions {
		if u != nil && !slices.Contains(known, memory.UserID(u.ID)) {
			known = append(known, memory.UserID(u.ID))
		}
	}
	return known
}

// messageOf converts a message of a kind, without what it replies to and whom it mentions.
func messageOf(w *discord.Message, kind memory.Kind) memory.Message {
	said := w.Body()
	return memory.Message{
		ID:       memory.MessageID(w.ID),
		Guild:    memory.GuildID(w.Guild),
		Channel:  memory.ChannelID(w.Channel),
		Author:   authorOf(w, kind),
		Kind:     kind,
		Content:  said.AsText(kind),
		Files:    filesOf(w),
		Links:    said.Links(kind),
		Edited:   w.Version(),
		Original: originalOf(w),
	}
}

func filesOf(w *discord.Message) []memory.File {
	all := discord.Remembered(w.Attachments)
	for i := range w.Snapshots {
		all = append(all, filesOf(&w.Snapshots[i].Message)...)
	}
	return all
}
