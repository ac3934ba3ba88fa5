package text

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	for want, questions := range map[string][]string{
		"en": {"when is the summer party?", "What did we decide about the boathouse?",
			"who has the key of the shed",
			"@hark how was the failing Proxmox backup fixed?", "<@123> what did I say about my runner?",
			"Did anyone write down the NFS share's path?", "what’s the deadline of Project X",
			"is that still true, and who said it?",
			"when is the LAN, and where exactly? `hdparm -S 0`", "what are people reading?",
			"how many members do we have?",
			"What did Jürgen and Zoë say about the trip to Øresund?",
			`what does "Wer hat den Schlüssel zum Schuppen" mean and who said it?`,
			"> Wann ist das Sommerfest und wer kommt?\nwhat did he say about it?"},
		"de": {"Wann ist das Sommerfest?", "Wer hat den Schlüssel zum Schuppen?",
			"was haben wir über das Bootshaus beschlossen?",
			"wie heißt der Server, auf dem das Backup läuft?", "Was hat Anna zum Termin gesagt?",
			"gibt es schon ein Datum für das Treffen",
			"Weiß jemand, wo die Leiter ist?", "In wie vielen Tagen ist die Prüfung?"},
		"fr": {"Quand est la fête de l'été ?", "qui a la clé du hangar",
			"Qu'est-ce qu'on a décidé pour le hangar à bateaux ?",
			"où est-ce qu'on se retrouve demain", "c'est quoi le mot de passe du wifi de la salle ?",
			"combien de personnes viennent à la réunion ?"},
		"es": {"¿Cuándo es la fiesta de verano?", "quién tiene la llave del cobertizo",
			"¿Qué decidimos sobre el embarcadero?",
			"donde quedamos mañana para la cena", "cuanto cuesta el alquiler de la sala",
			"¿alguien sabe a qué hora es la reunión?"},
		"ja":    {"締め切りはいつですか？", "大阪のおすすめの店は？", "サーバーの移行は誰が担当？", "Project Xの期限はいつ？", "もう決まった？"},
		"zh-TW": {"什麼時候截止？", "我們說過要在哪裡見面嗎", "誰有倉庫的鑰匙呢？", "Project X 的截止日期是什麼時候？", "你們決定好了沒有"},
		"": {"", "?", "LAN?", "Bestzeit?", "party", "ok", "Proxmox backup error 0x8007", "wer kommt?", "Tom?",
			"12", "🎉🎉",
			"https://example.org/what-is-the-way", "`what is the way`", "截止日期", "你好", "什么时候截止？", "我们说过要在哪里见面吗",
			"締切日時確認",
			"лето, когда праздник?", "여름 파티는 언제예요?", "متى الحفلة الصيفية؟", "เมื่อไหร่",
			"When ist the Fest der",
			"Wanneer is het zomerfeest en wie heeft de sleutel?", "Quando é a festa de verão da escola?",
			"Quando è la festa d'estate?",
			"När är sommarfesten och vem har nyckeln?", "Hvornår er sommerfesten, og hvem har nøglen?",
			"Kiedy jest letnia impreza i kto ma klucz?",
			"Yaz partisi ne zaman ve kim geliyor?", "Quan és la festa d'estiu i qui té la clau?",
			"Milloin kesäjuhlat ovat ja kenellä on avain?",
			"Când este petrecerea de vară?", "Kdy je letní slavnost a kdo má klíč?", "Mikor van a nyári buli?",
			"Kapan pesta musim panas itu?",
			"Khi nào là bữa tiệc mùa hè?", "wat is de planning", "que es esto para mim e você",
			"the 締め切り is when of the day いつ"},
	} {
		for _, question := range questions {
			if got := Language(question); got != want {
				t.Errorf("%q is taken for %q, want %q", question, got, want)
			}
		}
	}
}

// No ideograph is of two kinds that exclude each other.
func TestIdeographsOfOneKind(t *testing.T) {
	t.Parallel()
	for _, r := range traditional {
		if strings.ContainsRune(simplified, r) {
			t.Errorf("%c is taken for traditional and for simplified", r)
		}
	}
}

// Whatever is written, a language is one that Hark speaks, and doesn't depend on case.
func TestLanguageOfAnything(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"": true, "en": true, "de": true, "fr": true, "es": true, "ja": true, "zh-TW": true}
	words := strings.Fields("when wer quién où the der est ist 締め切り いつ 什麼 们 `code` <@1> https://x.y ü ñ ß @hark 5 … \xff")
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "words"), " ") + rapid.String().Draw(t, "rest")
		if got := Language(s); !known[got] {
			t.Errorf("%q is in %q", s, got)
		}
	})
}

func BenchmarkLanguage(b *testing.B) {
	for b.Loop() {
		Language("What did we decide about the boathouse, and who has the key of the shed?")
	}
}
