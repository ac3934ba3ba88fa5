package memorytest

import (
	"context"
	"maps"
	"slices"
	"time"

	"hark/internal/text"
	"hark/memory"
)

func (s *naive) Guilds(context.Context) ([]memory.GuildID, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.model.guilds)), nil
}

func (s *naive) Guild(_ context.Context, id memory.GuildID) (*memory.Guild, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.model.guilds[id] == nil {
		return nil, memory.ErrNotFound
	}
	g := s.model.whole(id)
	return &g, nil
}

func (s *naive) People(_ context.Context, guild memory.GuildID) ([]memory.Person, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.model.everybody(guild), nil
}

func (s *naive) Lore(_ context.Context, guild memory.GuildID) ([]memory.Lore, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.model.loreOf(guild), nil
}

func (s *naive) Summaries(_ context.Context, channel memory.ChannelID) ([]memory.Summary, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.model.summariesOf(channel), nil
}

func (s *naive) Condensed(_ context.Context, channel memory.ChannelID) ([]memory.Condensed, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.model.condensedIn(channel), nil
}

func (s *naive) Unsummarised(_ context.Context, since memory.MessageID) ([]memory.Stretch, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := s.model.unsummarised(since)
	if s.has("never sums up again") {
		all = slices.DeleteFunc(all, func(s memory.Stretch) bool { return s.Again })
	}
	return all, nil
}

func (s *naive) Presence(_ context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("counts the whole guild's presence") && len(scope.Channels) > 0 {
		scope.Channels = channels
	}
	return s.model.presence(scope, users), nil
}

func (s *naive) Messages(_ context.Context, channel memory.ChannelID, ids []memory.MessageID) ([]memory.Message, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.DeleteFunc(s.model.log(channel), func(m memory.Message) bool { return !slices.Contains(ids, m.ID) }), nil
}

func (s *naive) Around(_ context.Context, channel memory.ChannelID, ids []memory.MessageID, before, after int) ([]memory.Message, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("looks one too far back") {
		before++
	}
	return s.model.around(channel, ids, before, after), nil
}

func (s *naive) MessageNamed(_ context.Context, channel memory.ChannelID, name string) (memory.MessageID, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id, ok := s.model.named(channel, name); ok {
		return id, nil
	}
	return 0, memory.ErrNotFound
}

func (s *naive) NameOf(_ context.Context, channel memory.ChannelID, ids []memory.MessageID) (map[memory.MessageID]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := map[memory.MessageID]string{}
	for _, id := range ids {
		if name := s.model.names[place{channel, id}]; name != "" {
			names[id] = name
		}
	}
	return names, nil
}

func (s *naive) FullText(_ context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.has("ignores Until"):
		scope.Until = time.Time{}
	case s.has("begins after Since") && !scope.Since.IsZero():
		scope.Since = scope.Since.Add(time.Millisecond)
	case s.has("finds anybody's"):
		scope.Authors = nil
	case s.has("leaks another channel") && len(scope.Channels) > 0:
		scope.Channels = append(slices.Clone(scope.Channels), staff)
	case s.has("wants all terms") && len(terms) > 1:
		terms = terms[:1]
	}
	var hits []memory.TextHit
	for at := range s.model.fullText(scope, terms) {
		m, _ := s.model.message(at)
		hit := memory.TextHit{Channel: at.channel, ID: at.id}
		for _, term := range text.Terms(m.Text()) {
			if slices.Contains(terms, term) {
				hit.Score++
			}
		}
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, func(a, b memory.TextHit) int { return int(b.Score - a.Score) })
	if s.has("gives worst first") {
		slices.Reverse(hits)
	}
	if s.has("ignores the limit") {
		return hits, nil
	}
	return hits[:min(limit, len(hits))], nil
}

func (s *naive) Starred(_ context.Context, scope memory.Scope, limit int) ([]memory.Spot, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("finds anybody's stars") {
		scope.Authors = nil
	}
	spots := s.model.starred(scope)
	return spots[:min(limit, len(spots))], nil
}

func (s *naive) Frequencies(_ context.Context, scope memory.Scope, terms []string, _ int) (int, []int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("counts frequencies everywhere") {
		scope = memory.Scope{}
		for id := range s.model.channels {
			scope.Channels = append(scope.Channels, id)
		}
	}
	n, counts := s.model.frequencies(scope, terms)
	return n, counts, nil
}

func (s *naive) Nearest(_ context.Context, scope memory.Scope, space memory.Space, vector []float32, limit int) ([]memory.VectorHit, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if space != (Embedder{}).Space() && !s.has("mixes spaces") {
		return nil, memory.ErrNoVectors
	}
	var hits []memory.VectorHit
	some := false
	for _, seg := range s.segments {
		some = some || seg.vector != nil
		if seg.vector == nil || !slices.Contains(scope.Channels, seg.Channel) {
			continue
		}
		hit := memory.VectorHit{Channel: seg.Channel, Similarity: cosine(vector, seg.vector)}
		for _, m := range seg.Messages {
			if within(scope, m) || s.has("gives segments whole") {
				hit.Messages = append(hit.Messages, m.ID)
			}
		}
		if len(hit.Messages) > 0 || s.has("gives segments without a message") {
			hits = append(hits, hit)
		}
	}
	if !some {
		return nil, memory.ErrNoVectors
	}
	slices.SortFunc(hits, func(a, b memory.VectorHit) int {
		if a.Similarity > b.Similarity != s.has("gives farthest first") {
			return -1
		}
		return 1
	})
	return hits[:min(limit, len(hits))], nil
}

func (s *naive) Log(_ context.Context, channel memory.ChannelID, after, until memory.MessageID, limit int) ([]memory.Message, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("begins a page at its beginning") {
		after--
	}
	log := slices.DeleteFunc(s.model.log(channel), func(m memory.Message) bool { return m.ID <= after || m.ID > until })
	return log[:min(limit, len(log))], nil
}

func (s *naive) HeardUntil(_ context.Context, guild memory.GuildID) (map[memory.ChannelID]memory.MessageID, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.model.listened(guild), nil
}

func (s *naive) Gaps(context.Context) ([]memory.Gap, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	gaps := s.model.missing()
	if s.has("fetches the past first") {
		slices.Reverse(gaps)
	}
	return gaps, nil
}

func (s *naive) OptedOut(_ context.Context, guild memory.GuildID, user memory.UserID) (bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.model.opted[member{guild, user}].Out, nil
}

func (s *naive) Version(context.Context) (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("gives one version") {
		return 1, nil
	}
	return s.writes, nil
}

func (s *naive) Space(context.Context) (memory.Space, error) { return Embedder{}.Space(), nil }

func (s *naive) Trace(_ context.Context, channel memory.ChannelID, answer memory.MessageID) (memory.Trace, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t, ok := s.model.traces[place{channel, answer}]; ok {
		return t, nil
	}
	for at, t := range s.model.traces {
		if at.channel == channel && slices.Contains(t.Parts, answer) && !s.has("knows no trace of a further part") {
			return t, nil
		}
	}
	return memory.Trace{}, memory.ErrNotFound
}

func (s *naive) Traces(_ context.Context, before memory.MessageID, limit int) ([]memory.Trace, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.has("gives the first traces") {
		before++
	}
	return s.model.lastTraces(before, limit), nil
}

func (s *naive) Prompt(_ context.Context, channel memory.ChannelID, answer memory.MessageID) (memory.Prompt, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p, ok := s.model.prompts[place{channel, answer}]; ok {
		return p, nil
	}
	return memory.Prompt{}, memory.ErrNotFound
}
