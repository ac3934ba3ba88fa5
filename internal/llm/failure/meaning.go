package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"hark/internal/pattern"
)

// Says reports whether the message has one of phrases, which are in lower case.
func (f Failure) Says(phrases ...string) bool {
	message := strings.ToLower(f.inWords())
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(message, phrase) })
}

// filteredSaid matches how servers say that a filter of theirs refuses a prompt or an answer for what is said in it.
var filteredSaid = pattern.Of(`(?i)content[ _-](?:management |filter|policy|safety|violation)|content_?filter` +
	`|inappropriate content|prohibited[ _]content|data[ _]?inspection|responsible ?ai` +
	`|(?:flagged|blocked|filtered|refused|rejected)[^.]{0,60}(?:moderation|safety|policy|usage policies)`)

// IsFiltered reports whether a filter of the server refuses what is said: no other form of the request helps.
func (f Failure) IsFiltered() bool {
	return filteredSaid().MatchString(f.Code) || filteredSaid().MatchString(f.inWords())
}

// HasNoCredit reports whether the account can't pay.
func (f Failure) HasNoCredit() bool {
	return f.Status == http.StatusPaymentRequired || f.Code == "insufficient_quota"
}

// badKeySaid matches how servers refuse a key with another status than 401. Google does so with 400.
var badKeySaid = pattern.Of(`(?i)\bapi[ _-]?key\b[^.]{0,40}\b(?:not valid|invalid|incorrect|expired|isn't valid|not found|missing)` +
	`|\b(?:invalid|incorrect|expired|missing|no) api[ _-]?key|API_KEY_INVALID`)

// HasBadKey reports whether the server refuses the key.
func (f Failure) HasBadKey() bool {
	if f.Status == http.StatusUnauthorized {
		return true
	}
	mayBe := f.Status == http.StatusBadRequest || f.Status == http.StatusForbidden
	return mayBe && (badKeySaid().MatchString(f.inWords()) || f.Code == "invalid_api_key")
}

// HasNoModel reports whether the server lacks the model.
func (f Failure) HasNoModel() bool {
	if f.Code == "model_not_found" {
		return true
	}
	if f.Status == http.StatusBadRequest && slices.Contains(f.Fields, "model") && !f.Says("support") {
		return true
	}
	return (f.Status == http.StatusNotFound || f.Status == http.StatusBadRequest) && f.Says("model") &&
		f.Says("not found", "not exist", "not a valid model", "unknown model", "not available")
}

// nothingHere matches what servers say of an address where there is nothing.
var nothingHere = pattern.Of(`(?i)^\s*(?:404\b.*)?(?:page |file |path |resource |url |route |endpoint )?(?:could )?(?:not (?:be )?found)?\W*$` +
	`|cannot (?:get|post)|not found on this server|requested (?:url|resource)|unexpected endpoint|no route|invalid url|unknown request url`)

// HasWrongAddress reports whether there is nothing at the address. Some servers refuse a request with 404 for another
// reason.
func (f Failure) HasWrongAddress() bool {
	if f.Status == http.StatusMethodNotAllowed {
		return true
	}
	return f.Status == http.StatusNotFound && (nothingHere().MatchString(f.inWords()) || f.Code == "text/html")
}

// IsLoading reports whether the server is still loading the model.
func (f Failure) IsLoading() bool {
	return (f.Status == http.StatusServiceUnavailable || f.Status == 0) &&
		f.Says("loading model", "model is loading", "is currently loading", "still loading", "being loaded")
}

// IsCrowded reports whether the server ended an answer because those that it was writing together took more room than
// it has. llama.cpp and LM Studio share one room among answers.
func (f Failure) IsCrowded() bool {
	return f.Says("context size has been exceeded", "context size exceeded", "kv cache is full",
		"failed to find free space in the kv cache", "could not find a kv slot")
}

// badTextSaid matches how servers say that they can't read what their own model wrote.
var badTextSaid = pattern.Of(`(?i)does not match the expected [a-z-]+ format|unexpected empty grammar stack` +
	`|function could not be called|failed to (?:parse|call) (?:a |the )?(?:tool|function|model|output|input at pos)` +
	`|(?:tool|function) call(?:s)?(?: validation)? (?:parsing )?failed|parse error.{0,40}tool call|failed_generation`)

// TornCall is the code of a failure whose server ended the answer because it can't read the model's call of a tool.
const TornCall = "malformed_function_call"

// IsOfText reports whether the server can't read what its model wrote: another text may be better.
func (f Failure) IsOfText() bool {
	return f.Code == "tool_use_failed" || f.Code == TornCall || badTextSaid().MatchString(f.inWords())
}

// noToolsSaid matches how servers say that a model can't or may not call tools. It counts only if tools were sent.
var noToolsSaid = pattern.Of(
	`(?i)(?:(?:not|n't) support|endpoints found that support)[^.]{0,40}\b(?:tools?|functions?)\b` +
		`|\b(?:tools?|functions?)['"` + "`" + `]?(?: (?:use|calls?|calling|choice))?['"` + "`" +
		`]? (?:parameter )?(?:is|are) (?:not|un)[ -]?(?:supported|enabled|available|allowed)` +
		`|unsupported (?:param|parameter|value):? ?['"` + "`" + `]?(?:tools|functions)` +
		`|tool calling with this model[^.]{0,60}requires the Responses API` +
		`|--enable-auto-tool-choice|--tool-call-parser|--jinja|cannot use tools`)

// TakesNoTools reports whether the model, or its server, refuses tools.
func (f Failure) TakesNoTools() bool {
	return f.isOfRequest() && noToolsSaid().MatchString(f.inWords())
}

// noImagesSaid matches how servers say that a model can't see. It counts only if images were sent.
var noImagesSaid = pattern.Of(
	`(?i)(?:(?:not|n't) support|endpoints found that support)[^.]{0,40}\b(?:images?|image_url|vision|multi-?modal)\b` +
		`|\b(?:images?|image_url|vision|multi-?modal)['"` + "`" +
		`]?(?: (?:inputs?|content|type))? (?:is|are) (?:not|un)[ -]?(?:supported|enabled|available|allowed)` +
		`|data required for image input|image_url is only supported|not a multi-?modal model|at most 0 image|mmproj` +
		`|(?:unknown variant|unsupported content type|invalid content type)[^.]{0,40}image_url` +
		`|content must be a string|input should be a valid string`)

// TakesNoImages reports whether the model can't see.
func (f Failure) TakesNoImages() bool {
	return f.isOfRequest() && noImagesSaid().MatchString(f.inWords())
}

// isOfRequest reports whether the status allows that something of the request is refused. llama.cpp and Ollama refuse
// with 500, OpenRouter with 404, the others with 400.
func (f Failure) isOfRequest() bool {
	switch f.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return true
}

// plainField matches how a field is named whose name is also a word.
const plainField = `["'` + "`" + `](?:%s)["'` + "`" + `]` +
	`|\b(?:field|parameter|param|argument|propert(?:y|ie)|key|option|input|name)s?:? ` +
	`(?:\w+(?:,| and) ){0,9}(?:%s)\b` +
	`|\b(?:%s) (?:field|parameter|param|argument|property|option` +
	`|is not|isn't|not permitted|is unsupported|unsupported|is unknown)`

// likeness is a message's words that differ from one refusal for a reason to the next: with a digit, such as the number
// of a request or the time.
var likeness = pattern.Of(`[\w:.+-]*\d[\w:.+-]*`)

// Likeness returns what two refusals for the same reason have in common. It holds no words of the message.
func (f Failure) Likeness() string {
	words := likeness().ReplaceAllString(f.inWords(), "")
	sum := sha256.Sum256([]byte(words + "\n" + f.Code))
	return hex.EncodeToString(sum[:])
}

// Named returns which of the names of fields that were sent the failure names; empty if none.
func (f Failure) Named(sent []string) string {
	for _, named := range f.Fields {
		last := named[strings.LastIndexByte(named, '.')+1:]
		if at := slices.Index(sent, last); at >= 0 {
			return sent[at]
		}
	}
	if len(f.Fields) > 0 { // the message may quote all of the request
		return ""
	}
	longest := ""
	for _, name := range sent {
		if len(name) > len(longest) && f.names(name) {
			longest = name
		}
	}
	return longest
}

func (f Failure) names(field string) bool {
	message := f.inWords()
	if !strings.Contains(message, field) {
		return false
	}
	if strings.ContainsRune(field, '_') {
		return containsWord(message, field)
	}
	as := regexp.MustCompile(`(?i)` + strings.ReplaceAll(plainField, "%s", regexp.QuoteMeta(field)))
	return as.MatchString(message)
}

// containsWord reports whether text has word with no letter, digit or underscore beside it.
func containsWord(text, word string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		start := from + at
		end := start + len(word)
		if (start == 0 || !isWordByte(text[start-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = end
	}
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}
