package bot

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"hark/bot/locale"
	"hark/internal/answer"
	"hark/memory"
)

// words are an answer's text, and what stands below it. Whoever is told of something now isn't told again: it
// is called once. It never panics, whatever the answer's text does to it.
func (b *Bot) words(l locale.Locale, a *ask, got outcome) (text, tail string, err error) {
	defer recovered("word an answer", &err)
	// What was streamed and not given as an answer, whole or half, wasn't looked at again: it doesn't stay.
	text = withoutSmallPrint(got.answer.Text)
	if got.err != nil {
		text = unbroken(text)
	}
	tail = lines(footer(l, got.answer.Sources, b.now()), b.questions.leftOver(l, a, got))
	switch {
	case errors.Is(got.err, errHalted):
		tail = l.Text(stoppedLine)
	case got.err != nil:
		why := b.sentence(l, a, got.err)
		tail = l.Text(interrupted, why)
		if strings.TrimSpace(text) == "" {
			text, tail = why, ""
		}
	}
	return memory.Clean(text), tail, nil
}

// mostMessages is how many messages an answer takes at most: a model that doesn't know when to stop mustn't
// fill a channel.
const mostMessages = 5

var smallPrint = regexp.MustCompile(`(?m)^([ \t>]*)-#`)

// withoutSmallPrint is what a model wrote, in which nothing looks like the lines below an answer: small print
// is Hark's own.
func withoutSmallPrint(text string) string { return smallPrint.ReplaceAllString(text, `$1\-#`) }

// lay lays an answer out as messages, with its long code as files if asked to, and with a file of all of it
// if that takes too many messages. It never panics either.
func lay(l locale.Locale, text, tail string, sources []answer.Source, asFiles bool) (contents []string,
	files []upload, err error) {
	defer recovered("lay out an answer", &err)
	link, head := linksTo(sources), shownAtMost(text)
	if asFiles && head == text {
		text, files = pullCode(l, text, mostData)
		head = text
	}
	if contents = layout(head, tail, link); len(contents) <= mostMessages && head == text {
		return contents, files, nil
	}
	var begin strings.Builder
	for i, p := range split(memory.Clean(head), messageLimit, link) {
		if i == mostMessages-1 {
			break
		}
		begin.WriteString(p.body)
	}
	rest := "…"
	if asFiles && len(files) < mostFiles {
		f := upload{name: "answer.md", data: []byte(text)}
		files, rest = append(files, f),
			fmt.Sprintf("…\n📎 `%s` (%s)", f.name, countedLines(l, 1+strings.Count(text, "\n")))
	}
	return layout(strings.TrimRight(begin.String(), " \n")+rest, tail, link), files, nil
}

// shownAtMost is as much of text as may matter for mostMessages, so that an endless one isn't laid out whole
// again and again.
func shownAtMost(text string) string {
	const most = 4 * mostMessages * messageLimit // bytes: a unit takes at most three, and white space may be dropped
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
