package llm

import (
	"net/http"
	"regexp"

	"hark/internal/chat"
)

// noToolsSaid matches how servers say that a model can't call tools, or that they don't let it. It is looked for only
// where tools were sent.
var noToolsSaid = regexp.MustCompile(
	`(?i)(?:(?:not|n't) support|endpoints found that support)[^.]{0,40}\b(?:tools?|functions?)\b` +
		`|\b(?:tools?|functions?)['"` + "`" + `]?(?: (?:use|calls?|calling|choice))?['"` + "`" +
		`]? (?:parameter )?(?:is|are) (?:not|un)[ -]?(?:supported|enabled|available|allowed)` +
		`|unsupported (?:param|parameter|value):? ?['"` + "`" + `]?(?:tools|functions)` +
		`|--enable-auto-tool-choice|--tool-call-parser|--jinja|cannot use tools`)

// noImagesSaid matches how servers say that a model can't see. It is looked for only where images were sent.
var noImagesSaid = regexp.MustCompile(
	`(?i)(?:(?:not|n't) support|endpoints found that support)[^.]{0,40}\b(?:images?|image_url|vision|multi-?modal)\b` +
		`|\b(?:images?|image_url|vision|multi-?modal)['"` + "`" +
		`]?(?: (?:inputs?|content|type))? (?:is|are) (?:not|un)[ -]?(?:supported|enabled|available|allowed)` +
		`|data required for image input|image_url is only supported|not a multi-?modal model|at most 0 image|mmproj` +
		`|(?:unknown variant|unsupported content type|invalid content type)[^.]{0,40}image_url` +
		`|content must be a string|input should be a valid string`)

// asked says what of a request a server may refuse.
type asked struct{ tools, images bool }

// looks at what is really sent of r.
func (c *Client) asked(r chat.Request) (a asked) {
	a.tools = len(r.Tools) > 0
	for _, m := range r.Messages {
		a.tools = a.tools || len(m.Calls) > 0
		a.images = a.images || c.config.Vision && len(m.Images) > 0
	}
	return a
}

// unsupported is the error that says what the model can't do; nil if f tells of something else. llama.cpp and
// Ollama say it with 500, OpenRouter with 404, the others with 400.
func (c *Client) unsupported(f failure, a asked) *Error {
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return nil
	}
	switch {
	case a.tools && noToolsSaid.MatchString(f.message):
		return c.noTools(f)
	case a.images && noImagesSaid.MatchString(f.message):
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
