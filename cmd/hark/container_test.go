//go:build linux

package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"hark/internal/wait"
)

// Besides the binary, the image has the two megabytes of gcr.io/distroless/static-debian12.
const (
	baseLayers = 3 << 20
	imageLimit = 44 << 20
	imageUser  = 65532 // as in the Dockerfile
)

// compile runs the Dockerfile's compile command for a machine, on what .dockerignore lets through.
func compile(t *testing.T, machine string) (binary string) {
	t.Helper()
	steps := regexp.MustCompile(`(?m)^RUN (.*(?:git ls-files|go build).*)$`).FindAllStringSubmatch(
		string(content(t, "../../Dockerfile")), -1)
	script := released
	for _, step := range steps {
		script += step[1] + "\n"
	}
	if len(steps) < 2 || strings.Count(script, "/out/hark") != 1 {
		t.Fatal("the Dockerfile doesn't compile to /out/hark what Git knows")
	}
	binary = filepath.Join(t.TempDir(), "hark")
	build := exec.Command("/bin/sh", "-ec", strings.Replace(script, "/out/hark", binary, 1))
	build.Dir = buildContext(t)
	build.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+machine, "GOFLAGS=-buildvcs=auto",
		"GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// released makes a repository with a version. A file of it isn't sent, and a release has put a binary beside it.
const released = `
git init -q
touch README.md
git add .
git -c user.name=ana -c user.email=ana@example.org commit -qm all
git tag v1.2.3
rm README.md
mkdir -p linux/amd64
touch linux/amd64/hark
`

func buildContext(t *testing.T) string {
	t.Helper()
	ignore := content(t, "../../.dockerignore")
	dir := t.TempDir()
	for line := range strings.Lines(string(ignore)) {
		name, let := strings.CutPrefix(strings.TrimSpace(line), "!")
		if !let || name == ".git" {
			continue
		}
		err := filepath.WalkDir(filepath.Join("../..", name), func(path string, e fs.DirEntry, err error) error {
			to := filepath.Join(dir, strings.TrimPrefix(path, "../../"))
			switch {
			case err != nil || strings.HasSuffix(path, "_test.go"):
				return err
			case e.IsDir() && e.Name() == "testdata":
				return fs.SkipDir
			case e.IsDir():
				return os.MkdirAll(to, 0o755)
			}
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(to, data, 0o644))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// isStatic checks that a binary is static, for a machine, and small enough.
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

// container runs Hark where it sees only its own files and can write only to its data and /tmp.
type container struct {
	*world
	root string
}

func newContainer(t *testing.T, binary string) *container {
	t.Helper()
	c := &container{newWorld(t), filepath.Join(t.TempDir(), "root")}
	data, err := os.ReadFile(binary)
	err = errors.Join(err, os.MkdirAll(filepath.Join(c.root, "data"), 0o700),
		os.Mkdir(filepath.Join(c.root, "tmp"), 0o700),
		os.WriteFile(filepath.Join(c.root, "hark"), data, 0o555),
		os.Chown(filepath.Join(c.root, "data"), imageUser, imageUser), os.Chown(filepath.Join(c.root, "tmp"),
			imageUser, imageUser))
	for dir := c.root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) { // reachable for the user
		err = errors.Join(err, os.Chmod(dir, 0o755))
	}
	free, listens := net.Listen("tcp", "127.0.0.1:0")
	if err := errors.Join(err, listens); err != nil {
		t.Fatal(err)
	}
	c.env["HARK_WEB_LISTEN"] = free.Addr().String() // the usual port may be taken
	free.Close()
	c.env["HARK_DATA"] = "/data"
	delete(c.env, "HARK_CONFIG")
	return c
}

func (c *container) command(args ...string) *exec.Cmd {
	hark := exec.Command("/hark", args...)
	hark.Dir, hark.Env = "/", environOf(c.env)
	hark.SysProcAttr = &syscall.SysProcAttr{Chroot: c.root, Pdeathsig: syscall.SIGKILL,
		Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	return hark
}

func (c *container) does(stdin string, args ...string) (stdout string) {
	c.Helper()
	hark := c.command(args...)
	var failed bytes.Buffer
	hark.Stdin, hark.Stderr = strings.NewReader(stdin), &failed
	out, err := hark.Output()
	if err != nil {
		c.Fatalf("hark %s: %v: %s", strings.Join(args, " "), err, &failed)
	}
	return string(out)
}

// up starts the image's own command. down stops it as the engine does.
func (c *container) up() (down func()) {
	c.Helper()
	runtime.LockOSThread() // the thread's end would kill Hark, see Pdeathsig
	before := c.discord.Identifies()
	hark := c.command("run", "--wait")
	hark.Stdout, hark.Stderr = c.log, c.log
	if err := hark.Start(); err != nil {
		c.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- hark.Wait() }()
	c.Cleanup(func() { _ = hark.Process.Kill() })
	c.waitSession(before + 1)
	return func() {
		c.Helper()
		if err := hark.Process.Signal(syscall.SIGTERM); err != nil {
			c.Fatal(err)
		}
		if err := wait.For(c, "it to stop", ended); err != nil {
			c.Errorf("after SIGTERM: %v", err)
		}
	}
}

// TestImageSteps does what an engine does with the Dockerfile and compose.yaml, without one.
func TestImageSteps(t *testing.T) {
	if os.Getenv("HARK_LONG") == "" || os.Geteuid() != 0 {
		t.Skip("HARK_LONG isn't set, or this isn't root's: nothing is compiled")
	}
	binary := compile(t, runtime.GOARCH)
	isStatic(t, binary, map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH])
	c := newContainer(t, binary)
	version := regexp.MustCompile(`^hark v1\.2\.3 \(commit [0-9a-f]{12}, 20[0-9-]+\)\n$`)
	if got := c.does("", "version"); !version.MatchString(got) {
		t.Errorf("it is %q", got)
	}

	// An empty volume, and a read-only root.
	down := c.up()
	c.does("", "healthcheck")
	c.discord.Say(c.general.ID, c.jane.ID, "the lighthouse keeper is called Ulla")
	c.later()
	c.ask(c.general, c.ana, "what is the lighthouse keeper called?")
	down()
	kept, backup := c.does("", "export", "--channel", "general"), c.does("", "backup", "-")
	c.holds(kept, "Ulla")

	// The same volume under another container, and the backup in another volume.
	down = c.up()
	c.does("", "healthcheck")
	c.ask(c.general, c.ana, "what is the lighthouse keeper called, again?")
	c.holds(c.prompt(), "Ulla")
	down()
	if got := c.does("", "export", "--channel", "general"); !strings.HasPrefix(got, kept) || got == kept {
		t.Errorf("there was %q, and now there is %q", kept, got)
	}
	c.does(backup, "restore", "--data", "/tmp/new", "--yes", "-")
	if got := c.does("", "export", "--data", "/tmp/new", "--channel", "general"); got != kept {
		t.Errorf("there was %q, and after restoring %q", kept, got)
	}

	err := filepath.WalkDir(c.root, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, c.root)
		if !regexp.MustCompile(`^(/hark|/tmp(/new.*)?|/data(/(hark|run)\.(db|lock).*)?)?$`).MatchString(name) {
			t.Errorf("it wrote %s", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

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
