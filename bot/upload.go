package bot

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"hark/bot/markdown"
	"hark/memory"
)

// attached is an upload as the message's own JSON tells of it.
type attached struct {
	ID          string `json:"id"` // which of the uploads
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
}

// attachments are files as JSON tells of them.
func attachments(files []markdown.File) (all []attached) {
	for i, f := range files {
		all = append(all, attached{strconv.Itoa(i), f.Name, f.Description})
	}
	return all
}

// errNoFiles says that Discord takes the message, and not its files: we may send none there, or they are too large.
var errNoFiles = errors.New("files can't be sent")

// The codes by which Discord refuses files.
const (
	codeTooLarge          = 40005
	codeMissingPermission = 50013
)

// refusesFiles reports whether a message that failed with err may be sent without its files.
func refusesFiles(err error) bool {
	c := code(err)
	return c == codeTooLarge || c == codeMissingPermission || status(err) == http.StatusRequestEntityTooLarge
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

// remembered are files that a message of ours has, as they are remembered.
func remembered(all []wireFile) []memory.File {
	var files []memory.File
	for _, a := range all {
		files = append(files, memory.File{Name: memory.Clean(a.Filename), Description: memory.Clean(a.Description)})
	}
	return files
}
