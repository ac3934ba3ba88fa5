package memory

import "slices"

// SourceKind says what a Source is.
type SourceKind string

// The kinds of sources.
const (
	SourceMessage SourceKind = "message"
	SourceFact    SourceKind = "fact"
	SourceLore    SourceKind = "lore"
	SourceSummary SourceKind = "summary"
)

// Source is something that a derived thing, such as an answer, was made from: whoever made it has read it. The derived thing
// goes with any of its sources.
type Source struct {
	Kind    SourceKind `json:"kind"`
	Channel ChannelID  `json:"channel,omitempty"` // of a message or a summary
	ID      int64      `json:"id"`                // within its kind: of facts in the guild, of summaries in the channel
	// Version is the version that was read: of a message when its text was last edited, in milliseconds since 1970, 0 if never;
	// of lore the first id that a message of its At can have; of a summary when it was made, in milliseconds since 1970; of a
	// fact 0.
	Version int64 `json:"version,omitempty"`
	// Repeats says that the text of the answer cites this source or repeats words of it. When the source goes, Discord shows
	// the answer no more. Without it, only what Hark keeps of the answer goes.
	Repeats bool `json:"repeats,omitempty"`
}

// AllSources are t.Sources. Where they aren't set they are made of the fields that told before, and count as repeated.
func (t Trace) AllSources() []Source {
	if len(t.Sources) > 0 {
		return t.Sources
	}
	var all []Source
	add := func(kind SourceKind, channel ChannelID, id, version int64) {
		all = append(all, Source{Kind: kind, Channel: channel, ID: id, Version: version, Repeats: true})
	}
	for _, hit := range t.Recalled {
		if hit.Number > 0 || hit.Context {
			add(SourceMessage, hit.Channel, int64(hit.Message), hit.Edited)
		}
	}
	for i, id := range t.Condensed {
		add(SourceMessage, t.Channel, int64(id), append(t.CondensedEdited, make([]int64, i+1)...)[i])
	}
	if t.Question != 0 {
		add(SourceMessage, t.Channel, int64(t.Question), t.QuestionEdited)
	}
	for _, id := range t.Facts {
		add(SourceFact, 0, id, 0)
	}
	for i, id := range t.Lore {
		add(SourceLore, 0, id, int64(append(t.LoreAt, make([]MessageID, i+1)...)[i]))
	}
	for i, id := range t.Summaries {
		add(SourceSummary, t.Channel, int64(id), append(t.SummariesMade, make([]int64, i+1)...)[i])
	}
	return all
}

// WithSourcesOf is t with what another answer was made from among its sources, which t was made from and which is written anew: t
// repeats of it what both repeat.
func (t Trace) WithSourcesOf(other Trace) Trace {
	all := slices.Clone(t.AllSources())
	repeats := slices.ContainsFunc(all, func(s Source) bool {
		return s.Kind == SourceMessage && s.Channel == other.Channel && s.Repeats && slices.Contains(append(other.Parts, other.Answer), MessageID(s.ID))
	})
	for _, s := range other.AllSources() {
		s.Repeats = s.Repeats && repeats
		i := slices.IndexFunc(all, func(o Source) bool { return o.Kind == s.Kind && o.Channel == s.Channel && o.ID == s.ID })
		if i < 0 {
			all = append(all, s)
		} else {
			all[i].Repeats = all[i].Repeats || s.Repeats
		}
	}
	t.Sources = all
	return t
}
