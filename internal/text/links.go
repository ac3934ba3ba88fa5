package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// withoutLinks replaces web links in s by the words that name their target:
// "https://www.example.com/a%20b?utm_source=x" becomes "examplecom example a b".
func withoutLinks(s string) string {
	at := strings.Index(s, "://")
	if at < 0 {
		return s
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(s, "://") {
		scheme := schemeBefore(s[:at])
		b.WriteString(s[:at-len(scheme)])
		s = s[at+len("://"):]
		b.WriteByte(' ')
		if scheme == "" {
			continue
		}
		end := strings.IndexFunc(s, endsLink)
		if end < 0 {
			end = len(s)
		}
		writeLink(&b, s[:end])
		b.WriteByte(' ')
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}

// schemeBefore returns the "http" or "https" that s ends with.
func schemeBefore(s string) string {
	for _, scheme := range []string{"https", "http"} {
		if at := len(s) - len(scheme); at >= 0 && strings.EqualFold(s[at:], scheme) &&
			(at == 0 || classes[s[at-1]] == other || classes[s[at-1]] == wide) {
			return s[at:]
		}
	}
	return ""
}

func endsLink(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>\"`|", r)
}

// writeLink writes a link's part after "https://".
func writeLink(b *strings.Builder, link string) {
	link, fragment, _ := strings.Cut(link, "#")
	link, query, _ := strings.Cut(link, "?")
	host, path, _ := strings.Cut(link, "/")
	host = host[strings.LastIndexByte(host, '@')+1:] // without a user's name and password
	writeHost(b, host)
	b.WriteByte(' ')
	b.WriteString(unescaped(path))
	for field := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(field, "=")
		key = strings.ToLower(key)
		if tracks(key) || isRandom(value) {
			continue
		}
		b.WriteByte(' ')
		b.WriteString(unescaped(key))
		b.WriteByte(' ')
		b.WriteString(unescaped(value))
	}
	b.WriteByte(' ')
	b.WriteString(unescaped(fragment))
}

// writeHost writes a host's registered name as one word, as "example.com" has without a scheme, then its labels
// up to that name.
func writeHost(b *strings.Builder, host string) {
	host, port, _ := strings.Cut(host, ":")
	host = strings.TrimRight(host, ".,;!)'")
	labels := strings.Split(host, ".")
	n := len(labels) - 1
	if n == 0 || isNumber(labels[n]) { // a machine's own name or address
		b.WriteString(host)
		b.WriteByte(' ')
		b.WriteString(port)
		return
	}
	if n > 1 && secondLevel[labels[n-1]] {
		n--
	}
	b.WriteString(strings.Join(labels[n-1:], ""))
	for _, label := range labels[:n] {
		b.WriteByte(' ')
		b.WriteString(label)
	}
}

// secondLevel are labels between a name and some countries' domains.
var secondLevel = SetOf("ac co com edu gov net org")

// tracks reports whether a query field tracks visitors.
func tracks(key string) bool {
	return strings.HasPrefix(key, "utm_") || strings.HasPrefix(key, "_hs") || tracking[key]
}

var tracking = SetOf(`fbclid gclid dclid gbraid wbraid msclkid yclid twclid ttclid igsh igshid mc_cid mc_eid mkt_tok
	ref_src ref_url si spm vero_id _ga _gl`)

// isRandom reports whether a field's value is a long run of letters and digits, such as a signature.
func isRandom(value string) bool {
	return len(value) >= 32 && !strings.ContainsAny(value, "+%./-_,:;") && strings.ContainsAny(value, digits)
}

// unescaped decodes percent escapes; invalid UTF-8 becomes a space.
func unescaped(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			b = append(b, fromHex(s[i+1])<<4|fromHex(s[i+2]))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	if !utf8.Valid(b) {
		return strings.ToValidUTF8(string(b), " ")
	}
	return string(b)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func fromHex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// maxTag bounds a tag, in bytes. The longest, an animated emoji's, has a name of 32 letters and an id of 20.
const maxTag = 64

// withoutTags removes Discord's markup in angle brackets: <@123>, <@&123>, <#123>, <t:123:R>. The name of a custom
// emoji, <:name:123>, stays.
func withoutTags(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			break
		}
		near := s[open:min(open+maxTag, len(s))] // bounds the time of many brackets
		end := strings.IndexByte(near, '>')
		if end < 0 {
			b.WriteString(s[:open+1])
			s = s[open+1:]
			continue
		}
		if name, ok := tagName(s[open+1 : open+end]); ok {
			b.WriteString(s[:open])
			b.WriteString(" " + name + " ")
			s = s[open+end+1:]
			continue
		}
		b.WriteString(s[:open+1])
		s = s[open+1:]
	}
	b.WriteString(s)
	return b.String()
}

// tagName returns what remains of a tag's content, and whether it is a tag.
func tagName(tag string) (string, bool) {
	kind := strings.TrimRight(strings.TrimLeft(tag, "@!&#"), "0123456789")
	if kind == "" && strings.ContainsAny(tag, "@#") {
		return "", true
	}
	if strings.HasPrefix(tag, "t:") && len(tag) > 2 && strings.Trim(tag[2:], "-0123456789:tTdDfFR") == "" {
		return "", true
	}
	if parts := strings.Split(tag, ":"); len(parts) == 3 && (parts[0] == "" || parts[0] == "a") &&
		parts[1] != "" && strings.Trim(parts[2], "0123456789") == "" {
		return parts[1], true
	}
	return "", false
}
