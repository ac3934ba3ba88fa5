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

// Attachment is a file of a message. Its address expires within a day, and is never kept or logged.
type Attachment struct {
	wireFile
	Message memory.MessageID // that has it
}

// AttachmentsOf returns the files of a message, and of those it forwards.
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

// fetcher fetches files from Discord only: members can write any address.
type fetcher struct{ client *http.Client }

// fileHosts are Discord's file hosts.
var fileHosts = map[string]bool{"cdn.discordapp.com": true, "media.discordapp.net": true}

// maxRedirects bounds redirects between those hosts.
const maxRedirects = 3

var errNotDiscord = errors.New("the file isn't at Discord")

// newFetcher uses next, and sends no token.
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

// isFileURL reports whether u is on one of those hosts.
func isFileURL(u *url.URL) bool {
	return u.Scheme == "https" && u.User == nil && fileHosts[u.Host]
}

// fetch returns a file of at most most bytes. Errors never contain its address.
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
		return nil, answer.ErrFileGone // also an expired address
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

// File returns a file of a message, of at most most bytes.
func (c *Client) File(ctx context.Context, f Attachment, most int) ([]byte, error) {
	return c.files.fetch(ctx, f.URL, most)
}
