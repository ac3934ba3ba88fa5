package markdown

import (
	"net/url"
	"strings"
	"unicode"

	"hark/internal/pattern"
)

// inviteHosts are what addresses begin with that Discord shows as an invitation or a gift, with a button.
const inviteHosts = `\b(?:discord\.(?:gg|gift|new)|discord(?:app)?\.com/(?:invite|gifts|template))/`

var invite = pattern.Of(`^(?i:https?://)?(?i:(?:[a-z0-9-]+\.)*` + strings.TrimPrefix(inviteHosts,
	`\b`) + `)[A-Za-z0-9/_-]+`)

// harmless is a token of what a model wrote as it is shown: an invitation is an address like any other, without a card
// and a button, and a link goes where its text says.
func defang(kind token, shown string) string {
	switch kind {
	case tokenAddress, tokenInvite:
		at := invite().FindString(shown)
		if at == "" {
			return shown
		}
		address := at
		if !strings.Contains(address, "://") {
			address = "https://" + address
		}
		return "<" + address + ">" + shown[len(at):]
	case tokenMasked:
		return unmasked(shown)
	case tokenUnsafe:
		return "] " + shown[1:]
	}
	return shown
}

// unmasked is a link with a text, beside which its host is shown. Where the text looks like another address
// than the link's, or like the number of a source, text and address are shown as they are: somebody may have
// talked the model into it.
func unmasked(link string) string {
	text, address, _ := strings.Cut(link[1:len(link)-1], "](")
	address = strings.Trim(address, "<>")
	to, err := url.Parse(address)
	if err != nil || looksLikeNumber(text) || misleads(text, address) {
		return text + " (<" + address + ">)"
	}
	if invite().MatchString(address) {
		link = "[" + text + "](<" + address + ">)"
	}
	if host := normalizeURL(to.Host); !strings.Contains(strings.ToLower(text), host) {
		link += " (" + host + ")"
	}
	return link
}

// numbers reports whether text is a number and nothing that is read, as the link to a source has it.
func looksLikeNumber(text string) bool {
	return strings.ContainsFunc(text, unicode.IsNumber) && !strings.ContainsFunc(text, unicode.IsLetter)
}

// address is what people read as one: a name with a dot in it, whatever letters it is written in.
var address = pattern.Of(`[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}`)

// misleads reports whether text looks like an address that isn't that of the link.
func misleads(text, link string) bool {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r) || strings.ContainsRune(`\*_~|`, r):
			return -1 // isn't seen
		case strings.ContainsRune("．。｡․‧·", r):
			return '.'
		}
		return unicode.ToLower(r)
	}, text)
	to, err := url.Parse(link)
	if err != nil {
		return true
	}
	if normalizeURL(plain) == normalizeURL(link) {
		return false
	}
	host := normalizeURL(to.Host)
	for _, said := range address().FindAllString(plain, -1) {
		if said = normalizeURL(said); host != said && !strings.HasSuffix(host, "."+said) {
			return true
		}
	}
	return strings.Contains(plain, "://") && !address().MatchString(plain)
}

// bare is an address without what makes no difference.
func normalizeURL(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	if _, rest, found := strings.Cut(address, "://"); found {
		address = rest
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "www."), "/")
}
