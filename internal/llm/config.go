package llm

import (
	"time"

	"hark/internal/endpoint"
)

// Config says which model is asked, and how.
type Config struct {
	BaseURL     string // up to and including /v1
	APIKey      string // none is sent if empty
	Model       string
	MaxTokens   int               // of an answer, thoughts included; 0: as many as the server likes
	Temperature *float32          // nil: the server's choice. Left out for models that have none.
	Window      int               // tokens that it takes for prompt and answer together; 0: the server is asked
	Vision      bool              // it can see; images are left out of what is sent to one that can't
	Timeout     time.Duration     // until the server begins to answer, and between two signs of life; 0: a minute
	Retries     int               // how often a call that came to nothing is made again; 0: never
	Headers     map[string]string // sent with every request, besides those that the protocol needs; never shown
	Extra       map[string]any    // further fields of each request for an answer; never shown
	Thinking    Thinking          // how much the model thinks; empty: ThinkAsItLikes
	AtOnce      int               // calls that the server gets at once; 0: 4, or 1 if it is on this machine
	// Breaker leaves the server alone after failures, for all clients that share it; nil: the client's own.
	Breaker *endpoint.Breaker
	// Queue bounds the calls that the server gets at once, for all clients that share it; nil: the client's own.
	Queue *endpoint.Queue
	// Called, if not nil, is called after each call of a model, with the time until its answer was whole and why
	// it failed, except if the caller ended it.
	Called func(model string, took time.Duration, failed error)
	// Learned, if not nil, is called once with each thing that Hark learns of the model's server, a sentence.
	Learned func(model, what string)
}

// atOnce returns how many calls a server gets at once. One on this machine may have a single slot, or share its memory
// among several.
func atOnce(c Config) int {
	switch {
	case c.AtOnce > 0:
		return c.AtOnce
	case endpoint.IsLocal(c.BaseURL):
		return 1
	}
	return 4
}
