package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/internal/golden"
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

func TestSalvage(t *testing.T) {
	t.Parallel()
	const messages = 200
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "salvaged.jsonl")
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": data}}
	c.run(0, "import", writeFile(t, discordLines(t, messages)))
	c.run(0, "forget", "--user", "12", "--guild", "900", "--opt-out", "--yes")
	c.run(0, "export", "--salvage", "--out", filepath.Join(t.TempDir(), "sound.jsonl"))
	c.sees()
	c.run(1, "export", "--salvage", "--user", "Ana")
	c.sees()

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
	c.run(1, "export", "--salvage", "--out", out)
	c.sees()
	info, err := os.Stat(out)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	c.env["HARK_DATA"] = t.TempDir()
	c.run(0, "import", out)
	c.sees()
	c.run(0, "import", out) // once more changes nothing
	c.run(0, "export", "--channel", "general")
	if n := strings.Count(c.out.String(), "\n"); n != messages-lost || lost == 0 {
		t.Errorf("%d messages came back of %d, %d of which were on the damaged page", n, messages, lost)
	}
	c.run(0, "import", writeFile(t, strings.NewReplacer(`"7"`, `"12"`, `000"`, `001"`).Replace(discordLines(t, 1))))
	c.sees() // they are still opted out
}

// If it isn't readable what was forgotten, salvage needs --unchecked.
func TestSalvageWhereForgettingIsUnknown(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": data}}
	c.run(0, "import", writeFile(t, discordLines(t, 100)))
	c.run(0, "forget", "--user", "12", "--guild", "900", "--opt-out", "--yes")
	overwrite(t, data, func(file []byte) []byte {
		for page := range slices.Chunk(file, 4096) { // of small tables
			if bytes.Contains(page, []byte("opt-out")) {
				clear(page)
			}
		}
		return file
	})
	c.run(1, "export", "--salvage")
	c.sees()
	c.run(1, "export", "--salvage", "--unchecked")
	if n := strings.Count(c.out.String(), `"type":"message"`); n != 100 {
		t.Errorf("%d messages were written", n)
	}
	golden.Seen(t, c.err.String())
}

// A thread's name is forgotten with its owner, also when it was salvaged.
func TestSalvageOfAThread(t *testing.T) {
	t.Parallel()
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": t.TempDir()}}
	c.run(0, "import", writeFile(t, strings.NewReplacer(`"general"`, `"Ben's zebra"`, `"901"`,
		`"903","in":"thread","parent_id":"901","owner_id":"8"`).Replace(discordLines(t, 1))))
	out := filepath.Join(t.TempDir(), "salvaged.jsonl")
	c.run(0, "export", "--salvage", "--out", out)
	data := t.TempDir()
	c.env["HARK_DATA"] = data
	c.run(0, "import", out)
	c.run(0, "forget", "--user", "8", "--guild", "900", "--yes")
	c.run(0, "import", out)
	file, err := os.ReadFile(filepath.Join(data, sqlite.FileName))
	if err != nil || bytes.Contains(file, []byte("Ben's zebra")) || !bytes.Contains(file, []byte("zebra0")) {
		t.Errorf("the name is there still, or what others said isn't; %v", err)
	}
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
