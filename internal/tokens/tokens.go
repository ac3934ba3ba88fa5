// Package tokens counts a text's tokens: exactly for the encodings of OpenAI's current models, with an estimate that tends
// to be too high for all others.
//
// The vocabularies are in the binary, and are loaded when a Counter is first asked. Counting never fails, and takes
// time in proportion to the text's length.
package tokens

import (
	"hash/maphash"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	library "github.com/tiktoken-go/tokenizer/codec" // the package above it links vocabularies that no current model uses
)

// encoding names a vocabulary of OpenAI's.
type encoding string

const (
	o200k  encoding = "o200k_base"
	cl100k encoding = "cl100k_base"
)

// deleted is the one character that the library's patterns skip, which would make any number of them free.
const deleted = "\x7f"

// mostSpace is how much white space in a row is counted at once. On line breaks among other white space the
// library's patterns take time by the square of its length: 15 ms for 4,000 characters, 230 for 16,000.
const mostSpace = 256

// Counter counts tokens. It may be used by several goroutines at once.
type Counter struct {
	encoding encoding
	estimate bool // encoding's count is where an estimate begins
}

// New returns the counter whose counts are stored with messages, whatever the model: OpenAI's o200k.
func New() *Counter { return For("") }

// For returns the counter for a model, by the name that servers know: exact for OpenAI's, an estimate for all
// others. Without a name it is New's. The first count loads a vocabulary, which takes some 20 ms and 12 MB.
func For(model string) *Counter {
	if model == "" {
		return &Counter{encoding: o200k}
	}
	f, known := familyOf(model)
	if known {
		return &Counter{encoding: f.encoding}
	}
	return &Counter{encoding: o200k, estimate: true}
}

// Count returns how many tokens s is: 0 if it is empty, and never more than its bytes if it is valid UTF-8.
// What looks like a control token, such as <|endoftext|>, is text like any other.
func (c *Counter) Count(s string) int {
	if s == "" {
		return 0
	}
	n := strings.Count(s, deleted)
	start := 0
	run := 0 // of white space
	for i, r := range s {
		if !unicode.IsSpace(r) {
			run = 0
			continue
		}
		run++
		if run == mostSpace {
			n += c.encoded(s[start:i])
			start = i
			run = 1
		}
	}
	n += c.encoded(s[start:])
	if c.estimate {
		return estimate(s, n)
	}
	return n
}

// encoded counts s word by word. No encoding has a token that goes on over a space before a letter.
func (c *Counter) encoded(s string) (n int) {
	codec := codecs[c.encoding]()
	for start, i := 0, 1; i <= len(s); i++ {
		if i == len(s) || s[i] == ' ' && i+1 < len(s) && isLetter(rune(s[i+1])) {
			n += codec.word(s[start:i])
			start = i
		}
	}
	return n
}

// codec is the library's, with the counts of recent words. Of the words it keeps hashes only.
type codec struct {
	*library.Codec
	seed  maphash.Seed
	words [1 << 15]atomic.Uint64 // a hash whose low byte is the count; 0 if there is none
}

// longWord is the bytes from which a word is counted anew each time: hardly any is asked for again.
const longWord = 32

func (c *codec) word(s string) int {
	if len(s) >= longWord {
		return c.count(s)
	}
	hash := maphash.String(c.seed, s)
	slot := &c.words[hash>>49]
	known := slot.Load()
	if known == 0 || (known^hash)>>8 != 0 {
		known = hash&^0xff | uint64(c.count(s))
		slot.Store(known)
	}
	return int(known & 0xff)
}

func (c *codec) count(s string) int {
	n, err := c.Count(s)
	if err != nil {
		return len(s)
	}
	return n
}

// Stored returns Count of s from stored, which is New's count of it; 0 if s must be counted.
func (c *Counter) Stored(s string, stored int) int {
	switch {
	case c.estimate:
		return estimate(s, stored)
	case c.encoding == o200k:
		return stored
	}
	return 0
}

// codecs are loaded when they are first asked. All counters share them.
var codecs = map[encoding]func() *codec{
	o200k:  load(library.NewO200kBase),
	cl100k: load(library.NewCl100kBase),
}

func load(vocabulary func() *library.Codec) func() *codec {
	return sync.OnceValue(func() *codec {
		return &codec{Codec: vocabulary(), seed: maphash.MakeSeed()}
	})
}

// family are models that have an encoding and a window in common.
type family struct {
	name     string // what their names begin with
	encoding encoding
	window   int // tokens of prompt and answer together; 0: not known
}

// families are OpenAI's, as its documentation lists them, without those of encodings that no current model uses. The
// first that fits a name counts.
var families = []family{
	{"gpt-5-chat", o200k, 128_000},
	{"gpt-5", o200k, 400_000},
	{"gpt-oss", o200k, 131_072},
	{"o1-mini", o200k, 128_000},
	{"o1-preview", o200k, 128_000},
	{"o1", o200k, 200_000},
	{"o3", o200k, 200_000},
	{"o4", o200k, 200_000},
	{"codex-mini", o200k, 200_000},
	{"gpt-4.1", o200k, 1_047_576},
	{"gpt-4.5", o200k, 128_000},
	{"gpt-4o", o200k, 128_000},
	{"chatgpt-4o", o200k, 128_000},
	{"gpt-4-turbo", cl100k, 128_000},
	{"gpt-4-1106", cl100k, 128_000},
	{"gpt-4-0125", cl100k, 128_000},
	{"gpt-4-vision", cl100k, 128_000},
	{"gpt-4-32k", cl100k, 32_768},
	{"gpt-4", cl100k, 8_192},
	{"gpt-3.5-turbo-instruct", cl100k, 4_096},
	{"gpt-3.5-turbo-0301", cl100k, 4_096},
	{"gpt-3.5-turbo-0613", cl100k, 4_096},
	{"gpt-3.5", cl100k, 16_385},
	{"text-embedding-3", cl100k, 8_192},
	{"text-embedding-ada-002", cl100k, 8_192},
	{"davinci-002", cl100k, 16_384},
	{"babbage-002", cl100k, 16_384},
}

// Window returns how many tokens a model's prompt and answer may have together, by its name; 0 if unknown. A server
// may allow less.
func Window(model string) int {
	f, _ := familyOf(model)
	return f.window
}

// ForAnswer returns how many tokens of a window are kept free for an answer of at most longest tokens: a third of it
// at most, so that a prompt has room, too. A window of 0 is unknown.
func ForAnswer(window, longest int) int {
	if window <= 0 {
		return longest
	}
	return min(longest, window/3)
}

// ForPrompt returns the longest prompt in tokens: wanted, or what an answer and all that is sent beside the prompt
// leave of a window. It may be less than nothing. A window of 0 is unknown.
func ForPrompt(window, answer, beside, wanted int) int {
	if window <= 0 {
		return wanted
	}
	return min(wanted, window-answer-beside)
}

// isOpenAI is what OpenAI itself puts behind a family's name: dates, versions, sizes, uses. What somebody
// else has trained and named after it, like "gpt-4-x-alpaca", may have any vocabulary and window.
var isOpenAI = regexp.MustCompile(
	`^(?:[-.@](?:\d{1,4}|\d{8}|\d{1,3}[bk]|mini|nano|micro|small|large|turbo|preview|instruct|latest|audio|realtime|search|transcribe|diarize|tts|` +
		`chat|codex|pro|max|vision|high|medium|low|minimal|xhigh|deep|research|safeguard|api|code|extended|none))+$`)

func familyOf(model string) (family, bool) {
	name := plainName(model)
	for _, f := range families {
		rest, ok := strings.CutPrefix(name, f.name)
		if ok && (rest == "" || isOpenAI.MatchString(rest)) {
			return f, true
		}
	}
	return family{}, false
}

// plainName returns a model's name without what servers put round it: "openai/gpt-4o:free" and
// "ft:gpt-4o:acme" are gpt-4o, and Azure's "gpt-35-turbo" is gpt-3.5-turbo.
func plainName(model string) string {
	name := strings.ToLower(strings.TrimSpace(model))
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimPrefix(name, "ft:")
	name = strings.TrimPrefix(name, "openai.")
	name, _, _ = strings.Cut(name, ":")
	rest, isAzures := strings.CutPrefix(name, "gpt-35")
	if isAzures {
		name = "gpt-3.5" + rest
	}
	return name
}
