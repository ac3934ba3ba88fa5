package mcpclient

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// inherited are the variables of Hark's environment that a command gets.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"SYSTEMROOT", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP"}

// process is a command that speaks the protocol.
type process struct {
	*connection
	io.ReadCloser // its output
	input         io.Closer
	command       *exec.Cmd
}

// Connect starts the command.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	said := new(tail)
	p.server.mu.Lock()
	p.server.said = said
	p.server.mu.Unlock()
	p.command = exec.CommandContext(p.alive, p.server.Command, p.server.Args...)
	p.command.Env = []string{} // not nil, which would pass on all of Hark's, with its secrets
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			p.command.Env = append(p.command.Env, name+"="+value)
		}
	}
	for name, value := range p.server.Env {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	p.command.Stderr = said
	p.command.WaitDelay = p.server.options.Timing.Grace // its children may keep the standard error open
	input, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	g := &guard{kill: p.kill}
	p.input = input
	p.ReadCloser = newLines(output, func(text []byte) error {
		_, _ = said.Write(append(text, '\n'))
		return g.count()
	})
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	context.AfterFunc(p.alive, func() { _ = input.Close() }) // a child may keep the other end open
	g.Connection, err = (&mcp.IOTransport{
		Reader:        p,
		Writer:        input,
		MaxLineLength: maxFrame,
	}).Connect(ctx)
	return g, err
}

// Close has the command end, and kills it after Timing.Grace.
func (p *process) Close() error {
	defer p.kill()
	_ = p.input.Close()
	defer time.AfterFunc(p.server.options.Timing.Grace, p.kill).Stop()
	return p.command.Wait()
}

// guard passes on what Hark needs of a command's messages: responses, requests such as pings, and that the tools have
// changed. The SDK takes requests and notifications without limit, also when the command reads no answers.
type guard struct {
	mcp.Connection
	kill       context.CancelFunc
	messages   atomic.Int64 // since Hark's last request
	unanswered atomic.Int64
}

// Read implements mcp.Connection.
func (g *guard) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		message, err := g.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		request, is := message.(*jsonrpc.Request)
		if is && request.IsCall() {
			g.unanswered.Add(1)
		}
		if err := g.count(); err != nil {
			return nil, err
		}
		switch {
		case !is:
			return message, nil
		case request.IsCall() || request.Method == "notifications/tools/list_changed":
			request.Params = nil // they may be long, and none matters
			return request, nil
		}
	}
}

// count counts a message, or what stands in the place of one. It kills a command that sends too much.
func (g *guard) count() error {
	if g.messages.Add(1) > maxMessages || g.unanswered.Load() > maxUnanswered {
		g.kill()
		return errTooLong
	}
	return nil
}

func (g *guard) Write(ctx context.Context, message jsonrpc.Message) error {
	change(ctx, func(n *note) { n.sent = true })
	err := g.Connection.Write(ctx, message)
	if err != nil {
		return err
	}
	switch message := message.(type) {
	case *jsonrpc.Response:
		g.unanswered.Add(-1)
	case *jsonrpc.Request:
		if message.IsCall() {
			g.messages.Store(0)
		}
	}
	return nil
}

// maxTail bounds what is kept of a command's standard error, in bytes.
const maxTail = 400

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-maxTail):]...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-maxTail):]...)
	return len(p), nil
}

// String returns it as one line whose characters can all be seen.
func (t *tail) String() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, string(t.text))
	return strings.Join(strings.Fields(seen), " ")
}
