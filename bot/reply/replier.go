// Package reply owns a question from arrival to its answer's last edit: whether and when it is answered, how the
// answer is shown while it is written, what is logged, and what happens when the question or a source changes.
//
//   - A question is answered once, however often Hark hears of it and whenever the process ends.
//   - Discord shows what the answer became, or why there is none. What is shown is what is logged.
//   - An answer is withdrawn in Discord if its question is gone or it repeats something forgotten.
//
// It may import bot/ingest and below, and the answers' types. Begin with Replier and Tracker.
package reply

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/internal/answer"
	"hark/internal/metrics"
	"hark/internal/ttl"
	"hark/memory"
)

// Options configure a Replier.
type Options struct {
	*ingest.Options
	// Filler fetches what an earlier process left.
	Filler  *ingest.Filler
	Answers Answerer
	// Hear returns what is said in the voice messages of a question.
	Hear func(ctx context.Context, a *ingest.Question) string
	// Settled returns once a guild's permissions are known, or with an error that says so.
	Settled func(ctx context.Context, guild memory.GuildID) error
	// Choices are the admins' settings of answers, and the defaults.
	Choices answer.Choices
	// Limits bound how much may be asked. Without numbers there are none.
	Limits Limits
	// EditAnswers is whether withdrawn answers are edited in Discord to say so.
	EditAnswers bool
	// HandOver leaves questions that can't be answered any more to another process, which goes on in their place.
	HandOver bool
	// NoRecords leaves out the records of model calls.
	NoRecords bool
	Since     time.Time // when the process began
	Timing    *Timing
	Metrics   *metrics.Metrics
}

// Answerer answers questions. Members see an error's Sentence() string if it has that method, and nothing of
// other errors.
type Answerer interface {
	// Answer calls stream, from its own goroutine, with the whole text so far whenever it grows. With an
	// error it may return a partial answer.
	Answer(ctx context.Context, q answer.Question, stream func(text string)) (answer.Answer, error)
}

// Timing holds intervals and limits.
type Timing struct {
	Pace   time.Duration // between edits of an answer being written
	Typing time.Duration // between typing indicators
	Answer time.Duration // an answer, at most
	Unwind time.Duration // for an Answerer to return after that
	Post   time.Duration // for a request to run a tool to be shown
	Agree  time.Duration // for an asker to say whether it may run
	Look   time.Duration // between looks for answers to withdraw
}

// UsualTiming is the timing outside tests.
var UsualTiming = Timing{
	Pace: 1200 * time.Millisecond, Typing: 8 * time.Second, Answer: 10 * time.Minute,
	Unwind: 3 * time.Second, // two of them to check the sources again
	Look:   5 * time.Second,
	Post:   15 * time.Second, Agree: 90 * time.Second,
}

// Replier answers questions and keeps the answers up to date.
type Replier struct {
	Options
	questions *Tracker
	repeats   *ttl.Cache[repeatKey, locale.MessageKey]
}

// What members are told about answers and questions that aren't known any more.
const (
	NotWriting   locale.MessageKey = "I'm not writing that answer any more: I was restarted meanwhile. You can ask again, or delete it."
	QuestionGone locale.MessageKey = "I don't have that question any more: it was deleted, or forgotten, or I don't remember what is said here. Please ask me anew."
)

// Questions returns the question tracker.
func (r *Replier) Questions() *Tracker { return r.questions }

func (r *Replier) thread(a *ingest.Question, purpose string) *discord.Sender {
	pinged := a.Asker
	if a.Proxied {
		pinged = 0
	}
	return &discord.Sender{
		Client:   r.Client,
		Channel:  a.Channel,
		Question: a.ID,
		Asker:    pinged,
		Purpose:  purpose,
	}
}

// Tracker owns questions from arrival to their answers' last edit: it decides which are answered and when, and
// keeps the answers up to date. It is in memory only, and forgets a question's text once it is answered.
type Tracker struct {
	replier   *Replier
	scheduler *scheduler[*ingest.Question]
	quota     *quota
	seed      maphash.Seed

	mu       sync.Mutex
	known    map[memory.MessageID]*question
	removals map[memory.MessageRef]removal
	wake     chan struct{} // receives when there is something to withdraw in Discord
}

// removal is a scheduled removal of an answer's message.
type removal struct {
	unlogged bool      // the log doesn't know it
	request  bool      // it asks whether a tool may run; it goes also without Options.EditAnswers
	next     time.Time // attempt
	wait     time.Duration
}

// request is a request to run a tool.
type request struct {
	id      memory.MessageID // chosen by us, so that a press decides no other
	posted  chan error       // receives nil when it is shown, or why it can't be
	decided chan struct{}    // closed when the asker has
	over    chan struct{}    // closed when nobody waits for it any more
	pressed bool             // with run; Tracker.mu guards both
	run     bool
}

// question is the state of a message that asks something. If it isn't answered, only its arrival is known.
type question struct {
	state        questionState
	current      *ingest.Question        // its newest version; without text once answered
	text         uint64                  // a hash of what was asked
	interruption error                   // errChanged: since it began; errWithdrawn: its answer isn't wanted
	cancel       context.CancelCauseFunc // ends a running answer
	shown        []memory.MessageID      // the answer's messages
	more         []memory.MessageID      // messages below it
	logged       bool                    // whether they are in the log
	answered     bool                    // at least once, so it stays known if it isn't answered again
	request      *request                // the last to run a tool
	ran          []string                // tools from outside that ran for its answer, in any version
}

// repeatKey is to whom, and about what, something isn't said again too soon: a member, or a channel.
type repeatKey struct {
	memory.Membership
	channel memory.ChannelID
	of      string
}

const (
	repeatWithin = time.Minute // in which a failure counts as repeated
	muteFor      = time.Hour   // between log lines that Hark can't write in a channel
	maxRepeats   = 1 << 14     // remembered
)

type questionState int

const (
	unanswered questionState = iota
	waiting
	running
	finished
)

// Why an answer ends early.
var (
	errHalted    = errors.New("somebody stopped the answer")
	errChanged   = errors.New("the question is another now")
	errWithdrawn = errors.New("the question is gone, or nobody wants its answer")
)
