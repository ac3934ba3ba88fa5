package memorytest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// naive is a store in memory, obviously right, that can have one bug.
type naive struct {
	bug  string
	mu   sync.RWMutex
	wake chan struct{}
	// writes counts the calls that may have changed something.
	writes int64
	*naiveState
}

// naiveState is what outlives closing.
type naiveState struct {
	model    *model
	segments map[segmentKey]*naiveSegment
}

// segmentKey cuts a channel into stretches of ten minutes.
type segmentKey struct {
	channel memory.ChannelID
	stretch int64
}

type naiveSegment struct {
	memory.Segment
	pending bool
	vector  []float32
}

func newNaive(bug string, state *naiveState) *naive {
	if state == nil {
		state = &naiveState{newModel(), map[segmentKey]*naiveSegment{}}
	}
	return &naive{bug: bug, wake: make(chan struct{}, 1), naiveState: state}
}

func (s *naive) has(bug string) bool { return s.bug == bug }

func (s *naive) Apply(ctx context.Context, events ...memory.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	for _, e := range events {
		if told, ok := e.(memory.LoreTold); ok && !s.has("takes any lore") {
			if _, err := told.Lore.Checked(); err != nil {
				return memory.ErrRefused
			}
		}
	}
	for _, e := range events {
		switch e := e.(type) {
		case memory.LimitChosen:
			if e.Check() != nil && !s.has("takes any limit") {
				return memory.ErrRefused
			}
		case memory.Spent:
			if e.Question == 0 || e.Tokens < 0 {
				return memory.ErrRefused
			}
		}
		if _, err := checkedSummary(e); err != nil && !s.has("takes any summary") {
			return memory.ErrRefused
		}
	}
	for _, e := range events {
		if called, ok := e.(memory.Called); ok && !s.has("takes any record") {
			if _, err := called.Record.Checked(); err != nil {
				return memory.ErrRefused
			}
		}
	}
	for i, e := range events {
		told, ok := e.(memory.SessionCondensed)
		if !ok {
			continue
		}
		checked, err := told.Condensed.Checked()
		if err != nil && !s.has("takes anything condensed") {
			return memory.ErrRefused
		}
		events = slices.Clone(events)
		events[i] = memory.SessionCondensed{Condensed: checked}
	}
	for i, e := range events {
		if err := ctx.Err(); err != nil && (i == 0 || s.has("applies half a batch")) && (i > 0 || !s.has("applies half a batch")) {
			return err
		}
		if s.has("shows half a batch") {
			s.mu.Unlock()
			time.Sleep(time.Microsecond) // lets readers in
			s.mu.Lock()
		}
		begun := len(s.model.forgettings)
		keep := s.keepRecords(e)
		s.model.apply(s.spoil(e)...)
		keep()
		for _, g := range s.model.forgettings[begun:] {
			s.count(g)
		}
	}
	if s.cut() && !s.has("never wakes") {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// spoil changes an event as the store's bug has it.
func (s *naive) spoil(e memory.Event) []memory.Event {
	switch v := e.(type) {
	case memory.Posted:
		at := place{v.Message.Channel, v.Message.ID}
		entry := s.model.entry(at)
		switch {
		case s.has("brings the deleted back"):
			entry.deleted = false
		case s.has("logs who opted out"):
			delete(s.model.opted, member{v.Message.Guild, v.Message.Author})
		case s.has("lets messages star themselves"):
			entry.star = memory.Starred{On: v.Message.Starred, At: v.Message.Edited}
		case s.has("misses what was dropped") && (s.model.opted[member{v.Message.Guild, v.Message.Author}].Out || s.model.isForgotten(v.Message)):
			v.Live = false
		case s.has("lets the last version win") && entry.posted != nil:
			entry.posted.Edited = time.Time{}
			entry.edit = nil
			v.Message.Edited = v.Message.Edited.Add(time.Nanosecond)
		case s.has("takes an edit for a whole version") && entry.posted != nil && entry.edit != nil && entry.edit.At.After(v.Message.Edited):
			return nil
		case s.has("forgets files"):
			v.Message.Files = nil
		}
		return []memory.Event{v}
	case memory.Edited:
		if s.has("keeps prompts of answers that have grown") {
			kept := maps.Clone(s.model.prompts)
			s.model.apply(v)
			maps.Copy(s.model.prompts, kept)
			maps.DeleteFunc(s.model.prompts, func(at place, _ memory.Prompt) bool { _, there := s.model.traces[at]; return !there })
			return nil
		}
		if s.has("loses early edits") && s.model.entry(place{v.Channel, v.ID}).posted == nil {
			return nil
		}
	case memory.Deleted:
		if s.has("forgets deletes of what isn't there") {
			v.IDs = slices.DeleteFunc(slices.Clone(v.IDs), func(id memory.MessageID) bool {
				_, ok := s.model.message(place{v.Channel, id})
				return !ok
			})
		}
		if s.has("keeps names of the deleted") {
			kept := maps.Clone(s.model.names)
			s.model.apply(v)
			s.model.names = kept
			return nil
		}
		if s.has("keeps answers without sources") {
			kept := maps.Clone(s.model.traces)
			clear(s.model.traces)
			s.model.apply(v)
			maps.Copy(s.model.traces, kept)
			return nil
		}
		if s.has("loses how what is left came about") {
			for _, id := range v.IDs {
				delete(s.model.traces, place{v.Channel, id})
			}
		}
		return []memory.Event{v}
	case memory.Named:
		if s.has("renames messages") {
			delete(s.model.names, place{v.Channel, v.ID})
		}
	case memory.ChannelSeen:
		if s.has("lets imports change channels") {
			delete(s.model.seen, v.Channel.ID)
		}
	case memory.ChannelDeleted:
		if s.has("keeps what was said in deleted channels") {
			return []memory.Event{memory.ChannelGone{Guild: v.Guild, Channel: v.Channel}}
		}
	case memory.RoleGone:
		if s.has("takes @everyone for a role that goes") {
			for _, c := range s.model.channels {
				c.Overwrites = slices.DeleteFunc(slices.Clone(c.Overwrites), func(o memory.Overwrite) bool { return o.Role == v.Role && o.User == 0 })
			}
		}
	case memory.Starred:
		if s.has("stars by the last told") {
			s.model.entry(place{v.Channel, v.ID}).star = memory.Starred{}
		}
	case memory.Heard:
		if s.has("hears only what it logs") {
			return nil
		}
	case memory.PersonLeft:
		if s.has("keeps the roles of who left") {
			return nil
		}
	case memory.FactTold:
		if old := s.model.facts[factKey{v.Guild, v.Fact.ID}]; s.has("brings facts back") && old != nil {
			old.gone = false
		}
		if s.has("keeps facts without their source") {
			v.Fact.Channel, v.Fact.Message = 0, 0
			return []memory.Event{v}
		}
	case memory.LoreTold:
		l, _ := v.Lore.Checked() // as Apply did
		v.Lore = l
		key := loreKey{l.Guild, l.ID}
		if known := s.model.lore[key]; known != nil && (s.has("brings lore back") || s.has("tells lore by the last told")) {
			known.At = time.Time{}
			known.gone = known.gone && !s.has("brings lore back")
		}
		if s.has("keeps lore without its sources") {
			v.Lore.Sources = nil
		}
		return []memory.Event{v}
	case memory.Called:
		return s.spoilRecord(v)
	case memory.Summarised:
		v, _ = checkedSummary(v) // as Apply did
		return s.spoilSummary(v)
	case memory.SessionCondensed:
		if s.has("condenses by the last told") {
			delete(s.model.condensed, v.Condensed.Channel)
		}
		if s.has("keeps condensed what is gone") {
			for i, source := range v.Condensed.Sources {
				if now, ok := s.model.message(place{v.Condensed.Channel, source.Message}); !ok || editedAt(now) != source.Edited {
					v.Condensed.Sources[i] = v.Condensed.Sources[len(v.Condensed.Sources)-1]
				}
			}
		}
		if s.has("keeps condensed what changes") {
			s.model.apply(v)
			if now, ok := s.model.condensed[v.Condensed.Channel]; ok {
				now.Sources = slices.Clone(now.Sources)
				now.Sources[0].Message = -1
				s.model.condensed[v.Condensed.Channel] = now
			}
			return nil
		}
		return []memory.Event{v}
	case memory.CondensedGone:
		if s.has("keeps sessions that are over") {
			return nil
		}
	case memory.Learn:
		if s.has("learns by the last told") {
			delete(s.model.learn, member{v.Guild, v.User})
		}
	case memory.Opted:
		if s.has("opts by the last told") {
			delete(s.model.opted, member{v.Guild, v.User})
		}
	case memory.Chose:
		if s.has("chooses by the last told") {
			delete(s.model.choices, chosen{v.Guild, v.Channel})
		}
	case memory.SettingChosen:
		if s.has("takes the setting last told") {
			delete(s.model.settings, set{chosen{v.Guild, v.Channel}, v.Key})
		}
		if s.has("keeps settings by channel only") {
			v.Key = memory.SettingMode
		}
		if s.has("sets what was forgotten again") {
			v.At = v.At.AddDate(10, 0, 0)
		}
		return []memory.Event{v}
	case memory.LimitChosen:
		if v.Check() != nil {
			return nil
		}
		if s.has("takes the limit last told") {
			delete(s.model.limits, limited{v.Guild, v.Role})
		}
	case memory.Spent:
		if was, ok := s.model.spent[asked{v.Guild, v.Question}]; s.has("adds up what is told twice") && ok {
			v.Tokens += was.Tokens
			return []memory.Event{v}
		}
	case memory.GapFound:
		if s.has("finds gaps anew") {
			delete(s.model.gaps, gapKey{v.Gap.Channel, v.Gap.Until})
		}
	case memory.Rewritten:
		switch {
		case s.has("writes nothing anew"):
			return nil
		case s.has("writes the deleted anew"):
			for _, id := range v.IDs {
				s.model.entry(place{v.Channel, id}).taken = true
			}
		case s.has("keeps what repeats the rewritten"):
			s.model.rewriteOnly(v)
			return nil
		case s.has("takes the rewritten for what it was"):
			s.model.apply(v)
			for _, id := range v.IDs {
				s.model.entry(place{v.Channel, id}).anew = false
			}
			return nil
		case s.has("keeps parts that aren't rewritten"):
			for _, id := range v.IDs {
				if trace, ok := s.model.traces[place{v.Channel, id}]; ok {
					trace.Parts = nil
					s.model.traces[place{v.Channel, id}] = trace
				}
			}
		}
	case memory.Marked:
		if s.has("withdraws what was marked") {
			return nil
		}
	case memory.GuildSeen:
		if s.has("lets a guild seen forget its choices") {
			delete(s.model.choices, chosen{v.Guild.ID, 0})
		}
		if s.has("adds to a guild's roles") {
			v.Guild.Roles = append(slices.Clone(v.Guild.Roles), s.model.guild(v.Guild.ID).Roles...)
		}
		return []memory.Event{v}
	case memory.PersonSeen:
		if s.has("forgets names") {
			delete(s.model.people[v.Person.Guild], v.Person.ID)
		}
	}
	return []memory.Event{e}
}

// cut cuts the log into segments again and reports whether any changed.
func (s *naive) cut() bool {
	now := map[segmentKey][]memory.Message{}
	for at := range s.model.entries {
		if m, ok := s.model.message(at); ok && m.Kind.Recalled() {
			key := segmentKey{at.channel, m.Time().Unix() / 600}
			now[key] = append(now[key], m)
		}
	}
	changed := false
	for key, messages := range now {
		slices.SortFunc(messages, func(a, b memory.Message) int { return compare(a.ID, b.ID) })
		seg := s.segments[key]
		if seg == nil {
			seg = &naiveSegment{Segment: memory.Segment{ID: int64(len(s.segments)+1)<<20 | key.stretch%(1<<20), Channel: key.channel}}
			s.segments[key] = seg
		}
		if holdsAll(messages, seg.Messages) && len(messages) == len(seg.Messages) {
			seg.Messages = messages // with their stars
			continue
		}
		if !holdsAll(messages, seg.Messages) && !s.has("keeps vectors of the deleted") {
			seg.vector = nil
		}
		changed = true
		seg.Messages, seg.Version = messages, seg.Version+1
		seg.pending = seg.pending || !s.has("forgets to embed changes") || seg.Version == 1
	}
	for _, key := range slices.Collect(maps.Keys(s.segments)) {
		if now[key] == nil {
			*s.segments[key] = naiveSegment{Segment: memory.Segment{ID: s.segments[key].ID, Channel: key.channel, Version: s.segments[key].Version + 1}}
		}
	}
	return changed
}

func (s *naive) KeepTrace(_ context.Context, t memory.Trace) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.has("keeps answers made from older texts") {
		t.Recalled = slices.Clone(t.Recalled)
		for i, hit := range t.Recalled {
			if now, ok := s.model.message(place{hit.Channel, hit.Message}); ok {
				t.Recalled[i].Edited = editedAt(now)
			}
		}
	}
	if t.Prompt != nil && s.has("keeps prompts with people who opted out") {
		p := *t.Prompt
		t.Prompt = &memory.Prompt{Built: p.Built, Messages: p.Messages, Boundaries: p.Boundaries}
		defer func() {
			if _, kept := s.model.prompts[place{t.Channel, t.Answer}]; kept {
				s.model.prompts[place{t.Channel, t.Answer}] = p
			}
		}()
	}
	s.model.keepTrace(t)
	s.cut()
	return nil
}

func (s *naive) Pending(_ context.Context, limit int) ([]memory.Segment, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var pending []memory.Segment
	if s.has("embeds what is being forgotten") && len(s.model.unfinished()) > 0 {
		pending = append(pending, memory.Segment{ID: 1, Channel: general, Messages: []memory.Message{said(general, id(1), ada, "apricots")}})
	}
	for _, seg := range s.segments {
		if seg.pending {
			pending = append(pending, seg.Segment)
		}
	}
	slices.SortFunc(pending, func(a, b memory.Segment) int { return int(a.ID - b.ID) })
	if s.has("loses a message") {
		pending = slices.DeleteFunc(pending, func(s memory.Segment) bool { return len(s.Messages) > 3 })
	}
	return pending[:min(limit, len(pending))], nil
}

func (s *naive) Waiting(ctx context.Context) (int, error) {
	pending, err := s.Pending(ctx, 1<<30)
	return len(pending), err
}

func (s *naive) WaitingIn(ctx context.Context, guild memory.GuildID) (int, error) {
	pending, err := s.Pending(ctx, 1<<30)
	return len(slices.DeleteFunc(pending, func(seg memory.Segment) bool { return seg.Messages[0].Guild != guild })), err
}

func (s *naive) Embedded(_ context.Context, segments []memory.Segment, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	for i, given := range segments {
		for _, seg := range s.segments {
			if seg.ID == given.ID && (seg.Version == given.Version && seg.pending || s.has("takes stale vectors")) {
				seg.vector, seg.pending = vectors[i], false
			}
		}
	}
	return nil
}

func (s *naive) Wake() <-chan struct{} { return s.wake }

func (s *naive) Close() error {
	if s.has("forgets forgettings when closed") {
		s.model.forgettings = nil
	}
	if s.has("forgets opt-outs when closed") {
		clear(s.model.opted)
	}
	if s.has("forgets deletes when closed") {
		maps.DeleteFunc(s.model.entries, func(_ place, e *entry) bool { return e.deleted })
	}
	if s.has("forgets what was spent when closed") {
		clear(s.model.spent)
	}
	if s.has("forgets vectors when closed") {
		for _, seg := range s.segments {
			seg.vector = nil
		}
	}
	return nil
}

// rewriteOnly has messages be written anew, and leaves alone what was made from them.
func (m *model) rewriteOnly(e memory.Rewritten) {
	for _, id := range e.IDs {
		at := place{e.Channel, id}
		delete(m.traces, at)
		delete(m.prompts, at)
		if m.entry(at).taken {
			*m.entry(at) = entry{}
			m.withdrawn = slices.DeleteFunc(m.withdrawn, func(w memory.Withdrawn) bool { return w.Channel == e.Channel && w.Message == id })
		}
	}
}
