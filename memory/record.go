package memory

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Record is one call of the history: who called what, with which arguments, and the outcome. It holds no
// text, not even the model's: a message is its id, other text its length and fingerprint (see FingerprintOf).
//
// It may be told where its channel may be read and its answer may be repeated, because the answer's trace
// names all its sources. It goes with its question, its answer and its asker, when the question's text
// changes or the answer is rewritten, with its channel and guild, and with any person whose id its arguments
// name.
//
// The first seven fields are always written, under exactly these names; the others if they are set.
type Record struct {
	CallID    string         `json:"call_id"`   // unique
	Timestamp time.Time      `json:"timestamp"` // in milliseconds
	Speaker   Speaker        `json:"speaker"`
	Method    string         `json:"method_name"`
	Args      []any          `json:"args"`
	Kwargs    map[string]any `json:"kwargs"`
	Outcome   string         `json:"outcome_summary"` // in a few words of Hark's own

	Guild    GuildID   `json:"guild,omitzero"`
	Channel  ChannelID `json:"channel,omitzero"`
	Question MessageID `json:"question,omitzero"` // that led to it; 0: none
	Asker    UserID    `json:"asker,omitzero"`
	Answer   MessageID `json:"answer,omitzero"` // that it led to; 0: none

	// More holds the fields that a newer Hark wrote, unchanged.
	More map[string]json.RawMessage `json:"-"`
}

type Speaker string

const (
	SpeakerUser  Speaker = "user"
	SpeakerAgent Speaker = "agent"
	SpeakerTool  Speaker = "tool"
)

// Recorded adds a call to the history, together with and after the answer that it led to. The first with a
// CallID stays. It isn't kept if its question or answer is gone, a Forgetting covers it, or the asker has
// opted out.
type Recorded struct{ Record Record }

// Place implements Event.
func (e Recorded) Place() (GuildID, ChannelID) { return e.Record.Guild, e.Record.Channel }

// Checked returns e ready to store, as Record.Checked.
func (e Recorded) Checked() (Event, error) {
	checked, err := e.Record.Checked()
	if err != nil {
		return nil, fmt.Errorf("keep a record: %w", err)
	}
	return Recorded{checked}, nil
}

// RecordQuery selects the records that match every field that is set.
type RecordQuery struct {
	Channels     []ChannelID // where they were made; none: no records
	Since, Until time.Time   // from Since, before Until; zero: no limit
	Speaker      Speaker     // empty: any
	Method       string      // empty: any
	Asker        UserID      // 0: anybody
	// Oldest returns the oldest first. Records of one moment are in the order of their events, or its
	// reverse.
	Oldest bool
	Limit  int // 0: all
}

// RecordLimits bounds how many records are kept. A channel's newest stay.
type RecordLimits struct {
	Before time.Time // keep those made since; zero: no limit
	Count  int       // of a channel; 0: no limit
	// Tokens bounds what a channel's records would cost the model together in full, in tokens of o200k. 0: no
	// limit.
	Tokens int
}

// plainRecord is a Record without methods, so that encoding/json uses the tags.
type plainRecord Record

// recordFields are the names of a record's fields in written order; alwaysThere those that every record has.
var recordFields, alwaysThere = func() (all, always []string) {
	for i := range reflect.TypeFor[Record]().NumField() {
		name, options, _ := strings.Cut(reflect.TypeFor[Record]().Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		all = append(all, name)
		if options == "" {
			always = append(always, name)
		}
	}
	return all, always
}()

// RecordFields returns the names of the fields that every record has, in written order.
func RecordFields() []string { return slices.Clone(alwaysThere) }

func isOwn(name string, _ json.RawMessage) bool { return slices.Contains(recordFields, name) }

// MarshalJSON writes r, including More.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.Args == nil {
		r.Args = []any{}
	}
	if r.Kwargs == nil {
		r.Kwargs = map[string]any{}
	}
	b, err := json.Marshal(plainRecord(r))
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

// UnmarshalJSON reads a record and keeps unknown fields in More, also those that differ only in capitals.
// Numbers stay as written.
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
	return decode(b, (*plainRecord)(r))
}

func decode(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(to)
}

// FingerprintOf identifies a text that a Record mustn't hold: 16 hexadecimal digits, equal for texts with the
// same words, whatever their case and spacing.
//
// The key is the store's own (Store.FingerprintKey): random, created at first use, kept in the file and its
// backups, and never changed. Without it a fingerprint doesn't reveal its text, even to somebody who guesses.
// The file contains the key, so a fingerprint goes with its message.
func FingerprintOf(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(strings.Join(strings.Fields(Clean(text)), " ")))) // never fails
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// FingerprintKeyBytes is the length of the key.
const FingerprintKeyBytes = 32
