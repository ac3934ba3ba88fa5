// Package tokens counts the tokens of a text as a model has them: exactly for OpenAI's encodings, and with an
// estimate that is rather too high for all others.
//
// The vocabularies are in the binary: nothing is fetched, and a Counter that is never asked loads nothing.
// Whatever the text, counting it never fails, and takes time in proportion to its length.
package tokens

import (
	"strings"
	"sync"
	"unicode"

	"github.com/tiktoken-go/tokenizer"
)

// deleted is the one character that the library's patterns skip, which would make any number of them free.
const deleted = "\x7f"

// mostSpace is how much white space in a row is counted at once. On line breaks among other white space the
// library's patterns take time by the square of its length: 15 ms for 4,000 characters, 230 for 16,000.
const mostSpace = 256

// Counter counts tokens. It may be used by several goroutines at once.
type Counter struct {
	encoding tokenizer.Encoding
	estimate bool // encoding's count is where an estimate begins
}

// New is the counter of the tokens that are stored with messages, whatever the model: OpenAI's o200k. A change
// of the model then leaves the log as it is.
func New() *Counter { return For("") }

// For is the counter for the model that servers know by this name: exact for OpenAI's, an estimate for all
// others. Without a name it is New's. The first count loads a vocabulary, which takes some 20 ms and 12 MB.
func For(model string) *Counter {
	if model == "" {
		return &Counter{encoding: tokenizer.O200kBase}
	}
	if f, known := familyOf(model); known {
		return &Counter{encoding: f.encoding}
	}
	return &Counter{encoding: tokenizer.O200kBase, estimate: true}
}

// Count is how many tokens s is: 0 if it is empty, and never more than its bytes if it is valid UTF-8. What
// looks like a control token, such as <|endoftext|>, is text like any other.
func (c *Counter) Count(s string) int {
	if s == "" {
		return 0
	}
	n := strings.Count(s, deleted)
	start, run := 0, 0
	for i, r := range s {
		if !unicode.IsSpace(r) {
			run = 0
		} else if run++; run == mostSpace {
			n += c.encoded(s[start:i])
			start, run = i, 1
		}
	}
	n += c.encoded(s[start:])
	if c.estimate {
		return estimate(s, n)
	}
	return n
}

func (c *Counter) encoded(s string) int {
	n, err := codecs[c.encoding]().Count(s)
	if err != nil {
		return len(s)
	}
	return n
}

// Stored is Count of s, found from what is stored with it: stored is New's count of it. It is 0 where that
// doesn't help and s must be counted.
func (c *Counter) Stored(s string, stored int) int {
	switch {
	case c.estimate:
		return estimate(s, stored)
	case c.encoding == tokenizer.O200kBase:
		return stored
	}
	return 0
}

// codecs are loaded when they are first asked. All counters share them.
var codecs = map[tokenizer.Encoding]func() tokenizer.Codec{
	tokenizer.O200kBase:  load(tokenizer.O200kBase),
	tokenizer.Cl100kBase: load(tokenizer.Cl100kBase),
	tokenizer.P50kBase:   load(tokenizer.P50kBase),
	tokenizer.R50kBase:   load(tokenizer.R50kBase),
}

// load can't miss: the names are constants of the library's, whose tables are in the binary.
func load(name tokenizer.Encoding) func() tokenizer.Codec {
	return sync.OnceValue(func() tokenizer.Codec {
		codec, err := tokenizer.Get(name)
		if err != nil {
			panic("tokens: " + err.Error())
		}
		return codec
	})
}
