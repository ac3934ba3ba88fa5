package answer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"hark/memory"
)

// channelsIn returns the channels that a text names, as far as all readers see their names. any is set if it has tags
// of channels, of whatever kind, or names one.
func (n names) channelsIn(said string) (named []memory.ChannelID, any bool) {
	replaceTags(said, func(t discordTag) string {
		id := memory.ChannelID(t.id)
		if t.sign != "#" {
			return t.written
		}
		any = true
		if n.visibleName(id) != "" && !slices.Contains(named, id) {
			named = append(named, id)
		}
		return t.written
	})
	for _, w := range n.writtenChannels(said) {
		any = true
		if !slices.Contains(named, w.id) {
			named = append(named, w.id)
		}
	}
	return named, any
}

// withoutChannels returns a text without the names and tags of channels.
func (n names) withoutChannels(said string, channels []memory.ChannelID) string {
	said = shownChannel.ReplaceAllString(said, "$1")
	said = replaceTags(said, func(t discordTag) string {
		if t.sign == "#" && slices.Contains(channels, memory.ChannelID(t.id)) {
			return " "
		}
		return t.written
	})
	for _, w := range slices.Backward(n.writtenChannels(said)) {
		if slices.Contains(channels, w.id) {
			said = said[:w.start] + " " + said[w.end:]
		}
	}
	return strings.Join(strings.Fields(said), " ")
}

// shownChannel matches a channel's tag with its name, as a prompt has it.
var shownChannel = regexp.MustCompile(`(<#\d{1,20}>) \(#[^()\n]{1,100}\)`)

// writtenChannel is a channel's name in a text, such as "#dev".
type writtenChannel struct {
	id         memory.ChannelID
	start, end int
}

// writtenChannels returns the names of channels that a text has after a #, in order, where only one channel that all
// readers see has that name. A channel goes before threads that are called like it.
func (n names) writtenChannels(said string) (found []writtenChannel) {
	folded := foldChannel(said)
	if len(folded) != len(said) { // its places would be others
		return nil
	}
	for at := 0; ; {
		hash := strings.IndexByte(folded[at:], '#')
		if hash < 0 {
			return found
		}
		start := at + hash
		at = start + 1
		before := []rune(folded[max(0, start-4):start])
		if len(before) > 0 && (isNameRune(before[len(before)-1]) || strings.ContainsRune("<&/", before[len(before)-1])) {
			continue
		}
		if id, length := n.longestChannel(folded[at:]); id != 0 {
			found = append(found, writtenChannel{id, start, at + length})
			at += length
		}
	}
}

// longestChannel returns the only channel with the longest name that a folded text begins with; 0 if there is none.
func (n names) longestChannel(folded string) (id memory.ChannelID, length int) {
	several := false
	thread := false
	for candidate := range n.visible {
		c := n.channels[candidate]
		name := foldChannel(strings.TrimLeft(c.Name, "# "))
		if name == "" || len(name) < length || !strings.HasPrefix(folded, name) {
			continue
		}
		rest := []rune(folded[len(name):min(len(folded), len(name)+4)])
		if len(rest) > 0 && isNameRune(rest[0]) {
			continue
		}
		isThread := c.Kind.IsThread()
		switch {
		case len(name) > length, thread && !isThread:
			id = candidate
			length = len(name)
			several = false
			thread = isThread
		case thread == isThread:
			several = true
		}
	}
	if several {
		return 0, 0
	}
	return id, length
}

// isNameRune reports whether a character may belong to a channel's name.
func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// foldChannel returns a channel's name, or a text with one, without differences of case and spaces.
func foldChannel(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }
