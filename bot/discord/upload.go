package discord

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"hark/bot/markdown"
)

// attached is an upload as the message's own JSON tells of it.
type uploadRef struct {
	ID          string `json:"id"` // which of the uploads
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
}

// Attachments are files as JSON tells of them.
func Attachments(files []markdown.File) (all []uploadRef) {
	for i, f := range files {
		all = append(all, uploadRef{strconv.Itoa(i), f.Name, f.Description})
	}
	return all
}

// ErrNoFiles says that Discord takes the message, and not its files: we may send none there, or they are too large.
var ErrNoFiles = errors.New("files can't be sent")

// The codes by which Discord refuses files.
const (
	codeTooLarge          = 40005
	CodeMissingPermission = 50013
)

// RefusesFiles reports whether a message that failed with err may be sent without its files.
func RefusesFiles(err error) bool {
	c := Code(err)
	return c == codeTooLarge || c == CodeMissingPermission || Status(err) == http.StatusRequestEntityTooLarge
}

// multipartForm is a request with files. It can be sent again.
type multipartForm struct {
	kind string // its content type
	data []byte
}

// withFiles is body as a form with files, or body itself if there are none.
func withFiles(body any, files []markdown.File) any {
	if len(files) == 0 {
		return body
	}
	list := make([]*discordgo.File, len(files))
	for i, f := range files {
		list[i] = &discordgo.File{Name: f.Name, ContentType: cmp.Or(f.Kind, "text/plain;charset=utf-8"),
			Reader: bytes.NewReader(f.Data)}
	}
	// texts and numbers always have a JSON, and a buffer takes all
	kind, data, _ := discordgo.MultipartBodyWithJSON(body, list)
	return &multipartForm{kind, data}
}
