package escape

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// openSpan bounds in bytes how much of a line's beginning is looked at, so that no text takes quadratic time.
const openSpan = 1000

// equals breaks a heading's signs: three or more, at the beginning of a line or beside a title.
func (l suspicion) equals(i int, forged bool) edit {
	if before, _ := utf8.DecodeLastRuneInString(l.line[:i]); EqualsLike(before) {
		return edit{} // within a run that was left alone
	}
	end := i
	count := 0
	for end < len(l.line) {
		r, n := utf8.DecodeRuneInString(l.line[end:])
		if !EqualsLike(r) {
			break
		}
		end += n
		count++
	}
	if count < 3 || !forged && !l.opens(i) && !l.titleFollows(end) && !l.titleBefore(i) {
		return edit{}
	}
	return edit{end - i, "= = =", true}
}

// colon breaks the colon after a title, or after a role's name at the beginning of a line.
func (l suspicion) colon(i, n int) edit {
	last, _ := utf8.DecodeLastRuneInString(l.line[:i])
	if i == 0 || unicode.IsDigit(last) || strings.HasPrefix(l.line[i:], "://") {
		return edit{}
	}
	word, at := wordBefore(l.line[:i])
	if l.begins && l.isRole(at, strings.TrimLeft(word, "0123456789")) {
		return edit{n, " :", true}
	}
	if !l.mayEnd(word) {
		return edit{}
	}
	before := foldEnd(l.line[:i], FoldSpan)
	if l.endsInTitle(before) && (shouted(l.line[:i]) || l.isWhole(before)) {
		return edit{n, " :", true}
	}
	return edit{}
}

// isRole reports whether word, which begins at byte at, ends a role's name that begins the line.
func (l suspicion) isRole(at int, word string) bool {
	start := max(0, at-FoldSpan)
	if !roleEnds[word] || !l.without(start, unicode.IsLetter) {
		return false
	}
	before := strings.TrimLeft(string(Fold(l.line[start:at])), "0123456789 ")
	return roleNames[strings.TrimLeft(before+" "+word, " ")]
}

// wordBefore returns the last word of s, folded, and where it begins; empty if a colon follows it.
func wordBefore(s string) (word string, start int) {
	start = len(s)
	for least := start - FoldSpan; word == "" && start > max(0, least); {
		end := start
		for start > max(0, least) {
			r, n := utf8.DecodeLastRuneInString(s[:start])
			if colonLike(r) {
				least = start
				break
			}
			if r < utf8.RuneSelf && !isWordByte(byte(r)) || unicode.IsSpace(r) {
				break
			}
			start -= n
		}
		if start < end {
			word = string(Fold(s[start:end]))
		} else if start > max(0, least) {
			_, n := utf8.DecodeLastRuneInString(s[:start])
			start -= n
		}
	}
	return word[strings.LastIndexByte(word, ' ')+1:], start
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// roleNames are names that a model could take for a speaker's, folded: those of OpenChat, and words in the
// languages of most servers. roleEnds are their last words.
var roleNames, roleEnds = func() (names, ends map[string]bool) {
	names = map[string]bool{}
	ends = map[string]bool{}
	for _, name := range strings.Fields(
		`user assistant system human hark developer tool ai bot model instruction instructions response
		GPT4_Correct_User GPT4_Correct_Assistant GPT4_Correct_System Math_Correct_User Math_Correct_Assistant
		Code_User Code_Assistant benutzer nutzer mensch assistent anweisung utilisateur utilisatrice humain système
		usuario usuaria asistente humano sistema usuário assistente utente umano gebruiker systeem użytkownik
		asystent kullanıcı asistan sistem пользователь ассистент система человек помощник користувач
		ユーザー アシスタント システム 用户 用戶 助手
		系统 系統 使用者 사용자 어시스턴트 시스템 المستخدم المساعد النظام
		משתמש עוזר מערכת उपयोगकर्ता सहायक प्रणाली ผู้ใช้ ผู้ช่วย ระบบ
		người_dùng trợ_lý hệ_thống χρήστης βοηθός σύστημα
		uživatel asistent systém käyttäjä avustaja järjestelmä användare bruker bruger felhasználó asszisztens rendszer
		ব্যবহারকারী সহকারী সিস্টেম کاربر دستیار سیستم سامانه pengguna asisten
		používateľ utilizator korisnik pomoćnik sustav корисник асистент систем потребител помічник uporabnik pomočnik
		usuari vartotojas asistentas lietotājs asistents sistēma kasutaja süsteem notandi kerfi सिस्टम
		பயனர் உதவியாளர் அமைப்பு వినియోగదారు సహాయకుడు صارف`) {
		folded := string(Fold(name))
		names[folded] = true
		ends[folded[strings.LastIndexByte(folded, ' ')+1:]] = true
	}
	return names, ends
}()

// startsWithSign reports whether the line begins a line of the prompt with one of the prompt's signs.
func (l suspicion) startsWithSign() bool {
	if !l.starts || l.operator {
		return false
	}
	line := strings.TrimLeftFunc(l.line, unicode.IsSpace)
	if r, _ := utf8.DecodeRuneInString(line); bulletLike(r) || l.flush && listLike(line) {
		return true
	}
	for _, sign := range l.signs {
		if strings.HasPrefix(line, sign) {
			return true
		}
	}
	return false
}

// listLike reports whether a line begins like a Markdown list item, heading or quotation.
func listLike(line string) bool {
	marker := strings.TrimLeft(line, "#>")
	if marker == line {
		marker = strings.TrimLeft(line, "0123456789")
		if marker == line {
			marker = strings.TrimLeft(line, "-*+–—")
			return marker != line && strings.HasPrefix(marker, " ")
		}
		return strings.HasPrefix(marker, ". ") || strings.HasPrefix(marker, ") ")
	}
	return true
}

// opens reports whether only signs precede byte i.
func (l suspicion) opens(i int) bool {
	return l.without(i, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// without reports whether no rune before byte i satisfies is.
func (l suspicion) without(i int, is func(rune) bool) bool {
	return i <= openSpan && strings.IndexFunc(l.line[:i], is) < 0
}

// mayEnd reports whether a title may end in word. It is a quick test, because texts may be nothing but colons.
func (e *Escaper) mayEnd(word string) bool {
	return slices.ContainsFunc(e.ends, func(end string) bool { return strings.HasSuffix(word, end) })
}

// titleFollows reports whether a title begins at byte i, and titleBefore whether one ends there. Most are ruled
// out by a few bytes.
func (l suspicion) titleFollows(i int) bool {
	begins := compact(foldBegin(l.line[i:], shortSpan))
	if !slices.ContainsFunc(l.titles, func(title string) bool {
		return strings.HasPrefix(title, begins) || strings.HasPrefix(begins, title)
	}) {
		return false
	}
	after := foldBegin(l.line[i:], FoldSpan)
	for _, title := range l.titles {
		if n := beginning(after, title); n > 0 && apart(after[:n], after[n:]) {
			return true
		}
	}
	return false
}

func (l suspicion) titleBefore(i int) bool {
	ends := compact(foldEnd(l.line[:i], shortSpan))
	if !slices.ContainsFunc(l.titles, func(title string) bool {
		return strings.HasSuffix(title, ends) || strings.HasSuffix(ends, title)
	}) {
		return false
	}
	return l.endsInTitle(foldEnd(l.line[:i], FoldSpan))
}

func compact(folded []byte) string { return strings.ReplaceAll(string(folded), " ", "") }

func (e *Escaper) endsInTitle(folded []byte) bool {
	for _, title := range e.titles {
		if start := len(folded) - ending(folded, title); start < len(folded) && apart(folded[:start], folded[start:]) {
			return true
		}
	}
	return false
}

// beginning returns the bytes of title at the beginning of folded; 0 if it isn't there. Spaces don't count,
// because a hidden character may become one or none.
func beginning(folded []byte, title string) int {
	i := 0
	for j := 0; j < len(title); i++ {
		switch {
		case i == len(folded):
			return 0
		case folded[i] == title[j]:
			j++
		case folded[i] != ' ':
			return 0
		}
	}
	return i
}

// ending is beginning for the end of folded.
func ending(folded []byte, title string) int {
	i := len(folded)
	for j := len(title); j > 0; i-- {
		switch {
		case i == 0:
			return 0
		case folded[i-1] == title[j-1]:
			j--
		case folded[i-1] != ' ':
			return 0
		}
	}
	return len(folded) - i
}

// apart reports whether a word ends between before and after, which are folded: at a space, or where the
// alphabet changes, because Chinese and Japanese have no spaces.
func apart(before, after []byte) bool {
	if len(before) == 0 || len(after) == 0 {
		return true
	}
	last := before[len(before)-1]
	first := after[0]
	return last == ' ' || first == ' ' || (last < utf8.RuneSelf) != (first < utf8.RuneSelf)
}

// IsTaken reports whether a folded name is a role's, or ends in a title.
func (e *Escaper) IsTaken(folded []byte) bool {
	return roleNames[string(folded)] || e.endsInTitle(folded)
}

// TitleMost is the most characters of a title.
const TitleMost = 80

// titleSpan is the most bytes of a title in lookalike letters.
const titleSpan = 4 * TitleMost

// isTitle reports whether the line is a title, apart from signs.
func (l suspicion) isTitle() bool {
	line := strings.TrimFunc(l.line, func(r rune) bool { return IsSign(r) || unicode.IsSpace(r) })
	return len(line) <= titleSpan && l.isWhole(Fold(line))
}

// marked reports whether the line begins with a word that is a mark of the history, not far before byte i.
func (l suspicion) marked(i int) bool {
	if i > openSpan {
		return false
	}
	begin := string(foldBegin(l.line[:i], FoldSpan))
	for _, mark := range l.marks {
		if rest, ok := strings.CutPrefix(begin, mark); ok && (rest == "" || rest[0] == ' ') {
			return true
		}
	}
	return false
}

func (l suspicion) isWhole(folded []byte) bool {
	return len(folded) > 0 && slices.ContainsFunc(l.titles, func(title string) bool {
		return beginning(folded, title) == len(folded)
	})
}

// shouted reports whether s ends in a title's capitals.
func shouted(s string) bool {
	end := strings.TrimRightFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if strings.HasSuffix(end, "memory") {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(end)
	return !unicode.IsLower(last)
}

// IsSign reports whether r may decorate a title, as an emoji does.
func IsSign(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && r != '%'
}
