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

// uploadRef describes an upload in the message's JSON.
type uploadRef struct {
	ID          string `json:"id"` // which of the uploads
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
}

// Attachments returns the JSON descriptions of files.
func Attachments(files []markdown.File) (all []uploadRef) {
	for i, f := range files {
		all = append(all, uploadRef{strconv.Itoa(i), f.Name, f.Description})
	}
	return all
}

// ErrNoFiles means that Discord takes the message only without its files: they are too large, or forbidden.
var ErrNoFiles = errors.New("files can't be sent")

// Discord's codes for refused files.
const (
	codeTooLarge          = 40005
	CodeMissingPermission = 50013
)

// RefusesFiles reports whether a refused message may be sent without its files.
func RefusesFiles(err error) bool {
	c := Code(err)
	return c == codeTooLarge || c == CodeMissingPermission || Status(err) == http.StatusRequestEntityTooLarge
}

// multipartForm is a request with files. It can be sent again.
type multipartForm struct {
	kind string // its content type
	data []byte
}

// withFiles returns body as a form with files, or body if there are none.
func withFiles(body any, files []markdown.File) any {
	if len(files) == 0 {
		return body
	}
	list := make([]*discordgo.File, len(files))
	for i, f := range files {
		list[i] = &discordgo.File{
			Name:        f.Name,
			ContentType: cmp.Or(f.Kind, "text/plain;charset=utf-8"),
			Reader:      bytes.NewReader(f.Data),
		}
	}
	// can't fail: body is plain data, and the writer is a buffer
	kind, data, _ := discordgo.MultipartBodyWithJSON(body, list)
	return &multipartForm{kind, data}
}
