package chat

import (
	"encoding/json"
	"maps"
	"slices"
)

// Extra are fields of JSON that Hark doesn't know, such as the signatures of a model's thoughts. A server gets them
// back as they came. An Extra isn't changed.
type Extra map[string]json.RawMessage

// With returns e with a further field, or with more of one: thoughts and lists go on, objects are merged, and anything
// else is replaced.
func (e Extra) With(name string, value json.RawMessage) Extra {
	more := maps.Clone(e)
	if more == nil {
		more = Extra{}
	}
	more[name] = join(name, more[name], value)
	return more
}

// Merge returns e with the fields of more.
func (e Extra) Merge(more Extra) Extra {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		e = e.With(name, more[name])
	}
	return e
}

// join returns a field's value of which a stream brought first before and then more.
func join(name string, before, more json.RawMessage) json.RawMessage {
	var texts [2]string
	if json.Unmarshal(before, &texts[0]) == nil && json.Unmarshal(more, &texts[1]) == nil && grows(name) {
		return encoded(texts[0] + texts[1])
	}
	var lists [2][]json.RawMessage
	if json.Unmarshal(before, &lists[0]) == nil && json.Unmarshal(more, &lists[1]) == nil {
		return encoded(joinItems(lists[0], lists[1]))
	}
	var objects [2]Extra
	if json.Unmarshal(before, &objects[0]) == nil && json.Unmarshal(more, &objects[1]) == nil {
		return encoded(objects[0].Merge(objects[1]))
	}
	return more
}

// grows reports whether a text of that name comes in pieces: thoughts do, and what OpenRouter streams in
// "reasoning_details".
func grows(name string) bool {
	switch name {
	case "reasoning", "reasoning_content", "thinking", "thought", "thoughts", "text", "summary", "data":
		return true
	}
	return false
}

// joinItems appends items, unless one goes on with the last one of its index.
func joinItems(before, more []json.RawMessage) []json.RawMessage {
	all := slices.Clone(before)
	for _, item := range more {
		at := -1
		var fields Extra
		if json.Unmarshal(item, &fields) == nil && fields["index"] != nil {
			at = slices.IndexFunc(all, func(other json.RawMessage) bool { return sameItem(other, fields) })
		}
		if at < 0 {
			all = append(all, item)
			continue
		}
		var known Extra
		_ = json.Unmarshal(all[at], &known) // sameItem read it
		all[at] = encoded(known.Merge(fields))
	}
	return all
}

func sameItem(item json.RawMessage, as Extra) bool {
	var fields Extra
	if json.Unmarshal(item, &fields) != nil {
		return false
	}
	return string(fields["index"]) == string(as["index"]) && string(fields["type"]) == string(as["type"])
}

func encoded(v any) json.RawMessage {
	data, _ := json.Marshal(v) // texts, and JSON that was decoded, always encode
	return data
}
