package answer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // whose size is read
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/digest"
	"hark/memory"
)

const (
	// Files of a question that are fetched at most.
	maxImages, maxTexts = 4, 4
	// Sizes of a file at most.
	imageBytes, textBytes = 4 << 20, 64 << 10
	// filesTime is how long an answer waits for files, besides the search.
	filesTime = 5 * time.Second
)

const noVision = "you are shown no images"

// Errors of a File's Load that the model is told in their own words.
var (
	ErrFileGone     = errors.New("the file is gone")
	ErrFileTooLarge = errors.New("the file is too large")
)

const (
	useName fileUse = iota // nothing but its name
	useImage
	useText // it is read
)

// fetch begins to fetch the files that the model can use, until ctx ends or filesTime is over.
func (e *Engine) fetch(ctx context.Context, files []File) *attachments {
	a := &attachments{}
	left := map[fileUse]int{useImage: maxImages, useText: maxTexts}
	for _, f := range files {
		one := attachment{File: f}
		one.use, one.problem = e.classify(f)
		if one.use != useName {
			left[one.use]--
			if left[one.use] < 0 {
				one.use = useName
				one.problem = "there are too many"
			}
		}
		a.all = append(a.all, one)
	}
	for i := range a.all {
		if one := &a.all[i]; one.use != useName {
			a.done.Go(func() {
				within, cancel := context.WithTimeout(ctx, filesTime)
				defer cancel()
				one.load(within)
			})
		}
	}
	return a
}

// classify returns what a file can be by its name and declared type, and why not more.
func (e *Engine) classify(f File) (is fileUse, problem string) {
	kind, _, _ := strings.Cut(strings.ToLower(f.Type), ";")
	ending := strings.ToLower(path.Ext(f.Name))
	loads := e.model != nil && f.Load != nil
	switch {
	case isImage(f) && loads && e.options.Vision:
		is = useImage
	case isImage(f):
		return useName, noVision
	case loads && (strings.HasPrefix(kind, "text/") || slices.Contains(textTypes, kind) ||
		slices.Contains(textEndings, ending) || slices.Contains(textNames, strings.ToLower(f.Name))):
		is = useText
	}
	if is != useName && f.Size > sizeOf(is) {
		return useName, loadProblem(ErrFileTooLarge)
	}
	return is, ""
}

// isImage reports whether a file is an image by its name or declared type.
func isImage(f File) bool {
	ending := strings.ToLower(path.Ext(f.Name))
	return strings.HasPrefix(strings.ToLower(f.Type), "image/") && ending != ".svg" ||
		slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, ending)
}

var (
	textTypes = []string{"application/json", "application/xml", "application/yaml", "application/x-yaml",
		"application/toml", "application/javascript",
		"application/x-sh", "application/sql"}
	textEndings = strings.Fields(`
		.txt .md .markdown .rst .log .csv .tsv .json .jsonl .xml .yaml .yml .toml .ini .cfg .conf .env
		.properties .html .htm .css .scss .js .mjs .ts .tsx .jsx .go .py .rb .rs .c .h .cc .cpp .hpp .cs
		.java .kt .swift .php .pl .lua .r .sql .sh .bash .zsh .fish .ps1 .bat .diff .patch .tex .hs .ex .exs
		.erl .clj .scala .dart .vue .svelte .proto .graphql .nix .zig .mod .sum .lock .gradle .tf .srt .vtt
		.svg`)
	textNames = []string{"dockerfile", "makefile", "readme", "license", "changelog"}
)

func sizeOf(u fileUse) int {
	if u == useImage {
		return imageBytes
	}
	return textBytes
}

// load fetches a file and checks what it really is.
func (a *attachment) load(ctx context.Context) {
	data, err := a.Load(ctx, sizeOf(a.use))
	if err == nil && len(data) > sizeOf(a.use) {
		err = ErrFileTooLarge
	}
	if err != nil {
		a.use = useName
		a.problem = loadProblem(err)
		return
	}
	if a.use == useText {
		text := strings.TrimPrefix(string(data), "\ufeff")
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			a.use = useName
			a.problem = "it is no text"
			return
		}
		a.text = text
		return
	}
	kind := http.DetectContentType(data)
	if !slices.Contains(chat.ImageTypes, kind) {
		a.use = useName
		a.problem = "it is no image of a known kind"
		return
	}
	a.image = chat.Image{Type: kind, Data: data}
	a.tokens = maxImageTokens
	if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		a.tokens = imageTokens(c.Width, c.Height)
	}
}

// loadProblem returns what the model is told. err's own words may hold the file's address.
func loadProblem(err error) string {
	switch {
	case errors.Is(err, ErrFileGone):
		return "it is gone"
	case errors.Is(err, ErrFileTooLarge):
		return "it is too large"
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	}
	return "it couldn't be fetched"
}

// Tokens of an image as OpenAI counts them for models like gpt-4o: it is fitted into 2048 by 2048 pixels, then its
// shorter side into 768, and each covered tile of 512 by 512 counts. Most other models take fewer.
const (
	imageBase, imageTile = 85, 170
	maxImageTokens       = imageBase + 8*imageTile // 2048 by 768
)

func imageTokens(width, height int) int {
	w := float64(max(1, width))
	h := float64(max(1, height))
	if scale := 2048 / max(w, h); scale < 1 {
		w = w * scale
		h = h * scale
	}
	if scale := 768 / min(w, h); scale < 1 {
		w = w * scale
		h = h * scale
	}
	tiles := func(side float64) int { return max(1, (int(side+0.999)+511)/512) }
	return min(maxImageTokens, imageBase+imageTile*tiles(w)*tiles(h))
}

// wait returns the files of which the model may be told, once they are there: the question's, and those of the
// message it replies to if that is in the session.
func (a *attachments) wait(q Question, session []memory.Message) []attachment {
	if a == nil {
		return nil
	}
	a.done.Wait()
	return slices.DeleteFunc(slices.Clone(a.all), func(f attachment) bool {
		return f.Message != 0 && f.Message != q.ID && !digest.Has(session, f.Message)
	})
}

// withFiles builds the prompt with the question's files. The model is told what the prompt has no room for.
func (e *Engine) withFiles(in builder.Input, q Question, r *recalled) {
	files := q.fetched.wait(q, r.session)
	if !e.canSee(r.resolved.model) {
		for i := range files {
			if files[i].use == useImage {
				files[i].use = useName
				files[i].problem = noVision
			}
		}
	}
	question := in.Query.Content
	for {
		var payload []builder.File
		var lines []string
		if question != "" {
			lines = append(lines, question)
		}
		for _, f := range files {
			lines = append(lines, f.line(q))
			if f.use != useName {
				payload = append(payload, builder.File{
					Name:  f.Name,
					Text:  f.text,
					Image: f.tokens,
				})
			}
		}
		in.Query.Content = strings.Join(lines, "\n")
		in.Files = payload
		r.Prompt = r.resolved.builder.Build(in)
		r.files = files
		shown := r.included(builder.SectionFiles)
		if shown == len(payload) {
			return
		}
		for i := range files {
			if files[i].use == useName {
				continue
			}
			shown--
			if shown < 0 {
				files[i].use = useName
				files[i].problem = "there is no room for it"
			}
		}
	}
}

// line stands in the question for a file: "[image: cat.png: my cat]".
func (a *attachment) line(q Question) string {
	kind := "file"
	if isImage(a.File) {
		kind = "image"
	}
	if a.Message != 0 && a.Message != q.ID {
		kind += " of the message replied to"
	}
	text := kind + ": " + a.Name
	if a.Description != "" {
		text += ": " + a.Description
	}
	if a.problem != "" {
		text += fmt.Sprintf("; you can't see it: %s", a.problem)
	}
	return "[" + strings.Join(strings.Fields(text), " ") + "]"
}

// messages returns the prompt as sent, its images beside the last message.
func (r *recalled) messages() []chat.Message {
	all := asMessages(r.Prompt.Messages)
	for _, f := range r.files {
		if f.use == useImage {
			all[len(all)-1].Images = append(all[len(all)-1].Images, f.image)
		}
	}
	return all
}

// canSee reports whether a model is shown images: as it says, or else Options.Vision.
func (e *Engine) canSee(m Model) bool {
	if one, tells := m.(interface{ CanSee() bool }); tells {
		return one.CanSee()
	}
	return e.options.Vision
}

func asMessages(prompt []builder.ChatMessage) []chat.Message {
	return digest.Each(prompt, func(m builder.ChatMessage) chat.Message {
		return chat.Message{Role: m.Role, Content: m.Content}
	})
}
