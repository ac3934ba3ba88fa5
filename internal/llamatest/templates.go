package llamatest

import (
	"embed"
	"os"
	"path/filepath"
	"testing"
)

// templates are chat templates, each in the manner of a family of models.
//
//go:embed templates/*.jinja
var templates embed.FS

// Families are the names of the templates:
//   - chatml has turns between marks, a system turn, and calls as JSON in tags;
//   - llama3 has calls as bare JSON, one a turn;
//   - gemma has neither a system turn nor tools, and wants the roles to take turns;
//   - mistral wants the roles to take turns, and ids of calls with exactly 9 letters or digits;
//   - thinking begins a thought itself.
var Families = []string{"chatml", "llama3", "gemma", "mistral", "thinking"}

// Template returns the argument that has a server use a family's template.
func Template(tb testing.TB, family string) []string {
	tb.Helper()
	text, err := templates.ReadFile("templates/" + family + ".jinja")
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), family+".jinja")
	err = os.WriteFile(path, text, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	return []string{"--chat-template-file", path}
}

// CallOf returns a call of a tool as models of a family write it. Gemma's template has no form for one.
func CallOf(family, tool, arguments string) string {
	switch family {
	case "chatml":
		return "<tool_call>\n" + `{"name": "` + tool + `", "arguments": ` + arguments + "}\n</tool_call>"
	case "llama3":
		return `{"name": "` + tool + `", "parameters": ` + arguments + "}"
	case "mistral":
		return "[TOOL_CALLS]" + tool + "[ARGS]" + arguments
	case "thinking":
		return "I should look.\n</think>\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>" + tool +
			"<｜tool▁sep｜>" + arguments + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
	}
	return "```tool_code\n" + tool + "(" + arguments + ")\n```"
}
