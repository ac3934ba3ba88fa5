package ingest

import (
	"maps"

	"hark/memory"
)

// Watch begins counting.
func (f *Filler) Watch(g *memory.Guild, id memory.ChannelID) *Progress {
	w := &Progress{
		channel: id,
		of:      map[memory.ChannelID]bool{},
		fetched: map[memory.Gap]int{},
	}
	for _, c := range g.WithThreads(id) {
		w.of[c.ID] = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watched[w] = true
	return w
}

// Unwatch ends counting.
func (f *Filler) Unwatch(w *Progress) {
	defer f.Progress()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watched, w)
}

// count adds messages of a gap that are fetched and about to be logged.
func (f *Filler) count(g memory.Gap, more int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watched {
		if g.Past && w.of[g.Channel] {
			w.fetched[gapKey(g)] = max(w.fetched[gapKey(g)], g.Fetched+more)
		}
	}
}

// Seen returns how many messages were fetched, with those that the remaining gaps count, and whether somebody
// stopped it.
func (f *Filler) Seen(w *Progress, left []memory.Gap) (fetched int, stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range left {
		w.fetched[gapKey(g)] = max(w.fetched[gapKey(g)], g.Fetched)
	}
	return sum(w.fetched), w.stopped
}

// Halt tells the watchers of a channel that fetching stopped. It returns how many messages were fetched from the
// channels that seen has.
func (f *Filler) Halt(id memory.ChannelID, left []memory.Gap, seen *memory.Guild) (fetched int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[memory.Gap]int{}
	for _, g := range left {
		all[gapKey(g)] = g.Fetched
	}
	for w := range f.watched {
		if w.channel == id {
			w.stopped = true
			for key, n := range w.fetched {
				all[key] = max(all[key], n)
			}
		}
	}
	maps.DeleteFunc(all, func(key memory.Gap, _ int) bool { return seen.Channel(key.Channel) == nil })
	return sum(all)
}

func sum(counts map[memory.Gap]int) (n int) {
	for c := range maps.Values(counts) {
		n += c
	}
	return n
}

// Watchers returns how many watch what is fetched.
func (f *Filler) Watchers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watched)
}
