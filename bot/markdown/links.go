package markdown

import (
	"net/url"
	"strings"
	"unicode"

	"hark/internal/pattern"
)

// inviteHosts matches addresses that Discord shows as an invitation or a gift.
const inviteHosts = `\b(?:discord\.(?:gg|gift|new)|discord(?:app)?\.com/(?:invite|gifts|template))/`

var invite = pattern.Of(`^(?i:https?://)?(?i:(?:[a-z0-9-]+\.)*` + strings.TrimPrefix(inviteHosts,
	`\b`) + `)[A-Za-z0-9/_-]+`)

// defang returns what is shown for a token: an invitation without its card, a link with its real target.
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

// unmasked shows a masked link's host beside it. If the text looks like another address or a citation, it shows text
// and address separately: somebody may have tricked the model.
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

// looksLikeNumber reports whether text looks like a citation: a number without letters.
func looksLikeNumber(text string) bool {
	return strings.ContainsFunc(text, unicode.IsNumber) && !strings.ContainsFunc(text, unicode.IsLetter)
}

// address matches what people read as an address.
var address = pattern.Of(`[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}`)

// misleads reports whether text looks like an address other than the link's.
func misleads(text, link string) bool {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r) || strings.ContainsRune(`\*_~|`, r):
			return -1 // invisible
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
		said = normalizeURL(said)
		if host != said && !strings.HasSuffix(host, "."+said) {
			return true
		}
	}
	return strings.Contains(plain, "://") && !address().MatchString(plain)
}

// normalizeURL removes the scheme, "www.", a trailing slash and upper case.
func normalizeURL(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	if _, rest, found := strings.Cut(address, "://"); found {
		address = rest
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "www."), "/")
}
