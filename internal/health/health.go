// Package health serves Hark's health: GET /healthz is 200 while the process answers; GET /readyz is 200 while Hark works,
// otherwise 503 with the reason; GET /metrics is for Prometheus. None of these tells anything that anybody said.
package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	readLimit  = 5 * time.Second // for a request's head; for a whole check
	stopLimit  = 2 * time.Second // for running requests when Run stops
	idleLimit  = time.Minute
	maxHeader  = 8 << 10 // bytes
	maxReasons = 8 << 10 // bytes of an answer that Check reads
)

// Server answers on one address. Its fields are set before Run.
type Server struct {
	// NotReady returns why Hark isn't ready. It is called at each request, from several goroutines; nil: it is ready.
	NotReady func() error
	Metrics  http.Handler // nil: there are none
	MCP      http.Handler // of /mcp; nil: it isn't served
	Pages    http.Handler // of all other addresses; nil: there are none

	listener net.Listener
}

// Listen binds the address, a host and port; Run serves it.
func Listen(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for requests: %w; "+
			"if another Hark runs there, stop it; else choose a free address", err)
	}
	return &Server{listener: listener}, nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s.NotReady != nil {
			if err := s.NotReady(); err != nil {
				reply(w, http.StatusServiceUnavailable, err.Error())
				return
			}
		}
		reply(w, http.StatusOK, "ready")
	})
	if s.Metrics != nil {
		mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
			head(w)
			s.Metrics.ServeHTTP(w, r)
		})
	}
	if s.MCP != nil {
		mux.Handle("/mcp", s.MCP)
	}
	if s.Pages != nil {
		mux.Handle("/", s.Pages)
	}
	return mux
}

// Addr returns the bound address, with the port that was chosen for 0.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run serves until ctx is done, lets running requests finish, and returns nil. An error means that serving failed.
func (s *Server) Run(ctx context.Context) error {
	server := http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: readLimit,
		ReadTimeout:       readLimit,
		IdleTimeout:       idleLimit,
		MaxHeaderBytes:    maxHeader,
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		if server.Shutdown(last) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(s.listener)
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve requests: %w", err)
}

func reply(w http.ResponseWriter, status int, text string) {
	head(w)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // an error means that the client hung up
}

func head(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// Check asks the server at address, as given to Listen, whether it is alive.
func Check(ctx context.Context, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("check health: %w; web.listen must be a host and port", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost" // for a server on every address
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	url := "http://" + net.JoinHostPort(host, port) + "/healthz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("check health: %w", err)
	}
	// no proxy: the server is on this machine
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("check health: %w; is Hark running?", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReasons))
	if err != nil {
		return fmt.Errorf("check health: read the answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("check health: %s: %s", response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}
