package builder

import "strings"

// Languages returns the codes of the languages that LabelsIn knows.
func Languages() []string {
	list := make([]string, len(languages))
	for i, l := range languages {
		list[i] = l.code
	}
	return list
}

// DefaultLabels returns English labels with emoji.
func DefaultLabels() Labels { return withEmoji(english) }

// LabelsIn returns the labels of a language by its code, if it is known. Case, and _ for -, don't matter;
// zh-Hant is zh-TW. With emoji the marks are signs, the same in each language; without, they are words in
// parentheses, and all signs are ASCII.
func LabelsIn(language string, emoji bool) (Labels, bool) {
	code := strings.ReplaceAll(language, "_", "-")
	if strings.EqualFold(code, "zh-Hant") {
		code = "zh-TW"
	}
	for _, l := range languages {
		if !strings.EqualFold(l.code, code) {
			continue
		}
		if emoji {
			return withEmoji(l.labels), true
		}
		return withASCII(l.labels), true
	}
	return Labels{}, false
}

// earlierMark is a tag, the same in each language.
const earlierMark = "[previous_context] "

func withASCII(l Labels) Labels {
	l.Person = "- "
	l.DataMark = "  - "
	l.Neighbour = "  | "
	l.EarlierMark = earlierMark
	return l
}

func withEmoji(l Labels) Labels {
	l.Participants = "📋 " + l.Participants
	l.Person = "• "
	l.DataMark = "  └─ "
	l.History = "💬 " + l.History
	l.High = "🔥"
	l.Medium = "📝"
	l.Low = "💡"
	l.Involved = "👤"
	l.Recent = "🕐"
	l.Starred = "⭐"
	l.Neighbour = "  ┆ "
	l.Earlier = "📜 " + l.Earlier
	l.EarlierMark = earlierMark
	l.Condensed = "🧵 " + l.Condensed
	l.Lore = "📖 " + l.Lore
	return l
}

// language has a language's words, and marks as words.
type language struct {
	code   string
	labels Labels
}

var languages = []language{
	{"en", english}, {"de", german}, {"fr", french}, {"es", spanish}, {"ja", japanese}, {"zh-TW", traditionalChinese},
}

var english = Labels{
	Participants: "Conversation Participant Information",
	LastActive:   "Last Active: ",
	JustNow:      "just now",
	Minute:       "1 minute ago",
	Minutes:      "%d minutes ago",
	Hour:         "1 hour ago",
	Hours:        "%d hours ago",
	Day:          "1 day ago",
	Days:         "%d days ago",
	Data:         "Data: ",
	History:      "Relevant History",
	High:         "(high)",
	Medium:       "(medium)",
	Low:          "(low)",
	Involved:     "(involved)",
	Recent:       "(recent)",
	Starred:      "(starred)",
	NoText:       "(no text)",
	More:         "… and %d more related messages",
	MoreOne:      "… and 1 more related message",
	Earlier:      "Earlier Sessions",
	Condensed:    "Earlier in This Session",
	Lore:         "Lore",
	Nothing:      "(nothing relevant was found)",
}

var german = Labels{
	Participants: "Informationen zu den Gesprächsbeteiligten",
	LastActive:   "Zuletzt aktiv: ",
	JustNow:      "gerade eben",
	Minute:       "vor 1 Minute",
	Minutes:      "vor %d Minuten",
	Hour:         "vor 1 Stunde",
	Hours:        "vor %d Stunden",
	Day:          "vor 1 Tag",
	Days:         "vor %d Tagen",
	Data:         "Angaben: ",
	History:      "Relevanter Verlauf",
	High:         "(hoch)",
	Medium:       "(mittel)",
	Low:          "(gering)",
	Involved:     "(beteiligt)",
	Recent:       "(kürzlich)",
	Starred:      "(markiert)",
	NoText:       "(kein Text)",
	More:         "… und %d weitere passende Nachrichten",
	MoreOne:      "… und 1 weitere passende Nachricht",
	Earlier:      "Frühere Sitzungen",
	Condensed:    "Früher in dieser Sitzung",
	Lore:         "Gemerktes Wissen",
	Nothing:      "(nichts Passendes gefunden)",
}

var french = Labels{
	Participants: "Informations sur les participants à la conversation",
	LastActive:   "Dernière activité : ",
	JustNow:      "à l'instant",
	Minute:       "il y a 1 minute",
	Minutes:      "il y a %d minutes",
	Hour:         "il y a 1 heure",
	Hours:        "il y a %d heures",
	Day:          "il y a 1 jour",
	Days:         "il y a %d jours",
	Data:         "Données : ",
	History:      "Historique pertinent",
	High:         "(élevé)",
	Medium:       "(moyen)",
	Low:          "(faible)",
	Involved:     "(impliqué)",
	Recent:       "(récent)",
	Starred:      "(marqué)",
	NoText:       "(aucun texte)",
	More:         "… et %d autres messages pertinents",
	MoreOne:      "… et 1 autre message pertinent",
	Earlier:      "Sessions précédentes",
	Condensed:    "Plus tôt dans cette session",
	Lore:         "Connaissances retenues",
	Nothing:      "(rien de pertinent trouvé)",
}

var spanish = Labels{
	Participants: "Información de los participantes en la conversación",
	LastActive:   "Última actividad: ",
	JustNow:      "ahora mismo",
	Minute:       "hace 1 minuto",
	Minutes:      "hace %d minutos",
	Hour:         "hace 1 hora",
	Hours:        "hace %d horas",
	Day:          "hace 1 día",
	Days:         "hace %d días",
	Data:         "Datos: ",
	History:      "Historial relevante",
	High:         "(alto)",
	Medium:       "(medio)",
	Low:          "(bajo)",
	Involved:     "(implicado)",
	Recent:       "(reciente)",
	Starred:      "(destacado)",
	NoText:       "(sin texto)",
	More:         "… y %d mensajes relacionados más",
	MoreOne:      "… y 1 mensaje relacionado más",
	Earlier:      "Sesiones anteriores",
	Condensed:    "Antes en esta sesión",
	Lore:         "Conocimientos guardados",
	Nothing:      "(no se encontró nada relevante)",
}

var japanese = Labels{
	Participants: "会話の参加者情報",
	LastActive:   "最終アクティブ: ",
	JustNow:      "たった今",
	Minute:       "1 分前",
	Minutes:      "%d 分前",
	Hour:         "1 時間前",
	Hours:        "%d 時間前",
	Day:          "1 日前",
	Days:         "%d 日前",
	Data:         "データ: ",
	History:      "関連する履歴",
	High:         "(高)",
	Medium:       "(中)",
	Low:          "(低)",
	Involved:     "(当事者)",
	Recent:       "(最近)",
	Starred:      "(スター付き)",
	NoText:       "(テキストなし)",
	More:         "… 他に関連メッセージ %d 件",
	MoreOne:      "… 他に関連メッセージ 1 件",
	Earlier:      "過去のセッション",
	Condensed:    "このセッションのここまで",
	Lore:         "記憶した知識",
	Nothing:      "(関連する情報は見つかりませんでした)",
}

var traditionalChinese = Labels{
	Participants: "對話參與者資訊",
	LastActive:   "上次活動: ",
	JustNow:      "剛剛",
	Minute:       "1 分鐘前",
	Minutes:      "%d 分鐘前",
	Hour:         "1 小時前",
	Hours:        "%d 小時前",
	Day:          "1 天前",
	Days:         "%d 天前",
	Data:         "資料: ",
	History:      "相關歷史紀錄",
	High:         "(高)",
	Medium:       "(中)",
	Low:          "(低)",
	Involved:     "(當事人)",
	Recent:       "(最近)",
	Starred:      "(已加星號)",
	NoText:       "(沒有文字)",
	More:         "… 還有 %d 則相關訊息",
	MoreOne:      "… 還有 1 則相關訊息",
	Earlier:      "先前的對話",
	Condensed:    "這次對話的前文",
	Lore:         "已記住的知識",
	Nothing:      "(找不到相關內容)",
}
