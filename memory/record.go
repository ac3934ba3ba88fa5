package memory

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Record is one call of the history: who called what, with which arguments, and how it came out. It holds no
// text that anybody wrote, the model included: messages stand in it by their ids, other texts by their length
// and a fingerprint (see FingerprintOf).
//
// It may be told where its channel may be read and its answer may be repeated, since the answer's trace names
// all that it was made from. It goes with its question, its answer and whoever asked, when the question's
// text changes or the answer is written anew, with its channel and guild, and with all of anybody whose id
// its arguments name.
//
// The first seven fields are always written, under exactly these names; the others if they are set.
type Record struct {
	CallID    string         `json:"call_id"`   // unique
	Timestamp time.Time      `json:"timestamp"` // in milliseconds
	Speaker   Speaker        `json:"speaker"`
	Method    string         `json:"method_name"`
	Args      []any          `json:"args"`
	Kwargs    map[string]any `json:"kwargs"`
	Outcome   string         `json:"outcome_summary"` // in a few words, without anybody's

	Guild    GuildID   `json:"guild,omitzero"`
	Channel  ChannelID `json:"channel,omitzero"`
	Question MessageID `json:"question,omitzero"` // that it came of; 0 if no message asked
	Asker    UserID    `json:"asker,omitzero"`    // who asked that
	Answer   MessageID `json:"answer,omitzero"`   // that it came to; 0 if to none

	// More are fields that a newer Hark has written, kept as they are.
	More map[string]json.RawMessage `json:"-"`
}

// Speaker is who made a call.
type Speaker string

// The speakers.
const (
	SpeakerUser  Speaker = "user"  // a member, who asked Hark
	SpeakerAgent Speaker = "agent" // Hark, which answered
	SpeakerTool  Speaker = "tool"  // a tool, which the model called
)

// Called is a call of the history, told together with the answer that it came to, after that. Of several with
// one CallID the first stays. It isn't kept if its question or its answer is gone, if it falls under a
// Forgetting, or if whoever asked has opted out.
type Called struct{ Record Record }

func (Called) isEvent() {}

// RecordQuery says which records are wanted. All that is set holds for each of them.
type RecordQuery struct {
	Channels     []ChannelID // where they were made; none: no records
	Since, Until time.Time   // from Since on, and before Until; zero: without a bound
	Speaker      Speaker     // empty: any
	Method       string      // empty: any
	Asker        UserID      // 0: anybody
	// Oldest has the oldest come first, and not the newest. Those of one moment are in the order in which
	// they were told, or the reverse of that.
	Oldest bool
	Limit  int // 0: all
}

// RecordLimits bound how many records are kept. Of a channel's the newest stay.
type RecordLimits struct {
	Before time.Time // those made before it go; zero: none goes for its age
	Count  int       // of a channel; 0: without a bound
	// Tokens is what a channel's records may cost the model together, were it shown all of each, in tokens of o200k.
	// 0: without a bound.
	Tokens int
}

// tagged is a Record as its tags have it written, without More.
type tagged Record

// recordFields are the names of a record's fields in the order in which they are written, each with whether
// it is always there.
var recordFields, alwaysThere = func() (all, always []string) {
	for i := range reflect.TypeFor[Record]().NumField() {
		name, options, _ := strings.Cut(reflect.TypeFor[Record]().Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if all = append(all, name); options == "" {
			always = append(always, name)
		}
	}
	return all, always
}()

// RecordFields are the names of the fields that every record has, in the order in which they are written.
func RecordFields() []string { return slices.Clone(alwaysThere) }

// isOwn reports whether a record has a field of that name of its own.
func isOwn(name string, _ json.RawMessage) bool { return slices.Contains(recordFields, name) }

// MarshalJSON writes r with the fields that a newer Hark has written, if it was read from such a record.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.Args == nil {
		r.Args = []any{}
	}
	if r.Kwargs == nil {
		r.Kwargs = map[string]any{}
	}
	b, err := json.Marshal(tagged(r))
	more := maps.Clone(r.More)
	maps.DeleteFunc(more, isOwn)
	if err != nil || len(more) == 0 {
		return b, err
	}
	rest, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	return append(append(b[:len(b)-1], ','), rest[1:]...), nil
}

// UnmarshalJSON reads a record and keeps the fields that it doesn't know, also those that differ from its own
// in their capitals. Numbers stay as they were written.
func (r *Record) UnmarshalJSON(b []byte) error {
	var own, more map[string]json.RawMessage
	if err := json.Unmarshal(b, &more); err != nil {
		return err
	}
	own = maps.Clone(more)
	maps.DeleteFunc(more, isOwn)
	maps.DeleteFunc(own, func(name string, _ json.RawMessage) bool { return !isOwn(name, nil) })
	b, err := json.Marshal(own)
	if err != nil {
		return err
	}
	*r = Record{}
	if len(more) > 0 {
		r.More = more
	}
	return decode(b, (*tagged)(r))
}

func decode(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(to)
}
