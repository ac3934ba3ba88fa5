package llamatest

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"hark/internal/wait"
)

// Variable is the environment variable that holds the path of a llama-server.
const Variable = "HARK_TEST_LLAMA"

// Server is a llama-server that ends with the test. Hark reaches it through a front of its own, which records the
// requests.
type Server struct {
	*front

	tb      testing.TB
	process *exec.Cmd
	ended   chan struct{}
	log     string
	client  *http.Client
}

// Start starts a server with a model's file and further arguments, and returns once it is ready. The test is skipped if
// there is no server.
func Start(tb testing.TB, model string, args ...string) *Server {
	tb.Helper()
	s := Launch(tb, model, args...)
	s.await("the server", http.StatusOK)
	return s
}

// Launch is Start that doesn't wait: at first the server may not listen, or still load its model.
func Launch(tb testing.TB, model string, args ...string) *Server {
	tb.Helper()
	program := os.Getenv(Variable)
	if program == "" {
		tb.Skip("set " + Variable + " to the path of a llama-server; .ci/llama prints one")
	}
	dir, err := os.MkdirTemp("", "llama") // a test's own folder may be too long a name for a socket
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "llama.sock")
	s := &Server{tb: tb, ended: make(chan struct{}), log: filepath.Join(dir, "log")}
	s.start(exec.Command(program, append([]string{"--model", model, "--host", socket, "--threads", "1", "--offline"},
		args...)...))
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true, // the server ends connections that are idle, even if a request is on its way
	}
	s.client = &http.Client{Transport: transport}
	s.front = newFront(transport)
	tb.Cleanup(s.Kill)
	return s
}

func (s *Server) start(process *exec.Cmd) {
	s.tb.Helper()
	log, err := os.Create(s.log)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer log.Close()
	process.Stdout = log
	process.Stderr = log
	process.Env = []string{"HOME=" + filepath.Dir(s.log), "LC_ALL=C.UTF-8"}
	err = process.Start()
	if err != nil {
		s.tb.Fatal(err)
	}
	s.process = process
	go func() {
		_ = process.Wait() // Kill ends it; until then, whoever waits for the server sees that it ended
		close(s.ended)
	}()
}

// Loading returns once the server says that it loads its model.
func (s *Server) Loading() { s.await("the loading", http.StatusServiceUnavailable) }

// Ready returns once the server has loaded its model.
func (s *Server) Ready() { s.await("the server", http.StatusOK) }

// await returns once the server tells of its health with a status. Nothing but its answers tells how far it is.
func (s *Server) await(what string, status int) {
	s.tb.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	late := time.NewTimer(wait.Limit)
	defer late.Stop()
	for s.health() != status {
		select {
		case <-again.C:
		case <-s.ended:
			s.tb.Fatalf("llama-server ended:\n%s", s.Log())
		case <-late.C:
			s.tb.Fatalf("waited in vain for %s:\n%s", what, s.Log())
		}
	}
}

// health returns the status of the server's health; 0 while it doesn't listen.
func (s *Server) health() int {
	resp, err := s.client.Get("http://llama/health")
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// Kill ends the server at once. What it was writing breaks off, and nothing listens any more.
func (s *Server) Kill() {
	_ = s.process.Process.Kill() // it may have ended
	<-s.ended
	s.front.close()
}

// Log returns what the server has logged.
func (s *Server) Log() string {
	log, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(log)
}
