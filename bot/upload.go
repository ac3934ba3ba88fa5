package bot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"hark/bot/locale"
	"hark/memory"
)

// upload is a file that goes with a message.
type upload struct {
	name        string // that needs no quoting
	description string
	kind        string // its content type; empty: text
	data        []byte
}

// attached is an upload as the message's own JSON tells of it.
type attached struct {
	ID          string `json:"id"` // which of the uploads
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
}

// attachments are files as JSON tells of them.
func attachments(files []upload) (all []attached) {
	for i, f := range files {
		all = append(all, attached{strconv.Itoa(i), f.name, f.description})
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
func withFiles(body any, files []upload) any {
	if len(files) == 0 {
		return body
	}
	list := make([]*discordgo.File, len(files))
	for i, f := range files {
		list[i] = &discordgo.File{Name: f.name, ContentType: cmp.Or(f.kind, "text/plain;charset=utf-8"),
			Reader: bytes.NewReader(f.data)}
	}
	// texts and numbers always have a JSON, and a buffer takes all
	kind, data, _ := discordgo.MultipartBodyWithJSON(body, list)
	return &multipartForm{kind, data}
}

const (
	// longCode and longLines are what a block of code has at the most that is shown as one, in UTF-16 units and lines.
	longCode, longLines = 1500, 40
	// mostFiles is how many files a message may have, and mostData how many bytes of ours they may have together:
	// Discord takes 10 MiB.
	mostFiles, mostData = 10, 8 << 20
	// shownLines and shownCode are how much of long code is shown while it is being written.
	shownLines, shownCode = 12, 600
)

// block is a code block of a text.
type block struct {
	start, end int // with its fences
	from, to   int // without
	language   string
}

// longBlocks are the code blocks of a text that are better read as files. What is in a quotation or behind a spoiler
// stays there.
func longBlocks(text string) []block {
	var long []block
	f := format(text, nil)
	for i, s := range f.spans {
		if s.kind != tokenFence || !s.opens || s.line != "" || len(s.state.marks) > 0 {
			continue
		}
		b := block{start: fenceAt(text, s), from: s.end, to: len(text), end: len(text),
			language: strings.Trim(s.mark, "`\n")}
		rest := f.spans[i+1:]
		if end := slices.IndexFunc(rest, func(s span) bool { return s.kind == tokenFence }); end >= 0 {
			b.to, b.end = fenceAt(text, rest[end]), rest[end].end
		}
		code := strings.Trim(text[b.from:b.to], "\n")
		if units(code) > longCode || strings.Count(code, "\n")+1 > longLines {
			long = append(long, b)
		}
	}
	return long
}

// fenceAt is where a fence begins, without the backslash before it, which makes it no less of one.
func fenceAt(text string, s span) int {
	if text[s.start] == '\\' {
		return s.start + 1
	}
	return s.start
}

// pullCode is text with its long code as files of at most most bytes together, and a line in the place of each.
func pullCode(l locale.Locale, text string, most int) (string, []upload) {
	var b strings.Builder
	var files []upload
	at, total := 0, 0
	for _, block := range longBlocks(text) {
		code := strings.Trim(text[block.from:block.to], "\n") + "\n"
		if total += len(code); len(files) == mostFiles || total > most {
			break
		}
		n := strings.Count(code, "\n")
		f := upload{name: fileName(block.language, files), description: l.Count(n, "%s line of code",
			"%s lines of code"), data: []byte(code)}
		files = append(files, f)
		before := text[at:block.start]
		b.WriteString(before)
		if before != "" && !strings.HasSuffix(before, "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "📎 `%s` (%s)", f.name, countedLines(l, n))
		if at = block.end; at < len(text) && text[at] != '\n' {
			b.WriteByte('\n')
		}
	}
	b.WriteString(text[at:])
	return b.String(), files
}

func countedLines(l locale.Locale, lines int) string { return l.Count(lines, "%s line", "%s lines") }

// preview is text as it is shown while it is being written: of long code only the beginning.
func preview(text string) string {
	var b strings.Builder
	at := 0
	for _, block := range longBlocks(text) {
		code := text[block.from:block.to]
		lines := strings.SplitAfterN(code, "\n", shownLines+1)
		shown := strings.Join(lines[:min(len(lines), shownLines)], "")
		if units(shown) > shownCode {
			shown = strings.TrimSuffix(clip(shown, shownCode), "…")
		}
		b.WriteString(text[at:block.from] + strings.TrimRight(shown, "\n") + "\n…\n" + fence)
		at = block.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// fileNames are what files are called by the language of their code.
var fileNames = map[string]string{
	"go": "main.go", "golang": "main.go", "py": "snippet.py", "python": "snippet.py", "js": "snippet.js", "javascript": "snippet.js",
	"ts": "snippet.ts", "typescript": "snippet.ts", "jsx": "snippet.jsx", "tsx": "snippet.tsx", "rs": "main.rs", "rust": "main.rs",
	"c": "main.c", "h": "snippet.h", "cpp": "main.cpp", "c++": "main.cpp", "cs": "snippet.cs", "c#": "snippet.cs", "java": "Main.java",
	"kt": "main.kt", "kotlin": "main.kt", "swift": "main.swift", "rb": "snippet.rb", "ruby": "snippet.rb", "php": "snippet.php",
	"lua": "snippet.lua", "r": "snippet.r", "sql": "snippet.sql", "sh": "script.sh", "bash": "script.sh", "shell": "script.sh",
	"zsh": "script.sh", "ps1": "script.ps1", "powershell": "script.ps1", "html": "page.html", "css": "style.css", "json": "data.json",
	"yaml": "data.yaml", "yml": "data.yaml", "toml": "data.toml", "xml": "data.xml", "csv": "data.csv", "md": "text.md",
	"markdown": "text.md", "diff": "changes.diff", "patch": "changes.diff", "dockerfile": "Dockerfile", "make": "Makefile", "makefile": "Makefile",
	"tex": "text.tex", "latex": "text.tex", "hs": "snippet.hs", "haskell": "snippet.hs", "ex": "snippet.ex", "elixir": "snippet.ex",
	"zig": "main.zig", "nix": "snippet.nix", "proto": "snippet.proto", "graphql": "snippet.graphql", "ini": "data.ini",
}

// fileName is a name for code of a language, unlike those of files.
func fileName(language string, files []upload) string {
	name := fileNames[strings.ToLower(language)]
	if name == "" {
		name = "snippet.txt"
	}
	stem, ending, dotted := strings.Cut(name, ".")
	for n := 2; ; n++ {
		if !slices.ContainsFunc(files, func(f upload) bool { return f.name == name }) {
			return name
		}
		name = stem + "-" + strconv.Itoa(n)
		if dotted {
			name += "." + ending
		}
	}
}

// remembered are files that a message of ours has, as they are remembered.
func remembered(all []wireFile) []memory.File {
	var files []memory.File
	for _, a := range all {
		files = append(files, memory.File{Name: memory.Clean(a.Filename), Description: memory.Clean(a.Description)})
	}
	return files
}
