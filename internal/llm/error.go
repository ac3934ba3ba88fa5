package llm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"hark/internal/chat"
	"hark/internal/endpoint"
)

// Kind is what went wrong, as far as it matters to whoever asked.
type Kind int

const (
	Unreachable Kind = iota + 1 // no connection
	TimedOut                    // connected, and no answer began in time
	Refused                     // the key, or what it may do or spend
	NotFound                    // the model, or the address
	RateLimited                 // too many calls; see RetryAfter
	TooLong                     // the prompt is longer than the model takes
	Rejected                    // the server doesn't take the request, for some other reason
	CutOff                      // the answer ended in the middle
	Server                      // the server failed
	BadAnswer                   // what came is no answer
	Resting                     // it wasn't asked, because it failed several times before; see RetryAfter
)

var kinds = [...]string{
	Unreachable: "unreachable", TimedOut: "timed_out", Refused: "refused", NotFound: "not_found",
	RateLimited: "rate_limited", TooLong: "too_long", Rejected: "rejected", CutOff: "cut_off", Server: "server",
	BadAnswer: "bad_answer", Resting: "resting",
}

// String returns a kind's name, such as "rate_limited".
func (k Kind) String() string {
	if k <= 0 || int(k) >= len(kinds) {
		return "other"
	}
	return kinds[k]
}

// KindOf returns the kind of an *Error; 0 for other errors.
func KindOf(err error) Kind {
	if e, is := errors.AsType[*Error](err); is {
		return e.Kind
	}
	return 0
}

// ErrCutOff is what errors of the kind CutOff are.
var ErrCutOff = errors.New("the model's answer was cut off")

// Error is a failed call. Its text tells whoever runs Hark what to do. It holds neither the key nor anything of the
// prompt or the answer.
type Error struct {
	Kind   Kind
	Status int // of HTTP; 0 if none came

	text  string
	said  string        // the server's own words, which may hold parts of the prompt
	again bool          // asking again may help
	after time.Duration // see RetryAfter

	noTools, noImages bool

	room, asked int // see TooLong
}

func (e *Error) Error() string { return e.text }

// Is reports whether target is ErrCutOff and e is of that kind.
func (e *Error) Is(target error) bool { return target == ErrCutOff && e.Kind == CutOff }

// RetryAfter is for how long the server wants no calls, or gets none; 0 if unknown.
func (e *Error) RetryAfter() time.Duration { return e.after }

// OfText reports whether the fault lies with the request or the answer and not with the server (see
// endpoint.Breaker).
func (e *Error) OfText() bool {
	switch e.Kind {
	case Unreachable, TimedOut, RateLimited, CutOff, Server:
		return false
	}
	return true
}

// place returns the server's address without what may be secret in it.
func (c *Client) place() string {
	return cmp.Or(endpoint.Place(c.config.BaseURL), "the address in llm.base_url")
}

func (c *Client) problem(kind Kind, again bool, format string, args ...any) *Error {
	return &Error{Kind: kind, again: again, text: fmt.Sprintf(format, args...)}
}

func (c *Client) unreachable(err error) *Error {
	return c.problem(Unreachable, true, "the model's server at %s can't be reached (%v): is it running? (llm.base_url)",
		c.place(), err)
}

func (c *Client) resting(left time.Duration) *Error {
	e := c.problem(Resting, false, "the model's server at %s failed and isn't asked again before %v have passed",
		c.place(), left.Round(time.Second))
	e.after = left
	return e
}

func (c *Client) timedOut() *Error {
	return c.problem(TimedOut, false, "the model's server at %s didn't begin to answer within %v: is the model still "+
		"loading, or the machine too slow? (llm.timeout)", c.place(), c.config.Timeout)
}

func (c *Client) cutOff(silent bool) *Error {
	if silent {
		return c.problem(CutOff, true, "the model's answer was cut off: nothing came from its server at %s for %v "+
			"(llm.timeout)", c.place(), c.config.Timeout)
	}
	return c.problem(CutOff, true, "the model's answer was cut off: the connection to its server at %s ended early; "+
		"its log may say why", c.place())
}

func (c *Client) badAnswer(err error) *Error {
	if errors.Is(err, errTooMuch) {
		return c.problem(BadAnswer, false,
			"the model %q wrote or thought without end and was stopped: lower llm.max_tokens, "+
				"or choose another model", c.config.Model)
	}
	return c.problem(BadAnswer, false, "the model's server at %s gave %v: does llm.base_url lead to its API, up to "+
		"and including /v1?", c.place(), err)
}

// silent says why a whole answer holds nothing to show.
func (c *Client) silent(r chat.Reply) *Error {
	switch r.FinishReason {
	case "length":
		return c.problem(BadAnswer, false, "the model %q used up all its tokens in thought and gave no answer: raise "+
			"llm.max_tokens", c.config.Model)
	case "content_filter":
		return c.problem(BadAnswer, false, "the model's server withheld the answer, because of its content filter")
	}
	return c.problem(BadAnswer, true, "the model %q gave an empty answer", c.config.Model)
}
