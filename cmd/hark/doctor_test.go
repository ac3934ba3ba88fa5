package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/memory/sqlite"
)

// doctorTest is a fault and its finding.
type doctorTest struct {
	options []discordtest.Option
	change  func(*world)
	wrong   string // the only check with a ✗
	advised string // the only check with a !
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	llm := func(s *llmtest.Server) func(*world) {
		return func(w *world) { w.env["HARK_LLM_BASE_URL"] = s.URL() }
	}
	sets := func(variables ...string) func(*world) {
		return func(w *world) {
			for pair := range slices.Chunk(variables, 2) {
				w.env[pair[0]] = pair[1]
			}
		}
	}
	const away = "http://127.0.0.1:1/v1"
	embedding := func(w *world, options ...llmtest.Option) *llmtest.Server {
		s := llmtest.New(w.T, options...)
		w.env["HARK_EMBEDDING_MODEL"], w.env["HARK_EMBEDDING_BASE_URL"] = "e", s.URL()
		return s
	}
	tests := map[string]doctorTest{
		"all is well": {change: func(w *world) { w.remember("hello") }},
		"wrong token": {change: func(w *world) { w.env["HARK_DISCORD_TOKEN"] = "wrong" }, wrong: "Discord"},
		"no token":    {change: func(w *world) { delete(w.env, "HARK_DISCORD_TOKEN") }, wrong: "Discord"},
		"no Discord": {change: func(w *world) {
			w.env["HARK_DISCORD_API_URL"] = "http://127.0.0.1:1"
			w.nowhere = true
		}, wrong: "Discord"},
		"the members intent": {options: []discordtest.Option{
			discordtest.WithIntents(discordtest.MessageContent | discordtest.Members)}},
		"no intent": {options: []discordtest.Option{discordtest.WithIntents(0)},
			wrong: "intents"},
		"a permission is missing in one server": {change: func(w *world) {
			lawn := w.discord.AddGuild("Lawn\x1b")
			for _, role := range []discordtest.ID{lawn.ID, lawn.BotRole.ID} {
				w.discord.UpdateRole(lawn.ID, role, func(r *discordtest.Role) {
					r.Permissions &^= discordtest.AttachFiles
				})
			}
		}, wrong: "permissions in Lawn\uFFFD"},
		"commands are missing in one server": {change: func(w *world) { w.discord.DenyCommands(w.guild.ID) },
			wrong: "permissions in Garden"},
		"no server": {change: func(w *world) { w.discord.RemoveGuild(w.guild.ID) },
			advised: "permissions"},
		"a server for developing": {change: func(w *world) {
			w.env["HARK_DISCORD_DEV_GUILD"] = w.guild.ID.String()
		}, advised: "commands"},
		"none for developing": {change: func(w *world) { w.env["HARK_DISCORD_DEV_GUILD"] = "7" }, wrong: "commands"},
		"guilds aren't told": {change: func(w *world) {
			w.discord.Inject("GET /users/@me/guilds", 9, discordtest.Forbidden())
		}, wrong: "permissions"},
		"limits aren't told": {change: func(w *world) {
			w.discord.Inject("GET /gateway/bot", 9, discordtest.ServerError())
		}, wrong: "gateway"},
		"no connections left":  {options: []discordtest.Option{discordtest.WithStarts(0)}, wrong: "gateway"},
		"few connections left": {options: []discordtest.Option{discordtest.WithStarts(99)}, advised: "gateway"},
		"late":                 {options: []discordtest.Option{discordtest.WithDateOff(time.Hour)}, wrong: "clock"},
		"early":                {options: []discordtest.Option{discordtest.WithDateOff(-time.Hour)}, wrong: "clock"},

		"no model":        {change: func(w *world) { delete(w.env, "HARK_LLM_MODEL") }},
		"no model server": {change: sets("HARK_LLM_BASE_URL", away), wrong: "model"},
		"wrong key": {change: func(w *world) {
			w.env["HARK_LLM_BASE_URL"] = llmtest.New(w.T, llmtest.Key("right")).URL()
			w.env["HARK_LLM_API_KEY"] = "wr0ng-key"
		}, wrong: "model"},
		"unknown model":     {change: llm(llmtest.New(t, llmtest.Models("other"))), wrong: "model"},
		"a page":            {change: func(w *world) { w.model.Queue(llmtest.Page(200)) }, wrong: "model"},
		"a page of 502":     {change: func(w *world) { w.model.Queue(slices.Repeat([]llmtest.Reply{llmtest.Page(502)}, 4)...) }, wrong: "model"},
		"a narrow window":   {change: func(w *world) { w.env["HARK_LLM_WINDOW"] = "2000" }, advised: "model"},
		"a tiny window":     {change: func(w *world) { w.env["HARK_LLM_WINDOW"] = "1024" }, wrong: "model"},
		"no room for tools": {change: sets("HARK_LLM_WINDOW", "2400", "HARK_BUILDER_MAX_TOKENS", "1300"), advised: "model"},
		"no tools are wanted": {change: sets("HARK_LLM_WINDOW", "2400", "HARK_BUILDER_MAX_TOKENS", "1300",
			"HARK_ANSWER_TOOL_ROUNDS", "0")},
		"a wide window": {change: func(w *world) { w.env["HARK_LLM_WINDOW"] = "20000" }},
		"a second model fails": {change: func(w *world) {
			w.configure("[[llm.models]]\nname = 'second'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:1/v1'\n")
		}, wrong: `model "second"`},
		"the fallback fails": {change: sets("HARK_LLM_FALLBACK_MODEL", "f", "HARK_LLM_FALLBACK_BASE_URL",
			away), wrong: "fallback model"},

		"no embedding server": {change: sets("HARK_EMBEDDING_MODEL", "e", "HARK_EMBEDDING_BASE_URL", away,
			"HARK_EMBEDDING_DIMENSIONS", "64"), wrong: "embedder"},
		"embedding server": {change: func(w *world) { embedding(w) }},
		"another embedder": {change: func(w *world) {
			w.remember("hello")
			embedding(w)
		}, advised: "embedder"},
		"an embedder with other dimensions": {change: func(w *world) {
			embedding(w)
			w.remember("hello")
			embedding(w, llmtest.Dimensions(32))
		}, wrong: "embedder"},
		"an embedder that answers pages": {change: func(w *world) {
			embedding(w).QueueEmbeddings(llmtest.HTMLPage, llmtest.HTMLPage)
		}, wrong: "embedder"},
		"no rerank server": {change: sets("HARK_SEARCH_RERANK_URL", away, "HARK_SEARCH_RERANK_KEY",
			"wr0ng-key"), wrong: "reranker"},
		"rerank server": {change: func(w *world) { w.env["HARK_SEARCH_RERANK_URL"] = newReranking(w.T, "sky").url }},
		"no model that reranks": {change: func(w *world) {
			w.env["HARK_SEARCH_RERANK_URL"] = newReranking(w.T, "Bread").url
		}, wrong: "reranker"},

		"no configuration": {change: func(w *world) { delete(w.env, "HARK_CONFIG") }},
		"a configuration for all": {change: func(w *world) {
			w.configure("[llm]\napi_key = 'wr0ng-key'\n")
			w.chmod(0o644)
		}, wrong: "configuration"},
		"a configuration for a group": {change: func(w *world) {
			w.configure("[llm]\napi_key = 'wr0ng-key'\n")
			w.chmod(0o640)
		}, advised: "configuration"},
		"a token file for all": {change: func(w *world) {
			file := filepath.Join(w.TempDir(), "token")
			put(w.T, file, w.discord.Token)
			if err := os.Chmod(file, 0o644); err != nil {
				w.Fatal(err)
			}
			delete(w.env, "HARK_DISCORD_TOKEN")
			w.env["HARK_DISCORD_TOKEN_FILE"] = file
		}, advised: "secrets"},
		"a token file for a group": {change: func(w *world) {
			file := filepath.Join(w.TempDir(), "token")
			put(w.T, file, w.discord.Token)
			if err := os.Chmod(file, 0o640); err != nil {
				w.Fatal(err)
			}
			delete(w.env, "HARK_DISCORD_TOKEN")
			w.env["HARK_DISCORD_TOKEN_FILE"] = file
		}},
		"a configuration without secrets": {change: func(w *world) { w.chmod(0o644) }},
		"a directory that can't be written": {change: func(w *world) { w.env["HARK_DATA"] = "/proc/self" },
			wrong: "data directory"},
		"a full disk":          {change: func(w *world) { w.free = 5 << 20 }, wrong: "data directory"},
		"a disk that fills up": {change: func(w *world) { w.free = 500 << 20 }, advised: "data directory"},
		"a data directory for all": {change: func(w *world) {
			w.remember("hello")
			if err := errors.Join(os.Chmod(w.env["HARK_DATA"], 0o755),
				os.Chmod(filepath.Join(w.env["HARK_DATA"], sqlite.FileName), 0o644)); err != nil {
				w.Fatal(err)
			}
		}, wrong: "data directory"},
		"a data directory for a group": {change: func(w *world) {
			w.remember("hello")
			if err := os.Chmod(w.env["HARK_DATA"], 0o770); err != nil {
				w.Fatal(err)
			}
		}, advised: "data directory"},
		"a lock that can't be opened": {change: func(w *world) {
			// unusable even for root
			if err := os.Mkdir(filepath.Join(w.env["HARK_DATA"], sqlite.LockName), 0o700); err != nil {
				w.Fatal(err)
			}
		}, wrong: "data directory"},
		"an empty database": {change: func(w *world) {
			overwrite(w, w.env["HARK_DATA"], func([]byte) []byte { return nil })
		}, advised: "database"},
		"a floor above a ceiling": {change: func(w *world) {
			w.configure("[builder.sections.history]\nfloor = 900\nceiling = 100\n")
		}, wrong: "configuration"},
		"a taken port": {change: func(w *world) {
			w.env["HARK_WEB_LISTEN"] = strings.TrimPrefix(w.discord.URL, "http://")
		}, wrong: "health checks"},
		"a free port": {change: func(w *world) { w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0" }},
		"permissions aren't told": {change: func(w *world) {
			w.discord.Inject("GET /users/@me/guilds", 9,
				discordtest.Untold(fmt.Sprintf(`[{"id": "%d", "name": "Garden"}]`, w.guild.ID)))
		}, advised: "permissions in Garden"},
		"no database": {change: func(w *world) { w.env["HARK_DATA"] = filepath.Join(w.TempDir(), "none") }},
		"a letter for a database": {change: func(w *world) {
			overwrite(w, w.env["HARK_DATA"], func([]byte) []byte {
				return []byte("Dear Hark, this is a letter, and no database at all.")
			})
		}, wrong: "database", advised: "sealed"},
		"a damaged database": {change: func(w *world) {
			w.remember("hello")
			overwrite(w, w.env["HARK_DATA"], func(b []byte) []byte { return b[:len(b)/2] })
		}, wrong: "database", advised: "sealed"},
		"damaged full text": {change: func(w *world) {
			w.remember("hello")
			db, err := sql.Open("sqlite", filepath.Join(w.env["HARK_DATA"], sqlite.FileName))
			if err == nil {
				_, err = db.Exec("UPDATE fulltext_data SET block = zeroblob(length(block)) WHERE id > 10")
			}
			if err := errors.Join(err, db.Close()); err != nil {
				w.Fatal(err)
			}
		}, wrong: "database"},
		"a newer database": {change: func(w *world) {
			w.remember("hello")
			// user_version
			overwrite(w, w.env["HARK_DATA"], func(b []byte) []byte { b[63] = 99; return b })
		}, wrong: "database", advised: "sealed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.options...)
			if test.change != nil {
				test.change(w)
			}
			code, out := w.doctor()
			if (code == 1) != (test.wrong != "") || code > 1 {
				t.Errorf("exit code %d", code)
			}
			met := test.wrong == "" && test.advised == ""
			for line := range strings.Lines(out) {
				mark, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				want := "✓"
				switch {
				case test.wrong != "" && strings.HasPrefix(what, test.wrong+": "):
					want = "✗"
				case test.advised != "" && strings.HasPrefix(what, test.advised+": "):
					want = "!"
				}
				if mark != want {
					t.Errorf("where %s is expected it says %s", want, line)
				}
				if want != "✓" {
					met = true
					if at := w.env["HARK_WEB_LISTEN"]; at != "off" {
						line = strings.ReplaceAll(line, at, "ADDRESS")
					}
					w.sees(line)
				}
			}
			if !met {
				t.Errorf("nothing is said of it:\n%s", out)
			}
			for _, secret := range []string{w.discord.Token, "wr0ng-key"} {
				w.lacks(out+w.log.String(), secret)
			}
			entries, err := os.ReadDir(w.env["HARK_DATA"])
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), ".doctor") {
					t.Errorf("it leaves %s behind, %v", e.Name(), err)
				}
			}
		})
	}
}

func (w *world) doctor(args ...string) (code int, said string) {
	code, said, told := w.runs("", append([]string{"doctor"}, args...)...)
	_, _ = w.log.Write([]byte(told))
	return code, said
}

// remember stores a text with its vectors.
func (w *world) remember(text string) {
	w.Helper()
	if code, _, told := w.runs("Ana: "+text+"\n", "chat"); code != 0 {
		w.Fatalf("exit code %d: %s", code, told)
	}
	w.hark(0, "search", text) // makes missing vectors
}

func (w *world) chmod(mode os.FileMode) {
	w.Helper()
	if err := os.Chmod(w.env["HARK_CONFIG"], mode); err != nil {
		w.Fatal(err)
	}
}

func TestDoctorsGolden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_SEARCH_RERANK_URL"] = newReranking(t, "sky").url
	w.remember("hello")
	code, out := w.doctor()
	places := strings.NewReplacer(w.env["HARK_CONFIG"], "…", w.env["HARK_DATA"], "…")
	mask := func(s string) string { return volatile.ReplaceAllString(places.Replace(s), "…") }
	got := mask(out)
	golden.File(t, filepath.Join("testdata", "doctor.txt"), got)
	if code != 0 {
		t.Errorf("exit code %d", code)
	}

	code, asJSON := w.doctor("--json")
	var all []map[string]any
	if err := json.Unmarshal([]byte(asJSON), &all); err != nil || code != 0 || len(all) != strings.Count(out, "\n") {
		t.Fatalf("exit code %d, %v: %s", code, err, asJSON)
	}
	for i, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
		f := all[i]
		if len(f) != 4 || f["ok"] != true || f["advice"] != "" ||
			mask(fmt.Sprintf("✓ %s: %s", f["check"], f["detail"])) != line {
			t.Errorf("it has %v for %s", f, line)
		}
	}
}

// The doctor finds nothing wrong while Hark runs.
func TestDoctorWhileHarkRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.ana.ID, "hello")
	if code, out := w.doctor(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	w.stopWell()
}

// The checks at the start log problems and don't hold Hark up.
func TestChecksAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, discordtest.WithStarts(50))
	w.checks = true
	w.env["HARK_LLM_BASE_URL"] = llmtest.New(t, llmtest.Key("right")).URL()
	w.env["HARK_LLM_API_KEY"], w.env["HARK_LOG_FORMAT"] = "wr0ng-key", "json"
	w.start()
	w.discord.WaitFor("the checks", func() bool { return strings.Contains(w.log.String(), `"wrong":`) })
	checked, advice := map[string]string{}, []string{}
	for line := range strings.Lines(w.log.String()) {
		var l struct{ Level, Check, Message, Advice string }
		if err := json.Unmarshal([]byte(line), &l); err == nil && l.Check != "" {
			checked[l.Check] = l.Level
			// it may have connected already
			advice = append(advice, strings.TrimLeft(l.Message, "0123456789")+": "+l.Advice)
		}
	}
	if len(checked) != 2 || checked["model"] != "error" || checked["gateway"] != "warn" {
		t.Errorf("logged %q", checked)
	}
	slices.Sort(advice) // any order
	w.sees(strings.Join(advice, "\n"))
	w.holds(w.log.String(), `"wrong":1,"advice":1`)
	w.lacks(w.log.String(), "wr0ng-key")
	w.stopWell()
}

func TestChecksAtTheStartCostNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.checks = true
	w.start()
	w.discord.WaitFor("the checks", func() bool { return strings.Contains(w.log.String(), `"wrong":`) })
	w.lacks(w.log.String(), `"check"`)
	for _, r := range w.model.All() {
		if r.Path != "/v1/models" {
			t.Errorf("asked the model for %s", r.Path)
		}
	}
}
