package llm

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hark/internal/chat"
	"hark/internal/endpoint"
	"hark/internal/pattern"
	"hark/internal/text"
)

const maxRefusal = 64 << 10 // bytes read of an answer that is an error

// refusal returns the error that an answer other than 200 tells of.
func (k *call) refusal(resp *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // the status says enough
	var f failure
	if !f.read(body) && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		f.code = "text/html"
	}
	f.status = resp.StatusCode
	e := k.failed(f)
	e.after = endpoint.RetryAfter(resp.Header, k.client.clock.now())
	return e
}

// failed returns the error that a server tells of, by its status or in the midst of a stream.
func (k *call) failed(f failure) *Error {
	e := k.client.unsupported(f, k.asked)
	if e == nil {
		e = k.client.sort(f)
	}
	e.Status = f.status
	e.said = k.client.clean(f.message)
	return e
}

func (c *Client) sort(f failure) *Error {
	at, about := c.place(), c.describe(f)
	switch status := f.status; {
	case f.tooLong():
		return c.tooLong(f)
	case f.noCredit():
		return c.problem(Refused, false, "the account at the model's server at %s has no credit left%s: see its "+
			"billing page, or check llm.api_key", at, about)
	case status == http.StatusUnauthorized:
		return c.problem(Refused, false, "the model's server at %s refuses the key%s: check llm.api_key", at, about)
	case status == http.StatusForbidden:
		return c.problem(Refused, false, "the model's server at %s allows no access%s: may the key use %q? "+
			"(llm.api_key, llm.model)", at, about, c.config.Model)
	case f.noModel():
		return c.problem(NotFound, false, "the model's server at %s has no model %q%s: check llm.model", at,
			c.config.Model, about)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return c.problem(NotFound, false, "the model's server at %s has nothing at this address%s: does llm.base_url "+
			"end in /v1, and has it the model %q?", at, about, c.config.Model)
	case status == http.StatusTooManyRequests || f.code == "rate_limit_exceeded":
		return c.problem(RateLimited, true, "the model's server at %s takes no more calls for now%s", at, about)
	case status >= 300 && status < 400:
		return c.problem(BadAnswer, false, "the model's server at %s sends us elsewhere%s: put the address it is "+
			"really at into llm.base_url", at, about)
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return c.problem(Rejected, false, "the model's server at %s doesn't take the request%s: hark doctor may tell "+
			"more", at, about)
	case status > 0 && status < 300:
		return c.problem(BadAnswer, false, "the model's server at %s gave no answer%s", at, about)
	}
	again := f.status != http.StatusNotImplemented && f.status != http.StatusHTTPVersionNotSupported
	return c.problem(Server, again, "the model's server at %s failed%s: try again later; its log may say why",
		at, about)
}

// plainCode matches codes that can't hold anybody's words.
var plainCode = pattern.Of(`^[a-zA-Z][a-zA-Z0-9_./-]{0,39}$`)

// describe returns the status and code in parentheses. A server may quote the key as a code.
func (c *Client) describe(f failure) string {
	var parts []string
	if f.status != 0 {
		parts = append(parts, strconv.Itoa(f.status))
	}
	if plainCode().MatchString(f.code) && c.conceal(f.code) == f.code {
		parts = append(parts, f.code)
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (f failure) noCredit() bool {
	return f.status == http.StatusPaymentRequired || f.code == "insufficient_quota"
}

func (f failure) noModel() bool {
	if f.code == "model_not_found" {
		return true
	}
	return (f.status == http.StatusNotFound || f.status == http.StatusBadRequest) && f.says("model") &&
		f.says("not found", "not exist", "not a valid model", "unknown model", "not available")
}

func (f failure) says(any ...string) bool {
	message := strings.ToLower(f.message)
	return slices.ContainsFunc(any, func(phrase string) bool { return strings.Contains(message, phrase) })
}

// conceal removes the key and the values of headers, which may be keys, from what a server says.
func (c *Client) conceal(said string) string {
	for _, secret := range append(slices.Collect(maps.Values(c.config.Headers)), c.config.APIKey) {
		if secret != "" {
			said = strings.ReplaceAll(said, secret, "…")
		}
	}
	return said
}

// clean returns a server's message without secrets, short and on one line.
func (c *Client) clean(message string) string {
	message = c.conceal(message)
	message = strings.Join(strings.Fields(strings.ToValidUTF8(message, "")), " ")
	if cut := text.Cut(message, 200); cut != message {
		return cut + "…"
	}
	return message
}

// limitSaid find how many tokens a server takes, as OpenAI, vLLM, llama.cpp, SGLang, LM Studio, OpenRouter, Mistral,
// Anthropic, Google and TGI write it. The first that matches counts.
var limitSaid = []*regexp.Regexp{
	regexp.MustCompile(`(\d{1,9}) maximum context length`),
	regexp.MustCompile(`(?i)(?:context (?:length|size|window)|model length)[^0-9]{0,30}(\d{1,9})`),
	regexp.MustCompile(`tokens allowed \((\d{1,9})\)`),
	regexp.MustCompile(`(?:must be <=|must have less than) (\d{1,9})`),
	regexp.MustCompile(`\d tokens? > (\d{1,9}) maximum|limit: \d+ \+ \d+ > (\d{1,9})`),
}

// askedSaid find how many tokens of a prompt the server counted.
var askedSaid = []*regexp.Regexp{
	regexp.MustCompile(`(\d{1,9}) (?:in (?:the messages|your prompt)|of text input|input tokens|tokens from the input|.inputs. tokens)`),
	regexp.MustCompile(`(?i)(?:resulted in|prompt contains|too long:|limit:|Given:) (\d{1,9})`),
	regexp.MustCompile(`(?i)(?:request|input|requested tokens|number of tokens|token count|prompt) \((?:length )?(\d{1,9})`),
}

// tooLong reports whether the prompt doesn't fit, which servers say in many ways.
func (f failure) tooLong() bool {
	if f.code == "context_length_exceeded" || f.code == "exceed_context_size_error" ||
		f.status == http.StatusRequestEntityTooLarge {
		return true
	}
	return (f.status == 0 || f.status == http.StatusBadRequest || f.status == http.StatusUnprocessableEntity) &&
		f.says("context length", "context size", "context window", "context limit", "model length",
			"prompt is too long",
			"maximum number of tokens allowed", "`max_new_tokens` must be <=", "`inputs` must have less than")
}

// lengths returns how many tokens the server takes and how many of the prompt it has counted; 0 for what it
// doesn't say.
func (f failure) lengths() (limit, asked int) {
	limit, asked = f.limit, f.asked
	if limit <= 0 {
		limit = firstNumber(limitSaid, f.message)
	}
	if asked <= 0 {
		asked = firstNumber(askedSaid, f.message)
	}
	return limit, asked
}

func firstNumber(patterns []*regexp.Regexp, text string) int {
	for _, p := range patterns {
		for i, group := range p.FindStringSubmatch(text) {
			if n, err := strconv.Atoi(group); i > 0 && err == nil {
				return n
			}
		}
	}
	return 0
}

func (c *Client) tooLong(f failure) *Error {
	limit, asked := f.lengths()
	says := ""
	if limit > 0 {
		says = fmt.Sprintf("; by the server's words it takes %d tokens (llm.window)", limit)
	}
	e := c.problem(TooLong, false, "the prompt is longer than the model %q takes: lower builder.max_tokens or "+
		"llm.max_tokens%s", c.config.Model, says)
	e.room, e.asked = max(0, limit-c.config.MaxTokens), asked
	return e
}

// TooLong reports whether the prompt was longer than the model takes: how many tokens of a prompt it takes beside
// the longest answer, and how many it counted in this one, each 0 if the server doesn't say.
func (e *Error) TooLong() (room, asked int, is bool) { return e.room, e.asked, e.Kind == TooLong }

// noToolsSaid matches how servers say that a model can't or may not call tools. It counts only if tools were sent.
var noToolsSaid = pattern.Of(
	`(?i)(?:(?:not|n't) support|endpoints found that support)[^.]{0,40}\b(?:tools?|functions?)\b` +
		`|\b(?:tools?|functions?)['"` + "`" + `]?(?: (?:use|calls?|calling|choice))?['"` + "`" +
		`]? (?:parameter )?(?:is|are) (?:not|un)[ -]?(?:supported|enabled|available|allowed)` +
		`|unsupported (?:param|parameter|value):? ?['"` + "`" + `]?(?:tools|functions)` +
		`|--enable-auto-tool-choice|--tool-call-parser|--jinja|cannot use tools`)

// noImagesSaid matches how servers say that a model can't see. It counts only if images were sent.
var noImagesSaid = pattern.Of(
	`(?i)(?:(?:not|n't) support|endpoints found that support)[^.]{0,40}\b(?:images?|image_url|vision|multi-?modal)\b` +
		`|\b(?:images?|image_url|vision|multi-?modal)['"` + "`" +
		`]?(?: (?:inputs?|content|type))? (?:is|are) (?:not|un)[ -]?(?:supported|enabled|available|allowed)` +
		`|data required for image input|image_url is only supported|not a multi-?modal model|at most 0 image|mmproj` +
		`|(?:unknown variant|unsupported content type|invalid content type)[^.]{0,40}image_url` +
		`|content must be a string|input should be a valid string`)

// asked is what a server may refuse of a request.
type asked struct{ tools, images bool }

func (c *Client) asked(r chat.Request) (a asked) {
	a.tools = len(r.Tools) > 0
	for _, m := range r.Messages {
		a.tools = a.tools || len(m.Calls) > 0
		a.images = a.images || c.config.Vision && len(m.Images) > 0
	}
	return a
}

// unsupported returns the error that says what the model can't do; nil if f tells of something else.
// llama.cpp and Ollama say it with 500, OpenRouter with 404, the others with 400.
func (c *Client) unsupported(f failure, a asked) *Error {
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return nil
	}
	switch {
	case a.tools && noToolsSaid().MatchString(f.message):
		return c.noTools(f)
	case a.images && noImagesSaid().MatchString(f.message):
		e := c.problem(Rejected, false,
			"the model %q at %s takes no images%s: choose one that can see, or set its vision "+
				"to false (llm.vision)", c.config.Model, c.place(), c.describe(f))
		e.noImages = true
		return e
	}
	return nil
}

func (c *Client) noTools(f failure) *Error {
	e := c.problem(Rejected, false,
		"the model %q at %s takes no tools%s: choose one that does, or start its server so that it may "+
			"(vLLM: --enable-auto-tool-choice, llama.cpp: --jinja)", c.config.Model, c.place(), c.describe(f))
	e.noTools = true
	return e
}

// NoTools reports whether the model, or its server, refuses requests with tools.
func (e *Error) NoTools() bool { return e.noTools }

// NoImages reports whether the model can't see the images that it was sent.
func (e *Error) NoImages() bool { return e.noImages }
