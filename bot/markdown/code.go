package markdown

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/bot/locale"
)

// File is a file of a message.
type File struct {
	Name        string // needs no quoting
	Description string
	Kind        string // content type; empty: text
	Data        []byte
}

const (
	// A code block in a message has at most maxInlineCode units and maxInlineLines lines.
	maxInlineCode, maxInlineLines = 1500, 40
	// A message has at most maxFiles files of MaxFileBytes together: Discord takes 10 MiB.
	maxFiles, MaxFileBytes = 10, 8 << 20
	// Long code that is being written shows at most shownLines lines and shownCode units.
	shownLines, shownCode = 12, 600
)

// block is a code block.
type block struct {
	start, end int // with fences
	from, to   int // without
	language   string
}

// longBlocks returns the code blocks that become files: long ones, and those with fences of their own. Quoted and
// spoilered ones stay.
func longBlocks(text string) []block {
	var long []block
	f := format(text, nil)
	for i, s := range f.spans {
		if s.kind != tokenFence || !s.opens || s.line != "" || len(s.state.marks) > 0 {
			continue
		}
		b := block{
			start:    fenceAt(text, s),
			from:     s.end,
			to:       len(text),
			end:      len(text),
			language: strings.Trim(s.mark, "`\n"),
		}
		rest := f.spans[i+1:]
		if end := slices.IndexFunc(rest, func(s span) bool { return s.kind == tokenFence }); end >= 0 {
			b.to = fenceAt(text, rest[end])
			b.end = rest[end].end
		}
		code := strings.Trim(text[b.from:b.to], "\n")
		if Units(code) > maxInlineCode || strings.Count(code, "\n")+1 > maxInlineLines || strings.Contains(code, innerFence) {
			long = append(long, b)
		}
	}
	return long
}

// fenceAt returns a fence's position, after a backslash, which doesn't escape a fence.
func fenceAt(text string, s span) int {
	if text[s.start] == '\\' {
		return s.start + 1
	}
	return s.start
}

// extractCode moves long code into files of at most most bytes together. A line replaces each block.
func extractCode(l locale.Locale, text string, most int) (string, []File) {
	var b strings.Builder
	var files []File
	at := 0
	total := 0
	for _, block := range longBlocks(text) {
		code := fencesWithin(strings.Trim(text[block.from:block.to], "\n") + "\n")
		total += len(code)
		if len(files) == maxFiles || total > most {
			break
		}
		n := strings.Count(code, "\n")
		f := File{
			Name: fileName(block.language, files),
			Description: l.Count(n, "%s line of code",
				"%s lines of code"),
			Data: []byte(code),
		}
		files = append(files, f)
		before := text[at:block.start]
		b.WriteString(before)
		if before != "" && !strings.HasSuffix(before, "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "📎 `%s` (%s)", f.Name, countedLines(l, n))
		at = block.end
		if at < len(text) && text[at] != '\n' {
			b.WriteByte('\n')
		}
	}
	b.WriteString(text[at:])
	return b.String(), files
}

func countedLines(l locale.Locale, lines int) string { return l.Count(lines, "%s line", "%s lines") }

// preview shows only the beginning of long code.
func preview(text string) string {
	var b strings.Builder
	at := 0
	for _, block := range longBlocks(text) {
		code := text[block.from:block.to]
		lines := strings.SplitAfterN(code, "\n", shownLines+1)
		shown := strings.Join(lines[:min(len(lines), shownLines)], "")
		if Units(shown) > shownCode {
			shown = strings.TrimSuffix(Clip(shown, shownCode), "…")
		}
		b.WriteString(text[at:block.from] + strings.TrimRight(shown, "\n") + "\n…\n" + fence)
		at = block.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// fileNames has names by language.
var fileNames = map[string]string{
	"go": "main.go", "golang": "main.go", "py": "snippet.py", "python": "snippet.py",
	"js": "snippet.js", "javascript": "snippet.js", "ts": "snippet.ts", "typescript": "snippet.ts",
	"jsx": "snippet.jsx", "tsx": "snippet.tsx", "rs": "main.rs", "rust": "main.rs", "c": "main.c",
	"h": "snippet.h", "cpp": "main.cpp", "c++": "main.cpp", "cs": "snippet.cs", "c#": "snippet.cs",
	"java": "Main.java", "kt": "main.kt", "kotlin": "main.kt", "swift": "main.swift",
	"rb": "snippet.rb", "ruby": "snippet.rb", "php": "snippet.php", "lua": "snippet.lua",
	"r": "snippet.r", "sql": "snippet.sql", "sh": "script.sh", "bash": "script.sh",
	"shell": "script.sh", "zsh": "script.sh", "ps1": "script.ps1", "powershell": "script.ps1",
	"html": "page.html", "css": "style.css", "json": "data.json", "yaml": "data.yaml",
	"yml": "data.yaml", "toml": "data.toml", "xml": "data.xml", "csv": "data.csv", "md": "text.md",
	"markdown": "text.md", "diff": "changes.diff", "patch": "changes.diff", "dockerfile": "Dockerfile",
	"make": "Makefile", "makefile": "Makefile", "tex": "text.tex", "latex": "text.tex",
	"hs": "snippet.hs", "haskell": "snippet.hs", "ex": "snippet.ex", "elixir": "snippet.ex",
	"zig": "main.zig", "nix": "snippet.nix", "proto": "snippet.proto", "graphql": "snippet.graphql",
	"ini": "data.ini",
}

// fileName returns a name for code that isn't among files.
func fileName(language string, files []File) string {
	name := fileNames[strings.ToLower(language)]
	if name == "" {
		name = "snippet.txt"
	}
	stem, ending, dotted := strings.Cut(name, ".")
	for n := 2; ; n++ {
		if !slices.ContainsFunc(files, func(f File) bool { return f.Name == name }) {
			return name
		}
		name = stem + "-" + strconv.Itoa(n)
		if dotted {
			name += "." + ending
		}
	}
}
