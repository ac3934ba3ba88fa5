package reply

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/internal/answer"
	"hark/internal/llm"
	"hark/internal/metrics"
	"hark/memory"
)

// What members are told when there is no answer, and what they can do.
const (
	wentWrong    locale.MessageKey = "Something went wrong on my side. Please try again; if it keeps happening, tell whoever runs me this code: %s"
	cantRecall   locale.MessageKey = "I can't get at what I remember right now. Please ask again in a minute; if it keeps happening, tell whoever runs me this code: %s"
	modelRefuses locale.MessageKey = "The language model refuses to work for me. Asking again won't help until whoever runs me has looked at it: tell them this code: %s"
	modelGone    locale.MessageKey = "The language model can't be reached right now. Please ask again in a few minutes. (Code %s)"
	modelSlow    locale.MessageKey = "The language model didn't begin to answer in time. Please ask again in a minute. (Code %s)"
	modelBusy    locale.MessageKey = "The language model is asked too much right now. Please ask again in a minute or two. (Code %s)"
	modelLimit   locale.MessageKey = "That is more than the language model can read at once. Please ask a shorter question. (Code %s)"
	modelCutOff  locale.MessageKey = "The language model broke off. Please ask again. (Code %s)"
	modelLoading locale.MessageKey = "The language model is still being loaded. Please ask again in a minute. (Code %s)"
	modelEmpty   locale.MessageKey = "The language model gave no answer. Please ask again, perhaps in other words. (Code %s)"
	modelNoMore  locale.MessageKey = "The language model wrote no more. Please ask again, perhaps in other words. (Code %s)"
	tookLong     locale.MessageKey = "That took longer than I may take for an answer. Please ask for less at once. (Code %s)"
	failedAgain  locale.MessageKey = "That failed again, for the same reason as just before. (Code %s)"

	cantShow = "I have an answer, but Discord doesn't take it from me. Please ask again, perhaps in other words."
)

var modelFailures = map[llm.Kind]locale.MessageKey{
	llm.Unreachable: modelGone, llm.Server: modelGone, llm.TimedOut: modelSlow, llm.RateLimited: modelBusy,
	llm.Refused: modelRefuses, llm.NotFound: modelRefuses, llm.Rejected: modelRefuses,
	llm.TooLong: modelLimit, llm.CutOff: modelCutOff, llm.BadAnswer: modelEmpty,
}

// Errors by which a model says that it is still being loaded, or that too much was asked of it at once.
type (
	loading interface{ Loading() bool }
	crowded interface{ Crowded() bool }
)

// IsLoading reports whether a model's server failed because it is still loading the model.
func IsLoading(err error) bool {
	var load loading
	return errors.As(err, &load) && load.Loading()
}

// IsCrowded reports whether a model's server failed because too much was asked of it.
func IsCrowded(err error) bool {
	var crowd crowded
	return errors.As(err, &crowd) && crowd.Crowded() || llm.KindOf(err) == llm.RateLimited
}

// phraseOf returns what to say about an error without a sentence of its own.
func phraseOf(err error) locale.MessageKey {
	switch {
	case IsLoading(err):
		return modelLoading
	case IsCrowded(err):
		return modelBusy
	}
	if phrase := modelFailures[llm.KindOf(err)]; phrase != "" {
		return phrase
	}
	switch {
	case errors.Is(err, answer.ErrEmpty):
		return modelEmpty
	case errors.Is(err, context.DeadlineExceeded):
		return tookLong
	case errors.Is(err, answer.ErrRecall):
		return cantRecall
	}
	return wentWrong
}

// Failure returns what a member is told about err. The log has the error under the code that the member sees.
// A failure that repeats in a channel within a minute is told briefly.
func (r *Replier) Failure(l locale.Locale, a *ingest.Question, err error) string {
	return r.failure(l, a, err, false)
}

// failure is Failure. begun reports whether some of the answer is shown.
func (r *Replier) failure(l locale.Locale, a *ingest.Question, err error, begun bool) string {
	var plain interface{ Sentence() string }
	switch {
	case errors.As(err, &plain):
		r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg("couldn't answer")
		return l.Sentence(plain)
	case errors.Is(err, context.Canceled):
		return l.Text(restarting)
	}
	words := phraseOf(err)
	if begun && words == modelEmpty {
		words = modelNoMore
	}
	code := errorCode()
	r.Metrics.Questions.WithLabelValues(metrics.Failed).Inc()
	r.Log.Error().Err(err).Str("code", code).Int64("question", int64(a.ID)).Msg("couldn't answer")
	if a.Channel != 0 && r.isRepeated(a.Channel, words) {
		words = failedAgain
	}
	return l.Keyed(words, code)
}

// errorCode returns a short random code.
func errorCode() string { return strings.ToLower(rand.Text()[:8]) }

// isRepeated reports whether the same was said in a channel just before, and remembers it.
func (r *Replier) isRepeated(channel memory.ChannelID, words locale.MessageKey) bool {
	now := r.Now()
	return !r.repeats.IsNews(repeatKey{channel: channel, of: "failure"}, words, now, now.Add(repeatWithin))
}

// isMute reports whether a lack of permissions in a channel was logged just before, and remembers it.
func (r *Replier) isMute(channel memory.ChannelID) bool {
	now := r.Now()
	return !r.repeats.IsNews(repeatKey{channel: channel, of: "mute"}, "", now, now.Add(muteFor))
}

// undelivered logs that Discord refused an answer. Without permission to write, Hark can tell nobody there.
func (r *Replier) undelivered(ctx context.Context, a *ingest.Question, err error, what string) {
	if discord.Status(err) != http.StatusForbidden {
		r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg(what)
		return
	}
	r.logLack(ctx, a.Guild, a.Channel, err,
		"may not write where it was asked: give it View Channel and Send Messages there, and Send Messages in Threads")
}

// logLack logs what can't be done in a channel and which permissions are missing, once an hour.
func (r *Replier) logLack(ctx context.Context, guild memory.GuildID, channel memory.ChannelID, err error, what string) {
	if r.isMute(channel) {
		return
	}
	line := r.Log.Warn().Err(err).Int64("channel", int64(channel))
	if missing, failed := r.Grants.Missing(ctx, guild, channel, discord.ToAnswer); failed == nil && missing != 0 &&
		guild != memory.DirectGuild {
		line = line.Str("missing", discord.PermissionNames(locale.Locale{}, missing)).Str("grant",
			r.Grants.Link(guild, missing))
	}
	line.Msg(what + "; not said again for an hour")
}

// noFilesNote returns the line below an answer whose files Discord refused for lack of permission. It is said
// and logged once an hour in a channel.
func (r *Replier) noFilesNote(ctx context.Context, a *ingest.Question, err error) string {
	if a.Guild == memory.DirectGuild {
		return ""
	}
	missing, failed := r.Grants.Missing(ctx, a.Guild, a.Channel, discord.ToAnswer)
	if failed != nil || !missing.Has(discord.AttachFiles) || r.isMute(a.Channel) {
		return ""
	}
	r.Log.Warn().Err(err).Int64("channel", int64(a.Channel)).Str("missing",
		discord.PermissionNames(locale.Locale{}, missing)).Str("grant", r.Grants.Link(a.Guild, missing)).
		Msg("may not attach files where it was asked, so code stands in the answer; not said again for an hour")
	return "-# " + r.Grants.Lacking(r.LocaleFor(ctx, a), a.Guild, a.Channel, missing)
}

// isRejected reports whether Discord refused the content.
func isRejected(err error) bool { return discord.Status(err) == http.StatusBadRequest }

// isTransient reports whether a failed request may succeed by the next start.
func isTransient(err error) bool {
	s := discord.Status(err)
	return !errors.Is(err, discord.ErrGone) && (s == 0 || s == http.StatusTooManyRequests ||
		s >= http.StatusInternalServerError)
}

var roleMention = regexp.MustCompile(`<@&\d+>`)

// withoutRoles removes role mentions: some servers refuse even those that notify nobody.
func withoutRoles(contents []string) []string {
	plain := make([]string, len(contents))
	for i, text := range contents {
		plain[i] = roleMention.ReplaceAllString(text, "@role")
	}
	return plain
}

// LocaleFor returns the locale of public messages about a question: the language set in its channel, the question's if
// that is clear, or the configured one.
func (r *Replier) LocaleFor(ctx context.Context, a *ingest.Question) locale.Locale {
	return locale.Named(r.Choices.LanguageFor(r.Filter.Lookup(ctx, a.Guild), a.Channel, a.Text))
}

// LocaleIn returns the locale of public messages in a channel: the language set there, or the configured one.
func (r *Replier) LocaleIn(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) locale.Locale {
	return locale.Named(r.Choices.In(r.Filter.Lookup(ctx, guild), channel).Language)
}

const (
	askMe = "Hi! Ask me something about what was said here: mention me with a question, like \"<@%d> when is the meeting?\". " +
		"`/context` shows only you what I'd remember for it."
	restarting  = "I'm being restarted. Please ask again in a minute."
	interrupted = "-# ⚠️ Interrupted: %s"
	stoppedLine = "-# ⏹️ Stopped."
)
