// Package imports turns files of conversations into memory's events: channel exports of DiscordChatExporter
// as JSON, and recall sets.
//
// It reads files of any size in bounded memory. Reading one twice is the same as reading it once. An import changes
// nothing that Discord has told since. What a truncated file holds is kept. A file's content tells its format.
package imports

import (
	"context"
	"fmt"
	"io"

	"hark/memory"
)

// Kind is the format of a file.
type Kind string

// The kinds of file that can be read.
const (
	DiscordExport Kind = "DiscordChatExporter export"
	RecallSet     Kind = "recall set"
)

// Summary counts what a file held. Duplicate messages count twice.
type Summary struct {
	Kind         Kind
	Channels     int
	Messages     int
	Questions    int    // of a recall set; they are not imported
	Answers      int    // of Hark's own; they are not imported
	Skipped      int    // messages that could not be read
	FirstSkipped string // where the first of them is and what it lacks; empty if none was skipped
	Direct       int    // of the channels those that are direct messages
	Notices      int    // of the messages Discord's notices, which aren't found
	Zoneless     int    // messages whose time has no zone; it was taken as UTC
}

// Known is the part of memory.Store that reading asks, so that an import doesn't give two messages one id or
// replace newer names by older ones.
type Known interface {
	memory.ExternalIDs
	People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
}

// Read reads a file, plain or gzipped, and passes its events to emit in batches of about 500, channels and people
// before what was said there. emit must apply a batch before it returns; the slice is reused. progress, if not nil,
// is called now and then with how many bytes of r were read.
//
// A file that is damaged or of another kind gives an error that says what to do; the Summary counts what was emitted
// before. Single messages without an id or a time are skipped and counted.
func Read(ctx context.Context, r io.Reader, known Known, emit func([]memory.Event) error,
	progress func(bytes int64)) (Summary, error) {
	src, err := open(r)
	if err != nil {
		return Summary{}, err
	}
	kind, err := detect(src)
	if err != nil {
		return Summary{}, err
	}
	b := &batch{
		known:    known,
		emit:     emit,
		sum:      Summary{Kind: kind},
		channels: map[memory.ChannelID]bool{},
		told:     map[memory.Membership]memory.MessageID{},
		people:   map[memory.GuildID]map[memory.UserID]memory.Person{},
		read: func() {
			if progress != nil {
				progress(src.raw.n)
			}
		},
	}
	if kind == DiscordExport {
		err = readExport(ctx, src, b)
	} else {
		err = readSet(ctx, src, b)
	}
	if ctx.Err() != nil {
		return b.sum, ctx.Err()
	}
	if b.failed {
		return b.sum, err
	}
	if flushed := b.flush(ctx); flushed != nil {
		return b.sum, flushed
	}
	if s := b.sum; err == nil && s.Messages+s.Answers == 0 && s.Skipped > 0 {
		err = fmt.Errorf("none of the file's messages could be read; the first: %s", s.FirstSkipped)
	}
	return b.sum, err
}
