package search

import (
	"context"

	"hark/memory"
)

// termEmbedder is an embedder that weighs terms by idf.
type termEmbedder interface {
	EmbedTerms(terms []string, idf func(term string) float64) []float32
}

// Engine searches a log.
type Engine struct {
	log       Log
	people    Directory
	embedders []memory.Embedder
	reranker  Reranker      // may be nil
	reading   chan struct{} // one slot for each running read of channels, for all searches
	rosters   indexes[memory.Person, roster]
	lores     indexes[memory.Lore, loreIndex]
	titles    indexes[memory.Channel, titleIndex]
}

// Log is the part of memory.Store that finds and reads messages.
type Log interface {
	memory.TextIndex
	memory.VectorIndex
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before,
		after int) ([]memory.Message, error)
	Windows(ctx context.Context, reach map[memory.MessageRef]int) ([][]memory.Message, error)
}

// Directory returns people, lore, and the channels of guilds. It must not change a list that it returned.
type Directory interface {
	Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error)
	People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
	Presence(ctx context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error)
	Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error)
}
