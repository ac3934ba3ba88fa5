package bot

import (
	"errors"
	"strings"

	"hark/internal/answer"
	"hark/memory"
)

// words are an answer's text, and what stands below it. Whoever is told of something now isn't told again: it is called once.
// It never panics, whatever the answer's text does to it.
func (b *Bot) words(l locale, d *delivery, a *ask, got outcome) (text, tail string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New(panicked("word an answer", r))
		}
	}()
	if text = got.answer.Text; strings.TrimSpace(text) == "" {
		text = d.latest()
	}
	if got.err != nil {
		text = unbroken(text)
	}
	tail = lines(footer(l, got.answer.Sources, b.now()), b.leftOver(l, a, got))
	switch {
	case errors.Is(got.err, errHalted):
		tail = l.text(stoppedLine)
	case got.err != nil:
		why := b.sentence(l, a, got.err)
		tail = l.text(interrupted, why)
		if strings.TrimSpace(text) == "" {
			text, tail = why, ""
		}
	}
	return memory.Clean(text), tail, nil
}

// lay lays an answer out as messages, with its long code as files if asked to. It never panics either.
func lay(l locale, text, tail string, sources []answer.Source, asFiles bool) (contents []string, files []upload, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New(panicked("lay out an answer", r))
		}
	}()
	if asFiles {
		text, files = pullCode(l, text, mostData)
	}
	return layout(text, tail, linksTo(sources)), files, nil
}
