package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	longestName    = 64   // of a method, an argument or a call
	longestOutcome = 200  // bytes
	longestWord    = 64   // bytes of a text that an argument may keep
	mostArguments  = 4096 // bytes of a record's arguments
	deepest        = 8    // nesting of values
)

// Sentences that replace what a record can't hold.
const (
	notSerialised = "(left out: it can't be written as JSON)"
	tooLarge      = "(left out: the arguments were longer than a record's may be)"
	tooLong       = "(left out: it was longer than a record's may be)"
	tooDeep       = "(left out: it lay too deep)"
	nameless      = "(left out: its name wasn't one)"
)

// Checked returns r as it is kept, or an error: it needs a valid call id, time, speaker, method and channel.
// A sentence replaces arguments that can't be written as JSON, and possible texts are replaced by their
// lengths.
func (r Record) Checked() (Record, error) {
	switch {
	case !isName(r.CallID):
		return r, errors.New("its call_id isn't 1 to 64 letters, digits and any of _-.:")
	case r.Timestamp.IsZero() || r.Timestamp.Year() < 1970 || r.Timestamp.Year() > 9999:
		return r, errors.New("it has no timestamp, or one that is out of range")
	case r.Speaker != SpeakerUser && r.Speaker != SpeakerAgent && r.Speaker != SpeakerTool:
		return r, errors.New("its speaker isn't user, agent or tool")
	case !isName(r.Method):
		return r, errors.New("its method_name isn't 1 to 64 letters, digits and any of _-.:")
	case r.Channel == 0:
		return r, errors.New("it has no channel")
	}
	r.Timestamp = r.Timestamp.UTC().Truncate(time.Millisecond)
	args := make([]any, len(r.Args))
	kwargs := make(map[string]any, len(r.Kwargs))
	for i, v := range r.Args {
		args[i] = serialised(v)
	}
	for name, v := range r.Kwargs {
		kwargs[name] = serialised(v)
	}
	r.Args = args
	r.Kwargs = nameOnly(kwargs)
	if sizeOf(r.Args)+sizeOf(r.Kwargs) > mostArguments {
		r.Args = []any{}
		r.Kwargs = map[string]any{"left_out": tooLarge}
	}
	r.Outcome = strings.Join(strings.Fields(Clean(r.Outcome)), " ")
	if len(r.Outcome) > longestOutcome {
		r.Outcome = tooLong
	}
	r.More = maps.Clone(r.More)
	maps.DeleteFunc(r.More, func(name string, value json.RawMessage) bool {
		return isOwn(name, nil) || !json.Valid(value)
	})
	return r, nil
}

// isName reports whether s looks like an identifier and not like somebody's words.
func isName(s string) bool {
	return s != "" && len(s) <= longestName && strings.IndexFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("_-.:", c))
	}) < 0
}

// serialised returns v as JSON decodes it.
func serialised(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return notSerialised
	}
	var back any
	if err := decode(b, &back); err != nil {
		return notSerialised
	}
	return withoutText(back, 0)
}

// withoutText replaces every string in a JSON value that may be more than a name or a number by its length.
// Callers already do so, with a fingerprint; this is a second check.
func withoutText(v any, depth int) any {
	switch v := v.(type) {
	case string:
		if slices.Contains([]string{notSerialised, tooLarge, tooDeep, nameless}, v) {
			return v // ours, from an earlier check
		}
		if len(v) > longestWord || strings.ContainsFunc(v, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}) {
			return map[string]any{"chars": number(utf8.RuneCountInString(v)), "words": number(len(strings.Fields(v)))}
		}
	case []any:
		if depth >= deepest {
			return tooDeep
		}
		for i := range v {
			v[i] = withoutText(v[i], depth+1)
		}
	case map[string]any:
		if depth >= deepest {
			return tooDeep
		}
		for name := range v {
			v[name] = withoutText(v[name], depth+1)
		}
		return nameOnly(v)
	}
	return v
}

func nameOnly(v map[string]any) map[string]any {
	n := len(v)
	maps.DeleteFunc(v, func(name string, _ any) bool { return !isName(name) })
	if len(v) < n {
		v["left_out"] = nameless
	}
	return v
}

func number(n int) json.Number { return json.Number(fmt.Sprint(n)) }

func sizeOf(v any) int {
	b, _ := json.Marshal(v) // it was read from JSON
	return len(b)
}

// Named returns the ids of any kind in r's arguments: all whole numbers, also as strings or as mentions.
func (r Record) Named() []int64 {
	found := map[int64]bool{}
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case json.Number:
			look(v.String())
		case string:
			if id, err := strconv.ParseInt(mention.Replace(v), 10, 64); err == nil && id > 0 {
				found[id] = true
			}
		case []any:
			for _, v := range v {
				look(v)
			}
		case map[string]any:
			for _, v := range v {
				look(v)
			}
		}
	}
	look(r.Args)
	look(r.Kwargs)
	return slices.Sorted(maps.Keys(found))
}

var mention = strings.NewReplacer("<@!", "", "<@&", "", "<@", "", "<#", "", ">", "")
