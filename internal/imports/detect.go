package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
)

// expected ends the error about a file of another kind.
const expected = "expected is a channel export of DiscordChatExporter as JSON (--format Json) or a recall set (JSON lines of type message and question)"

// asJSON ends the sentence about an export of another form.
const asJSON = "export the channel as JSON instead (DiscordChatExporter's --format Json)"

var (
	errNotJSON = errors.New("the file is not JSON: " + expected)
	errOther   = errors.New("the file is JSON of another kind: " + expected)
	errNUL     = errors.New("the file holds NUL bytes, so it is damaged or not text: fetch it again; " + expected)
)

// detect returns the file's kind without consuming any of it.
func detect(src *source) (Kind, error) {
	peek, err := src.Peek(peekSize)
	if err != nil && !errors.Is(err, io.EOF) && len(peek) == 0 {
		return "", damaged(err, "at its very start")
	}
	head := bytes.TrimLeftFunc(peek, unicode.IsSpace)
	if len(head) == 0 {
		return "", errors.New("the file is empty: " + expected)
	}
	if head[0] != '{' {
		return "", foreign(head)
	}
	kind, err := kindOf(json.NewDecoder(bytes.NewReader(head)))
	switch cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); {
	case cut && len(peek) < peekSize:
		return "", damaged(io.ErrUnexpectedEOF, "before it shows what it is")
	case err != nil && !cut:
		return "", errNotJSON
	case kind == "":
		return "", errOther
	}
	return kind, nil
}

// foreign returns an error that names the format of an unknown file.
func foreign(head []byte) error {
	start := strings.ToLower(string(head[:min(len(head), 512)]))
	switch {
	case strings.HasPrefix(start, "sqlite format 3\x00"):
		return errors.New(`the file is a SQLite database: "hark restore" puts a backup of Hark's back, and ` +
			`import takes channel exports of DiscordChatExporter as JSON (--format Json) and recall sets`)
	case strings.HasPrefix(start, "pk\x03\x04"):
		return errZip
	case strings.HasPrefix(start, "<"):
		return errors.New("the file is HTML: " + asJSON)
	case strings.HasPrefix(start, "id,timestamp,contents"):
		return errPackage
	case strings.HasPrefix(strings.ReplaceAll(start, `"`, ""), "authorid,author,date"):
		return errors.New("the file is a CSV export: " + asJSON)
	case strings.HasPrefix(start, "=====") && strings.Contains(start, "guild:"):
		return errors.New("the file is a plain text export: " + asJSON)
	case strings.IndexByte(start, 0) >= 0:
		return errNUL
	case start[0] == '[':
		return listOf(head)
	}
	return errNotJSON
}

// Exports of other programs, by their sentence: it is the same for each of an export's files.
var (
	errZip   = errors.New("the file is a zip: unpack it, and import the folder that is in it")
	errSlack = errors.New("the file is of a Slack export, which Hark can't read: convert it to a recall set, " +
		"whose form docs/coming-from.md shows")
	errPackage = errors.New("the file is of the data package that Discord sends, which has only your own messages: " +
		"export the channels with DiscordChatExporter instead")
)

// listOf returns an error that names the export of whose files a JSON list is one, by its first object.
func listOf(head []byte) error {
	dec := json.NewDecoder(bytes.NewReader(head))
	_, err := dec.Token()
	var first map[string]json.RawMessage
	if err == nil && dec.More() {
		err = dec.Decode(&first)
	}
	has := func(keys ...string) bool {
		for _, key := range keys {
			if first[key] == nil {
				return false
			}
		}
		return true
	}
	switch {
	case err != nil:
		return errOther
	case has("ts", "type"), has("team_id", "profile"), has("id", "created", "members"):
		return errSlack
	case has("ID", "Timestamp", "Contents"):
		return errPackage
	}
	return errOther
}

// kindOf reads the first object's keys until they show the kind; "" if they don't.
func kindOf(dec *json.Decoder) (Kind, error) {
	_, err := dec.Token()
	for err == nil && dec.More() {
		var key json.Token
		key, err = dec.Token()
		if err != nil {
			break
		}
		if key == "guild" || key == "messages" {
			return DiscordExport, nil
		}
		var value json.RawMessage
		err = dec.Decode(&value)
		if err != nil {
			break
		}
		switch word := string(value); {
		case key == "channel" && word[0] == '{':
			return DiscordExport, nil
		case key == "channel" && word[0] == '"',
			key == "type" && (word == `"message"` || word == `"question"`):
			return RecallSet, nil
		case key == "type":
			return "", nil
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	return "", err
}
