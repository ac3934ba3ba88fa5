package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	MaxSummaries      = 40  // of a channel
	MaxSummaryText    = 600 // characters
	MaxSummarySources = 100
	MaxTopics         = 5
	MaxTopic          = 40 // characters
)

// Summary describes an ended session, or part of a long one, in a few sentences. A channel's summaries, in
// order of time, are its previous context. None is made from another.
//
// It may be told only where its channel may be read. It goes when a source goes or its text changes.
type Summary struct {
	// ID is the last message covered, unique in its channel.
	ID      MessageID
	Guild   GuildID
	Channel ChannelID
	Text    string
	Topics  []string // in small letters, the most telling first
	Kind    SummaryKind
	Sources []SummarySource // every source message, by id
	Made    time.Time       // to the millisecond; the later of two versions holds
	Model   string          // empty: the text is what was said
}

// SummarySource is a message of the channel that a summary was made from.
type SummarySource struct {
	Message MessageID
	// Edited is when the used text was last edited, in milliseconds since 1970; 0: never.
	Edited int64
}

// SourcesOf returns messages as sources.
func SourcesOf(messages []Message) []SummarySource {
	sources := make([]SummarySource, len(messages))
	for i, m := range messages {
		sources[i] = SummarySource{Message: m.ID, Edited: m.AsSource(false).Version}
	}
	return sources
}

func inOrder(sources []SummarySource) []SummarySource {
	sources = slices.SortedFunc(slices.Values(sources), func(a, b SummarySource) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Edited, b.Edited))
	})
	return slices.CompactFunc(sources, func(a, b SummarySource) bool { return a.Message == b.Message })
}

// SummaryKind is the main kind of a session.
type SummaryKind string

const (
	SummaryDecision SummaryKind = "decision" // something was agreed on
	SummaryPlan     SummaryKind = "plan"     // something is to be done
	SummaryFact     SummaryKind = "fact"     // somebody told how something is
	SummaryQuestion SummaryKind = "question" // something was asked and not answered
	SummaryTalk     SummaryKind = "talk"     // all else
)

func SummaryKinds() []SummaryKind {
	return []SummaryKind{SummaryDecision, SummaryPlan, SummaryFact, SummaryQuestion, SummaryTalk}
}

// Stretch is a part of a channel's log without a summary: After < id <= Until.
type Stretch struct {
	Guild        GuildID
	Channel      ChannelID
	After, Until MessageID
	// Again means that a source invalidated its summary, so it is the rest of one session. Otherwise any
	// number of sessions may begin or end in it.
	Again bool
}

// Summarised means that a channel's messages with After < id <= Until need no further summary: Summary, whose
// ID is Until, covers them, or nil if there is nothing to say. It is refused unless Summary.Checked accepts
// Summary. The last by Made holds.
//
// If a source is gone or has changed, Summary isn't kept and the stretch needs one again. Otherwise the
// channel's summaries in Evicted make room for it.
type Summarised struct {
	Guild        GuildID
	Channel      ChannelID
	After, Until MessageID
	Summary      *Summary
	Evicted      []MessageID
}

// Place implements Event.
func (e Summarised) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

// Checked returns e ready to store, as Summary.Checked.
func (e Summarised) Checked() (Event, error) {
	var err error
	switch {
	case e.Channel == 0:
		err = errors.New("no channel is named")
	case e.Summary != nil:
		e.Summary, err = e.Summary.checkedFor(e)
	}
	if err != nil {
		return nil, fmt.Errorf("keep a summary: %w", err)
	}
	return e, nil
}

// checkedFor returns s ready to store as the summary of a stretch.
func (s Summary) checkedFor(stretch Summarised) (*Summary, error) {
	s, err := s.Checked()
	if err != nil {
		return nil, err
	}
	if s.Channel != stretch.Channel || s.ID != stretch.Until {
		return nil, errors.New("it isn't of the stretch that it is told of")
	}
	return &s, nil
}

// From returns the time of the first source.
func (s Summary) From() time.Time { return s.Sources[0].Message.Time() }

// To returns the time of the last source.
func (s Summary) To() time.Time { return s.Sources[len(s.Sources)-1].Message.Time() }

// Checked returns s ready to store: its texts clean, its topics in lower case, its sources by id, each once.
// The error says why it is invalid.
func (s Summary) Checked() (Summary, error) {
	s.Text = strings.TrimSpace(Clean(s.Text))
	var topics []string
	for _, topic := range s.Topics {
		topic = strings.Join(strings.Fields(strings.ToLower(Clean(topic))), " ")
		if topic != "" && !slices.Contains(topics, topic) {
			topics = append(topics, topic)
		}
	}
	s.Topics = topics
	s.Sources = inOrder(s.Sources)
	s.Made = s.Made.Truncate(time.Millisecond)
	return s, s.check()
}

func (s Summary) check() error {
	switch {
	case s.ID == 0 || s.Channel == 0 || s.Made.IsZero():
		return errors.New("a summary needs an id, a channel and a time")
	case s.Text == "":
		return errors.New("a summary needs a text")
	case utf8.RuneCountInString(s.Text) > MaxSummaryText:
		return fmt.Errorf("the summary is longer than %d characters", MaxSummaryText)
	case len(s.Topics) > MaxTopics:
		return fmt.Errorf("a summary can have %d topics", MaxTopics)
	case !slices.Contains(SummaryKinds(), s.Kind):
		return errors.New("the summary is of no kind that is known")
	case len(s.Sources) == 0 || len(s.Sources) > MaxSummarySources:
		return fmt.Errorf("a summary needs from 1 to %d sources", MaxSummarySources)
	}
	if last := s.Sources[len(s.Sources)-1].Message; last > s.ID {
		return fmt.Errorf("a summary up to message %d can't be made from message %d", s.ID, last)
	}
	for _, topic := range s.Topics {
		if utf8.RuneCountInString(topic) > MaxTopic {
			return fmt.Errorf("a topic is longer than %d characters", MaxTopic)
		}
	}
	return nil
}
