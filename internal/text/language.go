package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Language returns the language that s is clearly written in: "en", "de", "fr", "es", "ja" or "zh-TW". It returns "" if
// that isn't clear: s is short, mixes languages, or may be in another one.
func Language(s string) string {
	s = notWritten.ReplaceAllString(s, " ")
	foreign, latin := scripts(s)
	switch {
	case foreign.all() > 0 && latin <= 2*foreign.all(): // an ideograph is worth several letters
		return foreign.language()
	case foreign.all() > 0 || latin == 0:
		return ""
	}
	return latinLanguage(s)
}

// notWritten matches what isn't in the writer's language: code, addresses, Discord's tags, Hark's own name, and what is
// quoted of others.
var notWritten = regexp.MustCompile("(?s)```.*?```|`[^`]*`|(?i)https?://\\S+|<[@#:/a-z][^<>]*>|@hark\\b" +
	`|(?m:^> ?[^\n]*)|"[^"\n]*"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»`)

// foreignLetters counts the letters that aren't Latin, and what tells Japanese from Chinese and the ways of writing
// that.
type foreignLetters struct {
	kana        int
	ideographs  int
	traditional int // ideographs that simplified Chinese writes otherwise
	simplified  int // those that traditional Chinese writes otherwise
	chinese     int // those that Japanese hardly uses
	others      int // letters of other scripts
}

const (
	traditional = "們這說嗎個麼誰時會為來沒對過還後與開關點裡裏國學話問題幾從給讓請應該麗妳喔啦嘛門東車買賣長書電機號員進運動報場邊間體發頭樣無實現經營網頁訊息檔聽見親愛歡樂氣"
	simplified  = "们这说吗个么谁时会为来没对过还后与开关点里国学话问题几从给让请应该丽门东车买卖长书电机号员进运动报场边间体发头样无实现经营网页讯档听见亲爱欢乐气"
	chinese     = "們這說嗎麼沒會來對還裡妳喔啦嘛你您呢吧哪啊哦她它们这说吗么没对还给让讓怎樣"
)

// scripts counts the letters of s.
func scripts(s string) (foreign foreignLetters, latin int) {
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf || unicode.Is(unicode.Latin, r):
			if unicode.IsLetter(r) {
				latin++
			}
		case unicode.In(r, unicode.Hiragana, unicode.Katakana), r == 'ー':
			foreign.kana++
		case unicode.Is(unicode.Han, r):
			foreign.count(r) // among them 々, which repeats one
		case unicode.IsLetter(r):
			foreign.others++
		}
	}
	return foreign, latin
}

func (a *foreignLetters) count(ideograph rune) {
	a.ideographs++
	if strings.ContainsRune(traditional, ideograph) {
		a.traditional++
	}
	if strings.ContainsRune(simplified, ideograph) {
		a.simplified++
	}
	if strings.ContainsRune(chinese, ideograph) {
		a.chinese++
	}
}

func (a foreignLetters) all() int { return a.kana + a.ideographs + a.others }

func (a foreignLetters) language() string {
	switch {
	case a.others > 0:
		return ""
	case a.kana >= 2 && a.chinese == 0:
		return "ja"
	case a.kana == 0 && a.chinese > 0 && a.traditional > 0 && a.simplified == 0:
		return "zh-TW"
	}
	return ""
}

// frequent are words that a language uses all the time, above all in questions. The languages that Hark doesn't speak
// are here so that they aren't taken for one that it does.
var frequent = wordsOf(map[string]string{
	"en": `a about an and any anybody anyone are as at be been but by can could did do does for from get had has
		have he how i if im in is it its just last me my need next no not of on or our say said says she should so
		tell thanks that the their them there these they this those to up was we were what when where which who
		whose why will with would you your`,
	"de": `aber alle als am an auch auf aus bei beim bis bitte da damit dann das dass dem den denn der des dich die
		dir du ein eine einem einen einer es euch für gab gegen gesagt gibt hast hat hatte hier ich ihr im in ist ja
		jetzt kann kannst können macht man mein mich mir mit morgen nach nicht noch nur ob oder schon sein sie sind
		soll über um und uns unser vom von vor wann war waren warum was weiß welche welchem welchen welcher welches
		wenn wer werden wie wieder will wir wird wo wurde zu zum zur`,
	"fr": `a à ai au aux avec avez avons c'est ce ces cette combien comment d'un d'une dans de demain déjà depuis
		des dit du elle elles en encore est est-ce et être eu faire fait faut il ils j'ai je l'on la le les leur lui
		ma mais mes moi mon ne non nos notre nous on ont où par pas peut plus pour pourquoi prochain prochaine
		qu'est-ce qu'il qu'on quand que quel quelle quelles quels qui quoi s'il sa sans se ses son sont sur ta te
		tes toi ton tu un une va vais vos votre vous y était été`,
	"es": `a al algo alguien algún alguna así como cómo con cual cuál cuándo cuando cuanto cuánto cuántos cuesta de
		del desde dice dicen dijeron dijo dónde donde el él ella ellos en era es esa ese eso está están este esta
		esto fue fueron ha hace hay la las le lo los más me mi mis muy nada no nos nosotros nuestro o para pero por
		porque próxima próximo puede pueden puedo que qué quedamos quien quién quiénes se sea ser si sí sobre son su
		sus también te tenemos tiene tienen todo todos tu tú un una unos y ya yo`,

	"nl": `aan al als bij dat de deze die dit door een en er geen haar had heb hebben heeft het hij hoe ik in is jij
		je jullie kan maar me met mijn moet naar niet nog of om ons ook op over te tot uit van voor waar waarom
		wanneer was wat we welke wie wij worden zal ze zijn zou`,
	"it": `abbiamo al alla anche c'è che chi ci come con cosa da dal dei del della delle di dice dove e è era fa gli
		ha hai hanno ho i il in io l'ha la le lo ma mi mio nel nella no noi non o per perché però più qual quale
		quando quanto questa questo si sono su sul ti tra tu un una voi`,
	"pt": `a ao aos as até com como da das de disse do dos e é ela ele em era essa esse esta está eu foi há isso já
		mais mas me meu na nas não no nos nós o onde os ou para pela pelo por porque pra qual quando que quem se sem
		ser seu sobre são também tem temos um uma você vocês`,
	"ca": `a al amb com de del dels el els en és està ha hi i la les no on per perquè però què quan quin quina qui
		s'ha són un una va vam`,
	"nordic": `af att at av da de den det dig din du eg eit ej ein en er ett et för för for fra från han har hos hur
		hva hvad hvem hvilken hvor hvordan hvorfor i ikke inte jag jeg kan kommer man med meg men mig min mit må ni
		noe nogen när når og också också och om oss på sa sagt si sin ska skal som till til um va vad var varför
		vart vem vi vil vilken ved`,
	"pl": `aby ale ani bo być ci co czy dla do gdzie gdy go i ich ile ja jak jaki jakie jest jestem już kiedy kto
		która które który mam ma mi mnie może my na nad nie niej o od on ona po pod przez się są ta tak tam te tego
		ten to tu ty w we więc wie wy z za ze że`,
	"ro": `a ai al am are ce când care cât cu cum de din e este eu fost în la mai nu o pe pentru sau se sunt să și
		un unde`,
	"tr": `ama bir bu çok da daha de değil diye en gibi için ile kadar kim mı mi mu mü ne neden nerede o olarak sen
		ve var ya zaman`,
	"fi": `että ei he hän ja joka jos kanssa kuin kuka kun me mikä milloin minä missä miten mitä mutta ne niin on
		oli ole olen se sen sinä tai te tämä vai`,
	"cs": `a aby ale bude by být co do jak jaké je jeho jsem jsou kde kdo když kdy která které který má mi na ne
		nebo o od po pro proč se si s ta tak to v ve z za že`,
	"hu": `a az be csak de egy el én és ez fel ha hogy hol is itt ki kell kik le már meg mi mikor mit nem van vagy
		volt`,
	"id": `ada adalah akan apa atau bagaimana dari dan dengan di itu ini kapan ke kita mana mengapa saya siapa tidak
		untuk yang`,
	"vi": `ai bao bạn các cho có của được gì hay khi không là mà một này nào như ở thì tôi và về với`,
})

// letters are those beyond a to z of the languages that Hark speaks, of those in frequent.
var letters = map[string]string{
	"en": "éï", "de": "äöüßé", "fr": "àâæçèéêëîïôœùûüÿ", "es": "áéíñóúü",
}

func wordsOf(lists map[string]string) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for language, list := range lists {
		all[language] = map[string]bool{}
		for word := range strings.FieldsSeq(list) {
			all[language][word] = true
		}
	}
	return all
}

const (
	// fewest is how many frequent words make a language clear.
	fewest = 2
	// share is one in how many words must be frequent.
	share = 4
)

// latinLanguage returns the language with the most frequent words, if it has clearly more than each other.
func latinLanguage(s string) string {
	written := latinWord.FindAllString(strings.ReplaceAll(s, "’", "'"), -1)
	words := strings.Fields(strings.ToLower(strings.Join(written, " ")))
	slices.Sort(words)
	words = slices.Compact(words)
	best := ""
	most := 0
	second := 0
	for language, list := range frequent {
		n := countWords(words, list)
		switch {
		case n > most:
			second = most
			most = n
			best = language
		case n > second:
			second = n
		}
	}
	if most < fewest || most*share < len(words) || most == second || !isSpelt(written, best) {
		return ""
	}
	return best
}

func countWords(words []string, list map[string]bool) (n int) {
	for _, word := range words {
		if list[word] {
			n++
		}
	}
	return n
}

var latinWord = regexp.MustCompile(`\p{Latin}+(?:['-]\p{Latin}+)*`)

// isSpelt reports whether Hark speaks a language, and words have only its letters. Capitals may begin names.
func isSpelt(words []string, language string) bool {
	own, speaks := letters[language]
	if !speaks {
		return false
	}
	for _, word := range words {
		for i, r := range word {
			if i == 0 && unicode.IsUpper(r) {
				break
			}
			if r >= utf8.RuneSelf && unicode.IsLetter(r) && !strings.ContainsRune(own, r) {
				return false
			}
		}
	}
	return true
}
