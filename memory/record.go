package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Record is one call of the history: who called what, with which arguments, and how it came out. It holds no text that
// anybody wrote, the model included: messages stand in it by their ids, other texts by their length and a fingerprint
// (see FingerprintOf).
//
// It may be told where its channel may be read and its answer may be repeated, since the answer's trace names all that
// it was made from. It goes with its question, its answer and whoever asked, when the question's text changes or the answer is written anew, with its
// channel and guild, and with all of anybody whose id its arguments name.
//
// The first seven fields are always written, under exactly these names; the others if they are set.
type Record struct {
	CallID    string         // call_id, unique
	Timestamp time.Time      // timestamp, in milliseconds
	Speaker   Speaker        // speaker
	Method    string         // method_name
	Args      []any          // args
	Kwargs    map[string]any // kwargs
	Outcome   string         // outcome_summary: in a few words, without anybody's

	Guild    GuildID   // guild
	Channel  ChannelID // channel
	Question MessageID // question that it came of; 0 if no message asked
	Asker    UserID    // asker: who asked that
	Answer   MessageID // answer that it came to; 0 if to none

	// More are fields that a newer Hark has written, kept as they are.
	More map[string]json.RawMessage
}

// Speaker is who made a call.
type Speaker string

// The speakers.
const (
	SpeakerUser  Speaker = "user"  // a member, who asked Hark
	SpeakerAgent Speaker = "agent" // Hark, which answered
	SpeakerTool  Speaker = "tool"  // a tool, which the model called
)

// Called is a call of the history, told together with the answer that it came to, after that. Of several with one CallID
// the first stays. It isn't kept if its question or its answer is gone, if it falls under a Forgetting, or if whoever
// asked has opted out.
type Called struct{ Record Record }

func (Called) isEvent() {}

// RecordQuery says which records are wanted. All that is set holds for each of them.
type RecordQuery struct {
	Channels     []ChannelID // where they were made; none: no records
	Since, Until time.Time   // from Since on, and before Until; zero: without a bound
	Speaker      Speaker     // empty: any
	Method       string      // empty: any
	Asker        UserID      // 0: anybody
	// Oldest has the oldest come first, and not the newest. Those of one moment are in the order in which they were told, or
	// the reverse of that.
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

// recordField is a field of a record as it is written.
type recordField struct {
	name     string
	value    any  // a pointer into the record
	optional bool // and so left out if it is 0
}

// fields are those of r in the order in which they are written.
func (r *Record) fields() []recordField {
	return []recordField{
		{"call_id", &r.CallID, false},
		{"timestamp", &r.Timestamp, false},
		{"speaker", &r.Speaker, false},
		{"method_name", &r.Method, false},
		{"args", &r.Args, false},
		{"kwargs", &r.Kwargs, false},
		{"outcome_summary", &r.Outcome, false},
		{"guild", (*int64)(&r.Guild), true},
		{"channel", (*int64)(&r.Channel), true},
		{"question", (*int64)(&r.Question), true},
		{"asker", (*int64)(&r.Asker), true},
		{"answer", (*int64)(&r.Answer), true},
	}
}

// RecordFields are the names of the fields that every record has, in the order in which they are written.
func RecordFields() []string {
	var names []string
	for _, f := range new(Record).fields() {
		if !f.optional {
			names = append(names, f.name)
		}
	}
	return names
}

// has reports whether a field of that name is one of r's own.
func (r *Record) has(name string) bool {
	return slices.ContainsFunc(r.fields(), func(f recordField) bool { return f.name == name })
}

// MarshalJSON writes r with the fields that a newer Hark has written, if it was read from such a record.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.Args == nil {
		r.Args = []any{}
	}
	if r.Kwargs == nil {
		r.Kwargs = map[string]any{}
	}
	b := []byte{'{'}
	write := func(name string, value any) error {
		v, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("record field %s: %w", name, err)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		key, _ := json.Marshal(name) // every text has a JSON
		b = append(append(append(b, key...), ':'), v...)
		return nil
	}
	for _, f := range r.fields() {
		if id, ok := f.value.(*int64); ok && f.optional && *id == 0 {
			continue
		}
		if err := write(f.name, f.value); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.More)) {
		if r.has(name) {
			continue
		}
		if err := write(name, r.More[name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads a record and keeps the fields that it doesn't know. Numbers stay as they were written.
func (r *Record) UnmarshalJSON(b []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*r = Record{}
	for _, f := range r.fields() {
		value, ok := all[f.name]
		if !ok {
			continue
		}
		if err := decode(value, f.value); err != nil {
			return fmt.Errorf("record field %s: %w", f.name, err)
		}
		delete(all, f.name)
	}
	if len(all) > 0 {
		r.More = all
	}
	return nil
}

func decode(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(to)
}
