package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/internal/golden"
)

// What people write who don't know TOML, and what they are told.
func TestFilesOfBeginners(t *testing.T) {
	t.Parallel()
	const path = "testdata/beginners.txt"
	known, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for _, block := range indented.FindAllString(string(known), -1) {
		file := write(t, "config.toml", indent.ReplaceAllString(block, ""))
		_, err := Load(file, environ())
		if err == nil {
			t.Errorf("%q: no error", block)
		}
		fmt.Fprintf(&seen, "%s\n%s\n\n", block, strings.ReplaceAll(fmt.Sprint(err), file, "FILE"))
	}
	golden.File(t, path, seen.String())
}

// Files whose bytes can't be shown.
func TestFilesInOtherEncodings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"\xff\xfe[\x00l\x00l\x00m\x00]\x00", "\xfe\xff\x00[\x00l\x00l\x00m\x00]", "[\x00l\x00l\x00m\x00]\x00",
		"[discord]\noperator = 'Zo\xeb'", "[discord]\noperator = \"Zo\xeb\"", "[discord]\n# Zo\xeb\nx = 1",
		"[discord]\n\u00a0token = 'x'", "[discord]\ntoken =\u00a0'x'", "[discord]\n\u200btoken = 'x'",
	} {
		file := write(t, "config.toml", text)
		_, err := Load(file, environ())
		golden.Seen(t, strings.ReplaceAll(fmt.Sprint(err), file, "FILE"))
	}
}

// A file that is there and can't be read.
func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Load(dir, environ())
	golden.Seen(t, strings.ReplaceAll(fmt.Sprint(err), dir, "FILE"))
	refused := &fs.PathError{Op: "open", Path: "config.toml", Err: fs.ErrPermission}
	golden.Seen(t, unreadableBy(65532, "config.toml", refused).Error())
	golden.Seen(t, unreadableBy(-1, "config.toml", refused).Error())
	missing := filepath.Join(dir, "none.toml")
	_, err = Load(missing, environ())
	golden.Seen(t, strings.ReplaceAll(fmt.Sprint(err), missing, "FILE"))
}
