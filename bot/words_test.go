package bot

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hark/bot/locale"
	"hark/internal/answer"
	"hark/internal/discordtest"
)

// What of an answer that broke off is shown has no half of a mark at its end.
func TestBrokenOffAnswersEndWhole(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "It is **on Friday [1"}, errors.New("the line is dead")
	}
	s.ask("when?")
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
		return strings.Contains(m.Content, "Interrupted")
	})
	if !strings.HasPrefix(m.Content, "It is **on Friday**\n") {
		t.Errorf("shown is %q", m.Content)
	}
}

// A model that ignores its limit doesn't fill the channel.
func TestEndlessAnswersAreFiveMessagesAndAFile(t *testing.T) {
	t.Parallel()
	text := strings.TrimSpace(strings.Repeat("word ", 100_000))
	for _, asFiles := range []bool{true, false} {
		contents, files, err := lay(locale.Locale{}, text, "-# Sources: [1] Jane", nil, asFiles)
		if err != nil || len(contents) < mostMessages-1 || len(contents) > mostMessages ||
			(len(files) == 1) != asFiles || !strings.HasSuffix(contents[len(contents)-1], "-# Sources: [1] Jane") {
			t.Fatalf("%d messages, %d files, %v", len(contents), len(files), err)
		}
		for _, c := range contents {
			if units(c) > messageLimit {
				t.Errorf("a message of %d", units(c))
			}
		}
		if asFiles && string(files[0].data) != text {
			t.Error("the file isn't the whole answer")
		}
	}
	five, files, err := lay(locale.Locale{}, strings.Repeat(strings.Repeat("a", 1200)+"\n", 5), "", nil, true)
	if err != nil || len(five) > 5 || len(files) > 0 {
		t.Errorf("five messages are %d with %d files, %v", len(five), len(files), err)
	}
}

func TestModelsMakeNoSmallPrint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n-# Sources: [1] Ann": "a\n\\-# Sources: [1] Ann", "> -# x": "> \\-# x", "  -# x": "  \\-# x", "a -# b": "a -# b", "- # a": "- # a",
	} {
		if got := withoutSmallPrint(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
