package memorytest

import (
	"context"
	"maps"
	"slices"
	"time"

	"hark/memory"
)

func (s *naive) Forget(ctx context.Context, f memory.Forgetting, progress func(done, total int)) (memory.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return memory.Receipt{}, err
	}
	if s.has("hides nothing until it is gone") && progress != nil {
		progress(0, 1)
		time.Sleep(10 * time.Millisecond) // lets readers in
	}
	s.mu.Lock()
	s.writes++
	undo := s.spare(f)
	g := s.model.begin(s.spoilForgetting(f))
	undo()
	s.count(g)
	s.cut()
	s.mu.Unlock()
	return s.carryOut(ctx, g, progress)
}

// count tells a receipt of the segments, as they were, from which something has gone.
func (s *naive) count(g *forgetting) {
	for _, seg := range s.segments {
		if slices.ContainsFunc(seg.Messages, func(m memory.Message) bool { _, ok := s.model.message(place{m.Channel, m.ID}); return !ok }) {
			g.Segments++
			if seg.vector != nil {
				g.Vectors++
			}
		}
	}
}

func (s *naive) ForgetPrompts(_ context.Context, before time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.has("forgets prompts of that very moment") {
		before = before.Add(time.Millisecond)
	}
	return s.model.forgetOld(before), nil
}

func (s *naive) ForgetSpending(_ context.Context, before time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.has("forgets what was spent that very day") {
		before = before.Add(2 * time.Hour)
	}
	return s.model.forgetOldSpending(before), nil
}

func (s *naive) Spending(_ context.Context, guild memory.GuildID, day time.Time) (map[memory.UserID]int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("counts days by the clock of who asks") {
		year, month, date := day.Date()
		day = time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
	}
	return s.model.spending(guild, day), nil
}

func (s *naive) Unfinished(context.Context) ([]memory.Forgetting, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("loses sight of what is unfinished") {
		return nil, nil
	}
	return s.model.unfinished(), nil
}

func (s *naive) CarryOut(ctx context.Context, id int64, progress func(done, total int)) (memory.Receipt, error) {
	s.mu.RLock()
	n := slices.IndexFunc(s.model.forgettings, func(g *forgetting) bool { return g.Forgetting.ID == id })
	s.mu.RUnlock()
	if n < 0 {
		return memory.Receipt{}, memory.ErrNotFound
	}
	return s.carryOut(ctx, s.model.forgettings[n], progress)
}

// carryOut has nothing left to do but to say so, a hundred messages a step.
func (s *naive) carryOut(ctx context.Context, g *forgetting, progress func(done, total int)) (memory.Receipt, error) {
	for done := 0; progress != nil && !g.done && done < g.Messages; {
		done = min(done+100, g.Messages)
		progress(done, g.Messages)
		if err := ctx.Err(); err != nil {
			if s.has("gives up what was broken off") {
				s.model.forgettings = nil
			}
			return memory.Receipt{}, err
		}
	}
	s.mu.Lock()
	s.writes++
	defer s.mu.Unlock()
	g.done = true
	return g.Receipt, nil
}

func (s *naive) Withdrawn(_ context.Context, limit int) ([]memory.Withdrawn, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.model.withdrawn[:min(limit, len(s.model.withdrawn))]), nil
}

// spare hides from a forgetting what the store's bug has it leave alone, until it is undone.
func (s *naive) spare(f memory.Forgetting) (undo func()) {
	m := s.model
	switch {
	case s.has("forgets a channel without its threads"):
		was := m.channels[thread]
		delete(m.channels, thread)
		return func() {
			if was != nil {
				m.channels[thread] = was
			}
		}
	case s.has("keeps answers made from the forgotten"):
		kept := maps.Clone(m.traces)
		clear(m.traces)
		return func() { maps.Copy(m.traces, kept) }
	case s.has("keeps prompts with the forgotten in them"):
		prompts := maps.Clone(m.prompts)
		return func() {
			maps.Copy(m.prompts, prompts)
			maps.DeleteFunc(m.prompts, func(at place, _ memory.Prompt) bool { _, there := m.traces[at]; return !there })
		}
	case s.has("keeps on whom something was spent"):
		spent := maps.Clone(m.spent)
		return func() { m.spent = spent }
	case s.has("keeps the records of the forgotten"):
		records := slices.Clone(m.records)
		return func() { m.records = records }
	case s.has("keeps what is known of the forgotten"):
		facts, people := maps.Clone(m.facts), maps.Clone(m.people[guild])
		return func() { m.facts, m.people[guild] = facts, people }
	case s.has("keeps the lore of the forgotten"):
		lore := maps.Clone(m.lore)
		for key, l := range m.lore {
			if len(l.Sources) == 0 {
				delete(m.lore, key)
			}
		}
		return func() { maps.Copy(m.lore, lore) }
	case s.has("keeps settings of the forgotten"):
		settings := maps.Clone(m.settings)
		return func() { m.settings = settings }
	case s.has("keeps the summaries of the forgotten"):
		summaries := maps.Clone(m.summaries)
		clear(m.summaries)
		return func() { maps.Copy(m.summaries, summaries) }
	case s.has("keeps condensed what is forgotten"):
		condensed := maps.Clone(m.condensed)
		clear(m.condensed)
		return func() { maps.Copy(m.condensed, condensed) }
	case s.has("keeps facts whose source is forgotten") && f.Channel != 0:
		facts := maps.Clone(m.facts)
		return func() { m.facts = facts }
	case s.has("lets the forgotten come back"):
		had := maps.Clone(m.entries)
		return func() {
			maps.DeleteFunc(m.entries, func(at place, _ *entry) bool { _, known := had[at]; return known && m.entries[at].deleted })
			m.forgettings[len(m.forgettings)-1].end = -never
		}
	case s.has("lets late messages of the forgotten in"):
		return func() { m.forgettings[len(m.forgettings)-1].end = -never }
	case s.has("forgets opt-outs with the guild") && f.User == 0 && f.Channel == 0:
		return func() { clear(m.opted) }
	case s.has("withdraws nothing"):
		return func() { m.withdrawn = nil }
	}
	return func() {}
}

// spoilForgetting changes what is to be forgotten as the store's bug has it.
func (s *naive) spoilForgetting(f memory.Forgetting) memory.Forgetting {
	switch {
	case s.has("forgets everybody in a channel") && f.Channel != 0:
		f.User = 0
	case s.has("forgets in one guild only") && f.Guild == memory.Everywhere:
		f.Guild = guild
	case s.has("forgets what was said after the end") && !f.Before.IsZero():
		f.Before = f.Before.Add(time.Millisecond)
	}
	return f
}

func (s *naive) Extent(_ context.Context, f memory.Forgetting) (memory.Extent, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("counts what isn't to be forgotten") {
		f.Before = time.Time{}
	}
	return s.model.extent(f), nil
}
