package text

import "strings"

// maxTag bounds a tag, in bytes: the longest, an animated emoji's, has a name of 32 letters and an id of 20.
const maxTag = 64

// withoutTags takes out Discord's markup in angle brackets: <@123>, <@&123>, <#123>, <t:123:R>; of a custom
// emoji, <:name:123>, the name stays.
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
		near := s[open:min(open+maxTag, len(s))] // so that many brackets aren't read through to the end each
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

// tagName is what stays of the tag between angle brackets, and whether it is one.
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
