package sqlite

import (
	"cmp"
	"slices"

	"hark/memory"
	"hark/memory/sqlstore"
)

const (
	// sketchedFrom is how many segments a guild has at most without sketches: up to it, all of them are ranked.
	sketchedFrom = 10_000
	// shortlisted is how many segments are ranked at least where there are sketches, and for each that is wanted.
	shortlisted, shortlistedEach = 400, 20
	// longlist is how many times as many are chosen by some bits of one turn, of which all bits then choose
	// the shortlist.
	longlist = 6
)

// row is a segment whose vector is loaded.
type row struct {
	segment     int64
	first, last memory.MessageID // between which its messages lie
	vector      []float32        // the one that chromem-go holds
}

// minID and maxID exclude no message.
const minID, maxID = memory.MessageID(-1 << 63), memory.MessageID(1<<63 - 1)

// filter is what may be found in a guild.
type filter struct {
	channels     []bool // by number in the guild
	since, until memory.MessageID
}

// scopeFilter is what of scope lies in a guild, nos being the numbers of scope's channels.
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

// allows reports whether the row at i may be found.
func (f *filter) allows(t *table, i int32) bool {
	c := int(t.channels[i])
	return c < len(f.channels) && f.channels[c] && (f.always() || t.rows[i].last >= f.since &&
		t.rows[i].first < f.until)
}

func (f *filter) always() bool { return f.since == minID && f.until == maxID }

// table is what is kept of a guild's segments beside chromem-go's documents: whatever a search looks at
// before it ranks.
type table struct {
	rows     []row
	channels []uint32        // of rows: their numbers in the guild, by themselves since every search reads them all
	at       map[int64]int32 // the place in rows, by segment
	sketcher *sketcher
	words    int             // that a sketch takes
	few      int             // rows that need no sketches
	sketches [turns][]uint64 // of rows, one after the other; nil while they are few
	scratch  []float32
}

func newTable(dimensions int) table {
	k := newSketcher(dimensions)
	return table{at: map[int64]int32{}, sketcher: k, words: k.width / 64, few: sketchedFrom}
}

func (t *table) isSketched() bool { return t.sketches[0] != nil }

// put adds a row, or replaces the segment's.
func (t *table) put(r row, channel uint32) {
	i, ok := t.at[r.segment]
	if !ok {
		i = int32(len(t.rows))
		t.at[r.segment] = i
		t.rows, t.channels = append(t.rows, row{}), append(t.channels, 0)
	}
	t.rows[i], t.channels[i] = r, channel
	if t.isSketched() {
		t.sketchRow(i)
	} else if len(t.rows) > t.few {
		for i := range t.rows {
			t.sketchRow(int32(i))
		}
	}
}

// sketchRow makes the sketches of the row at i, which has some or comes after all that have.
func (t *table) sketchRow(i int32) {
	at := int(i) * t.words
	for k := range turns {
		t.scratch = t.sketcher.turned(t.rows[i].vector, k, t.scratch)
		rest := t.sketches[k][min(at+t.words, len(t.sketches[k])):]
		t.sketches[k] = appendSketch(t.sketches[k][:at], t.scratch)
		t.sketches[k] = t.sketches[k][:at+t.words+len(rest)]
	}
}

// remove takes a segment's row away; the last takes its place.
func (t *table) remove(segment int64) {
	i, ok := t.at[segment]
	if !ok {
		return
	}
	last := int32(len(t.rows) - 1)
	t.rows[i], t.channels[i] = t.rows[last], t.channels[last]
	t.at[t.rows[i].segment] = i
	delete(t.at, segment)
	t.rows[last] = row{}
	t.rows, t.channels = t.rows[:last], t.channels[:last]
	switch {
	case int(last) <= t.few*9/10: // not at once, or a segment that comes and goes would have all made anew
		t.sketches = [turns][]uint64{}
	case t.isSketched():
		for k := range turns {
			copy(t.sketch(k, i), t.sketch(k, last))
			t.sketches[k] = t.sketches[k][:int(last)*t.words]
		}
	}
}

// bytes is what the table and the vectors take in memory.
func (t *table) bytes(dimensions int) int64 {
	return int64(len(t.rows))*int64(perVector+4*dimensions) + int64(turns*8*len(t.sketches[0]))
}

// sketch is the sketch of a turn of the row at i.
func (t *table) sketch(turn int, i int32) []uint64 {
	return t.sketches[turn][int(i)*t.words : (int(i)+1)*t.words]
}

// allowed are the places of the rows that may be found.
func (t *table) allowed(f filter) []int32 {
	places := make([]int32, 0, len(t.rows))
	for i := range int32(len(t.rows)) {
		if f.allows(t, i) {
			places = append(places, i)
		}
	}
	return places
}

// shortlist are those of places that may be among the limit nearest to vector.
func (t *table) shortlist(places []int32, vector []float32, limit int) []int32 {
	n := max(shortlisted, min(limit, len(places))*shortlistedEach)
	if len(places) <= n {
		return places
	}
	var question [turns][]uint64
	var weight [turns][planes][]uint64
	for k := range turns {
		turned := t.sketcher.turned(vector, k, nil)
		question[k], weight[k] = appendSketch(nil, turned), weights(turned)
	}
	distances := make([]int32, len(places))
	if len(places) > longlist*n {
		mask := large(&weight[0])
		for p, i := range places {
			distances[p] = int32(differing(question[0], t.sketch(0, i), mask))
		}
		places = t.least(places, distances, longlist*n)
	}
	distances = distances[:len(places)]
	for p, i := range places {
		distances[p] = 0
		for k := range turns {
			distances[p] += int32(weighed(question[k], t.sketch(k, i), &weight[k]))
		}
	}
	return t.least(places, distances, n)
}

// least are the n of places, which are more, with the smallest distances; of equals the newest segments.
func (t *table) least(places, distances []int32, n int) []int32 {
	counts := make([]int32, turns*64*t.words<<planes)
	for _, d := range distances {
		counts[d]++
	}
	border, within := int32(0), 0 // so many are nearer than border
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
	slices.SortFunc(equal, func(a, b int32) int { return cmp.Compare(t.rows[b].segment, t.rows[a].segment) })
	return append(chosen, equal[:n-within]...)
}
