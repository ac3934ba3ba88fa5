// Package mcptest has servers of the Model Context Protocol for tests, honest and hostile: over HTTP, and as a command.
// Begin with New, or with Main for a command.
package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is a tool of a Server.
type Tool struct {
	Name, Description string
	Schema            string // of its arguments; empty: any object
	ReadOnly          bool   // what the server says of it
	Call              func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// Server is a server over HTTP.
type Server struct {
	URL string
	// Key, if not empty, is asked of every request. Set it before the first.
	Key string
	// Old has the server speak versions with a handshake only. Set it before the first request.
	Old bool
	// Flood has the server answer calls with this many bytes, instead of its tools.
	Flood atomic.Int64
	// Sent counts the bytes of floods that somebody took.
	Sent atomic.Int64

	server *mcp.Server
	life   context.Context // ends with the test
	silent atomic.Bool
	mu     sync.Mutex
	calls  []Call
}

// Call is a call that a Server got.
type Call struct{ Tool, Arguments string }

// New starts a server that ends with the test.
func New(tb testing.TB, tools ...Tool) *Server {
	tb.Helper()
	life, end := context.WithCancel(context.Background())
	s := &Server{server: mcp.NewServer(&mcp.Implementation{Name: "mcptest"}, nil), life: life}
	s.Add(tools...)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s.URL = "http://" + listener.Addr().String()
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, nil)
	serving := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, inner) })}
	go func() { _ = serving.Serve(listener) }()
	tb.Cleanup(func() {
		end() // also of calls that their client never cancelled, for which Disconnect would wait
		s.Disconnect()
		_ = serving.Close() // Shutdown would wait for streams
	})
	return s
}

// Disconnect ends all sessions.
func (s *Server) Disconnect() {
	for session := range s.server.Sessions() {
		_ = session.Close()
	}
}

// Silence has the server answer nothing any more.
func (s *Server) Silence() { s.silent.Store(true) }

// Add adds tools, or replaces those of the same name. Clients are told.
func (s *Server) Add(tools ...Tool) {
	for _, t := range tools {
		call := t.Call
		t.Call = func(ctx context.Context, arguments json.RawMessage) (string, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.life, cancel)()
			return call(ctx, arguments)
		}
		add(s.server, t, func(arguments string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.calls = append(s.calls, Call{t.Name, arguments})
		})
	}
}

// Calls returns the calls so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, inner http.Handler) {
	if s.silent.Load() {
		select {
		case <-s.life.Done():
		case <-r.Context().Done():
		}
		return
	}
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if s.Old && bytes.Contains(body, []byte(`"server/discover"`)) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no session"}}`)
		return
	}
	if n := s.Flood.Load(); n > 0 && bytes.Contains(body, []byte(`"tools/call"`)) {
		w.Header().Set("Content-Type", "application/json")
		flood(countingWriter{w, &s.Sent}, n)
		return
	}
	inner.ServeHTTP(w, r)
}

type countingWriter struct {
	io.Writer
	n *atomic.Int64
}

func (w countingWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.n.Add(int64(n))
	return n, err
}

// flood writes a response that doesn't end for n bytes.
func flood(w io.Writer, n int64) {
	_, err := io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`)
	for chunk := strings.Repeat("x", 1<<16); err == nil && n > 0; n -= int64(len(chunk)) {
		_, err = io.WriteString(w, chunk)
	}
}

func add(server *mcp.Server, t Tool, called func(arguments string)) {
	schema := json.RawMessage(t.Schema)
	if t.Schema == "" {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	server.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly},
	}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		called(string(r.Params.Arguments))
		text, err := t.Call(ctx, r.Params.Arguments)
		if err != nil {
			text = err.Error()
		}
		return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
}

// Says is a Tool.Call that returns a text.
func Says(text string) func(context.Context, json.RawMessage) (string, error) {
	return func(context.Context, json.RawMessage) (string, error) { return text, nil }
}

// Hangs is a Tool.Call that returns when nobody waits any more.
func Hangs(ctx context.Context, _ json.RawMessage) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// AsCommand is the variable that has Main serve.
const AsCommand = "MCPTEST_COMMAND"

// Main serves on the standard streams, and doesn't return, if AsCommand is set: call it first in TestMain, and start
// the test's own program as the command. Its tools are "env", which returns the environment, "die", "flood", which
// answers with 100 MB, and "deafen", after which it reads nothing.
func Main() {
	if os.Getenv(AsCommand) == "" {
		return
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "mcptest"}, nil)
	ignored := func(string) {}
	add(server, Tool{Name: "env", Call: Says(strings.Join(os.Environ(), "\n"))}, ignored)
	add(server, Tool{Name: "die", Call: func(context.Context, json.RawMessage) (string, error) {
		os.Exit(3)
		return "", nil
	}}, ignored)
	add(server, Tool{Name: "flood", Call: func(context.Context, json.RawMessage) (string, error) {
		flood(os.Stdout, 100<<20)
		return "", errors.New("somebody took it all")
	}}, ignored)
	input := &gate{Reader: os.Stdin}
	add(server, Tool{Name: "deafen", Call: func(context.Context, json.RawMessage) (string, error) {
		input.shut.Store(true)
		return "", nil
	}}, ignored)
	if server.Run(context.Background(), &mcp.IOTransport{Reader: input, Writer: os.Stdout}) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// gate is a reader that can be shut.
type gate struct {
	io.Reader
	shut atomic.Bool
}

func (g *gate) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if g.shut.Load() {
		select {}
	}
	return n, err
}

// Close does nothing: the process ends.
func (g *gate) Close() error { return nil }
