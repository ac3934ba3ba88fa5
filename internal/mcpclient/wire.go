package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxFrame bounds a message of a server, and a response of HTTP, in bytes.
const maxFrame = 4 << 20

// inherited are the variables of Hark's environment that a command gets.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"SYSTEMROOT", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP"}

// transport returns a new connection's transport.
func (s *server) transport() mcp.Transport {
	if s.Command != "" {
		return &process{server: s}
	}
	inner := http.DefaultTransport.(*http.Transport).Clone()
	inner.MaxResponseHeaderBytes = 1 << 20
	return &mcp.StreamableClientTransport{
		Endpoint: s.Address, MaxEventSize: maxFrame,
		HTTPClient: &http.Client{
			Transport: &roundTripper{inner, s},
			// another host mustn't get the key
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// process is a command that speaks the protocol.
type process struct {
	*server
	io.ReadCloser // its output
	input         io.Closer
	command       *exec.Cmd
	kill          context.CancelFunc
}

// Connect starts the command.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	alive, kill := context.WithCancel(p.life)
	p.mu.Lock()
	p.server.kill = kill
	p.mu.Unlock()
	p.kill = kill
	p.command = exec.CommandContext(alive, p.Command, p.Args...)
	p.command.Env = []string{} // not nil, which would pass on all of Hark's, with its secrets
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			p.command.Env = append(p.command.Env, name+"="+value)
		}
	}
	for name, value := range p.Env {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	input, err := p.command.StdinPipe()
	if err == nil {
		p.input = input
		p.ReadCloser, err = p.command.StdoutPipe()
	}
	if err == nil {
		err = p.command.Start()
	}
	if err != nil {
		kill()
		return nil, err
	}
	return (&mcp.IOTransport{Reader: p, Writer: input, MaxLineLength: maxFrame}).Connect(ctx)
}

// Close has the command end, and kills it after Timing.Grace.
func (p *process) Close() error {
	defer p.kill()
	_ = p.input.Close()
	defer time.AfterFunc(p.options.Timing.Grace, p.kill).Stop()
	return p.command.Wait()
}

// wire remembers how HTTP failed, because the SDK's errors don't.
type wire struct {
	mu   sync.Mutex
	seen string
}

func (w *wire) reset() { w.note("") }

func (w *wire) note(what string) {
	w.mu.Lock()
	w.seen = what
	w.mu.Unlock()
}

func (w *wire) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// roundTripper adds the key to requests, bounds responses, and notes failures.
type roundTripper struct {
	http.RoundTripper
	server *server
}

func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.server.Key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+t.server.Key)
	}
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		if _, is := errors.AsType[net.Error](err); is && r.Context().Err() == nil {
			t.server.wire.note("nothing answers at its address: check it, and whether the server runs")
		}
		return nil, err
	}
	switch code := response.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		t.server.wire.note(fmt.Sprintf("it refuses Hark (HTTP %d): check its key", code))
	case code == http.StatusNotFound && r.Method == http.MethodPost:
		t.server.wire.note("it knows nothing at that address (HTTP 404): check the path")
	case code >= 300 && code < 400:
		t.server.wire.note(fmt.Sprintf("it is somewhere else (HTTP %d): name its own address", code))
	case code >= 500:
		t.server.wire.note(fmt.Sprintf("it fails (HTTP %d)", code))
	}
	response.Body = &boundedBody{response.Body, maxFrame, t.server}
	return response, nil
}

var errTooLong = errors.New("the response is too long")

// boundedBody is the beginning of a response.
type boundedBody struct {
	io.ReadCloser
	left   int
	server *server
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.server.tooLong()
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

const tooLong = "it sent more than Hark takes"

// tooLong closes the connection: the SDK might wait for the rest.
func (s *server) tooLong() {
	s.wire.note(tooLong)
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session != nil {
		go s.drop(session)
	}
}

// sentence says why a server can't be used. It has no text of the server's, which could be anything.
func (s *server) sentence(err error) string {
	var refused *jsonrpc.Error
	switch seen := s.wire.last(); {
	case seen == tooLong:
		return seen
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "there is no command of that name: install it, or name it with its directory"
	case errors.Is(err, fs.ErrPermission):
		return "its command can't be run: check its permissions"
	case seen != "":
		return seen
	case errors.Is(err, context.DeadlineExceeded):
		return "it doesn't answer in time: look at its own log"
	case errors.As(err, &refused) && refused.Code != 0:
		return fmt.Sprintf("it answers with the error %d: look at its own log", refused.Code)
	}
	return "it ended the connection, or doesn't speak the protocol: look at its own log"
}
