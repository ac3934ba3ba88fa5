package mcpclient

import (
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
	wire    wire

	mu       sync.Mutex
	session  *mcp.ClientSession // nil: not connected
	tools    []tools.RemoteTool
	seen     map[string]bool // names of tools, so that there is a limit to them
	changed  bool            // the tools have to be listed again
	busy     chan struct{}   // closed when connecting and listing end; nil: neither goes on
	work     sync.WaitGroup
	failure  error // of the last attempt, as a sentence
	failures int   // attempts in a row
	rest     time.Time
	kill     context.CancelFunc // of the last command; nil: none was started
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
	if s.session != nil && !s.changed || s.life.Err() != nil || !now && s.options.Now().Before(s.rest) {
		return ready
	}
	s.busy, s.changed, s.failure = make(chan struct{}), false, errNotYet
	session := s.session
	s.work.Go(func() { s.prepare(session) })
	return s.busy
}

// listed returns the tools, and why there are none.
func (s *server) listed() ([]tools.RemoteTool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil, s.failure
	}
	return s.tools, nil
}

// prepare connects unless session is a connection, and lists the tools.
func (s *server) prepare(session *mcp.ClientSession) {
	ctx, cancel := context.WithTimeout(s.life, s.options.Timing.Connect)
	defer cancel()
	defer time.AfterFunc(s.options.Timing.Connect+s.options.Timing.Grace, func() { s.killer()() }).Stop()
	s.wire.reset()
	var err error
	if session == nil {
		session, err = s.connect(ctx)
	}
	var list []tools.RemoteTool
	if err == nil {
		list, err = s.list(ctx, session)
	}
	if err != nil && session != nil {
		s.drop(session)
	}
	s.mu.Lock()
	was := s.failures
	switch {
	case err == nil:
		s.session, s.tools, s.failure, s.failures = session, list, nil, 0
	default:
		s.failure = errors.New(s.sentence(err))
		s.rest = s.options.Now().Add(min(s.options.Timing.MinRest<<min(was, 20), s.options.Timing.MaxRest))
		s.failures++
	}
	failure := s.failure
	s.mu.Unlock()
	switch {
	case s.life.Err() != nil && err == nil: // close came before the session was there
		s.drop(session)
	case s.life.Err() == nil && failure != nil && was == 0:
		s.options.Warn(s.Name, failure.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.busy)
	s.busy = nil
}

func (s *server) connect(ctx context.Context) (*mcp.ClientSession, error) {
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
	session, err := client.Connect(ctx, s.transport(), nil)
	if err != nil {
		return nil, err
	}
	s.work.Go(func() {
		_ = session.Wait()
		s.drop(session)
	})
	return session, nil
}

// drop closes a connection, so that the next question makes another. It waits for a command to end.
func (s *server) drop(session *mcp.ClientSession) {
	s.mu.Lock()
	ended := s.session == session
	if ended {
		s.session, s.tools = nil, nil
	}
	s.mu.Unlock()
	_ = session.Close()
	if ended {
		s.options.noticed(connectionEnded)
	}
}

// close ends the connection after the Client's end.
func (s *server) close() {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session != nil {
		s.drop(session)
	}
	s.work.Wait()
}

// call sends a call of a tool over a connection.
func (s *server) call(ctx context.Context, session *mcp.ClientSession, tool string,
	arguments json.RawMessage) (text string, failed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	s.wire.reset()
	kill := s.killer()
	type returned struct {
		*mcp.CallToolResult
		err error
	}
	done := make(chan returned, 1)
	go func() {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		done <- returned{result, err}
	}()
	var got returned
	select {
	case got = <-done:
	case <-ctx.Done():
		go func() {
			select {
			case <-done:
			case <-time.After(s.options.Timing.Grace):
				kill()
			}
		}()
		return "", false, ctx.Err()
	}
	var refused *jsonrpc.Error
	switch {
	case got.err == nil:
		return textOf(got.CallToolResult), got.IsError, nil
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case errors.As(got.err, &refused) && refused.Code != 0:
		return cut(refused.Message, maxText), true, nil
	}
	go s.drop(session)
	return "", false, errors.New(s.Name + ": " + s.sentence(got.err))
}

// killer returns what kills the command that runs now. The SDK waits without end for one that doesn't read.
func (s *server) killer() context.CancelFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kill == nil {
		return func() {}
	}
	return s.kill
}
