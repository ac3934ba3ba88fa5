package answer

import (
	"slices"
	"strings"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/memory"
)

// What a forward says was readable where it was forwarded. Who wrote the original, and where, may be told only to those
// who can read the original too. Then the answer has it for a source, so that it isn't said again once they can't.

// wantOriginals adds to wanted what messages copy, as far as the readers can read it.
func (r *recalled) wantOriginals(wanted messageSet, messages []memory.Message) {
	for _, m := range messages {
		from, is := m.CopiedHere()
		if is && slices.Contains(r.scope.Channels, from.Channel) {
			wanted.add(memory.MessageRef{Channel: from.Channel, Message: memory.MessageID(from.ID)})
		}
	}
}

// original returns what m copies, if all readers can read it now.
func (r *recalled) original(m memory.Message) (memory.Message, bool) {
	from, is := m.CopiedHere()
	if !is || !slices.Contains(r.scope.Channels, from.Channel) {
		return memory.Message{}, false
	}
	of, there := r.said[memory.MessageRef{Channel: from.Channel, Message: memory.MessageID(from.ID)}]
	return of, there && of.Text() != ""
}

// addOriginal adds to what was shown what m copies, if the readers are told who wrote that.
func (r *recalled) addOriginal(to *manifest.Manifest, m memory.Message) {
	if of, is := r.original(m); is {
		to.Add(of)
	}
}

// source returns a message as an answer cites it: a copy by its original, if the readers can read that.
func (r *recalled) source(n int, m memory.Message) Source {
	s := r.readableScope.source(n, m)
	of, is := r.original(m)
	if !is {
		return s
	}
	original := r.readableScope.source(n, of)
	s.Author = original.Author
	s.Place = original.Place
	s.Time = original.Time
	s.Forwarded = original.Forwarded
	s.Unplaced = original.Unplaced
	s.Original = memory.MessageRef{Channel: of.Channel, Message: of.ID}
	return s
}

// forwardMark begins a forward's text, as internal/body writes it.
const forwardMark = "[forwarded] "

// nameOriginals tells the model who wrote what was forwarded, where the readers can read that.
func (r *recalled) nameOriginals(items []builder.Item) {
	copies := map[memory.MessageID]memory.Message{}
	for _, hit := range r.result.Hits {
		for _, m := range hit.Excerpt {
			if _, is := r.original(m); is {
				copies[m.ID] = m
			}
		}
	}
	for _, item := range items {
		for i := range item.Lines {
			line := &item.Lines[i]
			of, is := r.original(copies[line.Message])
			rest, marked := strings.CutPrefix(line.Content, forwardMark)
			if !is || !marked {
				continue
			}
			line.Content = "[forwarded, written by " + r.names.of(of.Author)
			place, _ := r.names.place(of.Channel) // a title would be no source of the answer
			if place != "" {
				line.Content += " in #" + place
			}
			line.Content += "] " + rest
			line.Tokens = 0
		}
	}
}
