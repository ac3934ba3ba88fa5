package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
)

// expected ends the sentence about a file of another kind.
const expected = "expected is a channel export of DiscordChatExporter as JSON (--format Json) or a recall set (JSON lines of type message and question)"

var (
	errEmpty   = errors.New("the file is empty: " + expected)
	errNotJSON = errors.New("the file is not JSON: " + expected)
	errOther   = errors.New("the file is JSON of another kind: " + expected)
	errHTML    = errors.New("the file is HTML: export the channel as JSON instead (DiscordChatExporter's --format Json)")
	errCSV     = errors.New("the file is a CSV export: export the channel as JSON instead (DiscordChatExporter's --format Json)")
	errText    = errors.New("the file is a plain text export: export the channel as JSON instead (DiscordChatExporter's --format Json)")
	errSQLite  = errors.New("the file is a SQLite database: \"hark restore\" puts a backup of Hark's back, and import takes channel exports of DiscordChatExporter as JSON (--format Json) and recall sets")
	errNUL     = errors.New("the file holds NUL bytes, so it is damaged or not text: fetch it again; " + expected)
)

// detect tells what the file is, without consuming any of it.
func detect(src *source) (Kind, error) {
	peek, err := src.Peek(peekSize)
	if err != nil && !errors.Is(err, io.EOF) && len(peek) == 0 {
		return "", damaged(err, "at its very start")
	}
	head := bytes.TrimLeftFunc(peek, unicode.IsSpace)
	if len(head) == 0 {
		return "", errEmpty
	}
	if head[0] != '{' {
		return "", foreign(head)
	}
	kind, err := kindOf(json.NewDecoder(bytes.NewReader(head)))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		if len(peek) == peekSize {
			return "", errOther
		}
		return "", damaged(err, "before it shows what it is")
	}
	return kind, err
}

// foreign says what a file is that doesn't begin as the expected ones do.
func foreign(head []byte) error {
	start := strings.ToLower(string(head[:min(len(head), 512)]))
	switch {
	case strings.HasPrefix(start, "sqlite format 3\x00"):
		return errSQLite
	case strings.HasPrefix(start, "<"):
		return errHTML
	case strings.HasPrefix(strings.ReplaceAll(start, `"`, ""), "authorid,author,date"):
		return errCSV
	case strings.HasPrefix(start, "=====") && strings.Contains(start, "guild:"):
		return errText
	case strings.IndexByte(start, 0) >= 0:
		return errNUL
	case start[0] == '[':
		return errOther
	}
	return errNotJSON
}

// kindOf looks at the first object's keys until they tell what the file is.
func kindOf(dec *json.Decoder) (Kind, error) {
	if _, err := dec.Token(); err != nil {
		return "", unexpected(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", unexpected(err)
		}
		if key == "guild" || key == "messages" {
			return DiscordExport, nil
		}
		value, err := dec.Token()
		if err != nil {
			return "", unexpected(err)
		}
		_, text := value.(string)
		switch {
		case key == "channel" && value == json.Delim('{'):
			return DiscordExport, nil
		case key == "channel" && text, key == "type" && (value == "message" || value == "question" || value == "event"):
			return RecallSet, nil
		case key == "type":
			return "", errOther
		}
		if err := skipRest(dec, value); err != nil {
			return "", unexpected(err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return "", unexpected(err)
	}
	return "", errOther
}

// skipRest passes over the rest of a value that begins with token.
func skipRest(dec *json.Decoder, token json.Token) error {
	for depth := 0; ; {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if token, err = dec.Token(); err != nil {
			return err
		}
	}
}

// unexpected tells a file that isn't JSON from one that is cut off.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	return errNotJSON
}
