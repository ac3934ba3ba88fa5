package answer

import (
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/answer/tools"
	"hark/internal/chat"
	"hark/memory"
	"hark/search"
)

// recalled is all that an answer is made from.
type recalled struct {
	readableScope
	dialogue   // what was said before the question
	Prompt     builder.Prompt
	shown      manifest.Manifest
	result     search.Result // without weak
	weak       []search.Hit  // that it did
	titles     titles
	said       map[memory.MessageRef]memory.Message // sources of facts, lore and summaries, and what began the threads
	summaries  []search.SummaryHit                  // of the channel's earlier sessions, best first
	files      []attachment                         // of the question, as the model was told of them
	searchText string                               // the question, or as rewritten
	asked      inquiry                              // what it asks about
	question   Question                             // with the text of the message that it replies to, if it has none
	repliedBy  authors                              // of messages that others reply to
	mode       Mode
	resolved   resolvedSettings
	unlogged   bool       // whether the session isn't logged
	maxTokens  int        // of the prompt; 0: as the builder does
	reply      chat.Reply // what the model said last
	talk       tools.Talk
	log        *tools.CallLog
	started    time.Time
	search     time.Duration
	built      time.Duration // when the prompt was built, since started
	began      time.Duration // when the model began to write; 0: it hasn't
}

func (r *recalled) included(section builder.SectionType) int {
	for _, s := range r.Prompt.Report.Sections {
		if s.Type == section {
			return s.Included
		}
	}
	return 0
}

// inquiry is what a question asks about.
type inquiry struct {
	scope memory.Scope // of the search
	// named are the channels that the question names. The search finds nothing elsewhere.
	named []memory.ChannelID
	// whole is set if the question asks for what was said in these channels, whatever it is about.
	whole bool
	// narrow is set if the question names any channel, which may be one that nothing may be told of.
	narrow bool
}

func (r *recalled) elapsed() time.Duration { return time.Since(r.started) }

// authors are the authors of messages that others reply to.
type authors map[memory.MessageRef]memory.UserID

// place is names.place without the titles that aren't sources of the answer, such as of threads that a tool found.
func (r *recalled) place(id memory.ChannelID) (channel string, title memory.Title) {
	channel, title = r.names.place(id)
	_, isSource := r.titles[id]
	if !isSource {
		title = memory.Title{}
	}
	return channel, title
}

func (r *recalled) titlesFor(q Question) titles {
	all := titles{}
	note := func(id memory.ChannelID) {
		_, title := r.names.place(id)
		if title.Name != "" {
			all[id] = title
		}
	}
	note(q.Channel)
	for _, hit := range r.result.Hits {
		note(hit.Message.Channel)
	}
	return all
}
