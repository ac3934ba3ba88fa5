package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mcpList is the key of the list of MCP servers.
const mcpList = "tools.mcp"

// mcpTimeout is how long a call takes at most where nothing is configured.
const mcpTimeout = 20 * time.Second

// mcpName matches names of MCP servers: tools' names begin with them, and models' servers take few characters.
var mcpName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$`)

// takenNames are values of the setting that names MCP servers.
var takenNames = []string{"on", "off", "default"}

func (s *settings) checkMCP(all []MCP) {
	taken := map[string]bool{}
	for i, m := range all {
		want := func(ok bool, name, what string) { s.want(ok, itemOf(mcpList, i+1)+"."+name, what) }
		want(mcpName.MatchString(m.Name) && !slices.Contains(takenNames, m.Name), "name",
			`1 to 20 small letters, digits and hyphens, and not "on", "off" or "default"`)
		want(!taken[m.Name], "name", "a name that no other server has")
		taken[m.Name] = true
		want((m.Command == "") != (m.Address == ""), "command", "either a command or an address")
		want(m.Command != "" || len(m.Args)+len(m.Env) == 0, "args", "a command: args and env are for one")
		want(m.Address != "" || !m.Key.IsSet(), "api_key", "an address: a command gets its key by env")
		at, err := url.Parse(m.Address)
		want(err != nil || at.User == nil, "address", "no name or password in it: put the key into api_key")
		want(err != nil || !m.Key.IsSet() || at.Scheme != "http" || isNear(at.Hostname()), "address",
			"https with api_key, unless the server is in the local network: others on the way could read the key")
		want(!strings.HasPrefix(m.KeyEnv, "HARK_"), "api_key_env",
			"a variable of your own: those that begin with HARK_ are Hark's")
	}
}

// wordsOf reads a list of texts.
func wordsOf(value any) (Words, bool) {
	all, ok := value.([]any)
	words := Words{}
	for _, one := range all {
		word, is := one.(string)
		words, ok = append(words, word), ok && is
	}
	return words, ok
}

// Variables are environment variables of a program. Their values may be secret, and have several lines.
type Variables map[string]Secret

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
