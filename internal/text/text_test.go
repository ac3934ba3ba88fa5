package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"plain words, stemmed", "Running agencies", "run agenc"},
		{"stop words go", "What did you do with the dog?", "dog"},
		{"irregular forms meet", "she went, they bought; children", "go buy child"},
		{"possessives and negations", "Caroline's dog isn’t y'all's", "carolin dog yall"},
		{"accents", "Café crème in Łódź and São Paulo", "cafe creme łodz sao paul"},
		{"compatibility forms", "ｆｕｌｌ ｗｉｄｔｈ", "full width"},
		{"numbers and units", "a 5K in 25:50", "5k 25 50"},
		{"snake and dotted names", "max_tokens os.Exit", "maxtok max token osexit os exit"},
		{"Chinese by characters and pairs", "今天天气", "今 天 今天 天 天天 气 天气"},
		{"Japanese next to Latin", "Goを書く", "go を 書 を書 く 書く"},
		{"Hangul stays composed", "한국", "한 국 한국"},
		{"Thai marks stay with their letter", "ที่นี่", "ที่ นี่ ที่นี่"},
		{"mentions and time stamps go", "<@123> saw <#45> at <t:1618953630:R> <@&9>", "see"},
		{"a custom emoji's name stays", "<a:party_parrot:123>", "partyparrot parti parrot"},
		{"angle brackets that are no tag", "a < b and c > dog <", "b c dog"},
		{"nothing", "?! … ─ ▓ →", ""},
		{"emoji leave no marks behind", "❤️ 1️⃣ 👍🏽 👨\u200d👩 ok", "❤ heart 1 👍 thumb 👨 man 👩 woman ok"},
		{"dressed-up letters are letters", "𝐇𝐞𝐥𝐥𝐨 ℍello Ⓗello", "hello hello hello"},
		{"soft hyphens", "exam\u00adple", "exampl"},
		{"Greek ends words otherwise", "ΟΔΟΣ οδός", "οδοσ οδοσ"},
		{"Turkish capitals", "İstanbul", "istanbul"},
		{"a URL by its parts", "https://example.com/a-b?id=42#top", "examplecom exampl ab b id 42 top"},
		{"identifiers whole, but for joints", "getUserName HTTP2_PORT err!=nil std::vector",
			"getusernam get user name http2port http2 port err nil stdvector std vector"},
		{"versions, prices and hexadecimals", "v1.2.3 $3.50 0xDEADBEEF ½",
			"v1.2.3 1.2.3 v1 2 3 3.50 3 50 0xdeadbeef 1 2"},
		{"no tag is longer than tags are", "<:" + strings.Repeat("a", 70) + ":123>",
			strings.Repeat("a", maxTerm) + " 123"},
		{"a bracket that never closes", "<@123", "123"},
		{"long in bytes only", strings.Repeat("ж", 30), strings.Repeat("ж", 30)},
		{"negated verbs", "can't won't ain't", "aint"},
		{"a long word is cut between letters", strings.Repeat("é", 60) + " " + strings.Repeat("ж", 60),
			strings.Repeat("e", 40) + " " + strings.Repeat("ж", 40)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(Terms(c.text), " "); got != c.want {
				t.Errorf("Terms(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// saying is a text with the terms that it has.
type saying struct{ text, want string }

func says(t *testing.T, all []saying, terms func(string) []string) {
	t.Helper()
	for _, c := range all {
		if got := strings.Join(terms(c.text), " "); got != c.want {
			t.Errorf("the terms of %q are %q, want %q", c.text, got, c.want)
		}
	}
}

func TestQueryTermsAreOnceAndInPairs(t *testing.T) {
	t.Parallel()
	says(t, []saying{
		{"dogs and a dog", "dog"},
		{"今天", "今天"},
		{"猫", "猫"},
		{"a full-time job by e-mail", "full time job email e mail"},
		{"parseHTTPRequest parse_http", "parsehttprequest pars http request parsehttp"},
		{"v1.2.3", "v1.2.3 1.2.3 v1 2 3"},
		{"the 猫 and 天天天", "猫 天天"},
	}, QueryTerms)
}

func TestWords(t *testing.T) {
	t.Parallel()
	if got := strings.Join(Words("When did Mel's 友達 run?"), " "); got != "when did mel 友達 run" {
		t.Errorf("got %q", got)
	}
	if !IsStopWord("the") || IsStopWord("dog") || Stem("dogs") != "dog" {
		t.Error("stop words or stems are off")
	}
}

// Whatever the text, every query term finds it, and no term is long, empty or torn.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"", "hello", "今天天气 abc'd", "e" + strings.Repeat("\u0301", 1000),
		strings.Repeat("x", 4000), "<:a:1><@!", "ที่\u0e31", "don''t '", "İstanbul ß ﬁ", "\xff\xfe", "’s",
		"v1.2.3-rc1 a::b fooBarBAZ2Qux 0xAB", "https://u@www.a.co.uk/%F0%9F%9A%80?utm_a=b&c=%zz#x",
		"🇩🇪🇩 👩\u200d💻1️⃣", "ДваСлова",
		"xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1.2.3", "eyed the aed"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		terms := Terms(s)
		if len(terms) > 3*len(s)+8 {
			t.Errorf("%d terms of %d bytes", len(terms), len(s))
		}
		if !slices.Equal(terms, Terms(s)) {
			t.Error("the same text gives other terms")
		}
		for _, term := range terms {
			if term == "" || utf8.RuneCountInString(term) > 2*maxTerm || strings.ContainsAny(term, " \"\x00\n") {
				t.Errorf("bad term %q", term)
			}
			if utf8.ValidString(s) && !utf8.ValidString(term) {
				t.Errorf("torn term %q", term)
			}
		}
		for i, term := range NearTo(terms).Terms(s) {
			if term != terms[i] {
				t.Errorf("near to itself, %q is %q", terms[i], term)
			}
		}
		for _, term := range terms[:min(len(terms), 10)] {
			near := NearTo([]string{term}).Terms(s)
			if len(near) != len(terms) || !slices.Contains(near, term) {
				t.Errorf("near to %q the terms are %q", term, near)
			}
		}
		for _, q := range QueryTerms(s) {
			if !slices.Contains(terms, q) {
				t.Errorf("query term %q doesn't find its own text %q", q, s)
			}
		}
	})
}

// Brackets that look like the beginning of a tag each must not each be read through to the end.
func BenchmarkTermsOfBrackets(b *testing.B) {
	s := strings.Repeat("<", 100_000) + ">"
	for b.Loop() {
		Terms(s)
	}
}

func TestBatchStemsAsTheFunctionDoes(t *testing.T) {
	t.Parallel()
	var batch Batch
	for _, s := range []string{"running dogs", "dogs run", "the dogs 今天"} {
		if got, want := batch.Terms(s), Terms(s); !slices.Equal(got, want) {
			t.Errorf("a batch's Terms(%q) = %q, want %q", s, got, want)
		}
	}
	if got := NearTo([]string{"go", "dog"}).Terms("she went running with dogs"); !slices.Equal(got,
		[]string{"go", Unlike, "dog"}) {
		t.Errorf("near to two terms, the terms are %q", got)
	}
}

// A stem begins as its word, as far as a Batch that is near to terms relies on it.
func TestStemsBeginAsTheirWords(t *testing.T) {
	t.Parallel()
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	begin := slices.Clone(letters)
	for _, a := range letters {
		for _, b := range letters {
			begin = append(begin, a+b, a+"y"+b, a+b+"y")
		}
	}
	for _, ending := range strings.Fields("s es ed eds ing ings ies er ers ly eed est ation ness ful able al") {
		for _, b := range begin {
			w := b + ending
			if s := Stem(w); len(w) > 2 && !beginsAnew(w) && !strings.HasPrefix(s, w[:2]) {
				t.Errorf("the stem of %q is %q", w, s)
			}
		}
	}
}

func BenchmarkTerms(b *testing.B) {
	const s = "I went to a support group yesterday and it was so powerful, then Caroline's friends made dinner."
	for b.Loop() {
		Terms(s)
	}
}

// Inflections of a word have one stem; words that only look alike don't.
func TestStemsMeet(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"gattino gattini gattina", "lezione lezioni", "macchina macchine", "medico medici", "perro perros perra",
		"amigos amiga", "camino caminos", "Katzen Katze", "Wohnung Wohnungen", "boeken boek", "kosten kost",
		"кошка кошки кошкой кошке", "книга книги книгу книгами", "работает работали работала работаю",
		"новый новая новые нового",
		"квартира квартиры квартиру", "возможность возможности", "учиться учились учился", "осенний осенняя",
		"Россия России Россией", "try tries tried", "pay pays paying", "красивейший красивая", "мой мои",
		"ёлка елки", "прочитанная прочитанный",
	} {
		words := Words(forms)
		for _, w := range words[1:] {
			if Stem(w) != Stem(words[0]) {
				t.Errorf("%q is %q, and %q is %q", words[0], Stem(words[0]), w, Stem(w))
			}
		}
	}
	for _, pair := range []string{
		"party part", "hello hell", "listen list", "pasta past", "china chin", "data dat", "logo log",
		"beta bet", "screen scree",
		"idea ide", "Maria Mary", "стол стул", "мама мамонт",
	} {
		if w := Words(pair); Stem(w[0]) == Stem(w[1]) {
			t.Errorf("%q and %q are both %q", w[0], w[1], Stem(w[0]))
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧‍👦"
	tests := []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"ab cd", 3, "ab…"},
		{"ééé", 2, "éé…"},
		{family + "abc", 3, family + "ab…"},
		{family + family + family, 2, family + "…"}, // each takes seven of the eight code points
		{"a" + strings.Repeat("\u0301", 100000), 3, "…"},
		{"ab" + strings.Repeat("\u0301", 100000), 3, "a…"},
	}
	for _, tt := range tests {
		if got := Clip(tt.s, tt.n); got != tt.want {
			t.Errorf("Clip(%.20q, %d) = %.40q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestSpeaksOfNow(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"We moved last year.": true, "Dinner is today at 5": true, "back in two weeks": true, "three days ago": true,
		"see you Friday": true, "this coming weekend": true, "Wir ziehen nächste Woche um": true, "demain soir": true,
		"来週の旅行": true, "Likes trains.": false, "Born on 3 May 2001": false, "the last straw": false, "in a band": false,
	} {
		if got := SpeaksOfNow(s); got != want {
			t.Errorf("SpeaksOfNow(%q) = %t", s, got)
		}
	}
}
