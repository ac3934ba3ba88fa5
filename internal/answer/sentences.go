package answer

// sentences are what Hark itself says in answers, in the languages besides English.
var sentences = map[string]map[string]string{
	"de": {
		noModel:     "*Es ist kein Sprachmodell eingerichtet, deshalb zitiere ich, was gesagt wurde.*",
		modelAway:   "*Das Sprachmodell antwortet gerade nicht, deshalb zitiere ich, was gesagt wurde.*",
		foundNone:   "Dazu habe ich nichts gefunden, was alle hier lesen dürfen.",
		onlyYouNone: "Dazu habe ich nichts gefunden, was du lesen darfst.",
		withdrawn:   "Während ich antwortete, wurde etwas, worauf ich mich stützte, gelöscht, geändert oder für manche von euch gesperrt. Deshalb nehme ich meine Antwort zurück. Bitte fragt mich noch einmal.",
	},
	"fr": {
		noModel:     "*Aucun modèle de langage n'est configuré, je cite donc ce qui a été dit.*",
		modelAway:   "*Le modèle de langage ne répond pas pour l'instant, je cite donc ce qui a été dit.*",
		foundNone:   "Je n'ai rien trouvé à ce sujet dans ce que tout le monde ici peut lire.",
		onlyYouNone: "Je n'ai rien trouvé à ce sujet dans ce que tu peux lire.",
		withdrawn:   "Pendant que je répondais, quelque chose sur quoi je m'appuyais a été supprimé, modifié ou fermé à certains d'entre vous : je retire donc ma réponse. Posez-moi la question à nouveau.",
	},
	"es": {
		noModel:     "*No hay ningún modelo de lenguaje configurado, así que cito lo que se dijo.*",
		modelAway:   "*El modelo de lenguaje no responde en este momento, así que cito lo que se dijo.*",
		foundNone:   "No encontré nada sobre eso en lo que todos aquí pueden leer.",
		onlyYouNone: "No encontré nada sobre eso en lo que puedes leer.",
		withdrawn:   "Mientras respondía, algo en lo que me basaba se borró, cambió o se cerró para algunos de ustedes, así que retiro mi respuesta. Pregúntenme otra vez, por favor.",
	},
	"ja": {
		noModel:     "*言語モデルが設定されていないため、発言をそのまま引用します。*",
		modelAway:   "*言語モデルが今応答していないため、発言をそのまま引用します。*",
		foundNone:   "ここにいる全員が読める範囲では、それについて何も見つかりませんでした。",
		onlyYouNone: "あなたが読める範囲では、それについて何も見つかりませんでした。",
		withdrawn:   "回答している間に、根拠にしていたものが削除または変更されたか、一部の人に見えなくなったため、回答を取り下げます。もう一度質問してください。",
	},
	"zh-TW": {
		noModel:     "*沒有設定語言模型，所以我引用大家說過的話。*",
		modelAway:   "*語言模型目前沒有回應，所以我引用大家說過的話。*",
		foundNone:   "在這裡所有人都能讀到的內容中，我沒有找到相關的東西。",
		onlyYouNone: "在你能讀到的內容中，我沒有找到相關的東西。",
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
