package llm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hark/internal/chat"
	"hark/internal/endpoint"
)

// Model is a model and its fallback.
type Model struct {
	*Client
	fallback *Client            // nil if there is none
	instead  func(model string) // is told when the fallback is asked in the place of model; may be nil
}

// WithFallback returns a model with a fallback, unless that is nil or the same model at the same place.
func WithFallback(c, fallback *Client) *Model {
	if fallback != nil && fallback.isSame(c) {
		fallback = nil
	}
	return &Model{
		Client:   c,
		fallback: fallback,
	}
}

func (c *Client) isSame(as *Client) bool {
	return c.config.Model == as.config.Model && c.endpoint() == as.endpoint()
}

// CanSee reports whether the model or its fallback is sent images.
func (m *Model) CanSee() bool {
	return m.Client.CanSee() || m.fallback != nil && m.fallback.CanSee()
}

// TakesTools reports whether the model is offered tools: false once its server has refused them.
func (m *Model) TakesTools() bool { return m.Client.TakesTools() }

// Chat asks the model and, if that fails before anything was passed on, its fallback. Reply.Model says which of
// them wrote the answer, and Reply.Instead why it wasn't the first. The fallback isn't asked if the first may take
// a shorter request.
func (m *Model) Chat(ctx context.Context, r chat.Request, show func(string)) (chat.Reply, error) {
	q := question{r, show}
	came, err := m.chat(ctx, q)
	if err == nil || came.passed || ctx.Err() != nil {
		return came.reply, err
	}
	if m.fallback == nil || KindOf(err) == TooLong {
		return came.reply, err
	}
	if m.instead != nil {
		m.instead(m.Name())
	}
	came, second := m.fallback.chat(ctx, q)
	came.reply.Instead = err
	if second != nil && ctx.Err() == nil {
		second = fmt.Errorf("%w; it was asked because %w", second, err)
	}
	return came.reply, second
}

// Named is a model under the name by which people choose it.
type Named struct {
	Name   string
	Config Config
}

// Models are those that people can choose among. Models at the same server, reached with the same key, share
// a breaker: what fails for one fails for all. Models at the same server share its queue.
type Models struct {
	names    []string
	models   map[string]*Model // by name in lower case
	fallback *Client
}

// NewModels makes clients of named, of which the first is the default. fallback is that of each; it may be nil.
func NewModels(named []Named, fallback *Config) *Models {
	m := &Models{models: map[string]*Model{}}
	at := shared{
		breakers: map[string]*endpoint.Breaker{},
		queues:   map[string]*endpoint.Queue{},
	}
	if fallback != nil {
		m.fallback = at.client(*fallback)
	}
	for _, n := range named {
		c := at.client(n.Config)
		m.names = append(m.names, n.Name)
		m.models[strings.ToLower(n.Name)] = WithFallback(c, m.fallback)
	}
	return m
}

// shared is what clients at the same server have in common.
type shared struct {
	breakers map[string]*endpoint.Breaker // by endpoint
	queues   map[string]*endpoint.Queue   // by address
}

// client returns a client that shares what others at its server have.
func (s shared) client(config Config) *Client {
	c := New(config)
	queue := s.queues[c.config.BaseURL]
	if queue != nil {
		c.config.Queue = queue
	}
	s.queues[c.config.BaseURL] = c.config.Queue
	breaker := s.breakers[c.endpoint()]
	if breaker != nil {
		c.config.Breaker = breaker
	}
	s.breakers[c.endpoint()] = c.config.Breaker
	return c
}

// endpoint returns where and as whom the model is asked. It holds a secret.
func (c *Client) endpoint() string { return c.config.BaseURL + "\n" + c.config.APIKey }

// Watch passes each call of a model to called (see Config.Called), and the model's name to instead each time that
// the fallback is asked in its place; what is learnt of a server goes to learned (see Config.Learned). Call it before the
// models are used.
func (m *Models) Watch(called func(model string, took time.Duration, failed error), instead func(model string),
	learned func(model, what string)) {
	for _, c := range m.Clients() {
		c.config.Called = called
		c.config.Learned = learned
	}
	for _, of := range m.models {
		of.instead = instead
	}
}

// Clients returns those of all models, in order, and last of the fallback.
func (m *Models) Clients() []*Client {
	var all []*Client
	for _, name := range m.names {
		all = append(all, m.ByName(name).Client)
	}
	if m.fallback != nil {
		all = append(all, m.fallback)
	}
	return all
}

// Names returns the models' names, the default's first.
func (m *Models) Names() []string { return m.names }

// Default returns the model of those who chose none; nil if there are no models.
func (m *Models) Default() *Model {
	if len(m.names) == 0 {
		return nil
	}
	return m.ByName(m.names[0])
}

// ByName returns the model of that name, in any case; nil if there is none.
func (m *Models) ByName(name string) *Model { return m.models[strings.ToLower(name)] }

// Fallback returns the models' fallback, or nil.
func (m *Models) Fallback() *Client { return m.fallback }
