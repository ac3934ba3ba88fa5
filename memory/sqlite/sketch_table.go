package sqlite

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"hark/memory"
	"hark/memory/sqlstore"
)

const (
	// shortlisted is the least number of segments ranked, shortlistedEach the number for each one wanted.
	shortlisted, shortlistedEach = 400, 8
	// longlist is how many times as many some bits of one rotation preselect. All bits then choose the
	// shortlist.
	longlist = 25
)

const minID, maxID = memory.MessageID(-1 << 63), memory.MessageID(1<<63 - 1)

// filter selects what may be found in a guild.
type filter struct {
	channels     []bool // by number in the guild
	since, until memory.MessageID
}

// scopeFilter returns the part of scope in a guild; nos are the numbers of scope's channels.
func scopeFilter(scope memory.Scope, guild int64, nos []int64) filter {
	f := filter{since: minID, until: maxID}
	for _, no := range nos {
		if sqlstore.GuildOf(no) != guild {
			continue
		}
		n := int(no - guild<<sqlstore.ChannelBits)
		for len(f.channels) <= n {
			f.channels = append(f.channels, false)
		}
		f.channels[n] = true
	}
	if !scope.Since.IsZero() {
		f.since = sqlstore.FirstAt(scope.Since)
	}
	if !scope.Until.IsZero() {
		f.until = sqlstore.FirstAt(scope.Until)
	}
	return f
}

func (f *filter) allows(t *sketchTable, i int32) bool {
	c := int(t.channels[i])
	return c < len(f.channels) && f.channels[c] && (f.always() || t.lasts[i] >= f.since && t.firsts[i] < f.until)
}

func (f *filter) always() bool { return f.since == minID && f.until == maxID }

// sketchTable holds a guild's segments by column, because every search scans whole columns.
type sketchTable struct {
	guild         int64
	segments      []int64
	channels      []uint32 // numbers in the guild
	firsts, lasts []memory.MessageID
	sketches      [rotations][]uint64 // one after the other
	words         int                 // of a sketch, per rotation
	at            map[int64]int32     // row by segment
	sketcher      *sketcher
}

func newTable(guild int64, dimensions int) sketchTable {
	k := newSketcher(dimensions)
	return sketchTable{guild: guild, at: map[int64]int32{}, sketcher: k, words: k.width / 64}
}

// reserve makes room for n rows in an empty table.
func (t *sketchTable) reserve(n int) {
	t.resize(n)
	t.resize(0)
}

func (t *sketchTable) put(v storedVector) error {
	if n := 8 * rotations * t.words; len(v.sketch) != n {
		return fmt.Errorf("the sketch of segment %d takes %d bytes and not %d", v.segment, len(v.sketch), n)
	}
	i, ok := t.at[v.segment]
	if !ok {
		i = int32(len(t.segments))
		t.at[v.segment] = i
		t.resize(int(i) + 1)
	}
	t.segments[i], t.channels[i] = v.segment, uint32(v.channel-t.guild<<sqlstore.ChannelBits)
	t.firsts[i], t.lasts[i] = v.first, v.last
	for k := range rotations {
		sketch := t.sketch(k, i)
		for w := range sketch {
			sketch[w] = binary.LittleEndian.Uint64(v.sketch[8*(k*t.words+w):])
		}
	}
	return nil
}

// remove deletes a segment's row. The last row takes its place.
func (t *sketchTable) remove(segment int64) {
	i, ok := t.at[segment]
	if !ok {
		return
	}
	last := int32(len(t.segments) - 1)
	t.segments[i], t.channels[i] = t.segments[last], t.channels[last]
	t.firsts[i], t.lasts[i] = t.firsts[last], t.lasts[last]
	for k := range rotations {
		copy(t.sketch(k, i), t.sketch(k, last))
		clear(t.sketch(k, last))
	}
	t.at[t.segments[i]] = i
	delete(t.at, segment)
	t.resize(int(last))
}

// resize sets the number of rows.
func (t *sketchTable) resize(n int) {
	t.segments, t.channels = resized(t.segments, n), resized(t.channels, n)
	t.firsts, t.lasts = resized(t.firsts, n), resized(t.lasts, n)
	for k := range t.sketches {
		t.sketches[k] = resized(t.sketches[k], n*t.words)
	}
}

func resized[T any](list []T, n int) []T {
	return slices.Grow(list, max(0, n-len(list)))[:n]
}

// perRow is the measured size of a row in bytes without its sketch: 28, and its share of the map.
const perRow = 60

func (t *sketchTable) bytes() int64 {
	return int64(len(t.segments)) * int64(perRow+8*rotations*t.words)
}

func (t *sketchTable) sketch(turn int, i int32) []uint64 {
	return t.sketches[turn][int(i)*t.words : (int(i)+1)*t.words]
}

func (t *sketchTable) allowed(f filter) []int32 {
	places := make([]int32, 0, len(t.segments))
	for i := range int32(len(t.segments)) {
		if f.allows(t, i) {
			places = append(places, i)
		}
	}
	return places
}

// shortlist returns the rows of places that may be among the limit nearest to vector.
func (t *sketchTable) shortlist(places []int32, vector []float32, limit int) []int32 {
	n := max(shortlisted, min(limit, len(places))*shortlistedEach)
	if len(places) <= n {
		return places
	}
	var question [rotations][]uint64
	var weight [rotations][weightBits][]uint64
	for k := range rotations {
		turned := t.sketcher.rotate(vector, k, nil)
		question[k], weight[k] = signs(turned), weights(turned)
	}
	distances := make([]int32, len(places))
	if len(places) > longlist*n {
		mask := heavyBits(&weight[0])
		for p, i := range places {
			distances[p] = int32(hammingDistance(question[0], t.sketch(0, i), mask))
		}
		places = t.smallest(places, distances, longlist*n)
	}
	distances = distances[:len(places)]
	for p, i := range places {
		distances[p] = 0
		for k := range rotations {
			distances[p] += int32(weightedDistance(question[k], t.sketch(k, i), &weight[k]))
		}
	}
	return t.smallest(places, distances, n)
}

// smallest returns the n of places with the smallest distances. Ties go to the newest segments.
func (t *sketchTable) smallest(places, distances []int32, n int) []int32 {
	counts := make([]int32, rotations*64*t.words<<weightBits)
	for _, d := range distances {
		counts[d]++
	}
	border, within := int32(0), 0 // the number nearer than border
	for within+int(counts[border]) < n {
		within += int(counts[border])
		border++
	}
	chosen := make([]int32, 0, n)
	var equal []int32
	for k, d := range distances {
		if d < border {
			chosen = append(chosen, places[k])
		} else if d == border {
			equal = append(equal, places[k])
		}
	}
	slices.SortFunc(equal, func(a, b int32) int { return cmp.Compare(t.segments[b], t.segments[a]) })
	return append(chosen, equal[:n-within]...)
}
