package ingest

import (
	"maps"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// Bounds of the sessions in channels that aren't logged.
const (
	maxSessionMessages = 50       // of a channel
	maxSessionBytes    = 16 << 10 // of a channel
	maxSessions        = 1000
)

// Buffer holds the sessions of channels that aren't logged, in memory only. A session is gone after a silence.
type Buffer struct {
	gap time.Duration
	now func() time.Time

	mu       sync.Mutex
	channels map[memory.ChannelID]*session
}

// session has its messages by id.
type session struct {
	guild    memory.GuildID
	messages []memory.Message
	last     time.Time // when the last message came
	// staleThrough is the newest message at the last removal. An answer to it may still be under way.
	staleThrough memory.MessageID
}

// defaultSessionGap ends sessions by default.
const defaultSessionGap = 30 * time.Minute

// NewBuffer returns an empty buffer whose sessions end after a silence of gap.
func NewBuffer(gap time.Duration, now func() time.Time) *Buffer {
	if gap <= 0 {
		gap = defaultSessionGap
	}
	return &Buffer{
		gap:      gap,
		now:      now,
		channels: map[memory.ChannelID]*session{},
	}
}

// Add adds a message or its newer state, except Hark's answers to something removed.
func (b *Buffer) Add(m memory.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.session(m.Channel)
	if s == nil {
		b.evict()
		s = &session{guild: m.Guild}
		b.channels[m.Channel] = s
	}
	s.last = b.now()
	at, there := s.find(m.ID)
	switch {
	case m.Kind == memory.FromHark && (m.ID <= s.staleThrough || m.ReplyTo != 0 && m.ReplyTo <= s.staleThrough):
		return
	case !there:
		s.messages = slices.Insert(s.messages, at, m)
	case !m.Edited.Before(s.messages[at].Edited):
		s.messages[at] = m
	}
	s.trim()
}

// edit changes a message, if it is in its session and wasn't edited later.
func (b *Buffer) edit(channel memory.ChannelID, id memory.MessageID, at time.Time, change func(*memory.Message)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.session(channel)
	if s == nil {
		return
	}
	if i, there := s.find(id); there && !at.Before(s.messages[i].Edited) {
		before := s.messages[i].Text()
		change(&s.messages[i])
		if s.messages[i].Text() != before {
			s.remove(id, func(memory.Message) bool { return false })
		}
		s.trim()
	}
}

// See removes deleted messages and copies of them, and the sessions of channels and guilds that are gone.
func (b *Buffer) See(what Subject) {
	if !what.Ended && what.Deleted == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for channel, s := range b.channels {
		if what.Ends(s.guild, channel, 0) {
			delete(b.channels, channel)
			continue
		}
		for _, m := range slices.Clone(s.messages) {
			if what.deletes(m) {
				s.remove(m.ID, func(other memory.Message) bool { return other.ID == m.ID })
			}
		}
	}
}

// deletes reports whether a message is deleted, or the one that it copies.
func (s Subject) deletes(m memory.Message) bool {
	if s.Channel == m.Channel && slices.Contains(s.Deleted, m.ID) {
		return true
	}
	from, is := m.CopiedHere()
	if !is || from.Channel != s.Channel {
		return false
	}
	return s.Ended || slices.Contains(s.Deleted, memory.MessageID(from.ID))
}

// Forget removes somebody's messages in a guild, and in those sessions Hark's, which may repeat them.
func (b *Buffer) Forget(guild memory.GuildID, user memory.UserID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.channels {
		theirs := func(m memory.Message) bool { return m.Author == user }
		if s.guild == guild && slices.ContainsFunc(s.messages, theirs) {
			s.remove(0, theirs)
		}
	}
}

// Drop forgets a channel's session.
func (b *Buffer) Drop(channel memory.ChannelID) {
	b.mu.Lock()
	delete(b.channels, channel)
	b.mu.Unlock()
}

// Expire forgets ended sessions.
func (b *Buffer) Expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.channels, func(_ memory.ChannelID, s *session) bool { return b.ended(s) })
}

// Before returns a session's messages before id, oldest first; never nil.
func (b *Buffer) Before(channel memory.ChannelID, id memory.MessageID) []memory.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := []memory.Message{}
	if s := b.session(channel); s != nil {
		end, _ := s.find(id)
		before = append(before, s.messages[:end]...)
	}
	return before
}

// session returns a channel's session, or nil. The caller holds mu.
func (b *Buffer) session(channel memory.ChannelID) *session {
	s := b.channels[channel]
	if s != nil && b.ended(s) {
		delete(b.channels, channel)
		return nil
	}
	return s
}

func (b *Buffer) ended(s *session) bool { return b.now().Sub(s.last) > b.gap }

// evict drops the session that was silent longest, if there are too many. The caller holds mu.
func (b *Buffer) evict() {
	if len(b.channels) < maxSessions {
		return
	}
	var oldest memory.ChannelID
	for c, s := range b.channels {
		if o := b.channels[oldest]; o == nil || s.last.Before(o.last) {
			oldest = c
		}
	}
	delete(b.channels, oldest)
}

func (s *session) find(id memory.MessageID) (at int, there bool) {
	return slices.BinarySearchFunc(s.messages, id, func(m memory.Message, id memory.MessageID) int {
		return int(min(max(m.ID-id, -1), 1))
	})
}

// remove removes the messages that gone selects from a session that isn't empty, and Hark's after an id, which may
// repeat them. Answers under way may too, so Add refuses those.
func (s *session) remove(after memory.MessageID, gone func(memory.Message) bool) {
	s.staleThrough = max(s.staleThrough, s.messages[len(s.messages)-1].ID)
	s.messages = slices.DeleteFunc(s.messages, func(m memory.Message) bool {
		return gone(m) || m.Kind == memory.FromHark && m.ID > after
	})
}

// trim keeps the newest messages within the bounds.
func (s *session) trim() {
	bytes := 0
	keep := 0
	for keep < min(len(s.messages), maxSessionMessages) {
		bytes += len(s.messages[len(s.messages)-1-keep].Text())
		if bytes > maxSessionBytes {
			break
		}
		keep++
	}
	if cut := len(s.messages) - keep; cut > 0 {
		s.messages = slices.Clone(s.messages[cut:]) // frees the old texts
	}
}

// ForgetAll deletes what f selects in its guild, of which g is needed only for a channel's threads. Its Before is
// ignored: what isn't logged is young.
func (b *Buffer) ForgetAll(g *memory.Guild, f memory.Forgetting) {
	switch {
	case f.User != 0:
		b.Forget(f.Guild, f.User)
	case f.Channel == 0:
		b.See(Subject{Guild: f.Guild, Ended: true})
	default:
		b.Drop(f.Channel)
		for _, thread := range g.WithThreads(f.Channel) {
			b.Drop(thread.ID)
		}
	}
}
