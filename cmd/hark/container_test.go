//go:build linux

package main

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/wait"
)

// What the image holds besides the binary is what gcr.io/distroless/static-debian12 brings: certificates, time zones and a
// few small files, two megabytes.
const (
	baseLayers = 3 << 20
	imageLimit = 40 << 20
	imageUser  = 65532 // as the Dockerfile has it
)

// compile runs the command by which the Dockerfile compiles Hark, for a machine, on what .dockerignore lets through.
func compile(t *testing.T, machine string) (binary string) {
	t.Helper()
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(dockerfile), "\\\n", " ")
	command := regexp.MustCompile(`(?m)^RUN (.*go build.*)$`).FindStringSubmatch(joined)
	if command == nil || strings.Count(command[1], "/out/hark") != 1 {
		t.Fatal("the Dockerfile compiles nothing to /out/hark")
	}
	source := buildContext(t)
	binary = filepath.Join(t.TempDir(), "hark")
	build := exec.Command("/bin/sh", "-c", strings.Replace(command[1], "/out/hark", binary, 1))
	build.Dir = source
	build.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+machine, "VERSION=1.2.3-test", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// buildContext is what .dockerignore lets through, in a directory of its own.
func buildContext(t *testing.T) string {
	t.Helper()
	ignore, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for line := range strings.Lines(string(ignore)) {
		name, let := strings.CutPrefix(strings.TrimSpace(line), "!")
		if !let {
			continue
		}
		err := filepath.WalkDir(filepath.Join("../..", name), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() && e.Name() == "testdata" {
				return or(err, fs.SkipDir)
			}
			to := filepath.Join(dir, strings.TrimPrefix(path, "../../"))
			if e.IsDir() {
				return os.MkdirAll(to, 0o755)
			}
			if strings.HasSuffix(path, "_test.go") {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(to, data, 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func or(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// isStatic sees that a binary needs nothing but a kernel, is for a machine, and is small enough.
func isStatic(t *testing.T, binary string, machine elf.Machine) {
	t.Helper()
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it is linked dynamically: %v", p.Type)
		}
	}
	if file.Machine != machine || file.Section(".debug_info") != nil {
		t.Errorf("it is for %v, or has what only a debugger wants", file.Machine)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if all := info.Size() + baseLayers; all > imageLimit {
		t.Errorf("the image has about %d MB", all>>20)
	}
	t.Logf("the binary has %.1f MB", float64(info.Size())/(1<<20))
}

// container is Hark where it can see its own files only, as a user that may write to none but its data and /tmp.
type container struct {
	*world
	root string
}

func newContainer(t *testing.T, binary string) *container {
	t.Helper()
	c := &container{newWorld(t), filepath.Join(t.TempDir(), "root")}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"", "data", "tmp"} {
		must(os.Mkdir(filepath.Join(c.root, dir), 0o755))
	}
	data, err := os.ReadFile(binary)
	must(err)
	must(os.WriteFile(filepath.Join(c.root, "hark"), data, 0o555))
	c.emptyVolume()
	must(os.Chmod(filepath.Join(c.root, "tmp"), 0o777))
	must(os.Chmod(c.root, 0o555))
	t.Cleanup(func() { _ = os.Chmod(c.root, 0o755) })
	for dir := c.root; os.Geteuid() == 0 && dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) { // so that the user gets there
		must(os.Chmod(dir, 0o755&^map[bool]os.FileMode{true: 0o222}[dir == c.root]))
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	c.env["HARK_WEB_LISTEN"] = free.Addr().String() // its network is ours, and may have another Hark on the usual port
	must(free.Close())
	c.env["HARK_DATA"] = "/data"
	delete(c.env, "HARK_CONFIG")
	return c
}

// emptyVolume is a new /data, which the image gives to its user.
func (c *container) emptyVolume() {
	c.Helper()
	data := filepath.Join(c.root, "data")
	old, err := os.ReadDir(data)
	for _, e := range old {
		err = or(err, os.RemoveAll(filepath.Join(data, e.Name())))
	}
	err = or(err, os.Chmod(data, 0o700))
	if os.Geteuid() == 0 {
		err = or(err, os.Chown(data, imageUser, imageUser))
	}
	if err != nil {
		c.Fatal(err)
	}
}

// command is a command of Hark's in the container.
func (c *container) command(args ...string) *exec.Cmd {
	hark := exec.Command("/hark", args...)
	hark.Dir, hark.Env = "/", environOf(c.env)
	hark.SysProcAttr = &syscall.SysProcAttr{Chroot: c.root, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		hark.SysProcAttr.Credential = &syscall.Credential{Uid: imageUser, Gid: imageUser}
	} else { // what is ours is the user's there
		hark.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		hark.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Geteuid(), Size: 1}}
		hark.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Getegid(), Size: 1}}
	}
	return hark
}

// does runs a command to its end.
func (c *container) does(stdin []byte, args ...string) (stdout []byte) {
	c.Helper()
	hark := c.command(args...)
	var out, err bytes.Buffer
	hark.Stdin, hark.Stdout, hark.Stderr = bytes.NewReader(stdin), &out, &err
	if failed := hark.Run(); failed != nil {
		c.Fatalf("hark %s: %v: %s", strings.Join(args, " "), failed, &err)
	}
	return out.Bytes()
}

// up starts the image's own command. down stops it as the engine does.
func (c *container) up() (hark *exec.Cmd, down func()) {
	c.Helper()
	runtime.LockOSThread() // its death would be the process's, see Pdeathsig
	before := c.discord.Identifies()
	hark = c.command("run", "--wait")
	hark.Stdout, hark.Stderr = c.log, c.log
	if err := hark.Start(); err != nil {
		c.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- hark.Wait() }()
	c.Cleanup(func() { _ = hark.Process.Kill() })
	c.waitSession(before + 1)
	return hark, func() {
		c.Helper()
		if err := hark.Process.Signal(syscall.SIGTERM); err != nil {
			c.Fatal(err)
		}
		if err := wait.For(c, "it to stop", ended); err != nil {
			c.Errorf("after SIGTERM: %v", err)
		}
	}
}

// messages are what is logged of a channel, once Hark is down.
func (c *container) messages(channel discordtest.ID) (texts []string) {
	c.Helper()
	c.env["HARK_DATA"] = filepath.Join(c.root, "data")
	defer func() { c.env["HARK_DATA"] = "/data" }()
	all := c.logged(channel)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		texts = append(texts, all[id])
	}
	if os.Geteuid() == 0 { // what we have opened is ours now
		err := filepath.WalkDir(c.env["HARK_DATA"], func(path string, _ fs.DirEntry, err error) error {
			return or(err, os.Chown(path, imageUser, imageUser))
		})
		if err != nil {
			c.Fatal(err)
		}
	}
	return texts
}

// TestImageSteps does what an engine does with the Dockerfile and compose.yaml, as far as that can be done without one.
func TestImageSteps(t *testing.T) {
	if os.Getenv("HARK_LONG") == "" {
		t.Skip("HARK_LONG isn't set: nothing is compiled")
	}
	if out, err := exec.Command("unshare", "-Ur", "true").CombinedOutput(); os.Geteuid() != 0 && err != nil {
		t.Skipf("there are no users to be had here: %v %s", err, out)
	}
	binary := compile(t, runtime.GOARCH)
	isStatic(t, binary, map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH])
	c := newContainer(t, binary)
	if got := string(c.does(nil, "version")); got != "hark 1.2.3-test\n" {
		t.Errorf("it is %q", got)
	}

	// An empty volume; a root that nobody may write to.
	hark, down := c.up()
	if status, err := os.ReadFile("/proc/" + strconv.Itoa(hark.Process.Pid) + "/status"); err != nil || os.Geteuid() == 0 && !strings.Contains(string(status), "Uid:\t65532\t65532\t65532\t65532\n") {
		t.Errorf("it runs as %s, %v", status, err)
	}
	c.does(nil, "healthcheck")
	c.discord.Say(c.general.ID, c.jane.ID, "the lighthouse keeper is called Ulla")
	c.later()
	c.ask(c.general, c.ana, "what is the lighthouse keeper called?")
	backup := c.does(nil, "backup", "-")
	down()
	kept := c.messages(c.general.ID)

	// The same volume under another container.
	_, down = c.up()
	c.does(nil, "healthcheck")
	c.ask(c.general, c.ana, "what is the lighthouse keeper called, again?")
	c.holds(c.prompt(), "Ulla")
	down()
	if got := c.messages(c.general.ID); len(got) <= len(kept) || !slices.Equal(got[:len(kept)], kept) {
		t.Errorf("there was %q, and now there is %q", kept, got)
	}

	// An empty volume, and the backup.
	c.emptyVolume()
	c.does(backup, "restore", "--yes", "-")
	if got := c.messages(c.general.ID); !slices.Equal(got, kept) {
		t.Errorf("there was %q, and after restoring %q", kept, got)
	}
	_, down = c.up()
	c.ask(c.general, c.ana, "and what was the keeper called?")
	down()

	var written []string
	err := filepath.WalkDir(c.root, func(path string, e fs.DirEntry, err error) error {
		if name := strings.TrimPrefix(path, c.root); !slices.Contains([]string{"", "/hark", "/data", "/tmp"}, name) && !strings.HasPrefix(name, "/data/hark.db") {
			written = append(written, name)
		}
		return err
	})
	if err != nil || len(written) > 0 && !slices.Equal(written, []string{"/data/hark.lock"}) {
		t.Errorf("it wrote %q, %v", written, err)
	}
}

// TestImageForOtherMachines compiles for the other machine that the image is made for.
func TestImageForOtherMachines(t *testing.T) {
	if os.Getenv("HARK_LONG") == "" {
		t.Skip("HARK_LONG isn't set: nothing is compiled")
	}
	other, machine := "arm64", elf.EM_AARCH64
	if runtime.GOARCH == other {
		other, machine = "amd64", elf.EM_X86_64
	}
	isStatic(t, compile(t, other), machine)
}
