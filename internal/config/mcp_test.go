package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestMCPServers(t *testing.T) {
	t.Parallel()
	env := func(name string) (string, bool) {
		key, set := map[string]string{"TRACKER_KEY": "k"}[name]
		return key, set
	}
	c, err := LoadText("hark.toml", `
[[tools.mcp]]
name = "files"
command = "npx"
args = ["-y", "server"]
env = { TOKEN = "t" }
trust_read_only = true

[[tools.mcp]]
name = "tracker"
address = "https://tracker.example.org/mcp"
api_key_env = "TRACKER_KEY"
timeout = "5s"
`, env)
	if err != nil {
		t.Fatal(err)
	}
	want := []MCP{
		{Name: "files", Command: "npx", Args: Words{"-y", "server"}, Env: Headers{"TOKEN": NewSecret("t")},
			TrustReadOnly: true, Timeout: Duration{20 * time.Second}},
		{Name: "tracker", Address: "https://tracker.example.org/mcp", Key: NewSecret("k"), KeyEnv: "TRACKER_KEY",
			Timeout: Duration{5 * time.Second}},
	}
	if !reflect.DeepEqual(c.Tools.MCP, want) {
		t.Errorf("got  %+v\nwant %+v", c.Tools.MCP, want)
	}
	for text, problem := range map[string]string{
		"command = 'x'":               "name wants 1 to 20 small letters",
		"name = 'on'\ncommand = 'x'":  "name wants 1 to 20 small letters",
		"name = 'a b'\ncommand = 'x'": "name wants 1 to 20 small letters",
		"name = 'a'":                  "command wants either a command or an address",
		"name = 'a'\ncommand = 'x'\naddress = 'http://x'":                     "command wants either a command or an address",
		"name = 'a'\naddress = 'x'":                                           "address wants an address",
		"name = 'a'\naddress = 'http://x'\nargs = ['x']":                      "args wants a command",
		"name = 'a'\ncommand = 'x'\napi_key = 'k'":                            "api_key wants an address",
		"name = 'a'\ncommand = 'x'\nargs = 'x'":                               "args wants a list of texts",
		"name = 'a'\ncommand = 'x'\nargs = [1]":                               "args wants a list of texts",
		"name = 'a'\naddress = 'http://x'\napi_key_env = 'NO'":                "NO isn't set",
		"name = 'a'\ncommand = 'x'\n[[tools.mcp]]\nname = 'a'\ncommand = 'x'": "name wants a name that no other server has",
	} {
		_, err := LoadText("hark.toml", "[[tools.mcp]]\n"+text, env)
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
