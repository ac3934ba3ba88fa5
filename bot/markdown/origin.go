package markdown

import (
	"hark/bot/locale"
	"hark/memory"
)

// Origin says in sentences how an answer came about. model and mode are those of its trace, as they are to be shown.
func Origin(l locale.Locale, o memory.Origin, model, mode string) []string {
	if model != "" {
		return sentencesOf(writtenBy(l, model, mode), searchedFor(l, o.Found))
	}
	if o.Writer == memory.TakenBack {
		return sentencesOf(withoutModel(l, o.Writer))
	}
	if o.Quotes() {
		return sentencesOf(withoutModel(l, o.Writer), quotedMessages(l, o.Messages), quotedLore(l, o.Lore))
	}
	return sentencesOf(withoutModel(l, o.Writer), quotedNothing(l, o.Found))
}

func writtenBy(l locale.Locale, model, mode string) string {
	if mode == "" {
		return l.Text("Written by the model %s.", model)
	}
	return l.Text("Written by the model %s, in the mode “%s”.", model, mode)
}

// searchedFor says what a model had to do without; "" if enough was found.
func searchedFor(l locale.Locale, found memory.Found) string {
	switch found {
	case memory.FoundNothing:
		return l.Text("The search found nothing.")
	case memory.FoundLittle:
		return l.Text("What the search found says too little about the question: the model was shown only the best of it.")
	case memory.FoundSmallTalk:
		return l.Text("The question asks for nothing that could have been said here.")
	}
	return ""
}

func withoutModel(l locale.Locale, writer memory.AnswerWriter) string {
	switch writer {
	case memory.NoModel:
		return l.Text("No model wrote it: none is configured.")
	case memory.ModelFailed:
		return l.Text("No model wrote it: the model failed.")
	case memory.ModelLoading:
		return l.Text("No model wrote it: the model was still being loaded.")
	case memory.ModelEmpty:
		return l.Text("No model wrote it: the model gave an empty answer.")
	case memory.NoTokens:
		return l.Text("No model wrote it: no tokens were left for the model.")
	case memory.TakenBack:
		return l.Text("The answer was taken back: something that it relied on was deleted, changed or closed to some of " +
			"its readers.")
	}
	return l.Text("No model wrote it.")
}

func quotedMessages(l locale.Locale, n int) string {
	if n == 0 {
		return ""
	}
	return l.Count(n, "It quotes %s message.", "It quotes %s messages.")
}

func quotedLore(l locale.Locale, n int) string {
	if n == 0 {
		return ""
	}
	return l.Count(n, "It quotes %s piece of lore.", "It quotes %s pieces of lore.")
}

// quotedNothing says why an answer without a model quotes nothing; "" if that isn't known.
func quotedNothing(l locale.Locale, found memory.Found) string {
	switch found {
	case memory.FoundNothing:
		return l.Text("It quotes nothing: the search found nothing.")
	case memory.FoundLittle:
		return l.Text("It quotes nothing: what the search found says too little about the question.")
	case memory.FoundSmallTalk:
		return l.Text("It quotes nothing: the question asks for nothing that could have been said here.")
	}
	return ""
}

// sentencesOf returns the sentences that say something.
func sentencesOf(sentences ...string) (all []string) {
	for _, s := range sentences {
		if s != "" {
			all = append(all, s)
		}
	}
	return all
}
