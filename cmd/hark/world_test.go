package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/internal/wait"
	"hark/memory"
	"hark/memory/sqlite"
)

// world is a fake Discord with a server of two channels and three people, a fake model, and a Hark between them.
type world struct {
	*testing.T
	discord *discordtest.Server
	model   *llmtest.Server
	env     map[string]string
	log     *buffer

	guild           discordtest.Guild
	general, staff  discordtest.Channel
	staffRole       discordtest.Role
	ana, jane, otto discordtest.User // otto isn't staff

	checks  bool   // "hark run" checks at its start
	nowhere bool   // the doctor asks the configured Discord, not the fake
	free    uint64 // bytes on the doctor's disk; 0: plenty
	cancel  context.CancelFunc
	code    chan int
}

// past is how far Discord's clock is behind Hark's.
const past = 3 * time.Hour

func newWorld(t *testing.T, options ...discordtest.Option) *world {
	options = append([]discordtest.Option{discordtest.WithTime(time.Now().Add(-past))}, options...)
	d := discordtest.New(t, options...)
	w := &world{T: t, discord: d, model: llmtest.New(t, llmtest.Progress(d.Poke)), log: &buffer{wrote: d.Poke}}
	w.guild = d.AddGuild("Garden")
	w.staffRole = d.AddRole(w.guild.ID, "staff", 0)
	w.general = d.AddChannel(w.guild.ID, discordtest.Channel{Name: "general"})
	w.staff = d.AddChannel(w.guild.ID, discordtest.Channel{Name: "staff", Overwrites: []discordtest.Overwrite{
		discordtest.ForRole(w.guild.ID, 0, discordtest.ViewChannel),
		discordtest.ForRole(w.staffRole.ID, discordtest.ViewChannel, 0),
		discordtest.ForRole(w.guild.BotRole.ID, discordtest.ViewChannel, 0),
	}})
	w.ana = d.AddMember(w.guild.ID, discordtest.User{Username: "ana"}, w.staffRole.ID)
	w.jane = d.AddMember(w.guild.ID, discordtest.User{Username: "jane"}, w.staffRole.ID)
	w.otto = d.AddMember(w.guild.ID, discordtest.User{Username: "otto"})
	d.SetCommandPermission(w.guild.ID, w.ana.ID, "Remember ⭐", true)
	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("Noted", " [1].") })
	w.env = map[string]string{
		"HARK_DATA": t.TempDir(), "HARK_DISCORD_TOKEN": d.Token, "HARK_DISCORD_API_URL": d.URL,
		"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": w.model.URL(), "HARK_WEB_LISTEN": "off",
		"HARK_CONFIG": filepath.Join(t.TempDir(),
			"config.toml"), "HARK_MEMORY_START": "on", "HARK_MEMORY_SUMMARIES": "extract",
	}
	w.configure("")
	if err := os.Chmod(w.env["HARK_DATA"], 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) configure(text string) {
	w.Helper()
	put(w, w.env["HARK_CONFIG"], text)
}

func (w *world) environment(stdout, stderr *buffer) environment {
	e := environmentWith(w.env, "", stdout, stderr)
	e.discord, e.progress, e.unchecked = w.discord.Client(), w.discord.Poke, !w.checks
	if w.nowhere {
		e.discord = nil
	}
	e.space = func(string) (uint64, uint64, error) {
		if w.free > 0 {
			return w.free, 1 << 30, nil
		}
		return 1 << 40, 1 << 41, nil
	}
	return e
}

func (w *world) runs(stdin string, args ...string) (code int, stdout, stderr string) {
	out, failed := &buffer{}, &buffer{}
	env := w.environment(out, failed)
	env.stdin = strings.NewReader(stdin)
	code = run(w.Context(), env, args)
	return code, out.String(), failed.String()
}

func environmentWith(env map[string]string, stdin string, stdout, stderr io.Writer) environment {
	return environment{
		stdin: strings.NewReader(stdin), stdout: stdout, stderr: stderr,
		lookup:  func(key string) (string, bool) { v, ok := env[key]; return v, ok },
		environ: func() []string { return environOf(env) },
	}
}

func environOf(env map[string]string) []string {
	var all []string
	for key, value := range maps.All(env) {
		all = append(all, key+"="+value)
	}
	return all
}

// start runs "hark run" until stop, or the test's end.
func (w *world) start() {
	w.Helper()
	before := w.discord.Identifies()
	w.startWith(func(ctx context.Context) int { return run(ctx, w.environment(&buffer{}, w.log), []string{"run"}) })
	w.waitSession(before + 1)
}

func (w *world) waitSession(n int) {
	w.Helper()
	w.discord.WaitFor("a session", func() bool { return w.discord.Identifies() >= n })
	w.discord.WaitReady()
}

func (w *world) startWith(run func(ctx context.Context) int) {
	ctx, cancel := context.WithCancel(context.Background())
	code, done := make(chan int, 1), make(chan struct{})
	w.cancel, w.code = cancel, code
	go func() {
		defer close(done)
		code <- run(ctx)
	}()
	w.Cleanup(func() {
		cancel()
		<-done
		if w.Failed() {
			w.Logf("Hark's log:\n%s", w.log)
		}
	})
}

// stop ends Hark as SIGTERM does, and returns its exit code.
func (w *world) stop() int {
	w.Helper()
	w.cancel()
	return w.ended()
}

func (w *world) stopWell() {
	w.Helper()
	if code := w.stop(); code != 0 {
		w.Errorf("exit code %d", code)
	}
}

func (w *world) ended() int {
	w.Helper()
	return wait.For(w, "Hark to stop", w.code)
}

// later ends the session.
func (w *world) later() { w.discord.Advance(past) }

// ask mentions Hark and waits for the reply "Noted".
func (w *world) ask(channel discordtest.Channel, who discordtest.User, text string) discordtest.Sent {
	w.Helper()
	question := w.discord.Say(channel.ID, who.ID, w.discord.Bot.Mention()+" "+text)
	return w.reply(channel.ID, question.ID, "Noted")
}

// reply is the reply to a question once it contains text.
func (w *world) reply(channel, question discordtest.ID, text string) discordtest.Sent {
	w.Helper()
	return w.discord.WaitSent(channel, func(m discordtest.Sent) bool {
		return m.Reference != nil && m.Reference.MessageID == question && strings.Contains(m.Content, text)
	})
}

// prompt is the last request to the model.
func (w *world) prompt() string {
	w.Helper()
	requests := w.model.Requests()
	if len(requests) == 0 {
		w.Fatal("the model wasn't asked")
	}
	return string(requests[len(requests)-1].Body)
}

func (w *world) prompts() string {
	var all strings.Builder
	for _, r := range w.model.Requests() {
		all.Write(r.Body)
	}
	return all.String()
}

// sees compares what somebody sees with testdata/seen.txtar.
func (w *world) sees(text string) {
	w.Helper()
	names := []string{w.discord.URL, "DISCORD", w.model.URL(), "MODEL", w.discord.Token, "TOKEN"}
	for id, name := range map[discordtest.ID]string{w.guild.ID: "GARDEN", w.general.ID: "GENERAL",
		w.staff.ID: "STAFF", w.ana.ID: "ANA", w.jane.ID: "JANE", w.otto.ID: "OTTO"} {
		names = append(names, id.String(), name)
	}
	golden.Seen(w, steady(text, names...))
}

func (w *world) holds(text, what string) {
	w.Helper()
	if !strings.Contains(text, what) {
		w.Errorf("%q is missing in\n%s", what, text)
	}
}

func (w *world) lacks(text, what string) {
	w.Helper()
	if strings.Contains(text, what) {
		w.Errorf("%q is in\n%s", what, text)
	}
}

// logged returns the texts in Hark's store by id, once Hark has stopped.
func (w *world) logged(channel discordtest.ID) map[memory.MessageID]string {
	w.Helper()
	texts := map[memory.MessageID]string{}
	var ids []memory.MessageID
	for _, m := range w.discord.Messages(channel) {
		ids = append(ids, memory.MessageID(m.ID))
	}
	opened(w, w.env["HARK_DATA"], func(store *sqlite.Store) error {
		messages, err := store.Around(w.Context(), memory.ChannelID(channel), ids, 0, 0)
		for _, m := range messages {
			if _, twice := texts[m.ID]; twice {
				w.Errorf("message %d is there twice", m.ID)
			}
			texts[m.ID] = m.Content
		}
		return err
	})
	return texts
}

func opened(t testing.TB, dir string, do func(store *sqlite.Store) error) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(store), store.Close()); err != nil {
		t.Fatal(err)
	}
}

type buffer struct {
	mu    sync.Mutex
	bytes bytes.Buffer
	wrote func() // called after each write, if not nil
}

func (b *buffer) Write(p []byte) (int, error) {
	if b.wrote != nil {
		defer b.wrote()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.Write(p)
}

func (b *buffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.Len()
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.String()
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, text)
	return path
}

// posted is a message as a line of a file to import.
func posted(channel, id, author, text string) string {
	return fmt.Sprintf(`{"type":"message","channel":%q,"id":%q,"author":%q,"time":"2024-05-31T12:00:00Z","text":%q}`+"\n",
		channel, id, author, text)
}

func put[T ~string | ~[]byte](t testing.TB, path string, text T) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func overwrite(t testing.TB, dir string, change func(file []byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, sqlite.FileName)
	before, _ := os.ReadFile(path)
	put(t, path, change(before))
}

func calls(all ...[2]string) llmtest.Reply {
	var r llmtest.Reply
	for i, c := range all {
		half := len(c[1]) / 2
		r.Tools = append(r.Tools, llmtest.ToolCall{ID: fmt.Sprintf("call%d", i), Name: c[0],
			Arguments: []string{c[1][:half], c[1][half:]}})
	}
	return r
}

func (w *world) question(channel discordtest.Channel, who discordtest.User, text string) discordtest.Message {
	w.Helper()
	return w.discord.Say(channel.ID, who.ID, w.discord.Bot.Mention()+" "+text)
}

func (w *world) modelAsked(n int) {
	w.Helper()
	w.discord.WaitFor("the model to be asked", func() bool {
		return len(w.model.Requests()) >= n
	})
}

// press waits for a button of a message, and uses it.
func (w *world) press(m discordtest.Message, who discordtest.User, label string) *discordtest.Interaction {
	w.Helper()
	id := ""
	w.discord.WaitFor("the button "+label, func() bool {
		id = buttonOf(w.now(m), label)
		return id != ""
	})
	return w.discord.Click(m, who.ID, id)
}

// buttonOf returns a button's id; "" if there is none.
func buttonOf(m discordtest.Sent, label string) string {
	for _, raw := range m.Components {
		var row struct {
			Components []struct {
				Label string `json:"label"`
				ID    string `json:"custom_id"`
			} `json:"components"`
		}
		if json.Unmarshal(raw, &row) != nil {
			continue
		}
		for _, b := range row.Components {
			if b.Label == label {
				return b.ID
			}
		}
	}
	return ""
}

// now returns the present state of a message.
func (w *world) now(m discordtest.Message) discordtest.Sent {
	for _, sent := range w.discord.Sent(m.ChannelID) {
		if sent.ID == m.ID {
			return sent
		}
	}
	return discordtest.Sent{}
}
