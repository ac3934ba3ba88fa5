package bot

import "hark/bot/locale"

// What package reply says and bounds, as members see it.
const (
	shallI                    = "Shall I remember this?"
	cantShow                  = "I have an answer, but Discord doesn't take it from me. Please ask again, perhaps in other words."
	failedAgain locale.Phrase = "That failed again, for the same reason as just before. (Code %s)"
	askMe                     = "Hi! Ask me something about what was said here: mention me with a question, like \"<@%d> when is the meeting?\". " +
		"`/context` shows only you what I'd remember for it."
	restarting                     = "I'm being restarted. Please ask again in a minute."
	stoppedLine                    = "-# ⏹️ Stopped."
	sessionChanged                 = "While I was answering, something that was said here was deleted or changed, or what I remember here was, so I take my answer back. Please ask me again."
	withdrawnText                  = "-# I've taken this answer back: something that it was based on was deleted, forgotten or changed."
	waitingQuestions               = 5
	tooManyWait                    = "busy"
	memberMessages                 = "member_messages"
	memberTokens                   = "member_tokens"
	sourceGone       locale.Phrase = "Something that this is from was deleted or changed meanwhile, or isn't remembered, so I don't keep it."
	idLimit                        = 100
)
