package config

import (
	"regexp"
	"strings"
	"time"
)

// mcpTimeout is how long a call takes at most where nothing is configured.
const mcpTimeout = 20 * time.Second

// mcpName matches names of MCP servers: tools' names begin with them, and models' servers take few characters.
var mcpName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$`)

// takenNames are values of the setting that names MCP servers.
var takenNames = []string{"on", "off", "default"}

// wordsOf reads a list of texts.
func wordsOf(value any) (Words, bool) {
	all, ok := value.([]any)
	words := Words{}
	for _, one := range all {
		word, is := one.(string)
		words = append(words, word)
		ok = ok && is
	}
	return words, ok
}

// IsSet reports whether there are any.
func (v Variables) IsSet() bool { return len(v) > 0 }

// Reveal returns them with their values; nil if there are none.
func (v Variables) Reveal() map[string]string { return Headers(v).Reveal() }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variablesOf reads a table of texts.
func variablesOf(value any) (Variables, bool) {
	all, ok := value.(map[string]any)
	v := Variables{}
	for name, one := range all {
		text, is := one.(string)
		v[name], ok = NewSecret(text), ok && is && variableName.MatchString(name) && !strings.Contains(text, "\x00")
	}
	return v, ok
}
