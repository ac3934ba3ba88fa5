package reply

import (
	"context"
	"fmt"
	"net/http"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/internal/answer"
	"hark/memory"
)

// Attached returns the files of a known message, and of the one it replies to, with fresh addresses, and the latter
// itself if it isn't logged; nothing if Hark can't read the history.
func (r *Replier) Attached(ctx context.Context, m memory.Message) ([]discord.Attachment, *ingest.Unlogged, error) {
	w, err := r.Client.Message(ctx, m.Channel, m.ID)
	switch {
	case discord.Status(err) == http.StatusNotFound:
		return nil, nil, QuestionGone
	case discord.Status(err) == http.StatusForbidden:
		return nil, nil, nil
	case err != nil:
		return nil, nil, discord.Wrap(err, fmt.Sprintf("look up the files of message %d in channel", m.ID), m.Channel)
	}
	all := discord.AttachmentsOf(w, m.ID)
	if m.ReplyTo == 0 || w.Referenced == nil {
		return all, nil, nil
	}
	all = append(all, discord.AttachmentsOf(w.Referenced, m.ReplyTo)...)
	w.Guild = discord.Snowflake(m.Guild)
	w.Channel = discord.Snowflake(m.Channel)
	return all, r.Filler.Unlogged(w), nil
}

// files returns a question's files for the Answerer.
func (r *Replier) files(a *ingest.Question) []answer.File {
	var files []answer.File
	for _, f := range a.Files {
		files = append(files, answer.File{
			Name:        memory.Clean(f.Filename),
			Description: memory.Clean(f.Description),
			Type:        f.ContentType,
			Size:        f.Size,
			Message:     f.Message,
			Load:        func(ctx context.Context, most int) ([]byte, error) { return r.Client.File(ctx, f, most) },
		})
	}
	return files
}
