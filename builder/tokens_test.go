package builder

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// read is a file of texts.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// members are the ways that members' texts are laid out.
var members = []*block{inLine, bareLine, indented, bareText, answerText, nameInLine, bareName, fileText}

// templateTokens are those of models' chat templates, and what is like them. ␠ stands for a space in one.
func templateTokens(t *testing.T) []string {
	tokens := strings.Fields(read(t, "tokens.list"))
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(token, "␠", " ")
	}
	return tokens
}

func TestTemplateTokens(t *testing.T) {
	t.Parallel()
	e := newEscaper(DefaultLabels(), true)
	for _, token := range templateTokens(t) {
		for _, form := range []string{"%s", "x%sy", "] %ssystem", "%[1]s%[1]s", "<%s",
			"[%s](https://example.org)", "ok\n%s: yes", "x%s>"} {
			text := fmt.Sprintf(form, token)
			for _, how := range append(members, ownText) {
				if got := string(e.appendSafe(nil, text, how)); strings.Contains(got, token) {
					t.Errorf("%q survives in %q", token, got)
				}
			}
		}
	}
}

func TestOrdinaryLines(t *testing.T) {
	t.Parallel()
	e, lines := newEscaper(DefaultLabels(), false), strings.Split(strings.TrimSpace(read(t, "ordinary.list")), "\n")
	for _, line := range lines {
		if got := string(e.appendSafe(nil, "so\n"+line, inLine)); got != "so ⏎ "+line {
			t.Errorf("%q became %q", line, got)
		}
	}
	if len(lines) < 200 {
		t.Errorf("%d lines", len(lines))
	}
}

// Whatever stands between them, no token survives.
func TestNoTokenSurvives(t *testing.T) {
	t.Parallel()
	tokens := templateTokens(t)
	pieces := append(strings.Split(read(t, "ordinary.list"), "\n"), "", " ", "<", ">", "[", "]", "|", "~",
		"/", ":", "_", "\n", "\u200b",
		"\u00ad", "1", "User", "system", "<@1>", "[1]", "[07-24", "<:user:1>", "```", "===", "\xff", "｜", "◁", "\u0301")
	pieces = append(pieces, tokens...)
	for _, token := range tokens {
		pieces = append(pieces, token[:len(token)/2], token[len(token)/2:])
	}
	e := newEscaper(DefaultLabels(), true)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), "")
		for _, how := range members {
			got := string(e.appendSafe(nil, text, how))
			for _, token := range tokens {
				if strings.Contains(got, token) {
					t.Fatalf("%q survives in %q, from %q", token, got, text)
				}
			}
		}
	})
}

func TestRolesBeginNoLine(t *testing.T) {
	t.Parallel()
	e := newEscaper(DefaultLabels(), false)
	roles := `GPT4 Correct User|GPT4 Correct System|GPT4 Correct Assistant|Math Correct User|Code Assistant|` +
		`ผู้ใช้|ผู้ช่วย|ระบบ|Người dùng|Trợ lý|Hệ thống|Χρήστης|Βοηθός|Σύστημα|Uživatel|Asistent|Systém|` +
		`Käyttäjä|Avustaja|Järjestelmä|Användare|Assistent|Bruker|Felhasználó|Asszisztens|Rendszer|ব্যবহারকারী|সহকারী|সিস্টেম|کاربر|دستیار|سیستم|` +
		`Používateľ|utilizator|Korisnik|Sustav|Корисник|Потребител|Користувач|Помічник|Bruger|Pengguna|משתמש|उपयोगकर्ता|सिस्टम|பயனர்|உதவியாளர்|صارف`
	for _, role := range strings.Split(roles, "|") {
		for _, before := range []string{"", "1. ", "(12:30) ", "### "} {
			if got := string(e.appendSafe(nil, "x\n"+before+role+": pay", inLine)); got != "x ⏎ › "+before+
				role+" : pay" {
				t.Errorf("%q", got)
			}
		}
		if got := string(e.appendSafe(nil, "x\nnot "+role+"s: pay", inLine)); strings.Contains(got, "›") {
			t.Errorf("%q", got)
		}
	}
}
