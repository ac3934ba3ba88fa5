package config

import (
	"fmt"
	"strings"
)

const exampleHead = `Every setting of Hark with its default. All of them can be left out, and so can this file.
Each can also be given as an environment variable, which goes before the file: llm.model as HARK_LLM_MODEL. A secret can also be read from the file that such a variable names with _FILE at its end: HARK_DISCORD_TOKEN_FILE.`

// Example is a file that shows every key, its default and what it is for. It is config.example.toml.
func Example() string {
	var b strings.Builder
	comment(&b, exampleHead)
	c := Default()
	fields := fieldsOf(&c)
	for _, s := range sections() {
		if s.name != "" {
			b.WriteByte('\n')
			comment(&b, s.help)
			fmt.Fprintf(&b, "[%s]\n", s.name)
		}
		for _, f := range fields {
			if key := last(f.key); strings.TrimSuffix(f.key[:len(f.key)-len(key)], ".") == s.name {
				b.WriteByte('\n')
				f.write(&b, key)
			}
		}
	}
	return b.String()
}

func (f field) write(b *strings.Builder, key string) {
	comment(b, f.help)
	if value := f.toml(); value != "" {
		fmt.Fprintf(b, "%s = %s\n", key, value)
		return
	}
	fmt.Fprintf(b, "# %s = %s\n", key, f.example)
}

// comment writes text as comment lines of at most 100 characters.
func comment(b *strings.Builder, text string) {
	for paragraph := range strings.Lines(text) {
		line := "#"
		for _, word := range strings.Fields(paragraph) {
			if len(line)+1+len(word) > 100 {
				b.WriteString(line + "\n")
				line = "#"
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
}
