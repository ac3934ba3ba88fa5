package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/internal/pattern"
	"hark/internal/text"
	"hark/memory"
)

// Cues of what kind a message is: words as text.Words gives them, in the languages of labels that have spaces.
// Elsewhere figures, names and rare words have to do.
var (
	decisionCues = text.SetOf("decided decide decision agreed agree agreement settled approved approve chose " +
		"chosen voted vote unanimous beschlossen entschieden vereinbart einig abgestimmt decide convenu vote " +
		"decidido acordado acordamos")
	planCues = text.SetOf("will plan plans planning planned shall gonna deadline due schedule scheduled " +
		"upcoming todo remind let's lets plane planen geplant werden wollen frist prevu prevoir prevois " +
		"planear planeado vamos")
	dateCues = text.SetOf("monday tuesday wednesday thursday friday saturday sunday january february march " +
		"april june july august september october november december today tonight tomorrow yesterday morning " +
		"afternoon evening noon midnight week weekend month year montag dienstag mittwoch donnerstag freitag " +
		"samstag sonntag heute morgen gestern woche monat jahr lundi mardi mercredi jeudi vendredi samedi " +
		"dimanche demain hier semaine mois lunes martes miercoles jueves viernes sabado domingo hoy manana " +
		"ayer semana mes")
	ownCues = text.SetOf("i my mine myself we our ours ich mein meine meinen wir unser unsere je mon ma mes " +
		"nous notre yo mi mis nosotros nuestro nuestra")
	// denialCues make another statement of the same words.
	denialCues = text.SetOf("no not never none cannot without nicht kein keine keinen nie ohne ne pas jamais " +
		"sans nunca sin")
	smallTalk = text.SetOf("hello heya thanks thank thankyou okay okey yeah yepp yess nope sure nice cool " +
		"great good well fine haha hahaha hehe lmao rofl wow whoa true same exactly right maybe perhaps " +
		"please sorry welcome morning night evening later bye goodbye cheers congrats awesome amazing wait " +
		"what gotcha indeed agreed noted done hallo danke bitte genau stimmt klar super gut tschuss salut " +
		"bonjour merci bien d'accord voila oui hola gracias vale bueno claro adios")
)

func hasCue(words []string, of map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return of[w] })
}

var (
	// markup has digits and capitals that nobody said: links and Discord's tags.
	markup = pattern.Of(`https?://\S+|<[^<>\s]{1,64}>`)
	// innerName is a capitalised word inside a sentence.
	innerName = pattern.Of(`[\p{Ll}\p{Nd},;:] \p{Lu}\p{Ll}`)
)

func hasFigure(s string) bool {
	return strings.ContainsFunc(markup().ReplaceAllString(s, ""), unicode.IsNumber)
}

func hasName(s string) bool { return innerName().MatchString(markup().ReplaceAllString(s, "")) }

func isQuestion(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, " )!.\"'”»"))
	return r == '?' || r == '？' || r == '؟'
}

// kindOfSession returns what the quoted messages mainly are: one decision makes it one, else at least half of the
// statements decide.
func kindOfSession(quoted []said) memory.SummaryKind {
	plans := 0
	facts := 0
	questions := 0
	for _, t := range quoted {
		switch {
		case t.asks:
			questions++
		case hasCue(t.words, decisionCues):
			return memory.SummaryDecision
		case hasCue(t.words, planCues):
			plans++
		case t.figure || hasCue(t.words, ownCues):
			facts++
		}
	}
	switch statements := len(quoted) - questions; {
	case statements == 0:
		return memory.SummaryQuestion
	case plans > 0 && 2*plans >= statements:
		return memory.SummaryPlan
	case facts > 0 && 2*(facts+plans) >= statements:
		return memory.SummaryFact
	}
	return memory.SummaryTalk
}

// topicsOf returns the most frequent words, longer ones before shorter, as they were written first.
func topicsOf(quoted []said) []string {
	type topic struct {
		word  string
		count int
		first int
	}
	var all []topic
	at := map[string]int{}
	for _, t := range quoted {
		for _, w := range t.words {
			n := utf8.RuneCountInString(w)
			if text.IsStopWord(w) || dateCues[w] || ownCues[w] || n < 3 || n > memory.MaxTopic ||
				!strings.ContainsFunc(w, unicode.IsLetter) {
				continue
			}
			stem := text.Stem(w)
			i, known := at[stem]
			if !known {
				i = len(all)
				at[stem] = i
				all = append(all, topic{word: w, first: i})
			}
			all[i].count++
		}
	}
	slices.SortFunc(all, func(a, b topic) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(utf8.RuneCountInString(b.word),
			utf8.RuneCountInString(a.word)), cmp.Compare(a.first, b.first))
	})
	var topics []string
	for _, t := range all[:min(memory.MaxTopics, len(all))] {
		topics = append(topics, t.word)
	}
	return topics
}
