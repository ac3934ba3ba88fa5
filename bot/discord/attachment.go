package discord

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

// Attachment is a file that came with a question, or with what it replies to. Its address expires within a day, and is
// neither kept nor logged.
type Attachment struct {
	wireFile
	Message memory.MessageID
}

// AttachmentsOf are the files of a message, and of those that it forwards.
func AttachmentsOf(w *Message, id memory.MessageID) []Attachment {
	var all []Attachment
	for _, f := range w.Attachments {
		all = append(all, Attachment{f, id})
	}
	for i := range w.Snapshots {
		all = append(all, AttachmentsOf(&w.Snapshots[i].Message, id)...)
	}
	return all
}

// fetcher fetches files from Discord, and from nobody else: whoever can write can name an address.
type fetcher struct{ client *http.Client }

// fileHosts are where Discord has files.
var fileHosts = map[string]bool{"cdn.discordapp.com": true, "media.discordapp.net": true}

// maxRedirects is how often Discord may send us from one of its hosts to another.
const maxRedirects = 3

var errNotDiscord = errors.New("the file isn't at Discord")

// newFetcher asks by next, and tells nobody the token.
func newFetcher(next http.RoundTripper) *fetcher {
	return &fetcher{&http.Client{
		Transport: next,
		Timeout:   requestTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || !isFileURL(r.URL) {
				return errNotDiscord
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
		return nil, errNotDiscord
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errNotDiscord
	}
	got, err := f.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("fetch a file: %w", Redact(err))
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
		return nil, fmt.Errorf("fetch a file: %w", Redact(err))
	}
	if len(data) > most {
		return nil, answer.ErrFileTooLarge
	}
	return data, nil
}

// File is a file that came with a message, of at most most bytes.
func (c *Client) File(ctx context.Context, f Attachment, most int) ([]byte, error) {
	return c.files.fetch(ctx, f.URL, most)
}
