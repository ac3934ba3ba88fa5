package endpoint

import (
	"net/http"
	"strings"
	"unicode"

	"hark/internal/llm/failure"
	"hark/internal/text"
)

// longestSaid bounds the words of a server that are quoted, in bytes.
const longestSaid = 200

// quotable returns the words in a refusal: its message, or all of it if that is no JSON and no page.
func quotable(body []byte, secrets []string) string {
	body = body[:min(len(body), maxQuoted)]
	f, is := failure.Read(body)
	words := f.Message
	start := strings.TrimSpace(string(body))
	if !is && start != "" && !strings.ContainsAny(start[:1], "<{[") {
		words = start
	}
	for _, secret := range secrets {
		words = strings.ReplaceAll(words, secret, "…")
	}
	words = strings.Map(printable, strings.ToValidUTF8(words, ""))
	words = strings.Join(strings.Fields(words), " ")
	cut := text.Cut(words, longestSaid)
	if cut != words {
		cut += "…"
	}
	return cut
}

// printable replaces what can't be seen, or would act on a terminal, by a space.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// secrets returns what a server was sent that may be secret, and might be quoted by it.
func (s *Server) secrets(request *http.Request) (all []string) {
	_, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	all = append(all, s.Key, token)
	user := request.URL.User
	if user != nil {
		password, _ := user.Password()
		all = append(all, password, user.Username())
	}
	for _, values := range request.URL.Query() {
		all = append(all, values...)
	}
	const shortest = 4 // bytes: shorter ones are no secrets, and parts of words
	long := all[:0]
	for _, secret := range all {
		if len(secret) >= shortest {
			long = append(long, secret)
		}
	}
	return long
}
