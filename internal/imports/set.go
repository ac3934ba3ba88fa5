package imports

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hark/memory"
)

// Set is a recall set: conversations, and questions about them with the messages that answer them.
type Set struct {
	Messages  []SetMessage
	Questions []SetQuestion
}

// SetMessage is a message of a recall set. Its ids and names are the set's own.
type SetMessage struct {
	Channel string
	ID      string
	Author  string // empty for notices
	Time    time.Time
	Text    string
	ReplyTo []string // ids; only in annotated chat logs, where the first of a conversation replies to itself
	Thread  string   // the conversation it belongs to; only in annotated chat logs
}

// SetQuestion is a question about a channel of a recall set.
type SetQuestion struct {
	Channel  string
	ID       string
	Text     string
	Time     time.Time // when it is asked
	Category string
	Evidence []string // ids of the messages that answer it
}

// setLine is a line of the file.
type setLine struct {
	Type     text            `json:"type"`
	Channel  text            `json:"channel"`
	ID       text            `json:"id"`
	Author   text            `json:"author"`
	Time     text            `json:"time"`
	Text     text            `json:"text"`
	ReplyTo  []text          `json:"reply_to"`
	Thread   text            `json:"thread"`
	Category text            `json:"category"`
	Evidence []text          `json:"evidence"`
	Event    text            `json:"event"` // what kind of event Body is, in a line of that type
	Body     json.RawMessage `json:"body"`
	exportedLine
}

// ReadSet reads a whole recall set, plain or gzipped, into memory. Unlike Read it takes no message that it
// can't read: what is measured must be whole.
func ReadSet(r io.Reader) (Set, error) {
	src, err := open(r)
	if err != nil {
		return Set{}, err
	}
	kind, err := detect(src)
	if err == nil && kind != RecallSet {
		err = fmt.Errorf("the file is a %s, which holds no questions: expected is a recall set", kind)
	}
	if err != nil {
		return Set{}, err
	}
	var set Set
	err = eachLine(src, func(number int, l setLine) error {
		if l.Type == "event" { // it is about no message
			return nil
		}
		at, err := l.check()
		if err != nil {
			return fmt.Errorf("line %d %w", number, err)
		}
		if l.Type == "question" {
			set.Questions = append(set.Questions, SetQuestion{
				Channel: string(l.Channel), ID: string(l.ID), Text: string(l.Text), Time: at,
				Category: string(l.Category), Evidence: texts(l.Evidence),
			})
			return nil
		}
		set.Messages = append(set.Messages, l.message(at))
		return nil
	})
	return set, err
}

// readSet reads a recall set into b.
func readSet(ctx context.Context, src *source, b *batch) error {
	return eachLine(src, func(number int, l setLine) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch l.Type {
		case "question":
			b.sum.Questions++
			return nil
		case "event":
			return b.event(ctx, number, l)
		}
		at, err := l.check()
		if err != nil {
			b.skip(fmt.Sprintf("line %d %v", number, err))
			return nil
		}
		if l.Server != "" {
			return b.exported(ctx, number, l)
		}
		m := l.message(at)
		id, err := messageID(at, m.ID)
		if err != nil {
			b.skip(fmt.Sprintf("line %d has a %v", number, err))
			return nil
		}
		return b.setMessage(ctx, m, id)
	})
}

func (b *batch) setMessage(ctx context.Context, m SetMessage, id memory.MessageID) error {
	p := &post{name: m.ID, Message: memory.Message{
		ID: id, Guild: memory.LocalGuild, Channel: ChannelID(m.Channel), Kind: memory.FromSystem, Content: m.Text,
	}}
	b.channel(memory.Channel{ID: p.Channel, Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: m.Channel})
	if m.Author != "" {
		p.Author, p.Kind = UserID(m.Author), memory.FromMember
		err := b.person(ctx, memory.Person{ID: p.Author, Guild: memory.LocalGuild, Username: m.Author}, id)
		if err != nil {
			return err
		}
	}
	for _, name := range m.ReplyTo {
		if name != m.ID {
			p.answers = append(p.answers, name)
		}
	}
	return b.post(ctx, p)
}

// check says what a line lacks, and when it was said.
func (l setLine) check() (time.Time, error) {
	switch {
	case l.Type != "message" && l.Type != "question":
		return time.Time{}, errors.New("is neither a message nor a question")
	case l.Channel == "":
		return time.Time{}, errors.New("has no channel")
	case l.ID == "":
		return time.Time{}, errors.New("has no id")
	}
	at, err := time.Parse(time.RFC3339, string(l.Time))
	if err != nil {
		return time.Time{}, errors.New("has no time of the form 2024-05-31T12:00:00Z")
	}
	return at.UTC(), nil
}

func (l setLine) message(at time.Time) SetMessage {
	return SetMessage{
		Channel: string(l.Channel), ID: string(l.ID), Author: strings.TrimSpace(string(l.Author)), Time: at,
		Text: string(l.Text), ReplyTo: texts(l.ReplyTo), Thread: string(l.Thread),
	}
}

// eachLine calls do for each line of the file.
func eachLine(src *source, do func(number int, l setLine) error) error {
	for number := 1; ; number++ {
		src.item()
		line, err := src.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return damaged(err, fmt.Sprintf("in line %d", number))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			l, err := parseLine(line, number, last)
			if err != nil {
				return err
			}
			if err := do(number, l); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

func parseLine(line []byte, number int, last bool) (setLine, error) {
	var l setLine
	err := json.Unmarshal(line, &l)
	var ill *json.UnmarshalTypeError
	switch {
	case err == nil, errors.As(err, &ill):
		// What has another type than it should is missing: check finds out whether it is needed.
		return l, nil
	case bytes.IndexByte(line, 0) >= 0:
		return l, fmt.Errorf("line %d: %w", number, errNUL)
	case last && err.Error() == "unexpected end of JSON input": // it is a *json.SyntaxError as all are
		return l, damaged(io.ErrUnexpectedEOF, fmt.Sprintf("in line %d", number))
	}
	return l, fmt.Errorf("line %d is not JSON (%v): correct it; %s", number, err, kept)
}
