package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxFrame    = 4 << 20 // bytes of a message of a server, and of a response of HTTP
	maxMessages = 10000   // from a command since Hark's last request, and of a response of HTTP

	maxUnanswered = 100 // requests of a server that wait for Hark's answers: it may not take them
)

// transport returns the connection's transport.
func (c *connection) transport() mcp.Transport {
	if c.server.Command != "" {
		return &process{connection: c}
	}
	inner := http.DefaultTransport.(*http.Transport).Clone()
	inner.MaxResponseHeaderBytes = 1 << 20
	return &mcp.StreamableClientTransport{
		Endpoint: c.server.Address, MaxEventSize: maxFrame,
		HTTPClient: &http.Client{
			Transport: &roundTripper{
				RoundTripper: inner,
				connection:   c,
				unasked:      newAllowance(true),
			},
			// another host mustn't get the key
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// note is what became of the HTTP requests of a call or an attempt to connect, which the SDK's errors don't say. Each
// has its own, in its context.
type note struct {
	mu      sync.Mutex
	problem string
	sent    bool // the call was written, or began to be
	missing bool // the server doesn't know the session
}

type noteKey struct{}

func withNote(ctx context.Context) (context.Context, *note) {
	n := new(note)
	return context.WithValue(ctx, noteKey{}, n), n
}

// change changes the note of a context, if it has one.
func change(ctx context.Context, how func(n *note)) {
	if n, is := ctx.Value(noteKey{}).(*note); is {
		n.mu.Lock()
		defer n.mu.Unlock()
		how(n)
	}
}

// nothingRan reports whether the server can't have run the call.
func (n *note) nothingRan() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.sent || n.missing
}

func (n *note) seen() string {
	if n == nil {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.problem
}

// roundTripper adds the key to requests, bounds responses, and notes failures.
type roundTripper struct {
	http.RoundTripper
	*connection
	unasked *allowance // of all that the server sends unasked
	answers atomic.Int64
}

func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := r.Context()
	ctx, cancel := context.WithCancel(asked)
	release := context.AfterFunc(t.alive, cancel)
	r = r.Clone(ctx)
	if t.server.Key != "" {
		r.Header.Set("Authorization", "Bearer "+t.server.Key)
	}
	if r.Method == http.MethodPost {
		change(asked, func(n *note) { n.sent = true })
		if _, limited := asked.Deadline(); !limited {
			// An answer to the server, for example to its ping. The SDK would wait for any number, without end.
			if t.answers.Add(1) > maxUnanswered {
				_ = t.server.drop(t.connection, errTooLong)
				cancel()
			}
			defer t.answers.Add(-1)
			defer time.AfterFunc(t.server.Timeout, func() {
				_ = t.server.drop(t.connection, context.DeadlineExceeded)
				cancel()
			}).Stop()
		}
	}
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		release()
		cancel()
		if _, is := errors.AsType[net.Error](err); is && asked.Err() == nil {
			change(asked, func(n *note) { n.problem = "nothing answers at its address: check it, and whether the server runs" })
		}
		return nil, err
	}
	change(asked, func(n *note) { n.status(r, response.StatusCode) })
	allowed := t.unasked
	if r.Method != http.MethodGet {
		allowed = newAllowance(strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream"))
	}
	response.Body = &boundedBody{response.Body, t, allowed, asked, func() { release(); cancel() }}
	return response, nil
}

// status notes what the status of a response says.
func (n *note) status(r *http.Request, code int) {
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		n.problem = fmt.Sprintf("it refuses Hark (HTTP %d): check its key", code)
	case code == http.StatusNotFound && r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") != "":
		n.missing = true
	case code == http.StatusNotFound && r.Method == http.MethodPost:
		n.problem = "it knows nothing at that address (HTTP 404): check the path"
	case code >= 300 && code < 400:
		n.problem = fmt.Sprintf("it is somewhere else (HTTP %d): name its own address", code)
	case code == http.StatusTooManyRequests:
		n.problem = "it is asked too often (HTTP 429): try again later"
	case code >= 500:
		n.problem = fmt.Sprintf("it fails (HTTP %d)", code)
	}
}

var errTooLong = errors.New("the server sent too much")

// allowance is how much a server may still send.
type allowance struct{ bytes, lines atomic.Int64 }

// newAllowance returns an allowance for a stream of messages, or for a single one.
func newAllowance(stream bool) *allowance {
	a := new(allowance)
	a.bytes.Store(maxFrame)
	a.lines.Store(math.MaxInt64)
	if stream {
		a.lines.Store(2 * maxMessages)
	}
	return a
}

// boundedBody is the beginning of a response.
type boundedBody struct {
	io.ReadCloser
	*roundTripper
	*allowance
	asked context.Context // of the request
	done  func()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	bytesLeft := b.bytes.Add(-int64(n))
	linesLeft := b.lines.Add(-int64(bytes.Count(p[:n], []byte{'\n'})))
	if bytesLeft < 0 || linesLeft < 0 {
		change(b.asked, func(n *note) { n.problem = tooLong })
		_ = b.server.drop(b.connection, errTooLong) // the SDK might wait for the rest
		return 0, errTooLong
	}
	return n, err
}

func (b *boundedBody) Close() error {
	b.done()
	return b.ReadCloser.Close()
}

const tooLong = "it sent more than Hark takes"

// isAnswer reports whether an error is a server's answer, and which.
func isAnswer(err error, answer **jsonrpc.Error) bool {
	const rejected = -32005 // the SDK's own, of a request that failed in HTTP
	return errors.As(err, answer) && (*answer).Code != 0 && (*answer).Code != rejected
}

// sentence says why a server can't be used. It has no text of the server's, which could be anything.
func (s *server) sentence(err error, n *note) string {
	own := ""
	if s.Address != "" {
		own = ": look at its own log"
	}
	var refused *jsonrpc.Error
	switch seen := n.seen(); {
	case seen == tooLong, errors.Is(err, errTooLong):
		return tooLong
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "there is no command of that name: install it, or name it with its directory"
	case errors.Is(err, fs.ErrPermission):
		return "its command can't be run: check its permissions"
	case seen != "":
		return seen
	case errors.Is(err, context.DeadlineExceeded):
		return "it doesn't answer in time" + own
	case isAnswer(err, &refused):
		return fmt.Sprintf("it answers with the error %d", refused.Code) + own
	}
	return "it ended the connection, or doesn't speak the protocol" + own
}
