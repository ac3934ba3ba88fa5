package search

import (
	"runtime"
	"sync"
	"weak"

	"hark/memory"
)

// indexes caches the index of each guild's list, as long as the list.
type indexes[T, I any] struct {
	sync.Mutex
	by  map[memory.GuildID]*indexed[T, I]
	new func([]T) *I
}

type indexed[T, I any] struct {
	list  weak.Pointer[T] // its first element
	index *I
}

func newIndexes[T, I any](of func([]T) *I) indexes[T, I] {
	return indexes[T, I]{by: map[memory.GuildID]*indexed[T, I]{}, new: of}
}

// of returns the index of a guild's list.
func (x *indexes[T, I]) of(guild memory.GuildID, list []T) *I {
	if len(list) == 0 {
		return x.new(nil)
	}
	x.Lock()
	defer x.Unlock()
	if made := x.by[guild]; made != nil && made.list == weak.Make(&list[0]) {
		return made.index
	}
	made := &indexed[T, I]{list: weak.Make(&list[0]), index: x.new(list)}
	x.by[guild] = made
	runtime.AddCleanup(&list[0], func(guild memory.GuildID) {
		x.Lock()
		defer x.Unlock()
		if x.by[guild] == made {
			delete(x.by, guild)
		}
	}, guild)
	return made.index
}
