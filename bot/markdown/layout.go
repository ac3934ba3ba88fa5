package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"hark/bot/locale"
	"hark/internal/answer"
	"hark/internal/crash"
	"hark/memory"
)

// maxMessages bounds an answer's messages, so that a model that doesn't stop can't fill a channel.
const maxMessages = 5

// smallPrint is at the start of a line, of a quotation or of an item of a list.
var smallPrint = regexp.MustCompile(`(?m)^((?:[ \t>]|[-*+][ \t]+|\d+[.)][ \t]+)*)-#`)

// EscapeSmallPrint escapes small print in a model's text: the lines below an answer are Hark's own.
func EscapeSmallPrint(text string) string { return smallPrint.ReplaceAllString(text, `$1\-#`) }

// Tamed returns a text as it is shown in a message, without small print, invitations or misleading links.
func Tamed(text string) string {
	f := format(EscapeSmallPrint(memory.Clean(text)), nil)
	return f.shown(0, len(f.text))
}

// Answer lays out an answer as messages that end with tail. asFiles makes files of long code and of an answer with too
// many messages. It never panics.
func Answer(l locale.Locale, text, tail string, sources []answer.Source, asFiles bool) (contents []string,
	files []File, err error) {
	defer crash.Recover("lay out an answer", &err)
	text = discordBlocks(text)
	link := LinksTo(sources)
	begun := head(text)
	if asFiles && begun == text {
		text, files = extractCode(l, text, MaxFileBytes)
		begun = text
	}
	text = shownFences(text)
	begun = shownFences(begun)
	contents = Messages(begun, tail, link)
	if len(contents) <= maxMessages && begun == text {
		return contents, files, nil
	}
	var begin strings.Builder
	for i, p := range split(memory.Clean(begun), MessageLimit, link) {
		if i == maxMessages-1 {
			break
		}
		begin.WriteString(p.body)
	}
	rest := "…"
	if asFiles && len(files) < maxFiles {
		f := File{Name: "answer.md", Data: []byte(text)}
		files = append(files, f)
		rest = fmt.Sprintf("…\n📎 `%s` (%s)", f.Name, countedLines(l, 1+strings.Count(text, "\n")))
	}
	return Messages(strings.TrimRight(begin.String(), " \n")+rest, tail, link), files, nil
}

// Draft returns the messages that show an answer being written.
func Draft(text string) []string {
	contents := Messages(shownFences(preview(discordBlocks(EscapeSmallPrint(head(text))))), "", nil)
	return contents[:min(len(contents), maxMessages)]
}

// head returns as much of text as maxMessages can show, so that an endless text isn't laid out in full repeatedly.
func head(text string) string {
	const most = 4 * maxMessages * MessageLimit // bytes: a unit takes at most three, and white space may be dropped
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Messages returns text as messages, with tail as the last line. It leaves out blank messages, which Discord refuses.
func Messages(text, tail string, link linker) []string {
	var contents []string
	for _, p := range split(memory.Clean(text), MessageLimit, link) {
		if strings.TrimSpace(p.body) != "" {
			contents = append(contents, p.String())
		}
	}
	if tail == "" {
		return contents
	}
	last := len(contents) - 1
	if last >= 0 && Units(contents[last])+Units("\n"+tail) <= MessageLimit {
		contents[last] += "\n" + tail
		return contents
	}
	return append(contents, tail)
}

// Lines joins the texts that aren't empty, one a line.
func Lines(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n")
}
