// Package failure reads the errors of model servers and says what they mean. It knows the words of many servers and
// asks none. Begin with Read, then the methods of Failure.
package failure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Failure is an error as a server tells it. Its message may hold anything, also the prompt and the key.
type Failure struct {
	Status  int    // of HTTP; 0 if the server doesn't say
	Code    string // such as "context_length_exceeded"
	Message string
	Fields  []string // those of the request that the server names apart from the message

	limit int // tokens that the server takes, if it has a field for them
	asked int // tokens that the server counted, if it has a field for them
}

func (f Failure) Error() string { return "the server tells of an error" }

// Read returns the error in raw, in any of the usual forms, and whether there is one.
func Read(raw []byte) (f Failure, is bool) {
	is = f.read(raw, 0)
	return f, is
}

// maxWords bounds how much of a message is looked at, in bytes.
const maxWords = 64 << 10

// inWords returns the message without the request, which some servers repeat in it: that names all fields and holds
// everybody's words.
func (f Failure) inWords() string {
	said := f.Message[:min(len(f.Message), maxWords)]
	from := strings.IndexByte(said, '{')
	if from < 0 || !strings.Contains(said, `"messages"`) && !strings.Contains(said, `'messages'`) {
		return said
	}
	request := json.NewDecoder(strings.NewReader(said[from:]))
	var skipped json.RawMessage
	err := request.Decode(&skipped)
	if err != nil { // it is cut off, or no JSON
		return said[:from]
	}
	return said[:from] + said[from+int(request.InputOffset()):]
}

// IsGiven reports whether a field that tells of errors does so: servers write null, {}, "" and the like for none.
func IsGiven(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "{}", "[]", `""`, "false", "0":
		return false
	}
	return true
}

// deepest bounds how many errors are read within each other.
const deepest = 8

// wire is an error in the fields of all servers.
type wire struct {
	Error   json.RawMessage
	Errors  json.RawMessage
	Message json.RawMessage
	Msg     json.RawMessage
	Said    json.RawMessage `json:"error_msg"`
	Detail  json.RawMessage
	Type    json.RawMessage
	Status  json.RawMessage
	Code    json.RawMessage
	Param   json.RawMessage
	About   json.RawMessage `json:"metadata"`
	Limit   json.RawMessage `json:"n_ctx"` // as llama.cpp writes it
	Asked   json.RawMessage `json:"n_prompt_tokens"`
}

func (f *Failure) read(raw []byte, depth int) bool {
	if depth > deepest {
		return false
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		f.Message = text
		return text != ""
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return slices.ContainsFunc(list, func(item json.RawMessage) bool { return f.read(item, depth+1) })
	}
	var w wire
	if json.Unmarshal(raw, &w) != nil {
		return false
	}
	f.addFields(w)
	if IsGiven(w.Error) && f.read(w.Error, depth+1) {
		return true
	}
	if IsGiven(w.Errors) && f.read(w.Errors, depth+1) {
		return true
	}
	f.addWords(w)
	f.addCode(w)
	f.addInner(w, depth)
	return f.Message != "" || f.Code != "" || f.Status != 0
}

// addFields takes the numbers, and the fields of the request that are named.
func (f *Failure) addFields(w wire) {
	f.limit, _ = strconv.Atoi(word(w.Limit)) // 0 if it's no number
	f.asked, _ = strconv.Atoi(word(w.Asked))
	var param string
	if json.Unmarshal(w.Param, &param) == nil && param != "" {
		f.Fields = append(f.Fields, param)
	}
	f.Fields = append(f.Fields, locations(w.Detail, 0)...)
	f.Fields = append(f.Fields, locations(w.Message, 0)...)
}

func (f *Failure) addWords(w wire) {
	for _, field := range []json.RawMessage{w.Said, w.Msg, w.Detail, w.Message} {
		if IsGiven(field) {
			f.Message = words(field)
		}
	}
}

// addInner takes what the server behind this one said: OpenRouter puts that into "raw", and others put all of it into
// the message.
func (f *Failure) addInner(w wire, depth int) {
	var about struct{ Raw json.RawMessage }
	_ = json.Unmarshal(w.About, &about) // most say nothing about it
	outer := f.Message
	said := about.Raw
	if !IsGiven(said) {
		said = json.RawMessage(f.Message)
		outer = ""
	}
	if text := word(said); json.Valid([]byte(text)) {
		said = json.RawMessage(text)
	}
	var inner Failure
	if !inner.read(said, depth+1) || inner.Message == "" {
		return
	}
	f.Message = strings.TrimPrefix(outer+": "+inner.Message, ": ")
	f.Fields = append(f.Fields, inner.Fields...)
	f.Code = cmp.Or(f.Code, inner.Code)
	f.Status = cmp.Or(f.Status, inner.Status)
	f.limit = cmp.Or(f.limit, inner.limit)
	f.asked = cmp.Or(f.asked, inner.asked)
}

// addCode takes the code, and a status that is written in the body.
func (f *Failure) addCode(w wire) {
	for _, field := range []json.RawMessage{w.Status, w.Type, w.Code} {
		code := word(field)
		if code == "" || code == "error" || !IsGiven(field) {
			continue
		}
		n, err := strconv.Atoi(code)
		if err != nil {
			f.Code = code
			continue
		}
		f.Status = n
	}
}

// locations returns the last name of each "loc", by which FastAPI and its like say where a request is wrong.
func locations(raw json.RawMessage, depth int) (names []string) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, item := range list[:min(len(list), 20)] {
			names = append(names, locations(item, depth)...)
		}
		return names
	}
	var found struct {
		Loc    []any
		Detail json.RawMessage
	}
	if json.Unmarshal(raw, &found) != nil {
		return nil
	}
	for _, at := range slices.Backward(found.Loc) {
		if name, is := at.(string); is {
			names = append(names, name)
			break
		}
	}
	if len(found.Detail) > 0 && depth < deepest {
		names = append(names, locations(found.Detail, depth+1)...)
	}
	return names
}

// words returns a text, or else the texts that FastAPI and its like put into "msg", or else the JSON as it is written.
func words(raw json.RawMessage) string {
	var said []string
	collect(raw, &said, 0)
	if len(said) > 0 {
		return strings.Join(said, "; ")
	}
	return word(raw)
}

func collect(raw json.RawMessage, said *[]string, depth int) {
	if depth > deepest {
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, item := range list[:min(len(list), 20)] {
			collect(item, said, depth+1)
		}
		return
	}
	var found struct {
		Msg    string
		Detail json.RawMessage
	}
	_ = json.Unmarshal(raw, &found) // a text has neither
	if found.Msg != "" {
		*said = append(*said, found.Msg)
	}
	if len(found.Detail) > 0 {
		collect(found.Detail, said, depth+1)
	}
}

// word returns a JSON string's text; anything else as it is written.
func word(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return strings.TrimSpace(string(raw))
}
