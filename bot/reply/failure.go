package reply

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/internal/answer"
	"hark/internal/llm"
	"hark/internal/metrics"
	"hark/memory"
)

// What members are told when there is no answer: something that they can do.
const (
	wentWrong    locale.Phrase = "Something went wrong on my side. Please try again; if it keeps happening, tell whoever runs me this code: %s"
	cantRecall   locale.Phrase = "I can't get at what I remember right now. Please ask again in a minute; if it keeps happening, tell whoever runs me this code: %s"
	modelRefuses locale.Phrase = "The language model refuses to work for me. Asking again won't help until whoever runs me has looked at it: tell them this code: %s"
	modelGone    locale.Phrase = "The language model can't be reached right now. Please ask again in a few minutes. (Code %s)"
	modelSlow    locale.Phrase = "The language model didn't begin to answer in time. Please ask again in a minute. (Code %s)"
	modelBusy    locale.Phrase = "The language model is asked too much right now. Please ask again in a minute or two. (Code %s)"
	modelLimit   locale.Phrase = "That is more than the language model can read at once. Please ask a shorter question. (Code %s)"
	modelCutOff  locale.Phrase = "The language model broke off. Please ask again. (Code %s)"
	modelEmpty   locale.Phrase = "The language model gave no answer. Please ask again, perhaps in other words. (Code %s)"
	tookLong     locale.Phrase = "That took longer than I may take for an answer. Please ask for less at once. (Code %s)"
	failedAgain  locale.Phrase = "That failed again, for the same reason as just before. (Code %s)"

	cantShow = "I have an answer, but Discord doesn't take it from me. Please ask again, perhaps in other words."
)

var modelFailures = map[llm.Kind]locale.Phrase{
	llm.Unreachable: modelGone, llm.Server: modelGone, llm.TimedOut: modelSlow, llm.RateLimited: modelBusy,
	llm.Refused: modelRefuses, llm.NotFound: modelRefuses, llm.Rejected: modelRefuses,
	llm.TooLong: modelLimit, llm.CutOff: modelCutOff, llm.BadAnswer: modelEmpty,
}

// wording is what is said of an error that has no sentence of its own.
func phraseOf(err error) locale.Phrase {
	var model *llm.Error
	switch {
	case errors.As(err, &model) && modelFailures[model.Kind] != "":
		return modelFailures[model.Kind]
	case errors.Is(err, answer.ErrEmpty):
		return modelEmpty
	case errors.Is(err, context.DeadlineExceeded):
		return tookLong
	case errors.Is(err, answer.ErrRecall):
		return cantRecall
	}
	return wentWrong
}

// Failure is what a member is told about err. The log tells what it is under the code that they see. What fails again
// in a channel for the same reason isn't told at length twice in a minute.
func (r *Replier) Failure(l locale.Locale, a *ingest.Question, err error) string {
	var told interface{ Sentence() string }
	switch {
	case errors.As(err, &told):
		r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg("couldn't answer")
		return l.Sentence(told)
	case errors.Is(err, context.Canceled):
		return l.Text(restarting)
	}
	words, code := phraseOf(err), errorCode()
	r.Metrics.Questions.WithLabelValues(metrics.Failed).Inc()
	r.Log.Error().Err(err).Str("code", code).Int64("question", int64(a.ID)).Msg("couldn't answer")
	if a.Channel != 0 && r.isRepeated(a.Channel, words) {
		words = failedAgain
	}
	return l.Phrase(words, code)
}

// errorCode is a code short enough to be told to somebody, under which the log has what went wrong.
func errorCode() string { return strings.ToLower(rand.Text()[:8]) }

const (
	repeatWithin = time.Minute // in which a failure is the same one
	muteFor      = time.Hour   // in which it is logged once that Hark may not write in a channel
	maxRepeats   = 1 << 14     // that are known
)

// repeatKey is whom something is said to, that isn't to be said again too soon: somebody in a guild, or those
// in a channel.
type repeatKey struct {
	ingest.Membership
	channel memory.ChannelID
	of      string
}

// isRepeated reports whether the same was said in a channel just before, and notes that it is.
func (r *Replier) isRepeated(channel memory.ChannelID, words locale.Phrase) bool {
	now := r.Now()
	return !r.repeats.IsNews(repeatKey{channel: channel, of: "failure"}, words, now, now.Add(repeatWithin))
}

// isMute reports whether it was said just before that Hark may not write in a channel, and notes that it is.
func (r *Replier) isMute(channel memory.ChannelID) bool {
	now := r.Now()
	return !r.repeats.IsNews(repeatKey{channel: channel, of: "mute"}, "", now, now.Add(muteFor))
}

// undelivered logs that Discord didn't take an answer. Where Hark may not write, nobody there can be told.
func (r *Replier) logUndelivered(ctx context.Context, a *ingest.Question, err error, what string) {
	if discord.Status(err) != http.StatusForbidden {
		r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg(what)
		return
	}
	r.logMissingPermissions(ctx, a.Guild, a.Channel, err,
		"may not write where it was asked: give it View Channel and Send Messages there, and Send Messages in Threads")
}

// unfit reports whether Discord refused what was to be said, rather than that anything is.
func isRejected(err error) bool { return discord.Status(err) == http.StatusBadRequest }

// passes reports whether what a request failed with may be over by the next start.
func isTransient(err error) bool {
	s := discord.Status(err)
	return !errors.Is(err, discord.ErrGone) && (s == 0 || s == http.StatusTooManyRequests ||
		s >= http.StatusInternalServerError)
}

var roleMention = regexp.MustCompile(`<@&\d+>`)

// withoutRoles is contents in which no role is mentioned: there are servers that refuse a mention that notifies nobody.
func withoutRoles(contents []string) []string {
	plain := make([]string, len(contents))
	for i, text := range contents {
		plain[i] = roleMention.ReplaceAllString(text, "@role")
	}
	return plain
}

// LocaleIn is the locale of what is said in a channel for all to read: in the language that was set there, or
// else the one that is configured.
func (r *Replier) LocaleIn(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) locale.Locale {
	g, err := r.Filter.Guild(ctx, guild)
	if err != nil {
		g = &memory.Guild{ID: guild}
	}
	return locale.Named(r.Choices.In(g, channel).Language)
}
