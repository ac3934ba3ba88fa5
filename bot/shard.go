package bot

import (
	"context"
	"slices"

	"hark/bot/discord"
	"hark/memory"
)

// shardStore is a Store whose lists have only what is one shard's, where they would have all guilds'. What is asked
// about one guild is unchanged.
type shardStore struct {
	memory.Store
	shard discord.Shard
}

// viewOf returns a shard's view of a store.
func viewOf(log memory.Store, shard discord.Shard) memory.Store {
	if shard.Count() == 1 {
		return log
	}
	return shardStore{log, shard}
}

func ours[T any](s shardStore, all []T, guild func(T) memory.GuildID) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !s.shard.Has(guild(one)) })
}

// Guilds implements memory.Store.
func (s shardStore) Guilds(ctx context.Context) ([]memory.GuildID, error) {
	all, err := s.Store.Guilds(ctx)
	return ours(s, all, func(id memory.GuildID) memory.GuildID { return id }), err
}

// Questions implements memory.Store.
func (s shardStore) Questions(ctx context.Context) ([]memory.OpenQuestion, error) {
	all, err := s.Store.Questions(ctx)
	return ours(s, all, func(q memory.OpenQuestion) memory.GuildID { return q.Guild }), err
}

// Gaps implements memory.Store.
func (s shardStore) Gaps(ctx context.Context, guild memory.GuildID, sweep bool) ([]memory.Gap, error) {
	all, err := s.Store.Gaps(ctx, guild, sweep)
	if guild == memory.Everywhere {
		all = ours(s, all, func(g memory.Gap) memory.GuildID { return g.Guild })
	}
	return all, err
}

// Withdrawn implements memory.Store. It reads more as long as others' messages are in the way.
func (s shardStore) Withdrawn(ctx context.Context, limit int) ([]memory.Withdrawn, error) {
	for n := limit; ; n *= 2 {
		all, err := s.Store.Withdrawn(ctx, n)
		own := ours(s, all, func(w memory.Withdrawn) memory.GuildID { return w.Guild })
		if err != nil || len(own) >= limit || len(all) < n {
			return own[:min(len(own), limit)], err
		}
	}
}
