package discordtest

import (
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
)

const (
	// uploadLimit bounds the bytes of a message's files without a subscription.
	uploadLimit    = 10 << 20
	filesLimit     = 10
	suppressEmbeds = 1 << 2 // the flag of a message whose links have no previews
)

// file is one part of a multipart request.
type file struct {
	name    string // of the field
	header  *multipart.FileHeader
	content []byte
}

// number is the file's number in attachments; -1 if the field's name has none.
func (f file) number() int {
	var n int
	if _, err := fmt.Sscanf(f.name, "files[%d]", &n); err != nil {
		return -1
	}
	return n
}

// checkFiles checks a request's files and attachments; m is the message it edits, or nil.
func (s *Server) checkFiles(c *call, b *messageBody, m *storedMessage) {
	total, numbers := 0, map[int]bool{}
	for _, f := range c.files {
		total += len(f.content)
		n := f.number()
		if n < 0 || numbers[n] || f.header.Filename == "" {
			s.refuse(c, BadFiles, invalid("files", "INVALID", "No file can be told by that field."),
				"field %q with the name %q", f.name, f.header.Filename)
		}
		numbers[n] = true
	}
	if n := max(len(c.files), len(b.Attachments)); n > filesLimit {
		s.refuse(c, BadFiles, invalid("attachments", "BASE_TYPE_MAX_LENGTH",
			"Must be 10 or fewer in length."), "%d files", n)
	}
	if total > uploadLimit {
		s.refuse(c, BadFiles, refuse(http.StatusRequestEntityTooLarge, 40005, "Request entity too large"),
			"%d bytes", total)
	}
	for _, a := range b.Attachments {
		there := m != nil && slices.ContainsFunc(m.Attachments, func(old Attachment) bool { return old.ID == a.ID })
		if !there && !numbers[int(a.ID)] {
			s.refuse(c, BadFiles, invalid("attachments", "ATTACHMENT_NOT_FOUND", "Unknown attachment"),
				"attachment %d, which isn't there", a.ID)
		}
	}
}

// attach adds a request's files to m. m keeps the files that the request names, or all if it names none.
func (s *Server) attach(c *call, b *messageBody, m *storedMessage) {
	if b.Attachments != nil {
		m.Attachments = slices.DeleteFunc(slices.Clone(m.Attachments), func(old Attachment) bool {
			kept := slices.ContainsFunc(b.Attachments, func(a Attachment) bool { return a.ID == old.ID })
			if !kept {
				delete(s.cdn, filePath(old.URL))
			}
			return !kept
		})
	}
	for _, f := range c.files {
		description := ""
		for _, a := range b.Attachments {
			if int(a.ID) == f.number() {
				description = a.Description
			}
		}
		WithData(f.header.Filename, description, f.header.Header.Get("Content-Type"), f.content)(s, m)
	}
}

// WithData attaches a file that can be fetched from its URL. contentType is whatever its sender says.
func WithData(name, description, contentType string, data []byte) MessageOption {
	return func(s *Server, m *storedMessage) {
		WithFile(name, description)(s, m)
		a := &m.Attachments[len(m.Attachments)-1]
		a.ContentType, a.Size = contentType, len(data)
		s.cdn[filePath(a.URL)] = slices.Clone(data)
	}
}

// WithVoice makes a voice message of some seconds.
func WithVoice(ogg []byte, seconds float64) MessageOption {
	return func(s *Server, m *storedMessage) {
		WithData("voice-message.ogg", "", "audio/ogg", ogg)(s, m)
		a := &m.Attachments[len(m.Attachments)-1]
		a.Waveform, a.Seconds = "AAAA", seconds
		m.Flags |= 1 << 13
	}
}

// filePath is the path of a file's URL.
func filePath(url string) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(url, "https://cdn.discordapp.com"), "?")
	return path
}

// File returns a file's content, if Discord still has it.
func (s *Server) File(a Attachment) (data []byte, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, there = s.cdn[filePath(a.URL)]
	return slices.Clone(data), there
}

// getFile answers as Discord's CDN, which must not get the token.
func (s *Server) getFile(c *call) reply {
	if c.r.Header.Get("Authorization") != "" {
		s.misuse(BadFiles, "GET %s: the token is told to a server for files", c.path)
	}
	data, there := s.cdn[c.path]
	if !there {
		return refuse(http.StatusNotFound, 0, "This content is no longer available.")
	}
	return ok(data)
}
