// Package mcpclient connects to servers of the Model Context Protocol and offers their tools to the model.
//
// A server may be slow, broken or hostile: connecting, listing and calling have time limits, all that it sends has a
// size limit, and no error has text of a server's or the model's. Servers are connected when a question first needs
// them, and rest after failures.
//
// It may import internal/answer/tools, whose Remote it implements. Only it, internal/mcptest and the server's package
// import the protocol's SDK. Begin with New and Client.Tools.
package mcpclient

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hark/internal/answer/tools"
)

// Server is a configured server: a command or an address.
type Server struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string // of the command, besides PATH and the like
	Address string            // of streamable HTTP
	Key     string            // sent to Address as a bearer token; empty: none
	// TrustReadOnly has tools that the server calls read-only run without asking.
	TrustReadOnly bool
	Timeout       time.Duration // of a call
}

// Timing has limits and intervals.
type Timing struct {
	Connect  time.Duration // to connect and list the tools
	Patience time.Duration // for which a question waits for that
	Grace    time.Duration // for a command to end by itself
	MinRest  time.Duration // after the first failure; it doubles with each further one
	MaxRest  time.Duration
}

// UsualTiming is the timing outside tests.
var UsualTiming = Timing{
	Connect:  15 * time.Second,
	Patience: 2 * time.Second,
	Grace:    2 * time.Second,
	MinRest:  30 * time.Second,
	MaxRest:  15 * time.Minute,
}

// Options configure a Client.
type Options struct {
	Servers []Server
	// Warn, if not nil, is called with a sentence when a server can't be used, once until it can again, and when
	// other tools than before are left out. It may be called concurrently.
	Warn   func(server, problem string)
	Timing Timing
	Now    func() time.Time
	// noticed is called in tests when a server's list has changed, or its connection has ended.
	noticed func(event)
}

// event is what a server did by itself.
type event int

const (
	listChanged event = iota
	connectionEnded
)

// Client is connected to servers.
type Client struct {
	servers []*server
	end     context.CancelFunc
}

// New returns a Client that isn't connected yet.
func New(o Options) *Client {
	if o.Warn == nil {
		o.Warn = func(string, string) {}
	}
	if o.noticed == nil {
		o.noticed = func(event) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timing == (Timing{}) {
		o.Timing = UsualTiming
	}
	life, end := context.WithCancel(context.Background())
	c := &Client{end: end}
	for _, s := range o.Servers {
		c.servers = append(c.servers, &server{
			Server:  s,
			options: &o,
			life:    life,
			seen:    map[string]bool{},
		})
	}
	return c
}

// Servers returns the servers' names.
func (c *Client) Servers() (names []string) {
	for _, s := range c.servers {
		names = append(names, s.Name)
	}
	return names
}

// Tools returns the tools of those of names that are connected. It connects to the others, and lists the tools of
// those that have changed, for which it waits Timing.Patience at most.
func (c *Client) Tools(ctx context.Context, names []string) (all []tools.RemoteTool) {
	var chosen []*server
	var busy []<-chan struct{}
	for _, s := range c.servers {
		for _, name := range names {
			if s.Name == name {
				chosen = append(chosen, s)
				busy = append(busy, s.begin(false))
			}
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	wait, done := context.WithTimeout(ctx, chosen[0].options.Timing.Patience)
	defer done()
	for i, s := range chosen {
		select {
		case <-busy[i]:
		case <-wait.Done():
		}
		listed, _ := s.listed()
		all = append(all, listed...)
	}
	return all
}

// Check connects to a server, even if it should rest, and returns how many tools it has. The error is a sentence.
func (c *Client) Check(ctx context.Context, name string) (int, error) {
	for _, s := range c.servers {
		if s.Name != name {
			continue
		}
		select {
		case <-s.begin(true):
		case <-ctx.Done():
		}
		listed, err := s.listed()
		return len(listed), err
	}
	return 0, fmt.Errorf("there is no server %q", name)
}

// Said returns the end of what a server's program last wrote to its standard error, as one line. It is for the
// operator's eyes, not for the log: it may be anything.
func (c *Client) Said(name string) string {
	for _, s := range c.servers {
		if s.Name == name {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.said.String()
		}
	}
	return ""
}

// Close ends all connections and the servers' programs. It waits for them, for Timing.Grace twice at most.
func (c *Client) Close() {
	c.end()
	var closing sync.WaitGroup
	for _, s := range c.servers {
		closing.Go(s.close)
	}
	closing.Wait()
}
