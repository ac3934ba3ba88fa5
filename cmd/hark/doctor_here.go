package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"hark/internal/config"
	"hark/internal/tokens"
	"hark/memory/sqlite"
)

// configuration tells whether it can be read, and by whom; err is what reading it came to.
func (f *flags) configuration(err error) finding {
	const check = "configuration"
	path, _ := config.Find(f.config, f.env.lookup)
	if err != nil {
		return finding{Check: check, Detail: strings.ReplaceAll(err.Error(), "\n", "; "), Advice: "correct that: config.example.toml shows all that can be set"}
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return well(check, "there is no file; the environment and the defaults are what counts")
	}
	var held []string
	if err == nil {
		held, err = config.SecretsIn(path)
	}
	if err != nil {
		return failed(check, err, "make "+path+" readable for the user that Hark runs as")
	}
	found := well(check, "%s can be read", path)
	if open := info.Mode().Perm() & 0o077; open != 0 && len(held) > 0 && runtime.GOOS != "windows" {
		found.OK = open&0o007 == 0 // a group may be meant
		who := "its group"
		if !found.OK {
			who = "everybody on this machine"
		}
		found.Detail = fmt.Sprintf("%s holds secrets (%s), and %s can get at it", path, strings.Join(held, ", "), who)
		found.Advice = "chmod 600 " + path
	}
	return found
}

// versions tells of what Hark is made.
func (d *doctor) versions(ctx context.Context) finding {
	seen, _ := sqlite.Look(ctx, d.config.Data) // what is wrong with the database is told by database
	of := ""
	if revision := buildRevision(); revision != "" {
		of = " (" + revision + ")"
	}
	return well("versions", "Hark %s%s, %s, SQLite %s, %s/%s", cmp.Or(version, "without a version"), of, runtime.Version(),
		cmp.Or(seen.SQLite, "unknown"), runtime.GOOS, runtime.GOARCH)
}

// buildRevision is the commit that Hark was built from, as far as the build knows.
func buildRevision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = "commit " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changed
}

// How many bytes are little on the disk, and how many too few to go on for long.
const (
	littleSpace = 1 << 30
	noSpace     = 100 << 20
)

func (d *doctor) dataDirectory(context.Context) finding {
	const check = "data directory"
	dir := d.config.Data
	at, err := checkDirectory(dir)
	if err != nil {
		advice := "give it to the user that Hark runs as (in the container: chown 65532:65532)"
		if info, gone := os.Stat(dir); gone != nil || !info.IsDir() {
			advice = "make it, or name another with --data or HARK_DATA"
		}
		return failed(check, err, advice)
	}
	found := well(check, "Hark can write to %s", dir)
	measure := diskSpace
	if d.env.space != nil {
		measure = d.env.space
	}
	free, total, err := measure(at)
	if err != nil {
		return found // where that can't be asked, SQLite tells in time
	}
	found.Detail += fmt.Sprintf(", with %s of %s free", size(int64(free)), size(int64(total)))
	if free < littleSpace {
		found.Advice = "make room there: what is said can't be kept on a full disk"
	}
	found.OK = free >= noSpace
	return found
}

// checkDirectory writes a file to the directory, or to the nearest that is there and in which it would be made, and removes it.
func checkDirectory(dir string) (at string, err error) {
	for at = dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil {
			break
		} else if !errors.Is(err, os.ErrNotExist) || at == filepath.Dir(at) {
			return at, err
		}
	}
	file, err := os.CreateTemp(at, ".doctor-*")
	if err != nil {
		return at, fmt.Errorf("write to %s: %w", at, errors.Unwrap(err))
	}
	_, err = file.WriteString("Hark can write here.\n")
	return at, errors.Join(err, file.Close(), os.Remove(file.Name()))
}

func (d *doctor) database(ctx context.Context) finding {
	const check = "database"
	seen, err := sqlite.Look(ctx, d.config.Data)
	switch {
	case err != nil:
		return ofDatabase(err)
	case !seen.Exists:
		return well(check, "there is none yet; the first start makes it")
	case seen.Version < seen.Known:
		return well(check, "version %d, %s; the next start brings it to version %d", seen.Version, size(seen.Bytes), seen.Known)
	}
	found := well(check, "%s in %s of %s; version %d, %s", plural(seen.Messages, "message"), plural(seen.Channels, "channel"),
		plural(seen.Guilds, "guild"), seen.Version, size(seen.Bytes))
	if seen.Waiting > 0 {
		found.Detail += fmt.Sprintf("; %s without a vector", plural(seen.Waiting, "segment"))
	}
	switch {
	case seen.Unfinished > 0:
		found.Detail += fmt.Sprintf("; %s under way", plural(seen.Unfinished, "forgetting"))
		found.Advice = "\"hark run\" carries it out: leave it running"
	case seen.Waiting > fewSegments:
		found.Advice = "\"hark run\" makes them, or \"hark reindex\""
	}
	if d.brief {
		return found
	}
	damaged, err := sqlite.CheckPages(ctx, d.config.Data)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		found.Detail += fmt.Sprintf("; it is too large to look at all its pages within %v", examineTime)
	case err != nil:
		return ofDatabase(err)
	case len(damaged) > 0:
		return finding{Check: check, Detail: "damaged are " + strings.Join(damaged, ", ") + ", which can be made again",
			Advice: "stop Hark, then: hark doctor --mend"}
	default:
		found.Detail += "; all pages are sound"
	}
	return found
}

// mend makes what is damaged again, where that is possible.
func (f *flags) mend(c *cobra.Command) error {
	cfg, err := f.load()
	if err != nil {
		return err
	}
	if err := mustRemember(cfg.Data); err != nil {
		return err
	}
	e, err := sqlite.Examine(c.Context(), cfg.Data, sqlite.Options{
		Tokens: tokens.New().Count, Progress: f.progress("indexing words"), Mended: f.tellMended,
	})
	if err != nil {
		return err
	}
	if len(e.Wrong) > 0 {
		return fmt.Errorf("%s: another Hark has the database open, so that nothing is mended: stop it, and try again", strings.Join(e.Wrong, ", "))
	}
	if len(e.Mended) == 0 {
		fmt.Fprintln(f.env.stderr, "hark: nothing was to be mended")
	}
	return nil
}

// ofDatabase is a finding of an error of the database.
func ofDatabase(err error) finding {
	found := failed("database", err, "restore a backup with \"hark restore FILE\"")
	for _, known := range []struct{ says, advice string }{
		{"newer Hark", "use the newer Hark"},
		{"can't be written", "check the owner and the permissions of the data directory and of what is in it"},
		{"another process holds", "stop the other process, or wait"},
		{"stat ", "see the data directory: its name, its owner, its permissions"},
	} {
		if strings.Contains(found.Detail, known.says) {
			found.Advice = known.advice
		}
	}
	return found
}
