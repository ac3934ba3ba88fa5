package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hark/internal/config"
	"hark/internal/llmtest"
	"hark/internal/wait"
)

// Each key is either taken over or needs a restart, and neither list names anything that isn't there.
func TestEveryKeyIsTakenOverOrNeedsARestart(t *testing.T) {
	t.Parallel()
	for _, key := range config.Keys() {
		if isOf(key, takenOver) == isOf(key, fixed) {
			t.Errorf("%s must be in one of takenOver and fixed", key)
		}
	}
	for _, name := range slices.Concat(takenOver, fixed) {
		if !slices.ContainsFunc(config.Keys(), func(key string) bool { return isOf(key, []string{name}) }) {
			t.Errorf("there is no %s", name)
		}
	}
	if isOf("llms.x", []string{"llm"}) || isOf("llm", []string{"llm.model"}) {
		t.Error("a name stands for others than those in it")
	}
}

// reloading runs "hark run", and returns what has it read its configuration again.
func (w *world) reloading(waits bool) (reread func()) {
	w.Helper()
	hangups := make(chan os.Signal)
	w.startWith(func(ctx context.Context) int {
		env := w.environment(&buffer{}, w.log)
		r := &runner{flags: &flags{env: &env}, look: time.Hour, wait: waits, hangups: hangups}
		if err := r.run(ctx); err != nil {
			w.Errorf("%v", err)
			return 1
		}
		return 0
	})
	return func() {
		taken := make(chan struct{})
		go func() {
			hangups <- syscall.SIGHUP
			close(taken)
		}()
		wait.For(w, "the configuration to be read again", taken)
	}
}

func TestReloadTakesOverWhatItCan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0"
	delete(w.env, "HARK_LLM_MODEL")
	settings := func(model, persona, limit, level string) {
		w.configure("[llm]\nmodel = \"" + model + "\"\napi_key = \"secret-" + model + "\"\n[answer]\npersona = \"" + persona + "\"\n[limits]\nmember_messages = " + limit +
			"\n[builder]\nlanguage = \"de\"\n[log]\nlevel = \"" + level + "\"\n[memory]\nsession_gap = \"40m\"\n")
	}
	settings("first", "You are a lighthouse.", "0", "info")
	reread := w.reloading(false)
	w.discord.WaitReady()
	address := w.waitLog(`"address":"([^"]+)"`)
	w.discord.Say(w.general.ID, w.jane.ID, "the keeper is called Ulla")
	w.later()
	w.traced(w.ask(w.general, w.ana, "what is the keeper called?"))
	w.holds(w.prompt(), "You are a lighthouse.")
	w.holds(w.prompt(), `"first"`)
	before := w.scrape(address)

	// While one is answered still, the model and the persona become others.
	pause := make(chan struct{})
	w.model.Queue(llmtest.Reply{Text: []string{"Noted, says ", "the first."}, Pause: pause})
	slow := w.discord.Say(w.staff.ID, w.ana.ID, w.discord.Bot.Mention()+" who are you?")
	w.reply(w.staff.ID, slow.ID, "Noted, says")
	settings("second", "You are a harbour.", "1", "error")
	reread()
	w.waitLog(`"keys":\["llm.api_key","llm.model","answer.persona","limits.member_messages","log.level"\]`)
	close(pause)
	w.reply(w.staff.ID, slow.ID, "Noted, says the first.")
	w.ask(w.general, w.jane, "what is the keeper called, again?")
	w.holds(w.prompt(), "You are a harbour.")
	w.holds(w.prompt(), `"second"`)
	again := w.discord.Say(w.general.ID, w.jane.ID, w.discord.Bot.Mention()+" and again?")
	w.reply(w.general.ID, again.ID, "Du hast ")
	after := w.scrape(address)
	if after.values["hark_prompts_total{}"] <= before.values["hark_prompts_total{}"] || after.values[`hark_config_reloads_total{outcome="taken"}`] != 1 ||
		after.values[`hark_prompt_cache_misses_total{section="history"}`] < before.values[`hark_prompt_cache_misses_total{section="history"}`] {
		t.Errorf("counted %v, and before %v", after.values, before.values)
	}
	if strings.Contains(w.log.String(), "secret-") {
		t.Error("a secret is logged")
	}
	if n := len(regexp.MustCompile(`"answered"`).FindAllString(w.log.String(), -1)); n != 1 {
		t.Errorf("%d answers logged, though only errors are to be", n)
	}
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestReloadRefusesAndTellsWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0"
	w.configure("[answer]\npersona = \"You are a lighthouse.\"\n")
	reread := w.reloading(false)
	w.discord.WaitReady()
	address := w.waitLog(`"address":"([^"]+)"`)
	for i, c := range []struct{ file, want string }{
		{"[answer]\npersonna = \"x\"\n", configurationRefused},
		{"[answer]\npersona = ", configurationRefused},
		{"[answer]\npersona = \"You are a hut.\"\n[llm]\nwindow = 900\n", configurationRefused},
		{"[answer]\npersona = \"You are a lighthouse.\"\n", nothingTakenOver},
		{"[answer]\npersona = \"You are a lighthouse.\"\n[memory]\nreconcile = false\n[embedding]\nmodel = \"e\"\n", `"keys":\["embedding.model","memory.reconcile"\]`},
	} {
		w.configure(c.file)
		before := w.log.Len()
		reread()
		w.discord.WaitFor("what comes of it", func() bool { return regexp.MustCompile(c.want).MatchString(w.log.String()[before:]) })
		w.ask(w.general, w.ana, fmt.Sprint("question number ", i))
		w.holds(w.prompt(), "You are a lighthouse.")
	}
	s := w.scrape(address)
	if s.values[`hark_config_reloads_total{outcome="refused"}`] != 3 || s.values[`hark_config_reloads_total{outcome="unchanged"}`] != 2 {
		t.Errorf("counted %v", s.values)
	}
	// What needs a restart isn't taken over beside something else either, and is told of again.
	w.configure("[answer]\npersona = \"You are a hut.\"\n[memory]\nreconcile = false\n")
	reread()
	w.waitLog(`"keys":\["answer.persona"\],"time":"[^"]+","message":"` + takenOverNow)
	w.ask(w.general, w.ana, "who are you?")
	w.holds(w.prompt(), "You are a hut.")
	reread()
	w.waitLog(`(?s)` + takenOverNow + `.*"keys":\["memory.reconcile"\].*"keys":\["memory.reconcile"\]`)
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	w.sees(w.saidOf("configuration"))
}

// saidOf are the log's messages about something, with what is amiss.
func (w *world) saidOf(what string) string {
	var said strings.Builder
	for line := range strings.Lines(w.log.String()) {
		var l struct{ Level, Message, Error string }
		if json.Unmarshal([]byte(line), &l) == nil && strings.Contains(l.Message+l.Error, what) {
			fmt.Fprintln(&said, l.Level, l.Message, l.Error)
		}
	}
	return said.String()
}

// Who waits for a token is told of a new one at once.
func TestReloadWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	delete(w.env, "HARK_DISCORD_TOKEN")
	w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0"
	reread := w.reloading(true)
	w.waitLog(waitingForChange)
	address := w.waitLog(`"address":"([^"]+)"`)
	reread() // and nothing has changed
	w.get(address, "/readyz", http.StatusServiceUnavailable, "token is missing")
	w.configure("[discord]\ntoken = \"" + w.discord.Token + "\"\n")
	reread()
	w.discord.WaitReady()
	w.ask(w.general, w.ana, "hello?")
}

// Questions, readings of the configuration and scrapes at the same time get into no one's way.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"], w.env["HARK_LIMITS_MEMBER_MESSAGES"] = "127.0.0.1:0", "0"
	reread := w.reloading(false)
	w.discord.WaitReady()
	address := w.waitLog(`"address":"([^"]+)"`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 12 {
			text := fmt.Sprintf("[answer]\npersona = \"You are number %d.\"\n[builder]\nlanguage = \"%s\"\n", i, []string{"en", "de"}[i%2])
			if err := os.Rename(writeFile(t, text), w.env["HARK_CONFIG"]); err != nil { // whole, since it is being read
				t.Error(err)
			}
			reread()
			w.scrape(address)
		}
	}()
	for range 8 {
		w.ask(w.general, w.ana, "who are you?")
	}
	<-done
	w.discord.WaitFor("the last", func() bool {
		return len(regexp.MustCompile(takenOverNow+"|"+nothingTakenOver).FindAllString(w.log.String(), -1)) == 12
	})
	w.ask(w.staff, w.ana, "who are you now?")
	w.holds(w.prompt(), "You are number 11.")
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
