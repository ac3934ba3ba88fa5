package vectors

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"hark/memory"
)

// After any additions, moves, deletions, evictions and writes of another process, a search finds exactly what comparing
// everything finds, in the same order. Guilds of both forms do, as long as a scope has no more than the shortlist.
func TestSearchesAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := newSource()
		limit := rapid.SampledFrom([]int64{0, 2 * exactBytes(2), 2 * exactBytes(30), exactBytes(100)}).Draw(t, "limit")
		x := New(source, Options{Limit: limit})
		x.Reset(space)
		defer x.Close()
		guilds, channel := rapid.Int64Range(1, 3), rapid.Uint32Range(0, 3)
		when, vector := rapid.Int64Range(0, 20), rapid.IntRange(0, 12)
		rows := func(t *rapid.T) (rows []Row) {
			for range rapid.IntRange(1, 8).Draw(t, "how many") {
				id := rapid.Int64Range(0, 60).Draw(t, "row")
				if rapid.IntRange(0, 2).Draw(t, "deleted?") == 0 {
					rows = append(rows, Row{ID: id})
					continue
				}
				r := row(id, channel.Draw(t, "channel"), random(vector.Draw(t, "vector")))
				r.First = memory.MessageID(when.Draw(t, "first"))
				r.Last = r.First + memory.MessageID(when.Draw(t, "length"))
				rows = append(rows, r)
			}
			return rows
		}
		t.Repeat(map[string]func(*rapid.T){
			"commit": func(t *rapid.T) {
				guild := guilds.Draw(t, "guild")
				x.Apply(map[int64]Change{guild: source.commit(guild, rows(t)...)})
			},
			"commit much": func(t *rapid.T) {
				guild := guilds.Draw(t, "guild")
				c := source.commit(guild, rows(t)...)
				x.Apply(map[int64]Change{guild: {Version: c.Version, Many: true}})
			},
			"another process commits": func(t *rapid.T) {
				guild := guilds.Draw(t, "guild")
				source.commit(guild, rows(t)...)
				x.Refresh(x.Guilds(), source.versions)
			},
			"drop": func(t *rapid.T) { x.Drop(guilds.Draw(t, "guild")) },
			"search": func(t *rapid.T) {
				var scopes []Scope
				for guild := range int64(3) {
					scope := always(guild+1, rapid.SliceOfDistinct(channel, rapid.ID).Draw(t, "channels")...)
					if rapid.Bool().Draw(t, "times?") {
						scope.Since = memory.MessageID(when.Draw(t, "since"))
						scope.Until = scope.Since + memory.MessageID(when.Draw(t, "until"))
					}
					scopes = append(scopes, scope)
				}
				limit := rapid.IntRange(1, 30).Draw(t, "limit")
				question := random(100 + vector.Draw(t, "question"))
				got, want := find(t, x, question, limit, scopes...), source.exactly(scopes, question, limit)
				if !slices.Equal(got, want) {
					t.Fatalf("found %v, want %v", got, want)
				}
			},
			"": func(t *rapid.T) { checkMemory(t, x) },
		})
	})
}

// checkMemory fails if vectors are in memory that no row has, or copies of some.
func checkMemory(t *rapid.T, x *Index) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, g := range x.guilds {
		if !g.isLoaded(context.Background()) || g.table == nil {
			continue
		}
		var inUse = map[*float32]bool{}
		for _, slot := range g.table.slots {
			if g.exact != nil {
				inUse[&g.exact.arena.at(slot)[0]] = true
			}
		}
		if g.sketches != nil {
			checkSketches(t, g)
			continue
		}
		rows := 0
		for channel, c := range g.exact.channels {
			if c.Count() == 0 {
				t.Fatalf("the collection of channel %d is empty", channel)
			}
			rows += c.Count()
			results, err := c.QueryEmbedding(context.Background(), unit(random(1)), c.Count(), nil, nil)
			must(t, err)
			for _, r := range results {
				if !inUse[&r.Embedding[0]] {
					t.Fatalf("chromem-go has a copy of a vector")
				}
			}
		}
		if rows != g.table.rows() || len(g.exact.db.ListCollections()) != len(g.exact.channels) {
			t.Fatalf("collections have %d rows, the table %d", rows, g.table.rows())
		}
		for _, block := range g.exact.arena.blocks {
			for i := 0; i < len(block); i += dimensions {
				if inUse[&block[i]] {
					continue
				}
				if slices.ContainsFunc(block[i:i+dimensions], func(v float32) bool { return v != 0 }) {
					t.Fatal("a vector that was removed is in memory still")
				}
			}
		}
	}
}

func checkSketches(t *rapid.T, g *guild) {
	for slot := range uint32(len(g.table.ids)) {
		for turn := range rotations {
			free := g.table.channels[slot] == noChannel
			zero := !slices.ContainsFunc(g.sketches.at(turn, slot), func(w uint64) bool { return w != 0 })
			if free && !zero {
				t.Fatal("a sketch that was removed is in memory still")
			}
		}
	}
}

// Searches, commits, evictions and another process's writes at once: no search finds what lies outside its scope, or
// what was deleted before it began, and in the end all is as it should be.
func TestConcurrentSearchesAndCommits(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{0, 2 * exactBytes(60), 2 * exactBytes(4)} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			searchWhileWriting(t, limit)
		})
	}
}

func searchWhileWriting(t *testing.T, limit int64) {
	const guilds, each, rounds = 3, 40, 60
	source := newSource()
	x := newIndex(t, source, Options{Limit: limit})
	for guild := range int64(guilds) {
		for id := range int64(each) {
			source.commit(guild, row(id, uint32(id%4), random(int(id))))
		}
	}
	var running sync.WaitGroup
	writing := make(chan struct{})
	for guild := range int64(guilds) {
		running.Go(func() { // the only writer of its guild
			for round := range rounds {
				id := int64(round % each)
				deleted := source.commit(guild, Row{ID: id})
				if round%7 == 3 {
					x.Refresh(x.Guilds(), map[int64]int64{guild: deleted.Version})
				} else {
					x.Apply(map[int64]Change{guild: deleted})
				}
				for _, f := range find(t, x, random(round), each, always(guild, 0, 1, 2, 3)) {
					if f.ID == id {
						t.Errorf("row %d of guild %d is found after its deletion", id, guild)
					}
				}
				x.Apply(map[int64]Change{guild: source.commit(guild, row(id, uint32(id%4), random(round)))})
			}
		})
	}
	var searching sync.WaitGroup
	for n := range 2 {
		searching.Go(func() {
			for round := n; ; round++ {
				select {
				case <-writing:
					return
				default:
				}
				channel := uint32(round % 4)
				for _, f := range find(t, x, random(round), 5, always(0, channel), always(1, channel), always(2, channel)) {
					if uint32(f.ID%4) != channel {
						t.Errorf("row %d isn't in channel %d", f.ID, channel)
					}
				}
				x.Drop(int64(round % 5))
			}
		})
	}
	running.Wait()
	close(writing)
	searching.Wait()
	for guild := range int64(guilds) {
		scopes := []Scope{always(guild, 0, 1, 2, 3)}
		question := random(1000)
		got := find(t, x, question, each, scopes...)
		want := source.exactly(scopes, question, each)
		if !slices.Equal(got, want) {
			t.Errorf("guild %d: found %v, want %v", guild, got, want)
		}
	}
}
