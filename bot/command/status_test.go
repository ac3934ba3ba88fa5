package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/internal/answer"
	"hark/internal/golden"
	"hark/internal/llm"
	"hark/memory"
)

func TestHowServicesDo(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, s := range []Service{
		{}, {Name: "m", BuiltIn: true}, {Name: "m"}, {Name: "m",
			Failed: errors.New("http://secret.example")},
		{Name: "m", Failed: fmt.Errorf("ask: %w", context.DeadlineExceeded)},
	} {
		lines = append(lines, serviceLine(locale.Locale{}, "Model", "I quote.", s))
	}
	golden.Seen(t, strings.Join(lines, "\n"))
	if strings.Contains(fmt.Sprint(lines), "secret") {
		t.Error("an address is told")
	}
	told := map[string]bool{}
	for kind := llm.Unreachable; kind <= llm.Resting; kind++ {
		told[failing(locale.Locale{}, &llm.Error{Kind: kind})] = true
	}
	if len(told) != 10 { // two can't be told more of
		t.Errorf("failures are told as %v", told)
	}
}

func TestServicesOfAModelThatIsGone(t *testing.T) {
	t.Parallel()
	c := &Commands{Options: offline(ingest.Options{},
		answer.Choices{Models: []string{"small"}, Default: answer.Settings{Model: "small"}})}
	c.Health = func() Health { return Health{Models: map[string]Service{"small": {Name: "small"}}} }
	g := &memory.Guild{ID: 5, Settings: map[memory.Setting]string{memory.SettingModel: "gone"}}
	if got, _, _ := strings.Cut(c.services(&interaction{}, g), "\n"); !strings.Contains(got, "small") {
		t.Errorf("told of %q", got)
	}
}

func TestWhoElseWorks(t *testing.T) {
	t.Parallel()
	x := &interaction{}
	c := &Commands{Options: offline(ingest.Options{Shard: discord.Shard{No: 1, Of: 4}}, answer.Choices{})}
	if line, err := c.working(t.Context(), x); line != "" || err != nil {
		t.Errorf("alone: %q, %v", line, err)
	}
	for shards, want := range map[int]string{4: "✓ **All of me**: processes: 2, shards at work: 4 of 4",
		3: "✗ **All of me**: processes: 2, shards at work: 3 of 4. Servers of the others wait"} {
		c.Working = func(context.Context) (int, int, error) { return shards, 2, nil }
		if line, err := c.working(t.Context(), x); !strings.HasPrefix(line, want) || err != nil {
			t.Errorf("%q, %v; want %q", line, err, want)
		}
	}
}
