package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"hark/internal/answer"
	"hark/memory"
)

// attachment is a file that came with a question, or with what it replies to. Its address expires within a day, and is
// neither kept nor logged.
type attachment struct {
	wireFile
	message memory.MessageID
}

// attachmentsOf are the files of a message, and of those that it forwards.
func attachmentsOf(w *wireMessage, id memory.MessageID) []attachment {
	var all []attachment
	for _, f := range w.Attachments {
		all = append(all, attachment{f, id})
	}
	for i := range w.Snapshots {
		all = append(all, attachmentsOf(&w.Snapshots[i].Message, id)...)
	}
	return all
}

// attached are the files of a message that is known already, and of the one that it replies to, with
// addresses that hold now. Where Hark mayn't read what was said before there are none.
func (b *Bot) attached(ctx context.Context, m memory.Message) ([]attachment, error) {
	w, err := b.fetchMessage(ctx, m.Channel, m.ID)
	switch {
	case status(err) == http.StatusNotFound:
		return nil, questionGone
	case status(err) == http.StatusForbidden:
		return nil, nil
	case err != nil:
		return nil, wrap(err, fmt.Sprintf("look up the files of message %d in channel", m.ID), m.Channel)
	}
	all := attachmentsOf(w, m.ID)
	if m.ReplyTo != 0 && w.Referenced != nil {
		all = append(all, attachmentsOf(w.Referenced, m.ReplyTo)...)
	}
	return all, nil
}

// fetchMessage is a message as Discord has it now.
func (b *Bot) fetchMessage(ctx context.Context, channel memory.ChannelID, id memory.MessageID) (*wireMessage, error) {
	t, w := &thread{client: b.rest, channel: channel}, &wireMessage{}
	return w, t.of(ctx, http.MethodGet, id, nil, w)
}

// files are those of a question as the answer may use them.
func (b *Bot) files(a *ask) []answer.File {
	var files []answer.File
	for _, f := range a.files {
		files = append(files, answer.File{
			Name: memory.Clean(f.Filename), Description: memory.Clean(f.Description), Type: f.ContentType, Size: f.Size, Message: f.message,
			Load: func(ctx context.Context, most int) ([]byte, error) { return b.fetcher.fetch(ctx, f.URL, most) },
		})
	}
	return files
}

// fetcher fetches files from Discord, and from nobody else: whoever can write can name an address.
type fetcher struct{ client *http.Client }

// fileHosts are where Discord has files.
var fileHosts = map[string]bool{"cdn.discordapp.com": true, "media.discordapp.net": true}

// mostRedirects is how often Discord may send us from one of its hosts to another.
const mostRedirects = 3

var errElsewhere = errors.New("the file isn't at Discord")

// newFetcher asks by next, and tells nobody the token.
func newFetcher(next http.RoundTripper) *fetcher {
	return &fetcher{&http.Client{
		Transport: next,
		Timeout:   requestTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > mostRedirects || !isFileURL(r.URL) {
				return errElsewhere
			}
			return nil
		},
	}}
}

// isFileURL reports whether u is of a file that Discord has.
func isFileURL(u *url.URL) bool {
	return u.Scheme == "https" && u.User == nil && fileHosts[u.Host]
}

// fetch is a file of at most most bytes. Its errors never hold its address.
func (f *fetcher) fetch(ctx context.Context, address string, most int) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || !isFileURL(u) {
		return nil, errElsewhere
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errElsewhere
	}
	got, err := f.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("fetch a file: %w", redact(err))
	}
	defer got.Body.Close()
	switch {
	case got.StatusCode == http.StatusNotFound || got.StatusCode == http.StatusForbidden ||
		got.StatusCode == http.StatusGone:
		return nil, answer.ErrFileGone // an address that has expired is forbidden or not found
	case got.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("fetch a file: HTTP %d", got.StatusCode)
	case got.ContentLength > int64(most):
		return nil, answer.ErrFileTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(got.Body, int64(most)+1))
	if err != nil {
		return nil, fmt.Errorf("fetch a file: %w", redact(err))
	}
	if len(data) > most {
		return nil, answer.ErrFileTooLarge
	}
	return data, nil
}
