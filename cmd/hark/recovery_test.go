package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/internal/golden"
	"hark/memory/memorytest"
	"hark/memory/sqlite"
)

// discordLines returns n lines of a channel's export, 17 minutes apart.
func discordLines(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		id := int64(1_300_000_000_000_000_000) + int64(i)<<36
		fmt.Fprintf(&b, `{"type":"message","server":"900","channel":"general","channel_id":"901","id":"%d","author":"Ana",`+
			`"author_id":"7","time":"2025-01-01T00:00:00Z","text":"zebra%d %s"}`+"\n", id, i, strings.Repeat("stripes ", 40))
	}
	return b.String()
}

// recoveryPage has the commands that TestRecovery runs.
const recoveryPage = "../../docs/recovery.md"

// recovering are the commands of docs/recovery.md: those of each block, in their order.
func recovering(t *testing.T) (read, look, untraced, replace string) {
	t.Helper()
	var blocks []string
	for _, block := range shellBlock.FindAllStringSubmatch(string(content(t, recoveryPage)), -1) {
		blocks = append(blocks, block[1])
	}
	if len(blocks) != 4 {
		t.Fatalf("%s has %d blocks of commands", recoveryPage, len(blocks))
	}
	return blocks[0], blocks[1], blocks[2], blocks[3]
}

// needRecover skips a test without a sqlite3 that can recover, which Debian's can't.
func needRecover(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("there is no sqlite3 here to run the commands of docs/recovery.md with")
	}
	err = exec.Command("sqlite3", ":memory:", "SELECT count(*) FROM sqlite_dbpage").Run()
	if err != nil {
		t.Skip("this sqlite3 can't recover: it is built without the table sqlite_dbpage")
	}
}

// typed runs commands of a page where the directory data is, and returns what they print.
func typed(t *testing.T, dir, commands string) string {
	t.Helper()
	c := exec.Command("sh", "-ec", commands)
	c.Dir = dir
	c.Env = append(slices.DeleteFunc(os.Environ(), isHarks), "HARK_DATA=data")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v: %s", commands, err, out)
	}
	return string(out)
}

// isHarks reports whether an environment variable is Hark's, or its tests'.
func isHarks(variable string) bool { return strings.HasPrefix(variable, "HARK_") }

// A damaged file is found, the sentence says what to do, and the commands of docs/recovery.md bring back what is on
// other pages, and nothing that was forgotten.
func TestRecovery(t *testing.T) {
	t.Parallel()
	const messages = 200
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": data}}
	c.run(0, "import", writeFile(t, discordLines(t, messages)))
	c.run(0, "forget", "--user", "12", "--guild", "900", "--opt-out", "--yes")
	lost := 0
	overwrite(t, data, func(file []byte) []byte {
		page := file[bytes.Index(file, []byte("zebra100 "))/4096*4096:][:4096]
		lost = bytes.Count(page, []byte("zebra"))
		clear(page)
		return file
	})
	c.run(1, "export", "--channel", "general")
	golden.Seen(t, c.err.String())
	c.run(1, "doctor")
	for line := range strings.Lines(c.out.String()) {
		if strings.Contains(line, " database: ") {
			golden.Seen(t, regexp.MustCompile(`\b(Tree|page) \d+`).ReplaceAllString(line, "$1 N"))
		}
	}
	needRecover(t)
	read, look, _, replace := recovering(t)
	typed(t, dir, read)
	if told := typed(t, dir, look); told != "" {
		t.Errorf("of what is damaged it says %q", told)
	}
	typed(t, dir, replace)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside the data there is %v, %v", entries, err)
	}
	if err := sqlite.Check(t.Context(), data); err != nil {
		t.Error(err)
	}
	c.run(0, "export", "--channel", "general")
	if n := strings.Count(c.out.String(), "\n"); n != messages-lost || lost == 0 {
		t.Errorf("%d messages came back of %d, %d of which were on the damaged page", n, messages, lost)
	}
	c.run(0, "search", "zebra150")
	if !strings.Contains(c.out.String(), "zebra150 ") {
		t.Errorf("searching finds %q", c.out.String())
	}
	c.run(0, "import", writeFile(t, strings.NewReplacer(`"7"`, `"12"`, `000"`, `001"`).Replace(discordLines(t, 1))))
	if told := c.out.String(); !strings.Contains(told, "1 message left out") {
		t.Errorf("somebody who opted out is remembered: %q", told)
	}
}

// Where the pages are damaged that say what was made from what, nothing that Hark made comes back. Where those are
// damaged that say which messages are to be deleted, the forgetting is carried out again.
func TestRecoveryWhereForgettingIsUnsure(t *testing.T) {
	t.Parallel()
	needRecover(t)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	store, err := sqlite.Open(t.Context(), data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Apply(t.Context(), memorytest.Canaries("canary")...)
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	root := changed(t, data, `INSERT INTO forgetting (guild, channel, user, before, why, at, done, receipt, whole, begun)
		SELECT 100, 0, 1, max(id) + 1, 'member', (max(id) >> 22) + 1420070400000, 0, '{}', 0, 2 FROM message;
		PRAGMA wal_checkpoint(TRUNCATE)`, "SELECT rootpage FROM sqlite_schema WHERE name = 'source'")
	overwrite(t, data, func(file []byte) []byte {
		clear(file[(root-1)*4096:][:4096])
		return file
	})
	read, look, untraced, replace := recovering(t)
	typed(t, dir, read)
	if told := typed(t, dir, look); told != "source is damaged\n" {
		t.Errorf("of what is damaged it says %q", told)
	}
	typed(t, dir, untraced)
	typed(t, dir, replace)
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": data}}
	c.run(0, "export", "--channel", "1000")
	told := c.out.String()
	if !strings.Contains(told, `"author_id":"2"`) || strings.Contains(told, `"author_id":"1"`) || strings.Contains(told, `"hark"`) {
		t.Errorf("remembered is %s", told)
	}
	for table, where := range map[string]string{"message": "kind = 3", "trace": "true", "prompt": "true",
		"condensed": "true", "summary": "true", "record": "true", "fact": "text IS NOT NULL", "lore": "text IS NOT NULL"} {
		n := changed(t, data, "", "SELECT count(*) FROM "+table+" WHERE "+where)
		if n > 0 {
			t.Errorf("%s has %d rows that nobody could forget", table, n)
		}
	}
}

// changed runs statements on the database in dir, and returns the number that a query asks for.
func changed(t *testing.T, dir, statements, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, sqlite.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statements)
	if err != nil {
		t.Fatal(err)
	}
	err = db.QueryRowContext(t.Context(), query).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What to do about a damaged file is said once.
func TestAdviceAboutADamagedFile(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": data}}
	c.run(0, "import", writeFile(t, discordLines(t, 10)))
	overwrite(t, data, func(file []byte) []byte {
		clear(file[2*4096 : 7*4096]) // read at the start
		return file
	})
	c.run(1, "search", "zebra1")
	c.sees()
	if n := strings.Count(c.err.String(), sqlite.Rescue); n != 1 {
		t.Errorf("it says so %d times", n)
	}
}
