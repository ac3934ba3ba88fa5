// Package reply owns a question's life: whether and when it is answered, how its answer is shown while it is being
// written, what of it is logged, and what becomes of it when the question or something that it was made from changes.
//
//   - A question is answered once, however often Hark is told of it and whenever the process ends.
//   - Discord shows what the answer became, or says why there is none; what is shown is what is logged.
//   - An answer whose question is gone, or that repeats what was forgotten, is taken back in Discord.
//
// It may import bot/ingest and below, and the answers' types. Begin with Replier and Tracker; the walk of a mention in
// docs/architecture.md names the rooms.
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

// Options are what a Replier works with.
type Options struct {
	*ingest.Options
	// Filler fetches what an earlier process left, once that is asked for.
	Filler  *ingest.Filler
	Answers Answerer
	// Settled returns once it is known who may read what in a guild, or with an error that says so.
	Settled func(ctx context.Context, guild memory.GuildID) error
	// Choices are what admins may set of answers, and what holds where they have set nothing.
	Choices answer.Choices
	// Limits are how much may be asked. Without numbers there are none.
	Limits Limits
	// EditAnswers is whether answers that used what was forgotten are edited in Discord to say so.
	EditAnswers bool
	// NoRecords leaves out the records of the calls that answers took.
	NoRecords bool
	Since     time.Time // when the process began
	Timing    *Timing
	Metrics   *metrics.Metrics
}

// Answerer answers questions. An error with a method Sentence() string says what members are told; what
// others say is kept from them.
type Answerer interface {
	// Answer calls stream, from the goroutine it is called in, with the whole text so far, as often as it
	// grows. With an error it may return the part of an answer that it came to.
	Answer(ctx context.Context, q answer.Question, stream func(text string)) (answer.Answer, error)
}

// Timing is how long things take at most, or are apart.
type Timing struct {
	Pace   time.Duration // between requests that show an answer being written
	Typing time.Duration // between signs of typing
	Answer time.Duration // an answer, at most
	Unwind time.Duration // an Answerer has to return after that
	Look   time.Duration // between looks for what is to be taken back
}

// UsualTiming is the timing but in tests.
var UsualTiming = Timing{
	Pace: 1200 * time.Millisecond, Typing: 8 * time.Second, Answer: 10 * time.Minute,
	Unwind: 3 * time.Second, // of which it takes two to look again at what it was made from
	Look:   5 * time.Second,
}

// Replier answers questions, and has the answers follow what becomes of them.
type Replier struct {
	Options
	questions *Tracker
	repeats   *ttl.Cache[repeatKey, locale.Phrase]
}

// What is said of answers and questions that aren't known any more.
const (
	NotWriting   locale.Phrase = "I'm not writing that answer any more: I was restarted meanwhile. You can ask again, or delete it."
	QuestionGone locale.Phrase = "I don't have that question any more: it was deleted, or forgotten, or I don't remember what is said here. Please ask me anew."
)

// New returns a Replier that answers nothing yet.
func New(o Options) *Replier {
	r := &Replier{Options: o, repeats: ttl.New[repeatKey, locale.Phrase](maxRepeats)}
	r.questions = newTracker(r)
	return r
}

// Questions are the questions that are known.
func (r *Replier) Questions() *Tracker { return r.questions }

// Begin has questions answered: with work an answer is cut short, and with last what is said about it.
func (r *Replier) Begin(work, last context.Context) {
	r.questions.scheduler.run = func(a *ingest.Question) { r.reply(work, last, a) }
}

// Run takes answers back that are to be, whenever it may have changed which are, until ctx ends.
func (r *Replier) Run(ctx context.Context) {
	pace.Every(ctx, r.Timing.Look, r.questions.wake, func(ctx context.Context) {
		r.questions.withdrawAll(ctx)
		r.Progress()
	})
}

func (r *Replier) thread(a *ingest.Question, purpose string) *discord.Sender {
	return &discord.Sender{Client: r.Client, Channel: a.Channel, Question: a.ID, Asker: a.Asker, Purpose: purpose}
}

// say answers a question with a sentence that says why there is no answer. purpose is that of the thread.
func (r *Replier) say(last context.Context, a *ingest.Question, purpose, sentence string) {
	d := newDelivery(r.thread(a, purpose), r.Timing.Pace, r.Timing.Typing)
	r.post(last, d, a, markdown.Messages(sentence, "", nil))
}
