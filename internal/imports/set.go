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

// Set is a recall set: conversations, and questions with the messages that answer them, by its own ids.
type Set struct {
	Messages  map[string]map[string]string // the author of each, or "", by channel and id
	Questions []SetQuestion
}

// SetQuestion is a question about a recall set's channel.
type SetQuestion struct {
	Channel  string
	ID       string
	Text     string
	Time     time.Time // when it is asked
	Evidence []string  // ids of the messages that answer it
}

// setLine is a line of the file.
type setLine struct {
	Type     text     `json:"type"`
	Channel  text     `json:"channel"`
	ID       text     `json:"id"`
	Author   text     `json:"author"`
	Time     text     `json:"time"`
	Text     text     `json:"text"`
	ReplyTo  textList `json:"reply_to"`
	Evidence textList `json:"evidence"`
	exportedLine
}

// ReadSet reads a recall set, plain or gzipped. Unlike Read it skips nothing: a measurement needs all of it.
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
	set := Set{Messages: map[string]map[string]string{}}
	err = eachLine(src, func(number int, l setLine) error {
		at, err := l.check()
		if err != nil {
			return fmt.Errorf("line %d %w", number, err)
		}
		channel := string(l.Channel)
		id := string(l.ID)
		if l.Type == "question" {
			set.Questions = append(set.Questions, SetQuestion{channel, id, string(l.Text), at, texts(l.Evidence)})
			return nil
		}
		if set.Messages[channel] == nil {
			set.Messages[channel] = map[string]string{}
		}
		set.Messages[channel][id] = strings.TrimSpace(string(l.Author))
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
		if l.Type == "question" {
			b.sum.Questions++
			return nil
		}
		at, err := l.check()
		switch {
		case err != nil:
			return b.skip("line %d %v", number, err)
		case l.Server != "":
			return b.exported(ctx, number, l)
		}
		id, err := messageID(at, string(l.ID))
		if err != nil {
			return b.skip("line %d has %v", number, err)
		}
		return b.setMessage(ctx, l, id)
	})
}

func (b *batch) setMessage(ctx context.Context, l setLine, id memory.MessageID) error {
	p := &post{name: string(l.ID), Message: memory.Message{
		ID:      id,
		Guild:   memory.LocalGuild,
		Channel: ChannelID(string(l.Channel)),
		Kind:    memory.FromSystem,
		Content: string(l.Text),
	}}
	b.channel(memory.Channel{
		ID:    p.Channel,
		Guild: memory.LocalGuild,
		Kind:  memory.LocalChannel,
		Name:  string(l.Channel),
	})
	if author := strings.TrimSpace(string(l.Author)); author != "" {
		p.Kind = memory.FromMember
		p.people = []memory.Person{{ID: UserID(author), Guild: memory.LocalGuild, Username: author}}
	}
	for _, name := range l.ReplyTo {
		if name != l.ID { // in annotated chat logs the first of a conversation replies to itself
			p.answers = append(p.answers, string(name))
		}
	}
	return b.post(ctx, p)
}

// check returns the line's time, or an error that names what is missing.
func (l setLine) check() (time.Time, error) {
	switch {
	case l.Type != "message" && l.Type != "question":
		return time.Time{}, errors.New("is neither a message nor a question")
	case l.Channel == "":
		return time.Time{}, errors.New("has no channel")
	case l.ID == "":
		return time.Time{}, errors.New("has no id")
	}
	at := timeOf(l.Time)
	if at.IsZero() {
		return at, errors.New("has no time of the form 2024-05-31T12:00:00Z")
	}
	return at, nil
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
		line = bytes.TrimSpace(line)
		if len(line) > 0 {
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
	_, ill := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil, ill: // a field of the wrong type is missing; check knows whether it is needed
		return l, nil
	case bytes.IndexByte(line, 0) >= 0:
		return l, fmt.Errorf("line %d: %w", number, errNUL)
	case last && err.Error() == "unexpected end of JSON input": // it is a *json.SyntaxError as all are
		return l, damaged(io.ErrUnexpectedEOF, fmt.Sprintf("in line %d", number))
	}
	return l, fmt.Errorf("line %d is not JSON (%v): correct it; %s", number, err, kept)
}
