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
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/internal/metrics"
	"hark/internal/pace"
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

// New returns a Replier that answers nothing yet.
func New(o Options) *Replier {
	r := &Replier{Options: o, repeats: ttl.New[repeatKey, locale.MessageKey](maxRepeats)}
	r.questions = newTracker(r)
	return r
}

// Questions returns the question tracker.
func (r *Replier) Questions() *Tracker { return r.questions }

// Begin starts answering. When work ends, answers are cut short; when last ends, requests about them end too.
func (r *Replier) Begin(work, last context.Context) {
	r.questions.scheduler.run = func(a *ingest.Question) { r.reply(work, last, a) }
}

// Run withdraws answers until ctx ends.
func (r *Replier) Run(ctx context.Context) {
	pace.Every(ctx, r.Timing.Look, r.questions.wake, func(ctx context.Context) {
		r.questions.withdrawAll(ctx)
		r.Progress()
	})
}

func (r *Replier) thread(a *ingest.Question, purpose string) *discord.Sender {
	pinged := a.Asker
	if a.Proxied {
		pinged = 0
	}
	return &discord.Sender{Client: r.Client, Channel: a.Channel, Question: a.ID, Asker: pinged, Purpose: purpose}
}

// say replies to a question with a sentence instead of an answer.
func (r *Replier) say(last context.Context, a *ingest.Question, purpose, sentence string) {
	d := newDelivery(r.thread(a, purpose), r.Timing.Pace, r.Timing.Typing)
	r.post(last, d, a, markdown.Messages(sentence, "", nil))
}
