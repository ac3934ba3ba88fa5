package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

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
