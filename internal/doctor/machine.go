package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"hark/internal/config"
	"hark/internal/health"
	"hark/internal/store"
	"hark/internal/terminal"
	"hark/memory/sqlite"
)

// configuration checks whether the file can be read, and by whom. err is the error of reading it.
func configuration(path string, err error) Finding {
	if err != nil {
		return Finding{Detail: strings.ReplaceAll(err.Error(), "\n", "; "),
			Advice: "correct that: config.example.toml shows all that can be set"}
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return passed("there is no file; the environment and the defaults apply")
	}
	var held []string
	if err == nil {
		held, err = config.SecretsIn(path)
	}
	if err != nil {
		return failed(err, "make "+path+" readable for the user that Hark runs as")
	}
	open := info.Mode().Perm() & groupOrOthers
	if open == 0 || len(held) == 0 || runtime.GOOS == "windows" {
		return passed("%s can be read", path)
	}
	who := "everybody on this machine"
	meant := open&everybody == 0
	if meant {
		who = "its group"
	}
	detail := fmt.Sprintf("%s holds secrets (%s), and %s can access it", path, strings.Join(held, ", "), who)
	return Finding{
		OK:     meant,
		Detail: detail,
		Advice: "chmod 600 " + path,
	}
}

func (d *Doctor) versions(ctx context.Context) Finding {
	engine := "" // the check of a server tells of PostgreSQL
	if store.Of(d.Config).IsFile() {
		seen, _ := sqlite.Inspect(ctx, d.Config.Data) // database reports errors
		engine = ", SQLite " + cmp.Or(seen.SQLite, "unknown")
	}
	return passed("Hark %s, %s%s, %s/%s", d.Version, runtime.Version(), engine, runtime.GOOS, runtime.GOARCH)
}

// Free bytes: below lowSpace is worth advice, below minSpace Hark soon stops.
const (
	lowSpace = 1 << 30
	minSpace = 100 << 20
)

const freeSpace = "free some space: what is said can't be kept on a full disk"

// openable returns nil if Hark could open the files in its data directory. It opens no file of the database: closing
// one would release this process's own locks.
func openable(dir string) error {
	for _, name := range []string{sqlite.FileName, sqlite.FileName + "-wal", sqlite.FileName + "-shm",
		sqlite.LockName, sqlite.RunningName} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err == nil && info.IsDir():
			err = errors.New("is a directory")
		case err == nil:
			err = writable(path)
		}
		if err != nil {
			return fmt.Errorf("open %s for writing: %w", path, sqlite.Denied(path, err))
		}
	}
	return nil
}

// mainFiles lists files, without those that SQLite keeps beside the database.
func mainFiles(files []string) string {
	database := slices.IndexFunc(files, func(path string) bool { return filepath.Base(path) == sqlite.FileName })
	return strings.Join(slices.DeleteFunc(slices.Clone(files), func(path string) bool {
		return database >= 0 && strings.HasPrefix(path, files[database]+"-")
	}), ", ")
}

// health checks whether web.listen is free or Hark's.
func (d *Doctor) health(ctx context.Context) Finding {
	address := d.Config.Web.Listen
	listener, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		listener.Close()
		return passed("they can be served at %s", address)
	case !errors.Is(err, syscall.EADDRINUSE):
		return failed(err, "set web.listen to an address that Hark may use")
	}
	running := !store.Of(d.Config).IsFile()
	if !running {
		running, _ = sqlite.IsRunning(d.Config.Data)
	}
	if running && health.Check(ctx, address) == nil {
		return passed("the running Hark serves them at %s", address)
	}
	return Finding{Detail: fmt.Sprintf("another program has %s", address),
		Advice: "stop it, or set web.listen to a free address"}
}

func (d *Doctor) dataDirectory(context.Context) Finding {
	dir := d.Config.Data
	at, err := checkDirectory(dir)
	if err != nil {
		advice := "give it to the user that Hark runs as (in the container: chown 65532:65532)"
		if errors.Is(err, syscall.ENOSPC) {
			advice = freeSpace
		} else if info, gone := os.Stat(dir); gone != nil || !info.IsDir() {
			advice = "make it, or name another with --data or HARK_DATA"
		}
		return failed(err, advice)
	}
	others, err := canRead(dir, everybody)
	err = cmp.Or(openable(dir), err)
	if err != nil {
		return failed(err, "give it to the user that Hark runs as (in the container: chown -R 65532:65532 "+dir+")")
	}
	if len(others) > 0 {
		return Finding{Detail: fmt.Sprintf("others on this machine can access %s", mainFiles(others)),
			Advice: "\"hark run\" makes that private at its start, or: chmod 700 " + dir}
	}
	found := passed("Hark can write to %s", dir)
	if group, err := canRead(dir, groupOrOthers); err == nil && len(group) > 0 {
		found.Detail += fmt.Sprintf("; the group can access %s", mainFiles(group))
		found.Advice = "\"hark run\" makes the files private at its start; " +
			"if the group isn't meant to see the directory either: chmod 700 " + dir
	}
	measure := diskSpace
	if d.Space != nil {
		measure = d.Space
	}
	free, total, err := measure(at)
	if err != nil {
		return found // SQLite reports a full disk in time
	}
	found.Detail += fmt.Sprintf(", with %s of %s free", terminal.Bytes(int64(free)), terminal.Bytes(int64(total)))
	if free < lowSpace {
		found.Advice = freeSpace
	}
	found.OK = free >= minSpace
	return found
}

// checkDirectory writes and removes a file in dir, or in the nearest existing directory above it.
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
	if err != nil {
		err = fmt.Errorf("write to %s: %w", at, errors.Unwrap(err))
	}
	return at, errors.Join(err, file.Close(), os.Remove(file.Name()))
}

func (d *Doctor) database(ctx context.Context) Finding {
	seen, err := sqlite.Inspect(ctx, d.Config.Data)
	switch {
	case err != nil:
		return ofDatabase(err)
	case !seen.Exists:
		return passed("there is none yet; the first start creates it")
	case seen.Bytes == 0:
		return advised("the file is empty: nothing is remembered; the next start makes a new one",
			"if there was something in it, restore a backup with \"hark restore FILE\"")
	case seen.Version < seen.Known:
		return passed("version %d, %s; the next start upgrades it to version %d", seen.Version,
			terminal.Bytes(seen.Bytes), seen.Known)
	}
	found := amounts(seen.Messages, seen.Channels, seen.Guilds, seen.Waiting, seen.Unfinished,
		fmt.Sprintf("version %d, %s", seen.Version, terminal.Bytes(seen.Bytes)))
	if d.Brief {
		return found
	}
	switch err := sqlite.Check(ctx, d.Config.Data); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		found.Detail += fmt.Sprintf("; it is too large to check all its pages within %v", Timeout)
	case err != nil:
		return ofDatabase(err)
	default:
		found.Detail += "; all pages are sound"
	}
	return found
}

// ofDatabase returns the finding of a database error.
func ofDatabase(err error) Finding {
	found := failed(err, sqlite.Rescue)
	found.Detail = strings.Replace(found.Detail, ": "+sqlite.Rescue, "", 1)
	for _, known := range []struct{ says, advice string }{
		{"newer Hark", "use the newer Hark"},
		{"full text is damaged", "\"hark reindex\" makes it again"},
		{"disk is full", freeSpace},
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
