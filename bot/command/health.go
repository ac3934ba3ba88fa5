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

// Health is the state of the servers that answers need.
type Health struct {
	Models   map[string]Service // by the names of Choices.Models
	Embedder Service
	Reranker Service
	Voice    Service // writes voice messages down
	Pictures int     // described for each server in a day; 0: none
}

// Service is the recent state of a model behind a server. What admins see of it contains no address.
type Service struct {
	Name    string        // of the model; empty: there is none
	At      time.Time     // of the last call that had a result; zero: none
	Took    time.Duration // that call
	Failed  error         // that call's error
	Rests   time.Duration // for how long it isn't called after failures; 0: it is called
	BuiltIn bool          // without a server, so it can't fail
}

// serviceLine shows the state of a service. none says what happens without one.
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

// failing describes err without its text, which may have an address.
func failing(l locale.Locale, err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return l.Keyed(failings[llm.TimedOut])
	}
	model, is := errors.AsType[*llm.Error](err)
	if !is {
		return l.Text("can't be used")
	}
	return l.Keyed(cmp.Or(failings[model.Kind], locale.MessageKey("can't be used")))
}

var failings = map[llm.Kind]locale.MessageKey{
	llm.Unreachable: locale.MessageKey("can't be reached"),
	llm.TimedOut:    locale.MessageKey("doesn't answer in time"),
	llm.Refused:     locale.MessageKey("refuses the key, or has no credit left"),
	llm.NotFound:    locale.MessageKey("isn't found at its address"),
	llm.RateLimited: locale.MessageKey("gets too many requests"),
	llm.TooLong:     locale.MessageKey("got more than it can read at once"),
	llm.CutOff:      locale.MessageKey("doesn't finish its answers"),
	llm.Server:      locale.MessageKey("has an error of its own"),
	llm.BadAnswer:   locale.MessageKey("gives unusable answers"),
}
