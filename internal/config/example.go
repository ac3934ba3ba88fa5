package config

import (
	"fmt"
	"strings"
)

const exampleHead = "Every setting of Hark with its default. You can leave out any of them, or the whole file.\n" +
	"Environment variables override this file: llm.model is HARK_LLM_MODEL. " +
	"A secret can also be read from a file: HARK_DISCORD_TOKEN_FILE names it."

// Example returns config.example.toml: every key with its default and its help.
func Example() string {
	var b strings.Builder
	comment(&b, exampleHead)
	c := Default()
	for _, s := range documented(&c) {
		if s.list {
			s.writeList(&b)
			continue
		}
		if s.name != "" {
			b.WriteByte('\n')
			comment(&b, s.help)
			fmt.Fprintf(&b, "[%s]\n", s.name)
		}
		if s.example != "" {
			fmt.Fprintf(&b, "# %s\n", s.example)
		}
		for _, f := range s.fields {
			b.WriteByte('\n')
			comment(&b, f.help())
			if value := f.toml(); value != "" {
				fmt.Fprintf(&b, "%s = %s\n", last(f.key), value)
			} else {
				fmt.Fprintf(&b, "# %s = %s\n", last(f.key), f.example())
			}
		}
	}
	return b.String()
}

// writeList shows a list as comments, because by default it is empty.
func (s section) writeList(b *strings.Builder) {
	b.WriteByte('\n')
	comment(b, s.help)
	fmt.Fprintf(b, "# [[%s]]\n", s.name)
	for _, f := range s.fields {
		b.WriteString("#\n")
		commentAs(b, "# #", f.help()) // remains a comment without the first "# "
		fmt.Fprintf(b, "# %s = %s\n", last(f.key), f.example())
	}
}

func comment(b *strings.Builder, text string) { commentAs(b, "#", text) }

// commentAs writes comment lines of 100 characters.
func commentAs(b *strings.Builder, mark, text string) {
	for paragraph := range strings.Lines(text) {
		fill(b, mark, mark, 100, paragraph)
	}
}

// fill writes text in lines of width characters, the first behind first, the others behind rest.
func fill(b *strings.Builder, first, rest string, width int, text string) {
	line := first
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = rest
		}
		if line != "" && !strings.HasSuffix(line, " ") {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}
