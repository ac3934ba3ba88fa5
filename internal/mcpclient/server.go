package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hark/internal/answer/tools"
)

// server is a server and the connection to it.
type server struct {
	Server
	options *Options
	life    context.Context // of the Client

	mu       sync.Mutex
	current  *connection // nil: not connected
	tools    []tools.RemoteTool
	seen     map[string]bool // names of tools, so that there is a limit to them
	left     string          // what was last said of tools that are left out
	changed  bool            // the tools have to be listed again
	busy     chan struct{}   // closed when connecting and listing end; nil: neither goes on
	work     sync.WaitGroup
	failure  error // of the last attempt, as a sentence
	failures int   // in a row
	rest     time.Time
	said     *tail // of the last command; nil: none was started
}

var ready = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

var errNotYet = errors.New("it hasn't answered yet")

// begin connects or lists the tools in the background, if that is needed and the server needn't rest. The channel is
// closed when nothing of that goes on.
func (s *server) begin(now bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy != nil {
		return s.busy
	}
	if s.current != nil && !s.changed || s.life.Err() != nil || !now && s.options.Now().Before(s.rest) {
		return ready
	}
	busy := make(chan struct{})
	c := s.current
	s.busy = busy
	s.changed = false
	s.failure = errNotYet
	s.work.Go(func() {
		s.prepare(c, busy)
		s.mu.Lock()
		defer s.mu.Unlock()
		close(busy)
		s.busy = nil
	})
	return busy
}

// listed returns the tools, and why there are none.
func (s *server) listed() ([]tools.RemoteTool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil, s.failure
	}
	return s.tools, nil
}

// prepare connects unless c is a connection, and lists the tools. done is closed later.
func (s *server) prepare(c *connection, done <-chan struct{}) {
	ctx, cancel := context.WithTimeout(s.life, s.options.Timing.Connect)
	defer cancel()
	ctx, seen := withNote(ctx)
	fresh := c == nil
	if fresh {
		c = s.newConnection()
	}
	// The SDK waits without end for a command that doesn't read.
	defer context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(2 * s.options.Timing.Grace):
			c.kill()
		}
	})()
	var list []tools.RemoteTool
	var err error
	if fresh {
		err = c.connect(ctx)
	}
	if err == nil {
		list, err = s.list(ctx, c)
	}
	problem := ""
	s.mu.Lock()
	if c.ended {
		err = cmp.Or(c.why, err, mcp.ErrConnectionClosed)
	}
	switch {
	case err == nil:
		s.current = c
		s.tools = list
		s.failure = nil
	case fresh || s.current == c:
		s.current = nil
		s.tools = nil
		problem = s.failed(err, seen)
	} // otherwise drop has seen to it
	s.mu.Unlock()
	switch {
	case err != nil && c.session != nil:
		_ = s.drop(c, err)
		_ = c.session.Wait()
	case err != nil:
		c.kill()
	}
	s.warn(problem)
}

// failed has the server rest, and returns what to warn of. s.mu is locked.
func (s *server) failed(err error, seen *note) (problem string) {
	s.failure = errors.New(s.sentence(err, seen))
	s.rest = s.options.Now().Add(min(s.options.Timing.MinRest<<min(s.failures, 20), s.options.Timing.MaxRest))
	s.failures++
	if s.failures > 1 || s.life.Err() != nil {
		return ""
	}
	problem = s.failure.Error()
	if s.said.String() != "" {
		problem += ` ("hark doctor" shows what it wrote)`
	}
	return problem
}

func (s *server) warn(problem string) {
	if problem != "" {
		s.options.Warn(s.Name, problem)
	}
}

// connection is a connection to a server. It isn't used again when it has ended.
type connection struct {
	server *server
	alive  context.Context // ends when the connection must: its command is killed, and its requests are cancelled
	kill   context.CancelFunc
	since  time.Time

	session *mcp.ClientSession // nil while it connects; set under server.mu, as those below
	ended   bool
	why     error // it has ended, if that is known
	proven  bool  // it has answered a call
}

func (s *server) newConnection() *connection {
	c := &connection{server: s, since: s.options.Now()}
	c.alive, c.kill = context.WithCancel(context.Background()) // not s.life: a command may have time to end
	return c
}

func (c *connection) connect(ctx context.Context) error {
	s := c.server
	client := mcp.NewClient(&mcp.Implementation{Name: "hark"}, &mcp.ClientOptions{
		// Hark offers servers nothing: no model, no files, no questions to people.
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			s.mu.Lock()
			s.changed = true
			s.mu.Unlock()
			s.options.noticed(listChanged)
		},
	})
	session, err := client.Connect(ctx, c.transport(), nil)
	if err != nil {
		return err
	}
	s.mu.Lock()
	c.session = session
	s.mu.Unlock()
	s.work.Go(func() { _ = s.drop(c, session.Wait()) })
	return nil
}

// drop ends a connection in the background, if it is there already, so that the next question makes another. One that
// was of no use counts as a failure: otherwise a server that always dies would be started for every question.
// It returns the first reason.
func (s *server) drop(c *connection, why error) error {
	problem := ""
	s.mu.Lock()
	session := c.session
	current := s.current == c
	c.ended, c.why = true, cmp.Or(c.why, why)
	why = c.why
	if current {
		s.current = nil
		s.tools = nil
		if c.proven || s.options.Now().Sub(c.since) >= s.options.Timing.MinRest {
			s.failures = 0
		} else {
			problem = s.failed(why, nil)
		}
	}
	s.mu.Unlock()
	s.warn(problem)
	if session == nil {
		return why
	}
	go func() {
		defer c.kill()
		defer time.AfterFunc(2*s.options.Timing.Grace, c.kill).Stop()
		_ = session.Close()
		if current {
			s.options.noticed(connectionEnded)
		}
	}()
	return why
}

// close ends the connection after the Client's end, and waits for it.
func (s *server) close() {
	<-s.begin(false) // nothing begins any more
	s.mu.Lock()
	c := s.current
	s.mu.Unlock()
	if c != nil {
		_ = s.drop(c, nil)
	}
	s.work.Wait()
}

// call sends a call of a tool over a connection. If it has ended before, or the server has forgotten it, nothing ran:
// the call is sent once more, over a new one.
func (s *server) call(ctx context.Context, c *connection, tool string,
	arguments json.RawMessage) (text string, failed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	result, seen, err := c.call(ctx, params)
	if err != nil && seen.nothingRan() && ctx.Err() == nil {
		_ = s.drop(c, err)
		if again := s.reconnected(ctx); again != nil {
			c = again
			result, seen, err = c.call(ctx, params)
		}
	}
	var refused *jsonrpc.Error
	answered := err == nil || isAnswer(err, &refused) && !seen.nothingRan()
	switch {
	case answered:
		s.mu.Lock()
		c.proven = true
		s.failures = 0
		s.mu.Unlock()
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	default:
		return "", false, errors.New(s.Name + ": " + s.sentence(s.drop(c, err), seen))
	}
	if refused != nil {
		return cut(refused.Message, maxText), true, nil
	}
	return textOf(result), result.IsError, nil
}

// reconnected returns the connection that there is, or a new one; nil if there is none.
func (s *server) reconnected(ctx context.Context) *connection {
	select {
	case <-s.begin(false):
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (c *connection) call(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, *note, error) {
	ctx, seen := withNote(ctx)
	c.server.mu.Lock()
	ended := c.ended
	c.server.mu.Unlock()
	if ended {
		return nil, seen, mcp.ErrConnectionClosed
	}
	type returned struct {
		*mcp.CallToolResult
		err error
	}
	done := make(chan returned, 1)
	go func() {
		result, err := c.session.CallTool(ctx, params)
		done <- returned{result, err}
	}()
	select {
	case got := <-done:
		return got.CallToolResult, seen, got.err
	case <-ctx.Done():
		go func() {
			select {
			case <-done:
			case <-time.After(c.server.options.Timing.Grace):
				c.kill()
			}
		}()
		return nil, seen, ctx.Err()
	}
}
