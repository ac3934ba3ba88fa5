// Package tokens counts the tokens of a text as OpenAI's o200k vocabulary has them.
//
// The vocabulary is in the binary: nothing is fetched, and a Counter that is never asked loads nothing. Other
// models cut text otherwise, by some per cent for English and more for other languages, so a budget leaves room.
// Whatever the text, counting it never fails, and takes time in proportion to its length.
package tokens

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// deleted is the one character that the library's pattern skips, which would make any number of them free.
const deleted = "\x7f"

// Counter counts tokens. It may be used by several goroutines at once.
type Counter struct {
	codec func() tokenizer.Codec
}

// New returns a counter that has loaded nothing yet: the first count does, which takes some 20 ms and 12 MB.
func New() *Counter { return &Counter{codec: sync.OnceValue(o200k)} }

// Count is how many tokens s is: 0 if it is empty, and never more than its bytes if it is valid UTF-8. What
// looks like a control token, such as <|endoftext|>, is text like any other.
func (c *Counter) Count(s string) int {
	if s == "" {
		return 0
	}
	n, err := c.codec().Count(s)
	if err != nil { // only a pattern with a time limit has any
		return len(s)
	}
	return n + strings.Count(s, deleted)
}

// o200k can't miss: the name is a constant of the library's, whose tables are in the binary.
func o200k() tokenizer.Codec {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic("tokens: " + err.Error())
	}
	return codec
}
