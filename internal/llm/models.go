package llm

import (
	"strings"
	"time"

	"hark/internal/endpoint"
)

// Named is a model under the name by which people choose it.
type Named struct {
	Name   string
	Config Config
}

// Models are those that people can choose among. Models at the same server, reached with the same key, share a breaker:
// what fails for one fails for all.
type Models struct {
	names    []string
	models   map[string]*Model // by name in lower case
	fallback *Client
}

// NewModels makes clients of named, of which the first is the default. fallback stands in for each of them;
// nil if there is none.
func NewModels(named []Named, fallback *Config) *Models {
	m := &Models{models: map[string]*Model{}}
	breakers := map[string]*endpoint.Breaker{}
	client := func(config Config) *Client {
		c := New(config)
		if known := breakers[c.endpoint()]; known != nil {
			c.config.Breaker = known
		}
		breakers[c.endpoint()] = c.config.Breaker
		return c
	}
	if fallback != nil {
		m.fallback = client(*fallback)
	}
	for _, n := range named {
		m.names = append(m.names, n.Name)
		m.models[strings.ToLower(n.Name)] = WithFallback(client(n.Config), m.fallback)
	}
	return m
}

// endpoint is where and as whom the model is asked. It holds a secret.
func (c *Client) endpoint() string { return c.config.BaseURL + "\n" + c.config.APIKey }

// Watch has each call of one of the models told to called, see Config.Called, and to instead each time that
// the fallback is asked in the place of a model. It is called before the models are used.
func (m *Models) Watch(called func(model string, took time.Duration, failed error), instead func(model string)) {
	for _, c := range m.Clients() {
		c.config.Called = called
	}
	for _, of := range m.models {
		of.instead = instead
	}
}

// Clients are those of all models, in order, and of the fallback, the last.
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

// Names are those of the models, in order; the default's is the first.
func (m *Models) Names() []string { return m.names }

// Default is the model of those who chose none; nil if there is none at all.
func (m *Models) Default() *Model {
	if len(m.names) == 0 {
		return nil
	}
	return m.ByName(m.names[0])
}

// ByName is the model of that name, in any case; nil if there is none.
func (m *Models) ByName(name string) *Model { return m.models[strings.ToLower(name)] }

// Fallback is what stands in for all of them; nil if nothing does.
func (m *Models) Fallback() *Client { return m.fallback }
