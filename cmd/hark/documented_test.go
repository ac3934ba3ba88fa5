package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hark/internal/config"
)

// documented are pages with commands to type.
var documented = []string{"README.md", "docs/hosting.md", "docs/backup.md", "docs/monitoring.md", "docs/uninstall.md",
	"docs/models.md", "docs/coming-from.md"}

// servers are programs that the pages tell how to start.
var servers = []string{"ollama", "llama-server", "lms", "vllm", "litellm"}

// TestDocumentedCommands runs the pages' commands in order, against a fake Discord and a fake model. Of commands of
// Docker and systemd it checks the files that they name. An unknown command fails.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	for _, page := range documented {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text := content(t, filepath.Join("../..", page))
			r := newReader(t)
			for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
				for line := range strings.SplitSeq(block[1], "\n") {
					r.types(line)
				}
			}
			if r.typed == 0 {
				t.Error("there is nothing to type")
			}
		})
	}
}

// Every block of settings in the pages can be copied as it is.
func TestDocumentedSettings(t *testing.T) {
	t.Parallel()
	secrets := t.TempDir()
	for _, name := range []string{"openrouter", "weather_key"} {
		put(t, filepath.Join(secrets, name), []byte("k"))
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		for _, block := range settingsBlock.FindAllStringSubmatch(string(content(t, page)), -1) {
			text := strings.ReplaceAll(block[1], "/run/secrets", secrets)
			_, err := config.LoadText(filepath.Base(page), text, ownKeys)
			if err != nil {
				t.Errorf("%v in\n%s", err, block[1])
			}
		}
	}
}

// The page about models has a block for each server that init knows. Its address, its embedder and what it sets are
// what init writes.
func TestEachServerHasABlock(t *testing.T) {
	t.Parallel()
	page := string(content(t, "../../docs/models.md"))
	for _, s := range allServers() {
		_, section, found := strings.Cut(page, "\n### "+s.name+"\n")
		section, _, _ = strings.Cut(section, "\n##")
		blocks := settingsBlock.FindAllStringSubmatch(section, -1)
		if !found || len(blocks) != 1 {
			t.Errorf("%s has %d blocks", s.name, len(blocks))
			continue
		}
		block, err := config.LoadText("block", blocks[0][1], ownKeys)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		embedder := ""
		if block.Embedding.Model != "" {
			embedder = block.Embedding.BaseURL
		}
		if block.LLM.Model == "" || block.LLM.BaseURL != s.url || embedder != s.embedURL {
			t.Errorf("%s: %q at %s, embedder at %q", s.name, block.LLM.Model, block.LLM.BaseURL, embedder)
		}
		for _, how := range []string{s.started, s.embedStarted} {
			if _, port, has := strings.Cut(how, "--port "); has && !strings.Contains(section, "--port "+port[:4]) {
				t.Errorf("%s isn't started as init says: %s", s.name, how)
			}
		}
		want := unlikeTheModel(block.LLM, s)
		got := unlikeTheModel(written(t, s), s)
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: docs/models.md has\n%+v\ninit writes\n%+v", s.name, want, got)
		}
	}
}

// written returns what init writes for a server.
func written(t *testing.T, s knownServer) config.LLM {
	t.Helper()
	preset := config.Default().LLM
	suited := suit(preset, server{}, server{url: s.url})
	text, err := config.Edit("", suitedValues(preset, suited))
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.LoadText("written", text, ownKeys)
	if err != nil {
		t.Fatal(err)
	}
	return c.LLM
}

// unlikeTheModel returns l without what depends on the model, on the account or on taste. The window does, unless the
// server is started with it.
func unlikeTheModel(l config.LLM, s knownServer) config.LLM {
	l.Model = ""
	l.BaseURL = ""
	l.APIKey = config.Secret{}
	l.Vision = false
	l.Headers = nil
	l.Extra = nil
	if s.settings.window == 0 {
		l.Window = 0
	}
	return l
}

// ownKeys is an environment that has every variable except Hark's own.
func ownKeys(name string) (string, bool) {
	if strings.HasPrefix(name, "HARK_") {
		return "", false
	}
	return "k", true
}

var (
	settingsBlock = regexp.MustCompile("(?s)\n```toml\n(.*?)\n```")

	shellBlock   = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```")
	variable     = regexp.MustCompile(`^[A-Z_]+=`)
	shellComment = regexp.MustCompile(`(^|\s+)# .*$`)
)

// reader types a page's commands in a directory.
type reader struct {
	*world
	dir   string
	typed int
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{world: newWorld(t), dir: t.TempDir()}
	for name, text := range map[string]string{
		"general.json":   exportedChannel,
		"export/a.json":  exportedChannel,
		"config.yaml":    llmcordConfig,
		"token":          "t",
		"messages.jsonl": posted("general", "1", "ana", "Friday."),
		"set.jsonl":      posted("general", "1", "ana", "Friday."),
	} {
		put(t, filepath.Join(r.dir, name), text)
	}
	synonyms(t, filepath.Join(r.dir, "models/potion-retrieval-32M"))
	r.hark(nil, []string{"import", "general.json"}) // something to keep
	return r
}

func (r *reader) types(line string) {
	r.Helper()
	line = strings.TrimSpace(shellComment.ReplaceAllString(line, ""))
	if line == "" {
		return
	}
	r.typed++
	words := strings.Fields(line)
	env := map[string]string{}
	for variable.MatchString(words[0]) {
		key, value, _ := strings.Cut(words[0], "=")
		env[key], words = value, words[1:]
	}
	command := strings.Join(words, " ")
	switch {
	case command == "go run ./cmd/hark chat", command == "go test ./...", command == "./hark init":
		// other tests run these
	case strings.HasPrefix(command, "go build "):
		if !strings.HasSuffix(command, " -o hark ./cmd/hark") {
			r.Errorf("%q doesn't make ./hark of ./cmd/hark", command)
		}
	case strings.HasPrefix(command, "echo "):
		r.shell(line)
	case strings.HasPrefix(command, "docker compose "):
		for part := range strings.SplitSeq(command, " && ") {
			r.compose(strings.Fields(part)[2:])
		}
	case strings.HasPrefix(command, "docker "), strings.HasPrefix(command, "sudo "), strings.HasPrefix(command, "git "):
		r.files(words)
	case slices.Contains(servers, words[0]):
		// programs of others, which serve models
	case words[0] == "hark", words[0] == "./hark":
		r.hark(env, words[1:])
	default:
		r.Errorf("nobody knows how to try %q", line)
	}
}

func (r *reader) files(words []string) {
	r.Helper()
	for _, word := range words {
		if strings.HasPrefix(word, "deploy/") || strings.HasSuffix(word, ".yaml") {
			if _, err := os.Stat(filepath.Join("../..", word)); err != nil {
				r.Errorf("%q: %v", strings.Join(words, " "), err)
			}
		}
	}
}

// compose runs what Hark would do in its container.
func (r *reader) compose(words []string) {
	r.Helper()
	r.files(words)
	words = slices.DeleteFunc(words, func(word string) bool { return word == "-T" })
	if i := slices.Index(words, "hark"); i >= 0 && slices.Contains([]string{"exec", "run"}, words[0]) {
		r.hark(nil, slices.DeleteFunc(words[i+1:], func(word string) bool { return word == "/hark" }))
	}
}

func (r *reader) hark(env map[string]string, args []string) {
	r.Helper()
	redirected := map[string]string{}
	for len(args) > 2 && (args[len(args)-2] == "<" || args[len(args)-2] == ">") {
		redirected[args[len(args)-2]], args = filepath.Join(r.dir, args[len(args)-1]), args[:len(args)-2]
	}
	for i, arg := range args {
		if arg == "FILE…" {
			args[i] = "general.json"
		}
	}
	c := exec.CommandContext(r.Context(), "hark", args...)
	c.Dir = r.dir
	if name := redirected["<"]; name != "" {
		data := content(r, name)
		c.Stdin = bytes.NewReader(data)
	}
	for _, of := range []map[string]string{r.env, env} {
		for key, value := range of {
			switch key {
			case "HARK_DISCORD_TOKEN":
				value = r.discord.Token
			case "HARK_LLM_BASE_URL":
				value = r.model.URL()
			case "HARK_LLM_API_KEY":
				value = "a-key"
			case "HARK_CONFIG":
				continue
			}
			c.Env = append(c.Env, key+"="+value)
		}
	}
	if args[0] != "run" {
		var out, told bytes.Buffer
		c.Stdout, c.Stderr = &out, &told
		if err := c.Run(); err != nil {
			r.Errorf("hark %s: %v\n%s%s", strings.Join(args, " "), err, &out, &told)
		}
		if name := redirected[">"]; name != "" {
			put(r, name, out.Bytes())
		}
		return
	}
	var log buffer
	c.Stderr = &log
	before := r.discord.Identifies()
	if err := c.Start(); err != nil {
		r.Fatal(err)
	}
	r.waitSession(before + 1)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		r.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		r.Errorf("hark run: %v\n%s", err, log.String())
	}
}

func (r *reader) shell(line string) {
	r.Helper()
	c := exec.CommandContext(r.Context(), "sh", "-ec", line)
	c.Dir = r.dir
	if out, err := c.CombinedOutput(); err != nil {
		r.Errorf("%s: %v\n%s", line, err, out)
	}
}

const (
	exportedChannel = `{"guild": {"id": "900000000000000001", "name": "Harbour"},
  "channel": {"id": "900000000000000002", "type": "GuildTextChat", "name": "general"},
  "messages": [{"id": "900000000000000003", "type": "Default", "timestamp": "2026-07-24T12:30:00+00:00",
    "content": "The deadline is Friday.", "author": {"id": "900000000000000004", "name": "ana", "nickname": "Ana"}}]}`
	llmcordConfig = "bot_token: a-token\nproviders: {ollama: {base_url: \"http://localhost:11434/v1\"}}\nmodels: {ollama/llama4: }\n"
)
