package bot

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

// replyOptions are what a replier works with.
type replyOptions struct {
	*ingest.Options
	// Filler fetches what an earlier process left, once that is asked for.
	Filler  *ingest.Filler
	Answers questionAnswerer
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
	Timing    *replyTiming
	Metrics   *metrics.Metrics
}

// questionAnswerer answers questions. An error with a method Sentence() string says what members are told; what
// others say is kept from them.
type questionAnswerer interface {
	// Answer calls stream, from the goroutine it is called in, with the whole text so far, as often as it
	// grows. With an error it may return the part of an answer that it came to.
	Answer(ctx context.Context, q answer.Question, stream func(text string)) (answer.Answer, error)
}

// replyTiming is how long things take at most, or are apart.
type replyTiming struct {
	Pace   time.Duration // between requests that show an answer being written
	Typing time.Duration // between signs of typing
	Answer time.Duration // an answer, at most
	Unwind time.Duration // an Answerer has to return after that
	Look   time.Duration // between looks for what is to be taken back
}

// usualReply is the timing but in tests.
var usualReply = replyTiming{
	Pace: 1200 * time.Millisecond, Typing: 8 * time.Second, Answer: 10 * time.Minute,
	Unwind: 3 * time.Second, // of which it takes two to look again at what it was made from
	Look:   5 * time.Second,
}

// replier answers questions, and has the answers follow what becomes of them.
type replier struct {
	replyOptions
	questions *tracker
	repeats   *ttl.Cache[repeatTo, locale.Phrase]
}

const (
	notWriting   locale.Phrase = "I'm not writing that answer any more: I was restarted meanwhile. You can ask again, or delete it."
	questionGone locale.Phrase = "I don't have that question any more: it was deleted, or forgotten, or I don't remember what is said here. Please ask me anew."
)

// newReplier returns a replier that answers nothing yet.
func newReplier(o replyOptions) *replier {
	r := &replier{replyOptions: o, repeats: ttl.New[repeatTo, locale.Phrase](mostRepeats)}
	r.questions = newTracker(r)
	return r
}

// Questions are the questions that are known.
func (r *replier) Questions() *tracker { return r.questions }

// Begin has questions answered: with work an answer is cut short, and with last what is said about it.
func (r *replier) Begin(work, last context.Context) {
	r.questions.scheduler.run = func(a *ingest.Question) { r.reply(work, last, a) }
}

// Run takes answers back that are to be, whenever it may have changed which are, until ctx ends.
func (r *replier) Run(ctx context.Context) {
	pace.Every(ctx, r.Timing.Look, r.questions.wake, func(ctx context.Context) {
		r.questions.withdrawAll(ctx)
		r.Progress()
	})
}

func (r *replier) thread(a *ingest.Question, purpose string) *discord.Sender {
	return &discord.Sender{Client: r.Client, Channel: a.Channel, Question: a.ID, Asker: a.Asker, Purpose: purpose}
}

// say answers a question with a sentence that says why there is no answer. purpose is that of the thread.
func (r *replier) say(last context.Context, a *ingest.Question, purpose, sentence string) {
	d := newDelivery(r.thread(a, purpose), r.Timing.Pace, r.Timing.Typing)
	r.post(last, d, a, markdown.Messages(sentence, "", nil))
}
