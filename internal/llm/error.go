package llm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/internal/endpoint"
	"hark/internal/llm/failure"
	"hark/internal/llm/stream"
	"hark/internal/text"
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
	Crowded                     // the answers that the server wrote at once took more room than it has
)

var kinds = [...]string{
	Unreachable: "unreachable",
	TimedOut:    "timed_out",
	Refused:     "refused",
	NotFound:    "not_found",
	RateLimited: "rate_limited",
	TooLong:     "too_long",
	Rejected:    "rejected",
	CutOff:      "cut_off",
	Server:      "server",
	BadAnswer:   "bad_answer",
	Resting:     "resting",
	Crowded:     "crowded",
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

	failure failure.Failure // what the server said
	sent    sent            // what it was sent
	unknown bool            // Hark doesn't know why: the server may take another form
	ofText  bool            // the model's own words failed: others may be better
	loading bool
	empty   bool // the model wrote nothing

	room  int // see TooLong
	asked int
	limit int // tokens that the model takes, by the server's words; 0 if it doesn't say
}

func (e *Error) Error() string { return e.text }

// RefusesKey reports whether the server refused the key.
func (e *Error) RefusesKey() bool { return e.failure.HasBadKey() }

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

// TooLong reports whether the prompt was longer than the model takes: how many tokens of a prompt it takes beside
// the longest answer, and how many it counted in this one, each 0 if the server doesn't say.
func (e *Error) TooLong() (room, asked int, is bool) { return e.room, e.asked, e.Kind == TooLong }

// Loading reports whether the server is still loading the model.
func (e *Error) Loading() bool { return e.loading }

// Empty reports whether the model wrote nothing.
func (e *Error) Empty() bool { return e.empty }

// Crowded reports whether the server ended the answer because it wrote too much at once.
func (e *Error) Crowded() bool { return e.Kind == Crowded }

// speaker makes errors about one model at one server.
type speaker struct {
	model   string
	place   string // the server's address without what may be secret in it
	timeout time.Duration
	secrets []string
}

func speakerOf(c Config) speaker {
	secrets := append(slices.Collect(maps.Values(c.Headers)), c.APIKey)
	secrets = append(secrets, textsIn(c.Extra)...)
	return speaker{
		model:   c.Model,
		timeout: c.Timeout,
		place:   cmp.Or(endpoint.Place(c.BaseURL), "the address in llm.base_url"),
		secrets: slices.DeleteFunc(secrets, func(s string) bool { return s == "" }),
	}
}

// shortestSecret is from how many bytes on a text among the further fields may be a secret.
const shortestSecret = 12

// textsIn returns the texts in a further field that may be secrets.
func textsIn(value any) (all []string) {
	switch v := value.(type) {
	case string:
		if len(v) >= shortestSecret {
			all = append(all, v)
		}
	case map[string]any:
		for _, inner := range v {
			all = append(all, textsIn(inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, textsIn(inner)...)
		}
	}
	return all
}

func problem(kind Kind, again bool, format string, args ...any) *Error {
	return &Error{
		Kind:  kind,
		again: again,
		text:  fmt.Sprintf(format, args...),
	}
}

func (s speaker) unreachable(err error) *Error {
	happened, ask, _ := strings.Cut(endpoint.Whynot(err), ": ")
	return problem(Unreachable, true, "the model's server at %s %s (%v): %s (llm.base_url)", s.place, happened, err, ask)
}

func (s speaker) resting(left time.Duration) *Error {
	e := problem(Resting, false, "the model's server at %s failed and isn't asked again before %v have passed",
		s.place, left.Round(time.Second))
	e.after = left
	return e
}

func (s speaker) timedOut() *Error {
	return problem(TimedOut, false, "the model's server at %s didn't begin to answer within %v: is the model still "+
		"loading, or the machine too slow? (llm.timeout)", s.place, s.timeout)
}

func (s speaker) cutOff(silent bool) *Error {
	if silent {
		return problem(CutOff, true, "the model's answer was cut off: nothing came from its server at %s for %v "+
			"(llm.timeout)", s.place, s.timeout)
	}
	return problem(CutOff, true, "the model's answer was cut off: the connection to its server at %s ended early; "+
		"its log may say why", s.place)
}

func (s speaker) badAnswer(err error) *Error {
	if errors.Is(err, stream.ErrTooMuch) {
		return problem(BadAnswer, false,
			"the model %q wrote or thought without end and was stopped: lower llm.max_tokens, "+
				"or choose another model", s.model)
	}
	return problem(BadAnswer, false, "the model's server at %s gave %v: does llm.base_url lead to its API, up to "+
		"and including /v1?", s.place, err)
}

func (s speaker) namelessCall() *Error {
	return problem(BadAnswer, true, "the model %q made a tool's call without a name", s.model)
}

// withheld says that a filter of the server keeps something back.
func (s speaker) withheld(what, about string) *Error {
	return problem(BadAnswer, false, "the model's server at %s withheld %s%s, because of its content filter", s.place,
		what, about)
}

// silent says why a whole answer holds nothing to show.
func (s speaker) silent(came answered) *Error {
	r := came.reply
	if r.FinishReason == "length" && came.empty { // the prompt left no room for a word
		return s.tooLong(r.PromptTokens, r.PromptTokens+1)
	}
	switch r.FinishReason {
	case "length":
		return problem(BadAnswer, false, "the model %q used up all its tokens, in thought or in a tool's call, and gave "+
			"no answer: raise llm.max_tokens, or set llm.thinking to a lower level", s.model)
	case "content_filter":
		return s.withheld("the answer", "")
	}
	e := problem(BadAnswer, true, "the model %q gave an empty answer", s.model)
	e.empty = true
	return e
}

// failed returns the error that a server tells of, by its status or in the midst of a stream.
func (s speaker) failed(f failure.Failure, sent sent) *Error {
	e := s.known(f)
	if e != nil && e.Kind == TooLong && f.MeansField(sent.fields) {
		e = nil
	}
	if e == nil && sent.length > largePrompt && f.MayBeTooLong(sent.fields) {
		e = s.tooLong(0, 0)
	}
	if e == nil {
		e = s.unknown(f, sent)
	}
	e.Status = f.Status
	e.after = f.Wait()
	e.said = s.clean(f.Message)
	e.failure = f
	e.sent = sent
	return e
}

// largePrompt is from how many bytes on a prompt may be too long although the server doesn't clearly say so.
const largePrompt = 3000

// known returns the error for a failure that Hark knows; nil for any other.
func (s speaker) known(f failure.Failure) *Error {
	about := s.describe(f)
	limit, asked, long := f.IsTooLong()
	switch status := f.Status; {
	case f.IsOfText():
		e := problem(BadAnswer, true, "the server of the model %q at %s couldn't read what the model wrote%s: its log may "+
			"say why; another chat template or model may help", s.model, s.place, about)
		e.ofText = true
		return e
	case f.IsCrowded():
		return problem(Crowded, true, "the answers that the model's server at %s wrote at once took more room than it has%s: "+
			"lower llm.at_once, or start it with fewer slots or a larger context (llama.cpp: -np, -c)", s.place, about)
	case long:
		return s.tooLong(limit, asked)
	case f.IsFiltered():
		return s.withheld("the answer", about)
	case f.HasNoCredit():
		return problem(Refused, false, "the account at the model's server at %s has no credit left%s: see its "+
			"billing page, or check llm.api_key", s.place, about)
	case f.HasBadKey():
		return problem(Refused, false, "the model's server at %s refuses the key%s: check llm.api_key", s.place, about)
	case status == http.StatusForbidden:
		advice := "check llm.api_key"
		if s.model != "" {
			advice = fmt.Sprintf("may the key use %q? (llm.api_key, llm.model)", s.model)
		}
		return problem(Refused, false, "the model's server at %s allows no access%s: %s", s.place, about, advice)
	case f.HasNoModel():
		return problem(NotFound, false, "the model's server at %s has no model %q%s: check llm.model", s.place,
			s.model, about)
	case f.HasWrongAddress():
		advice := "does llm.base_url end in /v1?"
		if s.model != "" { // none is named where the models are listed
			advice = fmt.Sprintf("does llm.base_url end in /v1, and has it the model %q?", s.model)
		}
		return problem(NotFound, false, "the model's server at %s has nothing at this address%s: %s", s.place, about,
			advice)
	case status == http.StatusTooManyRequests || f.Code == "rate_limit_exceeded":
		return problem(RateLimited, true, "the model's server at %s takes no more calls for now%s: try again later, or "+
			"raise its limits", s.place, about)
	case status >= 300 && status < 400:
		return problem(BadAnswer, false, "the model's server at %s sends us elsewhere%s: put the address it is "+
			"really at into llm.base_url", s.place, about)
	case f.IsLoading():
		e := problem(Server, true, "the model %q at %s is still being loaded%s: try again in a moment", s.model, s.place,
			about)
		e.loading = true
		return e
	}
	return nil
}

// unknown returns the error for a failure that Hark doesn't know.
func (s speaker) unknown(f failure.Failure, sent sent) *Error {
	about := s.describe(f)
	var e *Error
	switch status := f.Status; {
	case sent.tools && f.TakesNoTools():
		e = problem(Rejected, false, "the model %q at %s takes no tools%s: choose one that does, or start its server so "+
			"that it may (vLLM: --enable-auto-tool-choice, llama.cpp: without --no-jinja)", s.model, s.place, about)
	case sent.images && f.TakesNoImages():
		e = problem(Rejected, false, "the model %q at %s takes no images%s: choose one that can see, or set its vision "+
			"to false (llm.vision)", s.model, s.place, about)
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		e = problem(Rejected, false, "the model's server at %s doesn't take the request%s"+askDoctor, s.place, about)
	case status > 0 && status < 300:
		return problem(BadAnswer, false, "the model's server at %s gave no answer%s: its log may say why", s.place, about)
	default:
		e = problem(Server, status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported,
			"the model's server at %s failed%s: try again later; its log may say why", s.place, about)
	}
	e.unknown = mayTakeAnotherForm(f.Status) || e.Kind == Rejected && f.Named(sent.fields) != ""
	return e
}

// mayTakeAnotherForm reports whether a server that refuses with this status may take another form of the request.
func mayTakeAnotherForm(status int) bool {
	switch status {
	case 0, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

func (s speaker) tooLong(limit, asked int) *Error {
	says := ""
	if limit < failure.LeastWindow {
		limit = 0
	}
	if limit > 0 {
		says = fmt.Sprintf("; by the server's words it takes %d tokens (llm.window)", limit)
	}
	e := problem(TooLong, false, "the prompt is longer than the model %q takes: lower builder.max_tokens or "+
		"llm.max_tokens%s", s.model, says)
	e.limit = limit
	e.asked = asked
	return e
}

// describe returns the status and code in parentheses. A server may quote the key as a code.
func (s speaker) describe(f failure.Failure) string {
	var parts []string
	if f.Status != 0 {
		parts = append(parts, strconv.Itoa(f.Status))
	}
	if plainCode().MatchString(f.Code) && s.conceal(f.Code) == f.Code {
		parts = append(parts, f.Code)
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// conceal removes the key and the values of headers, which may be keys, from what a server says.
func (s speaker) conceal(said string) string {
	for _, secret := range s.secrets {
		said = strings.ReplaceAll(said, secret, "…")
	}
	return said
}

// clean returns a server's message without secrets, short and on one line.
func (s speaker) clean(message string) string {
	message = s.conceal(message)
	message = strings.Join(strings.Fields(strings.ToValidUTF8(message, "")), " ")
	cut := text.Cut(message, 200)
	if cut != message {
		return cut + "…"
	}
	return message
}

// inFull adds the server's own words, which are harmless if the prompt was Hark's.
func inFull(err error) error {
	e, is := errors.AsType[*Error](err)
	if !is {
		return err
	}
	full := *e
	text, refused := strings.CutSuffix(full.text, askDoctor)
	switch {
	case refused && e.said == "":
		full.text = text + " and doesn't say why: its log may"
	case refused:
		full.text = text + " and says " + strconv.Quote(e.said) + ": its log and its documentation may say more"
	case e.said != "":
		full.text += "; it says: " + e.said
	}
	return &full
}

// askDoctor ends errors about requests that a server refuses: its words may quote the prompt.
const askDoctor = `: "hark doctor" shows what it says`
