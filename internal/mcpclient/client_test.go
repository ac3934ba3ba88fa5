package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/answer/tools"
	"hark/internal/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	rogueMain()
	os.Exit(m.Run())
}

// patient waits as long as a test may take.
var patient = Timing{Connect: time.Minute, Patience: time.Minute, Grace: time.Millisecond, MinRest: time.Hour,
	MaxRest: 4 * time.Hour}

// warnings are what a Client warned of.
type warnings struct {
	mu      sync.Mutex
	all     []string
	noticed chan event
}

// awaits waits for an event.
func (w *warnings) awaits(want event) {
	for got := range w.noticed {
		if got == want {
			return
		}
	}
}

func (w *warnings) add(server, problem string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, server+": "+problem)
}

func (w *warnings) got() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}

// connect returns a client of one server, and what it warns of.
func connect(t *testing.T, s Server, change ...func(*Options)) (*Client, *warnings) {
	t.Helper()
	w := &warnings{noticed: make(chan event, 100)}
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	s.Name = "test"
	o := Options{Servers: []Server{s}, Warn: w.add, Timing: patient,
		noticed: func(e event) { w.noticed <- e }}
	for _, c := range change {
		c(&o)
	}
	c := New(o)
	t.Cleanup(c.Close)
	return c, w
}

// command is this program as a server.
func command() Server {
	return Server{Command: os.Args[0], Env: map[string]string{mcptest.AsCommand: "1"}}
}

func (c *Client) all(t *testing.T) []tools.RemoteTool { return c.Tools(t.Context(), []string{"test"}) }

func names(list []tools.RemoteTool) (all []string) {
	for _, t := range list {
		all = append(all, t.Name)
	}
	return all
}

func call(t *testing.T, list []tools.RemoteTool, name string) (string, bool, error) {
	t.Helper()
	for _, tool := range list {
		if tool.Title == name {
			return tool.Call(t.Context(), json.RawMessage(`{"city":"Ulm"}`))
		}
	}
	t.Fatalf("there is no %q among %q", name, names(list))
	return "", false, nil
}

// What a server says of its tools counts only where the operator trusts it.
func TestTools(t *testing.T) {
	t.Parallel()
	s := mcptest.New(t,
		mcptest.Tool{Name: "forecast", Description: "Says the weather.", ReadOnly: true, Call: mcptest.Says("rain"),
			Schema: `{"type":"object","properties":{"city":{"type":"string"}}}`},
		mcptest.Tool{Name: "fails", Call: func(context.Context, json.RawMessage) (string, error) {
			return "", errors.New("no such city")
		}})
	s.Key = "secret"
	for _, trusts := range []bool{false, true} {
		c, w := connect(t, Server{Address: s.URL, Key: "secret", TrustReadOnly: trusts})
		list := c.all(t)
		if got := names(list); !slices.Equal(got, []string{"test__fails", "test__forecast"}) {
			t.Fatalf("tools %q, warnings %q", got, w.got())
		}
		if list[0].ReadOnly || list[1].ReadOnly != trusts || list[1].Description != "Says the weather." {
			t.Errorf("%+v", list)
		}
		if text, failed, err := call(t, list, "forecast"); text != "rain" || failed || err != nil {
			t.Errorf("%q %v %v", text, failed, err)
		}
		if text, failed, err := call(t, list, "fails"); text != "no such city" || !failed || err != nil {
			t.Errorf("%q %v %v", text, failed, err)
		}
		if got := s.Calls()[0]; got != (mcptest.Call{Tool: "forecast", Arguments: `{"city":"Ulm"}`}) {
			t.Errorf("called %+v", got)
		}
		if more := c.Tools(t.Context(), []string{"other"}); more != nil {
			t.Errorf("%+v", more)
		}
	}
}

// A list that changes is taken up at the next question, from servers of every version.
func TestListChanges(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		s := mcptest.New(t, mcptest.Tool{Name: "one", Call: mcptest.Says("1")})
		s.Old = old
		c, w := connect(t, Server{Address: s.URL})
		if got := names(c.all(t)); !slices.Equal(got, []string{"test__one"}) {
			t.Fatalf("%q", got)
		}
		s.Add(mcptest.Tool{Name: "two", Call: mcptest.Says("2")})
		w.awaits(listChanged)
		list := c.all(t)
		if got := names(list); !slices.Equal(got, []string{"test__one", "test__two"}) {
			t.Errorf("%q", got)
		}
		if text, _, err := call(t, list, "two"); text != "2" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		s.Disconnect()
		if !old {
			continue // there are no sessions any more
		}
		w.awaits(connectionEnded)
		if got := names(c.all(t)); len(got) != 2 {
			t.Errorf("after the server forgot the session: %q", got)
		}
	}
}

// What can't be offered is left out, by name, and the rest is offered.
func TestBadTools(t *testing.T) {
	t.Parallel()
	tool := func(name, schema string) mcptest.Tool {
		return mcptest.Tool{Name: name, Schema: schema, Call: mcptest.Says("")}
	}
	s := mcptest.New(t, tool("good", ""), tool("a.b", ""), tool("a/b", ""),
		tool("ref", `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`),
		tool("any", `{"type":"object","anyOf":[{"required":["a"]}]}`),
		tool("long", `{"type":"object","description":"`+strings.Repeat("x", maxSchema)+`"}`))
	c, w := connect(t, Server{Address: s.URL})
	list := c.all(t)
	if got := names(list); !slices.Equal(got, []string{"test__a_b", "test__good"}) {
		t.Errorf("tools %q", got)
	}
	for _, tool := range list {
		if string(tool.Parameters) != `{"properties":{},"type":"object"}` {
			t.Errorf("%s has %s", tool.Name, tool.Parameters)
		}
	}
	warned := w.got()
	if len(warned) != 1 || !strings.HasPrefix(warned[0], "test: tools are left out: ") {
		t.Fatalf("%q", warned)
	}
	for _, left := range []string{"a_b", "ref", "any", "long"} {
		if !strings.Contains(warned[0], "test__"+left+" (") {
			t.Errorf("%s is missing in %s", left, warned)
		}
	}
	var many []mcptest.Tool
	for i := range 2 * maxTools {
		many = append(many, tool(fmt.Sprintf("%s%d", strings.Repeat("n", 100), 100+i), ""))
	}
	c, _ = connect(t, Server{Address: mcptest.New(t, many...).URL})
	if list := c.all(t); len(list) != 1 || len(list[0].Name) != maxName { // the others are the same when they are cut
		t.Errorf("%d tools, %q", len(list), names(list))
	}
	for i := range many {
		many[i].Name = fmt.Sprint("n", i)
	}
	c, _ = connect(t, Server{Address: mcptest.New(t, many...).URL})
	if list := c.all(t); len(list) != maxTools {
		t.Errorf("%d tools", len(list))
	}
}

// A server that can't be used costs a question nothing but a moment, is named once, and rests.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	refusing, silent := mcptest.New(t), mcptest.New(t)
	refusing.Key = "secret"
	silent.Silence()
	for what, one := range map[string]struct {
		server Server
		says   string
	}{
		"no command":   {Server{Command: "no-such-command-of-anybody"}, "no command of that name"},
		"no file":      {Server{Command: "/no/such/command"}, "no command of that name"},
		"no protocol":  {Server{Command: os.Args[0], Args: []string{"-test.run=^$"}}, "doesn't speak the protocol"},
		"no listener":  {Server{Address: "http://127.0.0.1:1/mcp"}, "nothing answers at its address"},
		"wrong key":    {Server{Address: refusing.URL, Key: "guess"}, "check its key"},
		"silent":       {Server{Address: silent.URL}, "doesn't answer in time"},
		"not expected": {Server{Address: "http://127.0.0.1:1/?key=secret"}, "nothing answers"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			c, w := connect(t, one.server, func(o *Options) {
				o.Now = func() time.Time { return now }
				if what == "silent" {
					o.Timing.Connect = 50 * time.Millisecond
				}
			})
			for range 3 {
				if list := c.all(t); len(list) > 0 {
					t.Errorf("tools %q", names(list))
				}
			}
			now = now.Add(2 * time.Hour)
			_ = c.all(t)
			if got := w.got(); len(got) != 1 || !strings.Contains(got[0], one.says) || strings.Contains(got[0], "secret") {
				t.Errorf("warned %q", got)
			}
			if s := c.servers[0]; s.failures != 2 {
				t.Errorf("%d attempts", s.failures)
			}
			if _, err := c.Check(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), one.says) {
				t.Errorf("checked: %v", err)
			}
		})
	}
}

// A question doesn't wait for a server that connects slowly.
func TestSlowToConnect(t *testing.T) {
	t.Parallel()
	s := mcptest.New(t)
	s.Silence()
	c, _ := connect(t, Server{Address: s.URL}, func(o *Options) { o.Timing.Patience = time.Millisecond })
	if list := c.all(t); len(list) > 0 {
		t.Errorf("tools %q", names(list))
	}
}

func TestCommand(t *testing.T) {
	t.Setenv("HARK_DISCORD_TOKEN", "secret")
	s := command()
	s.Env["OWN"] = "value"
	c, w := connect(t, s)
	text, _, err := call(t, c.all(t), "env")
	if err != nil || !strings.Contains(text, "OWN=value") || !strings.Contains(text, "PATH=") ||
		strings.Contains(text, "HARK_") {
		t.Errorf("%v: %s", err, text)
	}
	if n, err := c.Check(t.Context(), "test"); n != 4 || err != nil {
		t.Errorf("%d tools, %v", n, err)
	}
	// A server that dies fails the call, and is started again for the next question.
	if _, _, err := call(t, c.all(t), "die"); err == nil || !strings.Contains(err.Error(), "ended the connection") {
		t.Errorf("%v", err)
	}
	w.awaits(connectionEnded)
	if _, _, err := call(t, c.all(t), "env"); err != nil {
		t.Error(err)
	}
	if _, _, err := call(t, c.all(t), "flood"); err == nil {
		t.Error("it took 100 MB")
	}
	w.awaits(connectionEnded)
	if _, _, err := call(t, c.all(t), "env"); err != nil {
		t.Error(err)
	}
}

// A command that reads nothing any more holds up nobody, and is started again.
func TestDeafCommand(t *testing.T) {
	t.Parallel()
	c, w := connect(t, command())
	list := c.all(t)
	if _, _, err := call(t, list, "deafen"); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(tool tools.RemoteTool) bool { return tool.Title == "env" })
	long := json.RawMessage(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`) // more than a pipe holds
	for ended := false; !ended; {
		within, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, _, err := list[i].Call(within, long); err == nil {
			t.Error("it answered")
		}
		done()
		select {
		case got := <-w.noticed:
			ended = got == connectionEnded
		default:
		}
	}
	if list := c.all(t); len(list) != 4 {
		t.Errorf("tools %q", names(list))
	}
}

func TestHostileCalls(t *testing.T) {
	t.Parallel()
	s := mcptest.New(t, mcptest.Tool{Name: "hangs", Call: mcptest.Hangs},
		mcptest.Tool{Name: "long", Call: mcptest.Says(strings.Repeat("ß", maxText))},
		mcptest.Tool{Name: "event", Call: mcptest.Says(strings.Repeat("x", 2*maxFrame))},
		mcptest.Tool{Name: "fine", Call: mcptest.Says("fine")})
	slow, _ := connect(t, Server{Address: s.URL, Timeout: 50 * time.Millisecond})
	if _, _, err := call(t, slow.all(t), "hangs"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	c, w := connect(t, Server{Address: s.URL})
	if text, _, err := call(t, c.all(t), "long"); len(text) != maxText || err != nil {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, _, err := call(t, c.all(t), "event"); err == nil {
		t.Error("it took a message that is too long")
	}
	w.awaits(connectionEnded)
	if text, _, err := call(t, c.all(t), "fine"); text != "fine" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	s.Flood.Store(100 << 20)
	_, _, err := call(t, c.all(t), "fine")
	if sent := s.Sent.Load(); err == nil || sent > 32<<20 {
		t.Errorf("it took %d bytes, %v", sent, err)
	}
}
