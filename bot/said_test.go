package bot

import (
	"time"

	"hark/bot/locale"
)

// Ids of package command's buttons and menus, as Discord keeps them, and names in its menus.
const (
	choosePublic      = "public"
	chooseNothing     = "nothing"
	chooseChannels    = "choose"
	chosenChannels    = "channels"
	stopsBackfill     = "nobackfill"
	asksPurge         = "purgechannel"
	purges            = "purge"
	panelKey          = "panel-key"
	panelSet          = "panel-set"
	confirmForget     = "forget"
	confirmForgetThis = "forget-this"
	confirmOptOut     = "optout"
	pagerName         = "found"
	keepsFor          = "keep"
	expires           = "expire"
	exportByDM        = "dm"
	forgetCommand     = "Forget this"
	whyCommand        = "Why did you say that?"
	aboutCommand      = "What do you know about me?"
	relatedCommand    = "Find related"
	starCommand       = "Remember ⭐"
)

// Texts and limits of package command.
const (
	notAllowed                    = "Only those who may manage this server can decide that."
	useAgain                      = "I can't tell any more whether you may decide that. Please use the command once more."
	promptFile                    = "context.txt"
	busyNow         locale.Phrase = "I'm busy with other questions. Please press again in a minute or two."
	nothingAsked    locale.Phrase = "There is no question in that message any more. Please ask me anew."
	noSources                     = "What this answer was made from is gone, or you may not read it."
	notMyAnswer                   = "That isn't an answer of mine, so I can't say how it came about."
	unknownTool                   = "I don't know this command any more. Reload Discord to see those I know."
	allTaken                      = "Too much is asked of me at the moment. Please try again in a minute."
	goesOn                        = "This takes longer than Discord lets me tell you about."
	noticeText                    = "**May I remember what is said here?**\n"
	keptNot         locale.Phrase = "I remember nothing here, so I don't keep that either."
	youOptOut       locale.Phrase = "You've opted out here, so I keep nothing about you. `/memory optin` changes that."
	foundNoneLeft                 = "Nothing of this page is left that you may read."
	foundNothing                  = "I found nothing about that in what you may read. Other words may find it."
	askForSomething               = "What are you looking for? Please write a question or a few words."
	searchIsOver                  = "I no longer know what this search found. Please search again."
	foundNoneHere                 = "I found nothing about that, with these filters, in what you may read. Try a longer span, or leave out `in`, `from`, `since` or `until`; other words may find it, too."
	noTextToRelate                = "This message has no text, so there is nothing that I could look for. I can't read images and embeds."

	parallelCommands = 64
	mostCompletions  = 25
	foundPerPage     = 5
	mostFound        = 25
	findsKept        = 15 * time.Minute
	longestQuestion  = 1000
	listedLore       = 100
	exportPage       = 100
	exportParts      = 10
)

// Texts and limits of package reply.
const (
	shallI                    = "Shall I remember this?"
	cantShow                  = "I have an answer, but Discord doesn't take it from me. Please ask again, perhaps in other words."
	failedAgain locale.Phrase = "That failed again, for the same reason as just before. (Code %s)"
	askMe                     = "Hi! Ask me something about what was said here: mention me with a question, like \"<@%d> when is the meeting?\". " +
		"`/context` shows only you what I'd remember for it."
	restarting                     = "I'm being restarted. Please ask again in a minute."
	stoppedLine                    = "-# ⏹️ Stopped."
	sessionChanged                 = "While I was answering, something said here was deleted or changed, or what I may remember here changed. So I take my answer back. Please ask me again."
	withdrawnText                  = "-# I've taken this answer back: something that it was based on was deleted, forgotten or changed."
	waitingQuestions               = 5
	tooManyWait                    = "busy"
	memberMessages                 = "member_messages"
	memberTokens                   = "member_tokens"
	sourceGone       locale.Phrase = "Something that this is from was deleted or changed meanwhile, or isn't remembered, so I don't keep it."
	idLimit                        = 100
)
