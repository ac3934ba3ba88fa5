package llm

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hark/internal/endpoint"
	"hark/internal/text"
)

const maxRefusal = 64 << 10 // bytes read of an answer that is an error

// refusal is the error that an answer other than 200 tells of.
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

// failed is the error that a server tells of, by its status or in the midst of a stream.
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
var plainCode = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_./-]{0,39}$`)

// describe is the status and code in parentheses. A server may quote the key as a code.
func (c *Client) describe(f failure) string {
	var parts []string
	if f.status != 0 {
		parts = append(parts, strconv.Itoa(f.status))
	}
	if plainCode.MatchString(f.code) && c.conceal(f.code) == f.code {
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

// conceal is what a server says without the key and the values of headers, which may be keys too.
func (c *Client) conceal(said string) string {
	for _, secret := range append(slices.Collect(maps.Values(c.config.Headers)), c.config.APIKey) {
		if secret != "" {
			said = strings.ReplaceAll(said, secret, "…")
		}
	}
	return said
}

// clean is a server's message without secrets and of bearable length, on one line.
func (c *Client) clean(message string) string {
	message = c.conceal(message)
	message = strings.Join(strings.Fields(strings.ToValidUTF8(message, "")), " ")
	if cut := text.Cut(message, 200); cut != message {
		return cut + "…"
	}
	return message
}
