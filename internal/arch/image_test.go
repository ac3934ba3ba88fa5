package arch

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/internal/config"
)

// instruction is a line of a Dockerfile: its word, in capitals, and what follows.
type instruction struct{ word, args string }

// parseDockerfile cuts text into stages, each of which begins with its FROM.
func parseDockerfile(text string) (stages [][]instruction) {
	text = regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		word, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		word = strings.ToUpper(word)
		if word == "FROM" {
			stages = append(stages, nil)
		}
		if word != "" && len(stages) > 0 {
			stages[len(stages)-1] = append(stages[len(stages)-1], instruction{word, strings.TrimSpace(args)})
		}
	}
	return stages
}

// only is what follows the one instruction of that word; empty if there is none, or more than one.
func only(stage []instruction, word string) string {
	found := slices.DeleteFunc(slices.Clone(stage), func(i instruction) bool { return i.word != word })
	if len(found) != 1 {
		return ""
	}
	return found[0].args
}

// argv is an instruction in exec form, which needs no shell; nil if it isn't in that form.
func argv(args string) (argv []string) {
	if json.Unmarshal([]byte(args), &argv) != nil {
		return nil
	}
	return argv
}

// imageProblems says what would keep the image from building anywhere and starting without privileges.
func imageProblems(dockerfile string) (problems []string) {
	want := func(ok bool, what string) {
		if !ok {
			problems = append(problems, what)
		}
	}
	stages := parseDockerfile(dockerfile)
	if len(stages) != 2 {
		return []string{"there must be two stages"}
	}
	build, final := stages[0], stages[1]
	want(regexp.MustCompile(`^--platform=\$BUILDPLATFORM golang:\d+\.\d+(\.\d+)?-bookworm AS build$`).MatchString(only(build, "FROM")), "build on golang:VERSION-bookworm, on the machine that builds")
	want(only(final, "FROM") == "gcr.io/distroless/static-debian12", "run on gcr.io/distroless/static-debian12, which has CA certificates")
	for _, i := range slices.Concat(build, final) {
		want(!strings.Contains(i.args, "<<") && !(i.word == "RUN" && strings.HasPrefix(i.args, "--")), "no heredoc and no flag of RUN")
		want(!strings.Contains(i.args, "--mount") && !strings.Contains(i.args, "--link"), "nothing that only BuildKit knows")
		want(i.word != "ADD", "COPY rather than ADD")
	}
	compile := ""
	for _, i := range build {
		if i.word == "RUN" && strings.Contains(i.args, "go build") {
			compile = i.args
		}
	}
	for _, arg := range []string{"TARGETOS", "TARGETARCH"} {
		want(slices.Contains(build, instruction{"ARG", arg}), "ARG "+arg)
	}
	for _, part := range []string{"GOOS=${TARGETOS} GOARCH=${TARGETARCH} ", "CGO_ENABLED=0 go build", "-trimpath", "-X main.version=${VERSION}", "-o /out/hark ./cmd/hark"} {
		want(strings.Contains(compile, part), "compile with "+part)
	}
	return append(problems, finalProblems(final)...)
}

func finalProblems(final []instruction) (problems []string) {
	want := func(ok bool, what string) {
		if !ok {
			problems = append(problems, what)
		}
	}
	user := only(final, "USER")
	numeric := regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user)
	want(numeric, "a numeric user that isn't root")
	want(numeric && slices.ContainsFunc(final, func(i instruction) bool {
		return i.word == "COPY" && strings.Contains(i.args, "--chown="+user+" ") && strings.HasSuffix(i.args, " /data")
	}), "a /data that the user owns")
	want(slices.Contains(final, instruction{"COPY", "--from=build /out/hark /hark"}), "the binary at /hark")
	want(!slices.ContainsFunc(final, func(i instruction) bool { return i.word == "RUN" }), "no RUN where there is no shell")
	want(only(final, "VOLUME") == "/data", "a volume at /data")
	want(only(final, "ENV") == "HARK_DATA=/data", "HARK_DATA=/data")
	want(slices.Equal(argv(only(final, "ENTRYPOINT")), []string{"/hark"}), "an entry point in exec form")
	want(slices.Equal(argv(only(final, "CMD")), []string{"run", "--wait"}), "the command run --wait in exec form")
	_, health, _ := strings.Cut(only(final, "HEALTHCHECK"), "CMD ")
	want(slices.Equal(argv(health), []string{"/hark", "healthcheck"}), "a health check by the binary, in exec form")
	return problems
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestImage(t *testing.T) {
	t.Parallel()
	for _, p := range imageProblems(read(t, "Dockerfile")) {
		t.Errorf("Dockerfile: %s", p)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	if !strings.Contains(read(t, "Dockerfile"), "golang:"+version+"-bookworm") {
		t.Errorf("Dockerfile: build with Go %s, as go.mod says", version)
	}
}

func TestImageProblemsAreFound(t *testing.T) {
	t.Parallel()
	good := read(t, "Dockerfile")
	for _, c := range []struct{ old, new, want string }{
		{"golang:1.26-bookworm", "golang:1.26-alpine", "build on golang:VERSION-bookworm"},
		{"--platform=$BUILDPLATFORM ", "", "on the machine that builds"},
		{"ARG TARGETARCH\n", "", "ARG TARGETARCH"},
		{"GOARCH=${TARGETARCH} ", "", "GOARCH=${TARGETARCH}"},
		{"gcr.io/distroless/static-debian12", "scratch", "run on gcr.io/distroless"},
		{"RUN go mod download", "RUN --mount=type=cache,target=/root go mod download", "no flag of RUN"},
		{"RUN go mod download", "RUN <<EOF\ngo mod download\nEOF", "no heredoc"},
		{"COPY . .", "ADD . .", "COPY rather than ADD"},
		{"COPY . .", "COPY --link . .", "only BuildKit knows"},
		{"CGO_ENABLED=0 ", "", "CGO_ENABLED=0"},
		{"-trimpath ", "", "-trimpath"},
		{"-X main.version=${VERSION}", "", "main.version"},
		{"USER 65532:65532", "USER nonroot", "a numeric user"},
		{"USER 65532:65532", "USER 0:0", "a numeric user"},
		{"USER 65532:65532", "", "a numeric user"},
		{"--chown=65532:65532 ", "", "a /data that the user owns"},
		{"/out/hark /hark", "/out/hark /bin/hark", "the binary at /hark"},
		{"VOLUME /data", "RUN mkdir /data", "no RUN where there is no shell"},
		{"VOLUME /data", "", "a volume at /data"},
		{"ENV HARK_DATA=/data", "", "HARK_DATA=/data"},
		{`ENTRYPOINT ["/hark"]`, "ENTRYPOINT /hark", "an entry point in exec form"},
		{`CMD ["run", "--wait"]`, `CMD run --wait`, "the command run --wait in exec form"},
		{`CMD ["/hark", "healthcheck"]`, `CMD wget -q localhost:8765/healthz`, "a health check by the binary"},
		{"FROM gcr.io", "# FROM gcr.io", "two stages"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Errorf("%q isn't in the Dockerfile", c.old)
		}
		if problems := strings.Join(imageProblems(bad), "; "); !strings.Contains(problems, c.want) {
			t.Errorf("with %q for %q: %q; want %q", c.new, c.old, problems, c.want)
		}
	}
}

// Every package reaches the engine, and nothing private does.
func TestBuildContext(t *testing.T) {
	t.Parallel()
	ignore := strings.Fields(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(read(t, ".dockerignore"), ""))
	if len(ignore) == 0 || ignore[0] != "*" {
		t.Fatal(".dockerignore doesn't begin by leaving out everything")
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if !slices.Contains(ignore, "!"+name) {
			t.Errorf(".dockerignore leaves out %s", name)
		}
	}
	for pkg := range rules {
		top, _, _ := strings.Cut(pkg, "/")
		if !slices.Contains(ignore, "!"+top) {
			t.Errorf(".dockerignore leaves out %s", top)
		}
	}
	for _, private := range []string{"!.env", "!data", "!.git", "!config.toml"} {
		if slices.Contains(ignore, private) {
			t.Errorf(".dockerignore lets %s through", private[1:])
		}
	}
}

func TestCompose(t *testing.T) {
	t.Parallel()
	text := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(read(t, "compose.yaml"), "")
	for _, want := range []string{
		"\n    restart: unless-stopped\n", "\n    read_only: true\n", "\n    tmpfs:\n      - /tmp\n",
		"\n    cap_drop:\n      - ALL\n", "\n    security_opt:\n      - no-new-privileges:true\n",
		"\n    volumes:\n      - data:/data\n", "\nvolumes:\n  data:\n", "HARK_DISCORD_TOKEN: ${HARK_DISCORD_TOKEN:?",
		"\n      test: [\"CMD\", \"/hark\", \"healthcheck\"]\n", "\n    stop_grace_period: 15s\n", "\n    mem_limit: 512m\n", "\n    pids_limit: 128\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("compose.yaml lacks %q", want)
		}
	}
	ollama := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(read(t, "compose.ollama.yaml"), "")
	for _, want := range []string{
		"\n  hark:\n    environment:\n      HARK_LLM_BASE_URL: http://ollama:11434/v1\n", "\n      - ollama:/root/.ollama\n", "\nvolumes:\n  ollama:\n",
		"\n    depends_on:\n      ollama:\n        condition: service_healthy\n", "\n    entrypoint: [\"/bin/sh\", \"-c\", ",
	} {
		if !strings.Contains("\n"+ollama, want) {
			t.Errorf("compose.ollama.yaml lacks %q", want)
		}
	}
	if images := regexp.MustCompile(`image: (\S+)`).FindAllStringSubmatch(ollama, -1); len(images) != 2 || images[0][1] != images[1][1] || !regexp.MustCompile(`^ollama/ollama:\d`).MatchString(images[0][1]) {
		t.Errorf("the images are %q, which must be one, of a version", images)
	}
	for _, name := range []string{"compose.yaml", "compose.ollama.yaml"} {
		variables := regexp.MustCompile(`HARK_[A-Z_]+`).FindAllString(read(t, name), -1)
		if err := config.CheckEnv(variables); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(read(t, name), "\t") {
			t.Errorf("%s has a tab in it, which YAML doesn't take", name)
		}
	}
}

// The image has no time zones of its own, and -X says nothing when there is no such variable.
func TestCommandSuitsImage(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../cmd/hark/*.go")
	if err != nil {
		t.Fatal(err)
	}
	zones, version := false, false
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			zones = zones || i.Path.Value == `"time/tzdata"`
		}
		version = version || declares(file, "version")
	}
	if !zones {
		t.Error(`cmd/hark doesn't import "time/tzdata"`)
	}
	if !version {
		t.Error("cmd/hark has no variable version for -X to set")
	}
}

func declares(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		return ok && g.Tok == token.VAR && slices.ContainsFunc(g.Specs, func(s ast.Spec) bool {
			v, ok := s.(*ast.ValueSpec)
			return ok && slices.ContainsFunc(v.Names, func(n *ast.Ident) bool { return n.Name == name })
		})
	})
}
