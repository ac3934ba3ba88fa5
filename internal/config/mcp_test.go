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
env = { TOKEN = "t", PEM = "line\nline\n" }
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
		{Name: "files", Command: "npx", Args: Words{"-y", "server"}, Env: Variables{"TOKEN": NewSecret("t"), "PEM": NewSecret("line\nline\n")},
			TrustReadOnly: true, Timeout: Duration{20 * time.Second}},
		{Name: "tracker", Address: "https://tracker.example.org/mcp", Key: NewSecret("k"), KeyEnv: "TRACKER_KEY",
			Timeout: Duration{5 * time.Second}},
	}
	if !reflect.DeepEqual(c.Tools.MCP, want) {
		t.Errorf("got  %+v\nwant %+v", c.Tools.MCP, want)
	}
	for _, fine := range []string{"https://x/mcp'\napi_key = 'k'", "http://x/mcp'", "http://localhost:1/mcp'\napi_key = 'k'"} {
		if _, err := LoadText("hark.toml", "[[tools.mcp]]\nname = 'a'\naddress = '"+fine, env); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	for text, problem := range map[string]string{
		"command = 'x'":               "name wants 1 to 20 small letters",
		"name = 'on'\ncommand = 'x'":  "name wants 1 to 20 small letters",
		"name = 'a b'\ncommand = 'x'": "name wants 1 to 20 small letters",
		"name = 'a'":                  "command wants either a command or an address",
		"name = 'a'\ncommand = 'x'\naddress = 'http://x'":                               "command wants either a command or an address",
		"name = 'a'\ncommand = 'x'\nenv = 'X'":                                          `env wants a table of names and texts, such as { WEATHER_KEY = "…" }`,
		"name = 'a'\ncommand = 'x'\nenv = { 'A=B' = 'x' }":                              "env wants a table of names and texts",
		"name = 'a'\ncommand = 'x'\ntimeout = '0s'":                                     "timeout wants a time above 0",
		"name = 'a'\naddress = 'http://ann:pw@127.0.0.1/'":                              "address wants no name or password",
		"name = 'a'\naddress = 'http://x.example.org/mcp'\napi_key_env = 'TRACKER_KEY'": "address wants https with api_key",
		"name = 'a'\naddress = 'x'":                                                     "address wants an address",
		"name = 'a'\naddress = 'http://x'\nargs = ['x']":                                "args wants a command",
		"name = 'a'\ncommand = 'x'\napi_key = 'k'":                                      "api_key wants an address",
		"name = 'a'\ncommand = 'x'\nargs = 'x'":                                         "args wants a list of texts",
		"name = 'a'\ncommand = 'x'\nargs = [1]":                                         "args wants a list of texts",
		"name = 'a'\naddress = 'http://x'\napi_key_env = 'NO'":                          "NO isn't set",
		"name = 'a'\ncommand = 'x'\n[[tools.mcp]]\nname = 'a'\ncommand = 'x'":           "name wants a name that no other server has",
	} {
		_, err := LoadText("hark.toml", "[[tools.mcp]]\n"+text, env)
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
