// Package tokens counts tokens as OpenAI's current models do (o200k). The table is part of the program.
package tokens

import (
	"fmt"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Counter counts tokens. It may be used by several goroutines.
type Counter struct {
	load func() tokenizer.Codec
}

// New doesn't load the table yet: the first count does, which takes about 20 ms.
func New() (*Counter, error) {
	return &Counter{load: sync.OnceValue(o200k)}, nil
}

// Count is the number of tokens in s. What looks like a special token counts as the text that it is, and so do
// bytes that aren't UTF-8.
func (c *Counter) Count(s string) int {
	n, err := c.load().Count(s)
	if err != nil {
		// The codec fails only where its pattern times out, and it is given no time limit.
		return len(s)
	}
	return n
}

func o200k() tokenizer.Codec {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic(fmt.Sprintf("tokens: %v", err)) // the name is a constant of the library
	}
	return codec
}
