package answer

import (
	"cmp"
	"strings"

	"hark/memory"
)

// Notes of an answer without a model. text.OwnWords leaves them out, so no follow-up is searched with their words.
const (
	noModel      = "*No language model is configured, so I quote what was said.*"
	modelAway    = "*The language model isn't answering right now, so I quote what was said.*"
	modelLoading = "*The language model is still being loaded, so I quote what was said.*"
	modelEmpty   = "*The language model gave an empty answer, so I quote what was said.*"
	noTokens     = "*There are no tokens left for the language model, so I quote what was said.*"
	foundNone    = "*I found nothing about that in what everyone here may read; other words, a name or a rough date may help.*"
	onlyYouNone  = "*I found nothing about that in what you may read; other words, a name or a rough date may help.*"
	cantChat     = "*I can't chat without a language model, but I can look up what was said here: just ask.*"
)

// forwardedBy attributes a message to who forwarded it.
const forwardedBy = "forwarded by %s"

// noteOn says why no model wrote an answer.
var noteOn = map[memory.AnswerWriter]string{memory.NoModel: noModel, memory.ModelFailed: modelAway,
	memory.ModelLoading: modelLoading, memory.ModelEmpty: modelEmpty, memory.NoTokens: noTokens}

// What is said instead of such a note where nothing is quoted.
const (
	awayNone    = "*The language model isn't answering right now, and I found nothing to quote.*"
	loadingNone = "*The language model is still being loaded, and I found nothing to quote.*"
	emptyNone   = "*The language model gave an empty answer, and I found nothing to quote.*"
	tokensNone  = "*There are no tokens left for the language model, and I found nothing to quote.*"
)

var withoutQuotes = map[string]string{modelAway: awayNone, modelLoading: loadingNone, modelEmpty: emptyNone,
	noTokens: tokensNone}

// withdrawn replaces an answer that may not be given any more.
const withdrawn = "While I was answering, something that I relied on was deleted, changed, or closed to some of you, so I take my answer back. Please ask me again."

var sentences = map[string]map[string]string{
	"de": {
		noModel:      "*Es ist kein Sprachmodell eingerichtet, deshalb zitiere ich, was gesagt wurde.*",
		modelAway:    "*Das Sprachmodell antwortet gerade nicht, deshalb zitiere ich, was gesagt wurde.*",
		noTokens:     "*Für das Sprachmodell sind keine Token mehr übrig, deshalb zitiere ich, was gesagt wurde.*",
		modelLoading: "*Das Sprachmodell wird noch geladen, deshalb zitiere ich, was gesagt wurde.*",
		modelEmpty:   "*Das Sprachmodell hat leer geantwortet, deshalb zitiere ich, was gesagt wurde.*",
		awayNone:     "*Das Sprachmodell antwortet gerade nicht, und ich habe nichts gefunden, was ich zitieren könnte.*",
		loadingNone:  "*Das Sprachmodell wird noch geladen, und ich habe nichts gefunden, was ich zitieren könnte.*",
		emptyNone:    "*Das Sprachmodell hat leer geantwortet, und ich habe nichts gefunden, was ich zitieren könnte.*",
		tokensNone:   "*Für das Sprachmodell sind keine Token mehr übrig, und ich habe nichts gefunden, was ich zitieren könnte.*",
		foundNone:    "*Dazu habe ich nichts gefunden, was alle hier lesen dürfen; andere Wörter, ein Name oder ein ungefähres Datum helfen vielleicht.*",
		onlyYouNone:  "*Dazu habe ich nichts gefunden, was du lesen darfst; andere Wörter, ein Name oder ein ungefähres Datum helfen vielleicht.*",
		cantChat:     "*Ohne Sprachmodell kann ich nicht plaudern, aber ich kann nachsehen, was hier gesagt wurde: Frag einfach.*",
		withdrawn:    "Während ich antwortete, wurde etwas, worauf ich mich stützte, gelöscht, geändert oder für manche von euch gesperrt. Deshalb nehme ich meine Antwort zurück. Bitte fragt mich noch einmal.",
		forwardedBy:  "weitergeleitet von %s",
	},
	"fr": {
		noModel:      "*Aucun modèle de langage n'est configuré, je cite donc ce qui a été dit.*",
		modelAway:    "*Le modèle de langage ne répond pas pour l'instant, je cite donc ce qui a été dit.*",
		noTokens:     "*Il ne reste plus de tokens pour le modèle de langage, je cite donc ce qui a été dit.*",
		modelLoading: "*Le modèle de langage est encore en cours de chargement, je cite donc ce qui a été dit.*",
		modelEmpty:   "*Le modèle de langage a donné une réponse vide, je cite donc ce qui a été dit.*",
		awayNone:     "*Le modèle de langage ne répond pas pour l'instant, et je n'ai rien trouvé à citer.*",
		loadingNone:  "*Le modèle de langage est encore en cours de chargement, et je n'ai rien trouvé à citer.*",
		emptyNone:    "*Le modèle de langage a donné une réponse vide, et je n'ai rien trouvé à citer.*",
		tokensNone:   "*Il ne reste plus de tokens pour le modèle de langage, et je n'ai rien trouvé à citer.*",
		foundNone:    "*Je n'ai rien trouvé à ce sujet dans ce que tout le monde ici peut lire ; d'autres mots, un nom ou une date approximative peuvent aider.*",
		onlyYouNone:  "*Je n'ai rien trouvé à ce sujet dans ce que tu peux lire ; d'autres mots, un nom ou une date approximative peuvent aider.*",
		cantChat:     "*Sans modèle de langage, je ne peux pas bavarder, mais je peux retrouver ce qui a été dit ici : il suffit de demander.*",
		withdrawn:    "Pendant que je répondais, quelque chose sur quoi je m'appuyais a été supprimé, modifié ou fermé à certains d'entre vous : je retire donc ma réponse. Posez-moi la question à nouveau.",
		forwardedBy:  "transféré par %s",
	},
	"es": {
		noModel:      "*No hay ningún modelo de lenguaje configurado, así que cito lo que se dijo.*",
		modelAway:    "*El modelo de lenguaje no responde en este momento, así que cito lo que se dijo.*",
		noTokens:     "*No quedan tokens para el modelo de lenguaje, así que cito lo que se dijo.*",
		modelLoading: "*El modelo de lenguaje todavía se está cargando, así que cito lo que se dijo.*",
		modelEmpty:   "*El modelo de lenguaje dio una respuesta vacía, así que cito lo que se dijo.*",
		awayNone:     "*El modelo de lenguaje no responde en este momento, y no encontré nada que citar.*",
		loadingNone:  "*El modelo de lenguaje todavía se está cargando, y no encontré nada que citar.*",
		emptyNone:    "*El modelo de lenguaje dio una respuesta vacía, y no encontré nada que citar.*",
		tokensNone:   "*No quedan tokens para el modelo de lenguaje, y no encontré nada que citar.*",
		foundNone:    "*No encontré nada sobre eso en lo que todos aquí pueden leer; otras palabras, un nombre o una fecha aproximada pueden ayudar.*",
		onlyYouNone:  "*No encontré nada sobre eso en lo que puedes leer; otras palabras, un nombre o una fecha aproximada pueden ayudar.*",
		cantChat:     "*Sin un modelo de lenguaje no puedo charlar, pero puedo buscar lo que se dijo aquí: solo pregúntame.*",
		withdrawn:    "Mientras respondía, algo en lo que me basaba se borró, cambió o se cerró para algunos de ustedes, así que retiro mi respuesta. Pregúntenme otra vez, por favor.",
		forwardedBy:  "reenviado por %s",
	},
	"ja": {
		noModel:      "*言語モデルが設定されていないため、発言をそのまま引用します。*",
		modelAway:    "*言語モデルが今応答していないため、発言をそのまま引用します。*",
		noTokens:     "*言語モデルに使えるトークンが残っていないため、発言をそのまま引用します。*",
		modelLoading: "*言語モデルがまだ読み込み中のため、発言をそのまま引用します。*",
		modelEmpty:   "*言語モデルの回答が空だったため、発言をそのまま引用します。*",
		awayNone:     "*言語モデルが今応答しておらず、引用できる発言も見つかりませんでした。*",
		loadingNone:  "*言語モデルがまだ読み込み中で、引用できる発言も見つかりませんでした。*",
		emptyNone:    "*言語モデルの回答が空で、引用できる発言も見つかりませんでした。*",
		tokensNone:   "*言語モデルに使えるトークンが残っておらず、引用できる発言も見つかりませんでした。*",
		foundNone:    "*ここにいる全員が読める範囲では、それについて何も見つかりませんでしたが、別の言葉や名前、おおよその日付で見つかるかもしれません。*",
		onlyYouNone:  "*あなたが読める範囲では、それについて何も見つかりませんでしたが、別の言葉や名前、おおよその日付で見つかるかもしれません。*",
		cantChat:     "*言語モデルがないので雑談はできませんが、ここで話されたことを探すことはできます。質問してみてください。*",
		withdrawn:    "回答している間に、根拠にしていたものが削除または変更されたか、一部の人に見えなくなったため、回答を取り下げます。もう一度質問してください。",
		forwardedBy:  "転送：%s",
	},
	"zh-TW": {
		noModel:      "*沒有設定語言模型，所以我引用大家說過的話。*",
		modelAway:    "*語言模型目前沒有回應，所以我引用大家說過的話。*",
		noTokens:     "*語言模型的 token 已用完，所以我引用大家說過的話。*",
		modelLoading: "*語言模型還在載入中，所以我引用大家說過的話。*",
		modelEmpty:   "*語言模型的回答是空的，所以我引用大家說過的話。*",
		awayNone:     "*語言模型目前沒有回應，我也沒有找到可以引用的內容。*",
		loadingNone:  "*語言模型還在載入中，我也沒有找到可以引用的內容。*",
		emptyNone:    "*語言模型的回答是空的，我也沒有找到可以引用的內容。*",
		tokensNone:   "*語言模型的 token 已用完，我也沒有找到可以引用的內容。*",
		foundNone:    "*在這裡所有人都能讀到的內容中，我沒有找到相關的東西；換個說法、加上名字或大概的日期可能有幫助。*",
		onlyYouNone:  "*在你能讀到的內容中，我沒有找到相關的東西；換個說法、加上名字或大概的日期可能有幫助。*",
		cantChat:     "*沒有語言模型，我沒辦法閒聊，但可以查這裡說過的話：儘管問我。*",
		withdrawn:    "在我回答的時候，我依據的內容被刪除、修改，或不再對你們之中的某些人開放，所以我收回這個回答。請再問我一次。",
		forwardedBy:  "由 %s 轉傳",
	},
}

// say translates a sentence; without a translation it stays English.
func (v resolvedSettings) say(sentence string) string {
	said, there := sentences[cmp.Or(v.spoken, v.Language)][sentence]
	if there {
		return said
	}
	return sentence
}

// english are all sentences in the code.
var english = []string{noModel, modelAway, modelLoading, modelEmpty, noTokens, foundNone, onlyYouNone, cantChat, awayNone,
	loadingNone, emptyNone, tokensNone, withdrawn, forwardedBy}

// notices are all sentences in all languages.
var notices = func() map[string]bool {
	all := map[string]bool{}
	for _, sentence := range english {
		all[sentence] = true
		for _, translated := range sentences {
			all[translated[sentence]] = true
		}
	}
	return all
}()

func isNotice(m memory.Message) bool {
	for line := range strings.Lines(m.Text()) {
		line = strings.TrimSpace(line)
		if line != "" && !notices[line] {
			return false
		}
	}
	return m.Kind == memory.FromHark
}
