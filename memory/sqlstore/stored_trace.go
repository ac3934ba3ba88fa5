package sqlstore

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"hark/memory"
)

// storedTrace is a trace's body column, without what other columns and tables hold. Messages are lists of
// numbers.
type storedTrace struct {
	memory.Trace
	Channel  *struct{}          `json:"channel,omitempty"`
	Answer   *struct{}          `json:"answer,omitempty"`
	Parts    *struct{}          `json:"parts,omitempty"`
	Sources  *struct{}          `json:"sources,omitempty"`
	Named    *struct{}          `json:"named,omitempty"`
	Recalled [][]int64          `json:"recalled,omitempty"`
	Channels []memory.ChannelID `json:"channels,omitempty"` // of recalled messages
	Why      []string           `json:"why,omitempty"`      // each a set of reasons
}

// The numbers of a message. Trailing zeros are left out.
const (
	hitChannel   = iota // index in Channels
	hitMessage          // id, less the previous message's
	hitMarks            // hitContext and hitCited
	hitRelevance        // in thousandths
	hitWhy              // index in Why, from 1; 0: no reasons
	hitNumber
	hitEdited
	hitNumbers

	hitContext = 1
	hitCited   = 2
)

func storedTraceOf(t memory.Trace) storedTrace {
	k := storedTrace{Trace: t}
	before := memory.MessageID(0)
	for _, h := range t.Recalled {
		n := []int64{
			hitChannel:   indexOrAppend(&k.Channels, h.Channel),
			hitMessage:   int64(h.Message - before),
			hitMarks:     0,
			hitRelevance: int64(math.Round(1000 * h.Relevance)),
			hitWhy:       0,
			hitNumber:    int64(h.Number),
			hitEdited:    h.Edited,
		}
		if len(h.Why) > 0 {
			n[hitWhy] = indexOrAppend(&k.Why, strings.Join(h.Why, " ")) + 1
		}
		if h.Context {
			n[hitMarks] |= hitContext
		}
		if h.Cited {
			n[hitMarks] |= hitCited
		}
		for n[len(n)-1] == 0 && len(n) > 1 {
			n = n[:len(n)-1]
		}
		k.Recalled = append(k.Recalled, n)
		before = h.Message
	}
	return k
}

func indexOrAppend[T comparable](list *[]T, one T) int64 {
	at := slices.Index(*list, one)
	if at < 0 {
		at = len(*list)
		*list = append(*list, one)
	}
	return int64(at)
}

// trace decodes k, except what its body lacks.
func (k storedTrace) trace() (memory.Trace, error) {
	t := k.Trace
	before := memory.MessageID(0)
	for _, n := range k.Recalled {
		n = append(n, make([]int64, hitNumbers)...)
		if !has(k.Channels, n[hitChannel]) || n[hitWhy] != 0 && !has(k.Why, n[hitWhy]-1) {
			return t, errors.New("it names channels or reasons that it doesn't have")
		}
		h := memory.TraceHit{
			Channel:   k.Channels[n[hitChannel]],
			Message:   before + memory.MessageID(n[hitMessage]),
			Relevance: float64(n[hitRelevance]) / 1000,
			Number:    int(n[hitNumber]),
			Edited:    n[hitEdited],
			Context:   n[hitMarks]&hitContext > 0,
			Cited:     n[hitMarks]&hitCited > 0,
		}
		if why := n[hitWhy]; why > 0 {
			h.Why = strings.Split(k.Why[why-1], " ")
		}
		t.Recalled = append(t.Recalled, h)
		before = h.Message
	}
	return t, nil
}

func has[T any](list []T, place int64) bool { return 0 <= place && place < int64(len(list)) }

// sourcesOfTrace is a column with the given columns of each source o of trace t, in the trace's order, for
// which a fact's guild doesn't count.
func sourcesOfTrace(columns string) string {
	return fmt.Sprintf(`(SELECT json_group_array(json_array(%s)
		ORDER BY o.kind, iif(o.kind = %d, 0, o.place), o.id, o.place) FROM derived d CROSS JOIN source o
		WHERE d.guild = t.guild AND d.kind = 1 AND d.place = t.channel AND d.id = t.answer
		AND o.guild = t.guild AND o.derived = d.no)`, columns, aFact)
}

// storedSources are the columns with trace t's sources and names.
var storedSources = sourcesOfTrace("o.kind, o.place, o.id, o.version, o.repeats") + `,
	(SELECT json_group_array(n.user ORDER BY n.user) FROM derived d CROSS JOIN named n
		WHERE d.guild = t.guild AND d.kind = 1 AND d.place = t.channel AND d.id = t.answer
		AND n.guild = t.guild AND n.derived = d.no AND n.user <> 0)`

// storedSource is a row of source: kind, place, id, version and repeats.
type storedSource [5]int64

func (k storedSource) source() memory.Source {
	s := memory.Source{
		Channel: memory.ChannelID(k[1]),
		ID:      k[2],
		Version: k[3],
		Repeats: k[4] != 0,
	}
	for is, of := range sourceKinds {
		if of == kind(k[0]) {
			s.Kind = is
		}
	}
	if s.Kind == memory.SourceFact {
		s.Channel = 0
	}
	return s
}
