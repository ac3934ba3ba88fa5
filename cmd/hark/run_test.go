package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/internal/config"
	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
)

func TestRunWaitsForTheConfiguration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, token string
		want        error
	}{
		{"no token", "", discord.ErrNoToken},
		{"wrong token", "wrong", discord.ErrToken},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			delete(w.env, "HARK_DISCORD_TOKEN")
			w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0"
			w.configure("[discord]\ntoken = \"" + test.token + "\"\n")
			w.wait()
			address := w.waitLog(`"address":"([^"]+)"`)
			w.waitLog(waitingForChange)
			w.get(address, "/healthz", http.StatusOK, "ok")
			w.get(address, "/readyz", http.StatusServiceUnavailable, test.want.Error())

			// A broken file changes nothing.
			w.configure("[discord]\ntoken = ")
			w.get(address, "/readyz", http.StatusServiceUnavailable, test.want.Error())
			asked := len(w.discord.Requests())
			w.configure("[discord]\ntoken = \"" + w.discord.Token + "\"\n")
			w.discord.WaitReady()
			if test.token == "" && asked > 0 {
				t.Errorf("asked Discord %d times without a token", asked)
			}
			w.get(address, "/metrics", http.StatusOK, "hark_search_seconds_count 0\n")
			w.ask(w.general, w.ana, "hello?")
			if counter(w.scrape(address), "hark_search_seconds_count") < 1 {
				w.Error("the question isn't counted")
			}
			w.get(address, "/readyz", http.StatusOK, "ready")
			w.stopWell()
			inLog := strings.ReplaceAll(test.want.Error(), `"`, `\"`)
			if n := strings.Count(w.log.String(), inLog); n != 1 {
				t.Errorf("said %d times", n)
			}
		})
	}
}

// Without a token, or with what can't be one, it is said where to put one and what else helps.
func TestRunWithoutAToken(t *testing.T) {
	t.Parallel()
	d := discordtest.New(t)
	for name, token := range map[string]string{"none": "", "two words": "your token", "refused": "your-token"} {
		for _, inFile := range []bool{false, true} {
			file := ""
			env := map[string]string{"HARK_WEB_LISTEN": "127.0.0.1:0", "HARK_DISCORD_TOKEN": token,
				"HARK_DISCORD_API_URL": d.URL}
			if inFile {
				file = "[discord]\ntoken = '" + token + "'\n"
				delete(env, "HARK_DISCORD_TOKEN")
			}
			env["HARK_CONFIG"] = writeFile(t, file)
			c := commandLine{T: t, env: env}
			c.run(1, "run", "--data", t.TempDir())
			said := c.err.String()
			if !strings.Contains(said, "HARK_DISCORD_TOKEN") || !strings.Contains(said, "hark init") {
				t.Errorf("%s, in a file: %t: %s", name, inFile, said)
			}
		}
	}
}

// Each model's window that is too small is told of once, as an error where prompts are of no use.
func TestRunTellsOfSmallWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_LLM_WINDOW"] = "4096"
	w.configure("[[llm.models]]\nname = 'tiny'\nmodel = 'm'\nwindow = 1024\n")
	w.start()
	w.stopWell()
	for _, want := range []string{
		`"level":"warn","window":4096,"prompt":3096,"answer":1000,"model":"test-model",`,
		`"model":"test-model",[^\n]*has no room for tools beside prompts of 3096`,
		`"level":"error","window":1024,"prompt":683,"answer":341,"model":"tiny",[^\n]*is too small`,
	} {
		if n := len(regexp.MustCompile(want).FindAllString(w.log.String(), -1)); n != 1 {
			t.Errorf("%s is told %d times", want, n)
		}
	}
}

func TestRunStopsWhileItWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, discordtest.WithIntents(0))
	w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0"
	w.wait()
	address := w.waitLog(`"address":"([^"]+)"`)
	w.waitLog(waitingForChange)
	w.get(address, "/readyz", http.StatusServiceUnavailable, "Message Content Intent")
	identified := w.discord.Identifies()
	w.stopWell()
	if n := w.discord.Identifies(); n != identified {
		t.Errorf("Discord was asked %d times more", n-identified)
	}
	w.lacks(w.log.String(), "hark: ")
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0"
	w.start()
	w.env = map[string]string{"HARK_WEB_LISTEN": w.waitLog(`"address":"([^"]+)"`)}
	w.hark(0, "healthcheck")
	w.stop()
	_, told := w.hark(1, "healthcheck")
	w.holds(told, "is Hark running?")
}

// wait runs "hark run --wait", which looks at the configuration often.
func (w *world) wait() {
	w.startWith(func(ctx context.Context) int {
		env := w.environment(&buffer{}, w.log)
		r := &runner{flags: &flags{env: &env}, wait: true, look: time.Millisecond}
		if err := r.run(ctx); err != nil {
			w.Errorf("%v", err)
			return 1
		}
		return 0
	})
}

// waitLog waits for a match of pattern's group in Hark's log.
func (w *world) waitLog(pattern string) string {
	w.Helper()
	found, match := "", regexp.MustCompile(pattern)
	w.discord.WaitFor("a line of the log", func() bool {
		m := match.FindStringSubmatch(w.log.String())
		if m == nil {
			return false
		}
		found = m[len(m)-1]
		return true
	})
	return found
}

// get asks the web server, which must answer with a status and a text.
func (w *world) get(address, path string, status int, text string) {
	w.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status || !strings.Contains(string(body), text) {
		w.Errorf("%s: %s %q, %v; want %d and %q", path, response.Status, body, err, status, text)
	}
}

func TestLogForPeopleAndMachines(t *testing.T) {
	t.Parallel()
	nowhere := func(string) (string, bool) { return "", false }
	for _, c := range []struct{ format, want string }{
		{"text", `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d WRN connecting again error="torn\\x1b\[31m" model=large wait=1\.5s\n$`},
		{"json", `^{"level":"warn","error":"torn\\u001b\[31m","wait":1500,"model":"large","time":"[^"]+","message":"connecting again"}\n$`},
		{"auto", `^{"level":"warn"`}, // a buffer is no terminal
	} {
		out := &buffer{}
		log := newLogger(config.Log{Level: "warn", Format: c.format}, out, nowhere)
		log.Info().Msg("too little")
		log.Warn().Err(errors.New("torn\x1b[31m")).Dur("wait", 1500*time.Millisecond).Str("model",
			"large").Msg("connecting again")
		if !regexp.MustCompile(c.want).MatchString(out.String()) {
			t.Errorf("%s: %q", c.format, out)
		}
	}
	if err := readable(map[string]any{"wait": "soon"}); err != nil {
		t.Error(err)
	}
}

// A database that wasn't closed is checked while Hark runs. Damage ends Hark, now and at the next start.
func TestRunEndsWithTheDamageThatIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("hello")
	var root, size int64
	db, err := sql.Open("sqlite", filepath.Join(w.env["HARK_DATA"], sqlite.FileName))
	if err == nil {
		_, err = db.Exec("INSERT INTO meta VALUES ('open', '')")
	}
	if err == nil {
		err = db.QueryRow(`SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema
			WHERE name = 'external_id_name'`).Scan(&root, &size) // not read at the start
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	overwrite(t, w.env["HARK_DATA"], func(file []byte) []byte {
		copy(file[(root-1)*size:], "damage damage damage")
		return file
	})
	w.discord.Inject("GET /users/@me", 2, discordtest.Hang()) // so that Hark has nothing to finish
	for range 2 {
		w.startWith(func(ctx context.Context) int { return run(ctx, w.environment(&buffer{}, w.log), []string{"run"}) })
		if code := w.ended(); code != 1 {
			t.Errorf("exit code %d", code)
		}
	}
	if n := strings.Count(w.log.String(), "hark: "); n != 2 || !strings.Contains(w.log.String(), sqlite.Rescue) {
		t.Errorf("%d errors in\n%s", n, w.log)
	}
}

// The page of a running Hark is open by a link only, and shows what the bot does now.
func TestInspectionPageOfARunningHark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"], w.env["HARK_WEB_INSPECT"] = "127.0.0.1:0", "true"
	w.start()
	address := w.waitLog(`"address":"([^"]+)"`)
	w.discord.Say(w.general.ID, w.jane.ID, "the lighthouse keeper is called Ulla")
	w.later()
	w.traced(w.ask(w.general, w.ana, "what is the lighthouse keeper called?"))
	w.get(address, "/healthz", http.StatusOK, "ok")
	w.get(address, "/answers", http.StatusUnauthorized, "hark web --link")
	link, _ := w.hark(0, "web", "--link")
	w.holds(link, "http://"+address+"/login?token=")
	page := &inspector{world: w, address: "http://" + address}
	page.do(http.MethodGet, strings.TrimPrefix(strings.TrimSpace(link), page.address), nil, http.StatusOK)
	w.holds(page.do(http.MethodGet, "/", nil, http.StatusOK), "✓ ready")
	w.holds(page.do(http.MethodGet, "/answers", nil, http.StatusOK), "what is the lighthouse keeper called?")
	_, told := w.hark(1, "web")
	w.holds(told, "web.inspect = true")
	w.stopWell()
	_, told = w.hark(1, "web", "--link")
	w.holds(told, "no Hark serves the inspection page")
}

// inspector uses the inspection page.
type inspector struct {
	*world
	address string
	cookie  *http.Cookie
}

func (i *inspector) do(method, path string, form url.Values, status int) string {
	i.Helper()
	request, err := http.NewRequestWithContext(i.Context(), method, i.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		i.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if i.cookie != nil {
		request.AddCookie(i.cookie)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		i.Fatal(err)
	}
	defer response.Body.Close()
	if set := response.Cookies(); len(set) > 0 {
		i.cookie = set[0]
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		i.Fatal(response.Status, err, string(body))
	}
	return string(body)
}

// What isn't logged but held for the conversation that goes on is forgotten by the page, too.
func TestForgettingOnThePageReachesSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, discordtest.WithTime(time.Now()))
	w.env["HARK_WEB_LISTEN"], w.env["HARK_WEB_INSPECT"], w.env["HARK_MEMORY_START"] = "127.0.0.1:0", "true", "ask"
	w.start()
	page := &inspector{world: w, address: "http://" + w.waitLog(`"address":"([^"]+)"`)}
	w.discord.Say(w.general.ID, w.jane.ID, "the lighthouse keeper is called Ulla")
	w.ask(w.general, w.ana, "hello?")
	w.holds(w.prompt(), "Ulla")
	link, _ := w.hark(0, "web", "--link")
	page.do(http.MethodGet, strings.TrimPrefix(strings.TrimSpace(link), page.address), nil, http.StatusOK)
	page.do(http.MethodPost, "/forget", url.Values{"guild": {w.guild.ID.String()}, "person": {w.jane.ID.String()},
		"confirm": {"0"}}, http.StatusSeeOther)
	w.ask(w.general, w.ana, "who is the keeper?")
	w.lacks(w.prompt(), "Ulla")
	w.stopWell()
}

// An embedder that doesn't answer at the start is tried again while Hark runs, and embeds all that was said.
func TestRunTriesTheEmbedderAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_EMBEDDING_MODEL"] = "nomic-embed-text"
	w.env["HARK_EMBEDDING_BASE_URL"] = w.model.URL()
	w.model.QueueEmbeddings(llmtest.Dropped)
	w.start()
	w.waitLog(`(the configured embedder can't be used; it is tried again)`)
	w.discord.Say(w.general.ID, w.jane.ID, "the ferry leaves at noon")
	w.waitLog(`(the configured embedder can be used now)`)
	want := memory.Space{Name: `nomic-embed-text "search_document: "`, Dimensions: 64}
	w.discord.WaitFor("what was said to be embedded", func() bool {
		return slices.ContainsFunc(w.model.Requests(), func(r llmtest.Request) bool {
			return strings.Contains(strings.Join(r.Input, "\n"), "search_document: the ferry leaves at noon")
		})
	})
	w.stop()
	if use, next := sqlite.StoredSpaces(t.Context(), w.env["HARK_DATA"]); use != want && next != want {
		t.Errorf("the vectors lie in %v and %v", use, next)
	}
}
