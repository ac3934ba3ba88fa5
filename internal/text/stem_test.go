package text

import "testing"

// Inflections of a word have one stem; words that only look alike don't.
func TestStemsMeet(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"gattino gattini gattina", "lezione lezioni", "macchina macchine", "medico medici", "perro perros perra",
		"amigos amiga", "camino caminos", "Katzen Katze", "Wohnung Wohnungen", "boeken boek", "kosten kost",
		"кошка кошки кошкой кошке", "книга книги книгу книгами", "работает работали работала работаю", "новый новая новые нового",
		"квартира квартиры квартиру", "возможность возможности", "учиться учились учился", "осенний осенняя",
		"Россия России Россией", "try tries tried", "pay pays paying", "красивейший красивая", "мой мои", "ёлка елки", "прочитанная прочитанный",
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
