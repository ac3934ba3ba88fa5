package failure

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"hark/internal/pattern"
)

// limitSaid find how many tokens a server takes, as OpenAI, vLLM, llama.cpp, SGLang, LM Studio, OpenRouter, Mistral,
// Anthropic, Google, xAI, Alibaba and TGI write it. The first that matches counts. A number after "by" is how much too
// long the prompt is, and one after "error" is no length.
var limitSaid = []func() *regexp.Regexp{
	pattern.Of(`(?i)n_ctx:? ?=? ?(\d{1,9})`),
	pattern.Of(`(\d{1,9}) maximum context length`),
	pattern.Of(`(?i)(?:max_seq_len|maximum prompt length is) (\d{1,9})`),
	pattern.Of(`(?i)(?:context (?:length|size|window)|model length)(?: (?:is|of))?[^0-9a-z]{0,3}` +
		`(?:[^0-9(]{0,30}[^0-9a-z(])?\(?(\d{1,9})(?: tokens?)?`),
	pattern.Of(`(?i)tokens allowed \((\d{1,9})\)`),
	pattern.Of(`(?i)per min(?:ute)? \(TPM\): limit (\d{1,9})`),
	pattern.Of(`(?i)token limit:? (?:of |is )?(\d{1,9})`),
	pattern.Of(`(?i)(?:must be <=|must have less than|cannot exceed|up to|limit of|limit is|should be \[\d+,) ?(\d{1,9})`),
	pattern.Of(`\d tokens? > (\d{1,9}) maximum|limit: \d+ \+ \d+ > (\d{1,9})`),
}

// askedSaid find how many tokens of a prompt the server counted.
var askedSaid = []func() *regexp.Regexp{
	pattern.Of(`(\d{1,9}) (?:in (?:the messages|your prompt)|of text input|input tokens|tokens from the input|.inputs. tokens)`),
	pattern.Of(`(?i)(?:\(requested:|request contains|n_keep:) ?(\d{1,9})`),
	pattern.Of(`(?i)(?:resulted in|prompt contains|too long:|limit:|Given:) (\d{1,9})`),
	pattern.Of(`(?i)(?:request|input|requested tokens|number of tokens|token count|prompt) \((?:length )?(\d{1,9})`),
	pattern.Of(`(?i)(?:token count|prompt length)(?: is| of)? (\d{1,9}) (?:but|exceeds|is greater|is longer)`),
}

// beyondSaid match numbers that are no limit: how much too long a prompt is, and an error's number.
var beyondSaid = pattern.Of(`(?i)\bby \d+(?: tokens?)?|exceeds limit \(\d+\)`)

// tooLongSaid match how servers say that a prompt doesn't fit.
var tooLongSaid = pattern.Of(`(?i)context.length|context size|context window|context limit|model length|prompt is too long` +
	`|maximum number of tokens allowed|.max_new_tokens.? must be <=|.?inputs.? must have less than|max_seq_len` +
	`|model token limit|tokens exceeds? the (?:configured )?limit` +
	`|maximum prompt length|input token count (?:is|of)|token count of \d+ exceeds` +
	`|number of tokens[^.]{0,60}(?:exceed|greater)|input is too long|range of input length|inputs tokens \+ max_new_tokens`)

// tooLargeSaid matches how servers with limits for each minute refuse a request that alone is above them: it never
// fits.
var tooLargeSaid = pattern.Of(`(?i)request too large`)

// lengthSaid matches what may mean that a prompt is too long: it speaks of tokens or of length, and of too much.
var lengthSaid = pattern.Of(`(?i)token|length|too long|context|window` +
	`|(?:prompt|input|request|messages?) (?:size|is|are) |your (?:prompt|input|messages?)|上下文|长度|超长`)

var tooMuchSaid = pattern.Of(`(?i)exceed|too (?:long|large|many|big)|maximum|\bmax\b|limit|greater|longer|larger` +
	`|reduce|shorten|truncat|over the|out of range|range of|overflow|zu lang|超过|超出|最大|超长`)

// LeastWindow is what no model's window is smaller than, in tokens: a smaller number is something else.
const LeastWindow = 256

// IsTooLong reports whether the server says that the prompt doesn't fit: how many tokens it takes and how many it
// counted, each 0 if it doesn't say. Older llama.cpp says so with 500.
func (f Failure) IsTooLong() (limit, asked int, is bool) {
	if f.IsCrowded() || !f.saysTooLong() {
		return 0, 0, false
	}
	said := ungrouped(f.inWords())
	limit = f.limit
	if limit <= 0 {
		limit = firstNumber(limitSaid, beyondSaid().ReplaceAllString(said, ""))
	}
	asked = f.asked
	if asked <= 0 {
		asked = firstNumber(askedSaid, said)
	}
	return limit, asked, true
}

// grouped matches numbers whose thousands are set apart, but not two in a list, such as [1,512].
var grouped = pattern.Of(`(?:^|[^\[\d.,])\d{1,3}(?:,\d{3})+\b`)

// ungrouped returns text with numbers as Go reads them.
func ungrouped(text string) string {
	return grouped().ReplaceAllStringFunc(text, func(number string) string { return strings.ReplaceAll(number, ",", "") })
}

func (f Failure) saysTooLong() bool {
	if f.Code == "context_length_exceeded" || f.Code == "exceed_context_size_error" ||
		f.Status == http.StatusRequestEntityTooLarge {
		return true
	}
	switch f.Status {
	case http.StatusTooManyRequests:
		return tooLargeSaid().MatchString(f.inWords())
	case 0, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError,
		http.StatusNotImplemented:
		return tooLongSaid().MatchString(f.inWords())
	}
	return false
}

// MeansField reports whether a refusal with a status that usually means a long prompt is one of a field of the request.
func (f Failure) MeansField(sent []string) bool {
	if f.Status != http.StatusRequestEntityTooLarge || f.Named(sent) == "" {
		return false
	}
	return !lengthSaid().MatchString(f.inWords())
}

// MayBeTooLong reports whether a refusal may mean that a prompt is too long, in words that Hark doesn't know. sent are
// the names of the request's fields: if one of them is named, that is what it's about.
func (f Failure) MayBeTooLong(sent []string) bool {
	if f.Status != http.StatusBadRequest && f.Status != http.StatusUnprocessableEntity {
		return false
	}
	said := f.inWords()
	return lengthSaid().MatchString(said) && tooMuchSaid().MatchString(said) && f.Named(sent) == ""
}

func firstNumber(patterns []func() *regexp.Regexp, text string) int {
	for _, p := range patterns {
		for i, group := range p().FindStringSubmatch(text) {
			n, err := strconv.Atoi(group)
			if i > 0 && err == nil {
				return n
			}
		}
	}
	return 0
}
