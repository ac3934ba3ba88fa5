package bot

import (
	"time"
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
	notAllowed    = "Only those who may manage this server can decide that."
	notGiven      = "You may not use this command: it needs a permission that you don't have here"
	useAgain      = "I can't tell any more whether you may decide that. Please use the command once more."
	promptFile    = "context.txt"
	unknownTool   = "I don't know this command any more. Reload Discord to see those I know."
	goesOn        = "This takes longer than Discord lets me tell you about."
	noticeText    = "**May I remember what is said here?**\n"
	foundNoneLeft = "Nothing of this page is left that you may read."

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
	shallI           = "Shall I remember this?"
	cantShow         = "I have an answer, but Discord doesn't take it from me. Please ask again, perhaps in other words."
	restarting       = "I'm being restarted. Please ask again in a minute."
	stoppedLine      = "-# ⏹️ Stopped."
	withdrawnText    = "-# I've taken this answer back: something that it was based on was deleted, forgotten or changed."
	waitingQuestions = 5
	tooManyWait      = "busy"
	memberTokens     = "member_tokens"
)
