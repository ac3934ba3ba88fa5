package llm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"hark/internal/endpoint"
	"hark/internal/llmtest"
)

// A server that has too much to write at once is asked again when the others have ended.
func TestServersThatAreCrowded(t *testing.T) {
	t.Parallel()
	const full = `data: {"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`
	s := llmtest.New(t)
	var mu sync.Mutex
	running, most := 0, 0
	both := make(chan struct{})
	asked := 0
	s.Answer(func(llmtest.Request) llmtest.Reply {
		mu.Lock()
		asked++
		running++
		most = max(most, running)
		first := asked <= 2
		if asked == 2 {
			close(both)
		}
		mu.Unlock()
		if first {
			<-both // two are under way
		}
		mu.Lock()
		defer mu.Unlock()
		running--
		if first {
			return llmtest.Reply{Events: []string{full, ""}}
		}
		return llmtest.Say("well")
	})
	c, _ := client(s, func(c *Config) { c.AtOnce = 2 })
	done := make(chan error)
	for i := range 2 {
		go func() {
			r := prompt
			r.Tenant = uint64(i)
			reply, err := c.Chat(t.Context(), r, nil)
			if err == nil && reply.Text != "well" {
				err = fmt.Errorf("%+v", reply)
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := c.config.Queue.AtOnce(); n != 1 || asked != 4 || c.Resting() {
		t.Errorf("%d at once after %d requests", n, asked)
	}
	// One that was alone is too long.
	s.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Events: []string{full, ""}} })
	if _, err := c.Chat(t.Context(), prompt, nil); KindOf(err) != TooLong {
		t.Error(err)
	}
	// Where text was out already, nothing is asked again.
	s.Answer(func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: []string{"The dead"}, After: []string{full, ""}}
	})
	before := len(s.Requests())
	reply, err := c.Chat(t.Context(), prompt, nil)
	if KindOf(err) != Crowded || reply.Text != "The dead" || len(s.Requests()) != before+1 {
		t.Errorf("%+v, %v", reply, err)
	}
}

// A waiting call isn't sent, and its time doesn't run.
func TestCallsWaitInTheQueue(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	hold := make(chan struct{})
	s.Queue(llmtest.Reply{Hold: hold, Text: []string{"one"}}, llmtest.Say("two"))
	c, h := client(s, nil) // at 127.0.0.1, so one at a time
	done := make(chan string)
	ask := func(ctx context.Context) {
		reply, _ := c.Chat(ctx, prompt, nil)
		done <- reply.Text
	}
	go ask(t.Context())
	<-h.fire
	ctx, cancel := context.WithCancel(t.Context())
	go ask(ctx)
	cancel() // who gives up while waiting was never sent
	if got := <-done; got != "" {
		t.Errorf("%q", got)
	}
	go ask(t.Context())
	select {
	case <-h.fire:
		t.Error("a second call began")
	default:
	}
	close(hold)
	if got := []string{<-done, <-done}; !slices.Contains(got, "one") || !slices.Contains(got, "two") {
		t.Errorf("%q", got)
	}
	if n := New(Config{BaseURL: "https://api.example.org/v1"}).config.Queue.AtOnce(); n != 4 {
		t.Errorf("%d at once elsewhere", n)
	}
}

// Models at one server wait for each other.
func TestModelsShareAQueue(t *testing.T) {
	t.Parallel()
	m := NewModels([]Named{{"a", Config{BaseURL: "http://a/v1", Model: "a"}},
		{"b", Config{BaseURL: "http://a/v1/", APIKey: "k", Model: "b"}}, {"c", Config{BaseURL: "http://c/v1", Model: "c"}}}, nil)
	var queues []*endpoint.Queue
	for _, c := range m.Clients() {
		queues = append(queues, c.config.Queue)
	}
	if queues[0] != queues[1] || queues[0] == queues[2] {
		t.Error("queues aren't shared by server")
	}
}
