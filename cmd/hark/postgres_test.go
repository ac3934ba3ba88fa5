package main

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/memory/postgres/postgrestest"
)

// Every command says the same of a file as of a database, also after a move there and back, and shows no password.
func TestCommandsWithPostgreSQL(t *testing.T) {
	t.Parallel()
	const password = "secret-password"
	withPassword := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(u.User.Username(), password)
		return u.String()
	}
	lines := writeFile(t, discordLines(t, 40))
	dir := t.TempDir()
	file := &commandLine{T: t, env: map[string]string{"HARK_DATA": filepath.Join(dir, "file")}}
	database := &commandLine{T: t, env: map[string]string{"HARK_DATA": filepath.Join(dir, "unused")}}
	run := func(c *commandLine, code int, args ...string) string {
		t.Helper()
		c.run(code, args...)
		said := c.out.String() + c.err.String()
		if strings.Contains(said, password) {
			t.Errorf("%q shows the password: %s", args, said)
		}
		return said
	}
	same := func(code int, args ...string) {
		t.Helper()
		when := regexp.MustCompile(`"exported": .*`)
		a := when.ReplaceAllString(run(file, code, args...), "")
		if diff := cmp.Diff(a, when.ReplaceAllString(run(database, code, args...), "")); diff != "" {
			t.Errorf("%q differs (-file +database): %s", args, diff)
		}
	}
	all := func() {
		t.Helper()
		for _, args := range [][]string{
			{"search", "zebra12 stripes"}, {"trace"}, {"export", "--channel", "general"},
			{"export", "--user", "Ana", "--guild", "900"}, {"backfill"}, {"reindex"},
		} {
			same(0, args...)
		}
	}
	database.env["HARK_STORE"], database.env["HARK_STORE_FILE"] = withPassword(postgrestest.Bare(t)), ""
	const nothing = "nothing is remembered in the database"
	if said := run(database, 1, "export", "--channel", "general"); !strings.Contains(said, nothing) {
		t.Error(said)
	}
	database.env["HARK_STORE"] = ""
	database.env["HARK_STORE_FILE"] = writeFile(t, withPassword(postgrestest.URL(t))+"\n")
	same(0, "import", lines)
	all()
	backup := filepath.Join(dir, "server.db")
	if said := run(database, 0, "backup", "--guild", "900", backup); !strings.Contains(said, "in 1 channel of 1 server") {
		t.Error(said)
	}
	run(file, 1, "backup", "--guild", "900", backup)
	same(0, "forget", "--user", "12", "--guild", "900", "--opt-out", "--yes")
	if said := run(database, 0, "restore", "--yes", backup); !strings.Contains(said, "1 member opted out") {
		t.Error(said)
	}
	for _, c := range []struct{ command, says string }{
		{"backup x.db", "pg_dump"},
	} {
		if said := run(database, 1, strings.Fields(c.command)...); !strings.Contains(said, c.says) {
			t.Error(said)
		}
	}

	other := withPassword(postgrestest.URL(t))
	const moved = "Moved 40 messages in 1 channel of 1 server to "
	if said := run(file, 0, "move", "--to", other); !strings.Contains(said, moved+"the database") {
		t.Error(said)
	}
	database.env["HARK_STORE"], database.env["HARK_STORE_FILE"] = other, ""
	all()
	back := filepath.Join(t.TempDir(), "back")
	if said := run(database, 0, "move", "--to", back); !strings.Contains(said, moved) {
		t.Error(said)
	}
	database.env["HARK_STORE"] = ""
	database.env["HARK_DATA"] = back
	all()
	same(1, "move", "--to", "mysql://127.0.0.1/hark")
	same(1, "move")
}
