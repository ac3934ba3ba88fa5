package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

func (w *world) hark(code int, args ...string) (stdout, stderr string) {
	w.Helper()
	got, stdout, stderr := w.runs("", args...)
	if got != code {
		w.Fatalf("hark %s: exit code %d\n%s%s", strings.Join(args, " "), got, stdout, stderr)
	}
	return stdout, stderr
}

func (w *world) told(code int, args ...string) {
	w.Helper()
	stdout, stderr := w.hark(code, args...)
	w.sees(stdout + stderr)
}

// private checks that nobody but their owner can read Hark's files.
func (w *world) private() {
	w.Helper()
	files, err := filepath.Glob(filepath.Join(w.env["HARK_DATA"], "*"))
	if err != nil || len(files) == 0 {
		w.Fatal(files, err)
	}
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			w.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
	}
}

func TestForgetBesideARunningHark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kill := w.child()
	w.waitSession(1)
	w.discord.Say(w.general.ID, w.jane.ID, "jane-canary hides in the lighthouse")
	w.discord.Say(w.general.ID, w.ana.ID, "ana-canary hides in the barn")
	single := w.discord.Say(w.staff.ID, w.ana.ID, "lone-canary hides in the well")
	w.settled()
	w.private()
	w.keeps("jane-canary", "ana-canary", "lone-canary")
	receipt, _ := w.hark(0, "forget", "--user", "jane", "--yes", "--json")
	var told deletionReportJSON
	if err := json.Unmarshal([]byte(receipt), &told); err != nil || told.Messages != 1 ||
		told.User.String() != w.jane.ID.String() {
		t.Errorf("%v: %s", err, receipt)
	}
	w.keeps("ana-canary")
	w.keepsNot("jane-canary")
	w.hark(0, "forget", "--channel", "staff", "--message", single.ID.String(), "--yes")
	w.keepsNot("lone-canary")
	w.hark(0, "forget", "--user", "otto", "--opt-out", "--yes")
	w.discord.Say(w.general.ID, w.otto.ID, "otto-canary hides in the attic")
	w.use(w.ana.ID, "context", "remember", discordtest.Opt{Name: "question", Value: "is all in?"})
	w.keepsNot("otto-canary")
	w.ask(w.general, w.ana, "who hides in the lighthouse, the barn and the well?")
	w.lacks(w.prompt(), "jane-canary")
	w.lacks(w.prompt(), "lone-canary")
	w.holds(w.prompt(), "ana-canary")
	kill()
	w.start()
	w.use(w.ana.ID, "context", "remember", discordtest.Opt{Name: "question", Value: "is all in?"})
	w.keepsNot("jane-canary", "lone-canary")
	w.private()
}

func TestBackUpBesideARunningHark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kill := w.child()
	w.waitSession(1)
	w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.settled()
	backup := filepath.Join(t.TempDir(), "all.hark")
	out, _ := w.hark(0, "backup", backup)
	w.holds(out, "in 2 channels of 1 server")
	w.told(1, "restore", backup, "--yes")
	out, _ = w.hark(0, "reindex")
	w.holds(out, "indexed again.")
	w.later()
	w.ask(w.general, w.ana, when)
	w.holds(w.prompt(), "Thursday at noon")
	kill()
	w.hark(0, "forget", "--user", "jane", "--yes")
	out, _ = w.hark(0, "restore", backup, "--yes")
	w.sees(out)
	w.keepsNot("greenhouse.")
}

// TestExportedChannelComesBack imports a channel of Discord's where it was, elsewhere, and where it was forgotten.
func TestExportedChannelComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	first := w.discord.Say(w.general.ID, w.jane.ID, publicWords, discordtest.WithFile("map.png", "the way"))
	edited := w.discord.Say(w.general.ID, w.otto.ID, "is that so, "+w.jane.Mention()+"?",
		discordtest.QuietReplyTo(first.ID))
	w.discord.Edit(w.general.ID, edited.ID, "is that really so, "+w.jane.Mention()+"?")
	w.later()
	w.model.Queue(llmtest.Say("Noted: quoted-canary, Thursday at noon [1]."))
	w.reply(w.general.ID, w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" "+when).ID,
		"https://discord.com/channels/")
	w.settled()
	w.stopWell()
	w.keeps("quoted-canary")
	file := filepath.Join(t.TempDir(), "general.jsonl")
	w.hark(0, "export", "--channel", "general", "--out", file)
	before := w.said(w.general.ID)
	if len(before) != 3 {
		t.Fatalf("%q", before)
	}
	w.hark(0, "import", file)
	if after := w.said(w.general.ID); !slices.Equal(before, after) {
		t.Errorf("imported where it was: %q, want %q", after, before)
	}
	w.hark(0, "forget", "--user", "jane", "--yes")
	w.hark(0, "import", file)
	w.keepsNot("Thursday at noon", "quoted-canary")

	w.env["HARK_DATA"] = t.TempDir()
	w.told(0, "import", file)
	if after := w.said(w.general.ID); !slices.Equal(before, after) {
		t.Errorf("imported elsewhere: %q, want %q", after, before)
	}
	again := file + ".again"
	w.hark(0, "export", "--channel", "#general", "--out", again)
	all := content(t, file)
	want := strings.Join(slices.DeleteFunc(strings.SplitAfter(string(all), "\n"), func(l string) bool {
		return strings.Contains(l, `"kind":"hark"`)
	}), "")
	if got, err := os.ReadFile(again); err != nil || string(got) != want {
		t.Errorf("%v: exported from there\n%s\nwant\n%s", err, got, want)
	}
}

// TestBackfill has a running Hark fetch a past, which is listed until it is done.
func TestBackfill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	thread := w.discord.AddChannel(w.guild.ID,
		discordtest.Channel{Name: "nook", Type: discordtest.PublicThread, ParentID: &w.general.ID}).ID
	w.chatter(250, "long ago", w.general.ID)
	w.chatter(5, "long ago in the nook", thread)
	w.later()
	w.start()
	w.chatter(2, "just now", w.general.ID, thread)
	w.settled()
	w.keepsNot("long ago 7")
	w.told(1, "backfill", "general", "--since", "0d")
	w.told(1, "backfill", "general", "--stop")
	hold := w.discord.Inject("GET /channels/*/messages", 1, discordtest.Hang())
	w.told(0, "backfill", "#general", "--since", "90d")
	w.told(1, "backfill", "general")
	w.told(0, "backfill", "general", "--stop")
	w.hark(0, "backfill", "general")
	w.env["HARK_MEMORY_START"] = "ask"
	w.told(1, "backfill", "staff")
	w.env["HARK_MEMORY_START"] = "on"
	w.told(0, "backfill")
	w.stopWell()
	hold.Release()
	w.start()
	w.caughtUp(1)
	w.settled()
	w.told(0, "backfill")
	w.stopWell()
	w.mirrors(w.general.ID, thread)
	w.lacks(w.log.String(), "long ago")
}

// --expired forgets at once, also what would wait.
func TestWhatIsExpiredIsForgottenWhenAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, discordtest.WithTime(time.Now().Add(-2*24*time.Hour)))
	w.env["HARK_MEMORY_SUMMARIES"] = "off" // one may be made meanwhile, or not
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "canary-old sings no more")
	w.discord.Advance(47 * time.Hour)
	w.discord.Say(w.general.ID, w.jane.ID, "canary-young sings")
	w.settled()
	out, _ := w.hark(0, "forget", "--expired", "--yes")
	w.sees(strings.SplitN(out, "\n", 2)[0])
	w.keeps("canary-old")
	w.told(1, "forget", "--expired", "--user", "jane")
	w.env["HARK_MEMORY_RETENTION"] = "1d" // unknown to the running Hark
	w.told(1, "forget", "--expired")
	out, _ = w.hark(0, "forget", "--expired", "--yes")
	w.sees(strings.SplitN(out, "\n", 2)[0])
	w.keeps("canary-young")
	w.keepsNot("canary-old")
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

// Backups pass through standard output and input, and leave no files.
func TestBackupAndRestoreByStreams(t *testing.T) {
	t.Parallel()
	c, data := stocked(t)
	before := files(t, data)
	c.run(0, "backup", "-")
	backup := c.out.String()
	if !strings.HasPrefix(backup, "SQLite format 3\x00") || !strings.Contains(c.err.String(), "3 messages in") {
		t.Fatalf("got %d bytes, and %q", len(backup), c.err.String())
	}
	c.run(0, "forget", "--user", "7", "--yes")
	c.run(1, "backup", "-", "--json")
	c.sees()
	c.run(1, "restore", "-")
	c.says("add --yes")
	c.stdin = "no backup at all"
	c.run(1, "restore", "--yes", "-")
	c.sees()

	// Into the memory that knows of the forgetting, and into an empty one.
	c.stdin = backup
	c.run(0, "restore", "--yes", "-")
	c.says("1 forgetting of 3 messages")
	for _, name := range files(t, data) {
		if !slices.Contains(before, name) && !strings.HasPrefix(name, "hark.db") {
			t.Errorf("%s is left", name)
		}
	}
	empty := filepath.Join(t.TempDir(), "data")
	c.env["HARK_DATA"] = empty
	c.run(0, "restore", "--yes", "-")
	c.run(0, "search", "--json", "leeks")
	c.says("I grow leeks")
	c.run(0, "backup", "-")
	if again := c.out.String(); len(again) != len(backup) {
		t.Errorf("the backup of what was restored has %d bytes, and had %d", len(again), len(backup))
	}
}
