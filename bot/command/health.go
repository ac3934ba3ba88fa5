package command

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/llm"
)

// Health is how the servers do that answers need.
type Health struct {
	Models   map[string]Service // by the names of Choices.Models
	Embedder Service
	Reranker Service
}

// Service is a model behind a server, and how that did of late. What admins are told of it holds no address.
type Service struct {
	Name   string        // of the model; empty: there is none
	At     time.Time     // of the last call that told anything; zero: there was none
	Took   time.Duration // that call
	Failed error         // what it failed by; nil if it didn't
	Rests  time.Duration // for how long it is left alone after failures; 0: it isn't
	// BuiltIn says that it is part of Hark, so that nothing can fail.
	BuiltIn bool
}

// serviceLine says how a service does, under what it is for.
func serviceLine(l locale.Locale, what, none string, s Service) string {
	name := markdown.Plain(s.Name, 60)
	switch {
	case s.Name == "":
		return "➖ " + l.Text("**%s**: none; %s", what, none)
	case s.BuiltIn:
		return "✓ " + l.Text("**%s**: %s, built in", what, name)
	case s.Rests > 0:
		return "✗ " + l.Text("**%s**: %s, which %s. It failed several times, so I ask it again in %s s. If that goes on, whoever runs me should look: `hark doctor` says more.",
			what, name, failing(l, s.Failed), l.Number(int(s.Rests.Seconds())+1))
	case s.Failed != nil:
		return "✗ " + l.Text("**%s**: %s, which %s. If that goes on, whoever runs me should look: `hark doctor` says more.", what, name, failing(l, s.Failed))
	case s.At.IsZero():
		return "✓ " + l.Text("**%s**: %s, not asked yet since I was started", what, name)
	}
	return "✓ " + l.Text("**%s**: %s; the last call, <t:%d:R>, took %s", what, name, s.At.Unix(), seconds(s.Took))
}

// failing says what a service does that failed by an error, without what the error says itself.
func failing(l locale.Locale, err error) string {
	var model *llm.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return l.Text("doesn't answer in time")
	case !errors.As(err, &model):
		return l.Text("can't be used")
	}
	return l.Phrase(cmp.Or(failings[model.Kind], locale.Phrase("can't be used")))
}

// failings are what a service does that fails in a way.
var failings = map[llm.Kind]locale.Phrase{
	llm.Unreachable: locale.Phrase("can't be reached"),
	llm.TimedOut:    locale.Phrase("doesn't answer in time"),
	llm.Refused:     locale.Phrase("refuses the key, or has nothing left to spend"),
	llm.NotFound:    locale.Phrase("isn't known at its address"),
	llm.RateLimited: locale.Phrase("is asked too much"),
	llm.TooLong:     locale.Phrase("was asked more than it can read at once"),
	llm.CutOff:      locale.Phrase("breaks off its answers"),
	llm.Server:      locale.Phrase("fails at its own side"),
	llm.BadAnswer:   locale.Phrase("gives no proper answers"),
}
