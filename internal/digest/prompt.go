package digest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hark/internal/chat"
	"hark/internal/pattern"
	"hark/internal/text"
	"hark/memory"
)

// Ask has a model write something within patience.
func Ask(ctx context.Context, model chat.Model, something string, patience time.Duration,
	r chat.Request) (chat.Reply, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := model.Chat(within, r, func(string) {})
	if err == nil {
		err = within.Err() // the model ignored the deadline
	}
	if err != nil {
		return reply, fmt.Errorf("ask for %s: %w", something, err)
	}
	return reply, nil
}

// shown is how many graphemes of a message a model is shown.
const shown = 500

type line struct {
	Author string `json:"author"`
	Text   string `json:"text"`
}

func linesOf(messages []memory.Message, name func(memory.UserID) string, most int) []any {
	return Each(messages, func(m memory.Message) any {
		return line{short(name(m.Author), saidName), text.Clip(m.Text(), most)}
	})
}

// prompt returns an instruction, and lines of JSON, in which nothing can pretend to be another line.
func prompt(instruction string, escapes bool, lines ...any) chat.Request {
	var b strings.Builder
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(escapes)
	for _, l := range lines {
		_ = to.Encode(l) // strings and numbers can always be encoded
	}
	return chat.Request{Messages: []chat.Message{{Role: chat.System, Content: instruction},
		{Role: chat.User, Content: b.String()}}}
}

// decode reads the JSON in a model's writing, from the first begins to the last ends: some put it in a code block.
func decode(written, begins, ends string, into any) error {
	first := strings.Index(written, begins)
	last := strings.LastIndex(written, ends)
	if first < 0 || last < first || json.Unmarshal([]byte(written[first:last+1]), into) != nil {
		return ErrMalformed
	}
	return nil
}

// checked returns a summary on one line, if said holds what it says.
func checked(summary, said string, most int) (string, error) {
	summary = strings.Join(strings.Fields(summary), " ")
	switch {
	case summary == "" || utf8.RuneCountInString(summary) > most:
		return "", fmt.Errorf("%w: the summary is empty, or too long", ErrMalformed)
	case strings.Contains(summary, "<think") || strings.Contains(summary, "```"):
		return "", fmt.Errorf("%w: the summary holds more than that", ErrMalformed)
	case !isSaid(summary, said):
		return "", fmt.Errorf("%w: the summary says what wasn't said", ErrMalformed)
	}
	return summary, nil
}

// textOf is all that a summary of messages can be from.
func textOf(messages []memory.Message, name func(memory.UserID) string) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s: %s\n", name(m.Author), m.Text())
	}
	return b.String()
}

// isSaid reports whether at least a third of the terms of a summary were said, and every figure in it: it may find
// words of its own, but no facts.
func isSaid(summary, session string) bool {
	said := figuresIn(session)
	return shares(summary, session, 3) && !slices.ContainsFunc(figuresIn(summary), func(f string) bool {
		return !slices.Contains(said, f)
	})
}

// shares reports whether one in so many of the terms of what a model wrote is said in its source, so that nothing can
// make it put something into another's mouth.
func shares(written, source string, part int) bool {
	said := text.Terms(source)
	terms := text.Terms(written)
	shared := 0
	for _, t := range terms {
		if slices.Contains(said, t) {
			shared++
		}
	}
	return shared > 0 && part*shared >= len(terms)
}

var (
	// figures are numbers, times, dates and prices, as figuresIn has folded them.
	figures = pattern.Of(`\d+(?:[.,:/'’-]\d+)*`)
	// thousands is a number whose digits are in groups of three, and groups what is between them.
	thousands = pattern.Of(`^\d{1,3}(?:[.,'’]\d{3})+$`)
	groups    = strings.NewReplacer(".", "", ",", "", "'", "", "’", "")
)

// figuresIn are the figures of s in ASCII, whatever digits they are written in, and without what parts thousands:
// "２５" is 25, and "1.000" is 1000.
func figuresIn(s string) []string {
	found := figures().FindAllString(strings.Map(plainDigit, s), -1)
	for i, f := range found {
		if thousands().MatchString(f) {
			found[i] = groups.Replace(f)
		}
	}
	return found
}

// plainDigit is a decimal digit of any script, or a sign between some, in ASCII. Unicode has each script's ten in a
// row, from 0 on.
func plainDigit(r rune) rune {
	switch {
	case r < unicode.MaxASCII:
		return r
	case r == '．' || r == '٫':
		return '.'
	case r == '，' || r == '٬':
		return ','
	case r == '：':
		return ':'
	case !unicode.IsDigit(r):
		return r
	}
	first := r
	for unicode.IsDigit(first - 1) {
		first--
	}
	return '0' + (r-first)%10
}
