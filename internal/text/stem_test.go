package text

import (
	"strings"
	"testing"
)

// Inflections of a word have one stem; words that only look alike don't.
func TestStemsMeet(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"gattino gattini gattina", "lezione lezioni", "macchina macchine", "medico medici", "perro perros perra",
		"amigos amiga", "camino caminos", "Katzen Katze", "Wohnung Wohnungen", "boeken boek", "kosten kost",
		"кошка кошки кошкой кошке", "книга книги книгу книгами", "работает работали работала работаю", "новый новая новые нового",
		"квартира квартиры квартиру", "возможность возможности", "учиться учились учился", "осенний осенняя",
		"Россия России Россией", "красивейший красивая", "мой мои", "ёлка елки", "прочитанная прочитанный",
	} {
		words := Words(forms)
		for _, w := range words[1:] {
			if stem(w) != stem(words[0]) {
				t.Errorf("%q is %q, and %q is %q", words[0], stem(words[0]), w, stem(w))
			}
		}
	}
	for _, pair := range []string{
		"party part", "hello hell", "listen list", "pasta past", "china chin", "data dat", "logo log", "beta bet", "screen scree",
		"idea ide", "Maria Mary", "стол стул", "мама мамонт",
	} {
		if w := Words(pair); stem(w[0]) == stem(w[1]) {
			t.Errorf("%q and %q are both %q", w[0], w[1], stem(w[0]))
		}
	}
}

// As Snowball's Russian stemmer has it, but for "й" and "ё".
func TestRussian(t *testing.T) {
	t.Parallel()
	for _, pair := range strings.Fields(`
		государственности:государствен красивеишии:красив красивеишая:красив читающии:чита прочитанная:прочита
		делавшие:дела возможность:возможн молодость:молод новости:новост областнои:областн осеннии:осен деревянная:деревя
		каменные:камен учиться:уч учатся:учат написавши:написа переписываются:переписыва домов:дом столами:стол
		друзьями:друз матерью:матер любовью:любов москве:москв лекциями:лекц зданиях:здан лучшие:лучш хорошего:хорош
		говорите:говор говоришь:говор работал:работа прыгнув:прыгнув увидев:увид встретились:встрет стеклянныи:стекля
		дня:дня встрч:встрч україна:україна новина:новин`) {
		word, want, _ := strings.Cut(pair, ":")
		if got := russian(word); got != want {
			t.Errorf("russian(%q) = %q, want %q", word, got, want)
		}
	}
}

func BenchmarkRussian(b *testing.B) {
	words := strings.Fields("переписываются возможность лекциями работали кошка книги стеклянныи прочитанная")
	for i := 0; b.Loop(); i++ {
		russian(words[i%len(words)])
	}
}
