package command

import (
	"encoding/json"
	"slices"
	"testing"

	"hark/bot/ingest"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/golden"
)

// What Discord is told of commands changes only on purpose.
func TestCommandsThatAreRegistered(t *testing.T) {
	t.Parallel()
	got, err := json.MarshalIndent(inLanguages(registered()), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/commands.json", string(got)+"\n")
	c := New(offline(ingest.Options{}, answer.Choices{}), nil)
	for _, e := range c.entries {
		completed := slices.ContainsFunc(e.options, func(o option) bool { return o.Autocomplete })
		h, there := c.handlers[e.path]
		if !there || h.do == nil && h.opens == nil || (h.completes != nil) != completed {
			t.Errorf("%s is registered, and there is %+v", e.path, h)
		}
	}
}

func TestCommandsThatDifferInOneLanguage(t *testing.T) {
	t.Parallel()
	ours, there := inLanguages(registered()), inLanguages(registered())
	if !sameCommands(there, ours) {
		t.Error("the same commands differ")
	}
	there[1].Options[0].DescriptionIn["ja"] += "。"
	if sameCommands(there, ours) {
		t.Error("a description in Japanese isn't compared")
	}
}

func registered() []command { return (&Commands{}).declared() }

// offline returns options for commands without a network.
func offline(o ingest.Options, choices answer.Choices) *Options {
	return &Options{Options: &o, Replies: reply.New(reply.Options{Options: &o, Choices: choices})}
}
