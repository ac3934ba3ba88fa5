package answer

import (
	"context"
	"strings"
	"unicode"

	"hark/internal/answer/manifest"
	"hark/internal/text"
	"hark/memory"
)

// cite is the answer that text makes, with the citations of what was in the prompt.
func (e *Engine) cite(ctx context.Context, q Question, r *recalled, text string) Answer {
	text, cited := manifest.Citations(text, func(n int) bool { _, known := r.shown.Hit(n); return known })
	a := Answer{Text: text, Unranked: r.result.RerankFailed, Trace: e.trace(q, r)}
	for _, n := range cited {
		hit, _ := r.shown.Hit(n)
		a.Sources = append(a.Sources, r.source(n, hit.Message))
	}
	e.trackSources(ctx, q, r, &a, &r.shown)
	return a
}

// source is a message as an answer cites it by n.
func (now *reach) source(n int, m memory.Message) Source {
	return Source{
		Number: n, Guild: m.Guild, Channel: m.Channel, Message: m.ID, Author: now.names.of(m.Author),
		Place: now.names.channel(m.Channel),
		Time:  m.Time().In(now.settings.Zone), Unplaced: now.names.unplaced[m.Channel],
	}
}

// trace is how an answer to q comes about, as far as it is known before the model has written.
func (e *Engine) trace(q Question, r *recalled) memory.Trace {
	return memory.Trace{
		Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker,
		Mode: string(r.mode.Is), Search: r.search, Total: r.elapsed(), TextOnly: r.result.TextOnly,
	}
}

// sentences are what Hark itself says in answers, in the languages besides English.
var sentences = map[string]map[string]string{
	"de": {
		noModel:     "*Es ist kein Sprachmodell eingerichtet, deshalb zitiere ich, was gesagt wurde.*",
		modelAway:   "*Das Sprachmodell antwortet gerade nicht, deshalb zitiere ich, was gesagt wurde.*",
		noTokens:    "*Für das Sprachmodell sind keine Token mehr übrig, deshalb zitiere ich, was gesagt wurde.*",
		foundNone:   "*Dazu habe ich nichts gefunden, was alle hier lesen dürfen; andere Wörter, ein Name oder ein ungefähres Datum helfen vielleicht.*",
		onlyYouNone: "*Dazu habe ich nichts gefunden, was du lesen darfst; andere Wörter, ein Name oder ein ungefähres Datum helfen vielleicht.*",
		cantChat:    "*Ohne Sprachmodell kann ich nicht plaudern, aber ich kann nachsehen, was hier gesagt wurde: Frag einfach.*",
		withdrawn:   "Während ich antwortete, wurde etwas, worauf ich mich stützte, gelöscht, geändert oder für manche von euch gesperrt. Deshalb nehme ich meine Antwort zurück. Bitte fragt mich noch einmal.",
	},
	"fr": {
		noModel:     "*Aucun modèle de langage n'est configuré, je cite donc ce qui a été dit.*",
		modelAway:   "*Le modèle de langage ne répond pas pour l'instant, je cite donc ce qui a été dit.*",
		noTokens:    "*Il ne reste plus de tokens pour le modèle de langage, je cite donc ce qui a été dit.*",
		foundNone:   "*Je n'ai rien trouvé à ce sujet dans ce que tout le monde ici peut lire ; d'autres mots, un nom ou une date approximative peuvent aider.*",
		onlyYouNone: "*Je n'ai rien trouvé à ce sujet dans ce que tu peux lire ; d'autres mots, un nom ou une date approximative peuvent aider.*",
		cantChat:    "*Sans modèle de langage, je ne peux pas bavarder, mais je peux retrouver ce qui a été dit ici : il suffit de demander.*",
		withdrawn:   "Pendant que je répondais, quelque chose sur quoi je m'appuyais a été supprimé, modifié ou fermé à certains d'entre vous : je retire donc ma réponse. Posez-moi la question à nouveau.",
	},
	"es": {
		noModel:     "*No hay ningún modelo de lenguaje configurado, así que cito lo que se dijo.*",
		modelAway:   "*El modelo de lenguaje no responde en este momento, así que cito lo que se dijo.*",
		noTokens:    "*No quedan tokens para el modelo de lenguaje, así que cito lo que se dijo.*",
		foundNone:   "*No encontré nada sobre eso en lo que todos aquí pueden leer; otras palabras, un nombre o una fecha aproximada pueden ayudar.*",
		onlyYouNone: "*No encontré nada sobre eso en lo que puedes leer; otras palabras, un nombre o una fecha aproximada pueden ayudar.*",
		cantChat:    "*Sin un modelo de lenguaje no puedo charlar, pero puedo buscar lo que se dijo aquí: solo pregúntame.*",
		withdrawn:   "Mientras respondía, algo en lo que me basaba se borró, cambió o se cerró para algunos de ustedes, así que retiro mi respuesta. Pregúntenme otra vez, por favor.",
	},
	"ja": {
		noModel:     "*言語モデルが設定されていないため、発言をそのまま引用します。*",
		modelAway:   "*言語モデルが今応答していないため、発言をそのまま引用します。*",
		noTokens:    "*言語モデルに使えるトークンが残っていないため、発言をそのまま引用します。*",
		foundNone:   "*ここにいる全員が読める範囲では、それについて何も見つかりませんでしたが、別の言葉や名前、おおよその日付で見つかるかもしれません。*",
		onlyYouNone: "*あなたが読める範囲では、それについて何も見つかりませんでしたが、別の言葉や名前、おおよその日付で見つかるかもしれません。*",
		cantChat:    "*言語モデルがないので雑談はできませんが、ここで話されたことを探すことはできます。質問してみてください。*",
		withdrawn:   "回答している間に、根拠にしていたものが削除または変更されたか、一部の人に見えなくなったため、回答を取り下げます。もう一度質問してください。",
	},
	"zh-TW": {
		noModel:     "*沒有設定語言模型，所以我引用大家說過的話。*",
		modelAway:   "*語言模型目前沒有回應，所以我引用大家說過的話。*",
		noTokens:    "*語言模型的 token 已用完，所以我引用大家說過的話。*",
		foundNone:   "*在這裡所有人都能讀到的內容中，我沒有找到相關的東西；換個說法、加上名字或大概的日期可能有幫助。*",
		onlyYouNone: "*在你能讀到的內容中，我沒有找到相關的東西；換個說法、加上名字或大概的日期可能有幫助。*",
		cantChat:    "*沒有語言模型，我沒辦法閒聊，但可以查這裡說過的話：儘管問我。*",
		withdrawn:   "在我回答的時候，我依據的內容被刪除、修改，或不再對你們之中的某些人開放，所以我收回這個回答。請再問我一次。",
	},
}

// say is one of Hark's own sentences in the language that is set; what has no translation is English.
func (v voice) say(english string) string {
	if said, there := sentences[v.Language][english]; there {
		return said
	}
	return english
}

// notices are what Hark says itself, in all languages.
var notices = func() map[string]bool {
	all := map[string]bool{}
	for _, english := range []string{noModel, modelAway, noTokens, foundNone, onlyYouNone, cantChat, withdrawn} {
		all[english] = true
		for _, translated := range sentences {
			all[translated[english]] = true
		}
	}
	return all
}()

// isNotice reports whether m is an answer of Hark's that consists of notices.
func isNotice(m memory.Message) bool {
	for line := range strings.Lines(m.Text()) {
		if line = strings.TrimSpace(line); line != "" && !notices[line] {
			return false
		}
	}
	return m.Kind == memory.FromHark
}

const (
	quoteLength = 700 // graphemes of a quoted message
	nameLength  = 64  // of a name
)

// who is the author and the place of a quote. Somebody whose name isn't known is shown by their tag.
func who(s Source, author memory.UserID) string {
	name := escapeName(s.Author)
	if s.Author == tag(author) {
		name = s.Author
	}
	if s.Place == "" {
		return "**" + name + "**"
	}
	return "**" + name + "** in #" + escapeName(s.Place)
}

// escapeName makes a name one line that Markdown shows as it is: no markup, mention or link, and nothing that
// turns the direction of what follows.
func escapeName(name string) string {
	var b strings.Builder
	for _, r := range text.Clip(strings.Join(strings.Fields(name), " "), nameLength) {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Bidi_Control):
		case r == '`':
			b.WriteByte('\'')
		case strings.ContainsRune(`\*_~|<>[]@:`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoted is what was said as a Markdown quotation, shortened where it is long. Fences are kept from opening a
// block that would swallow what follows, and numbers in brackets from being taken for citations.
func quoted(said string) string {
	said = strings.ReplaceAll(text.Clip(strings.TrimSpace(said), quoteLength), "```", "'''")
	said = manifest.Citation.ReplaceAllString(said, `[$1\]`)
	return "> " + strings.Join(strings.FieldsFunc(said, isLineBreak), "\n> ") + "\n"
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}
