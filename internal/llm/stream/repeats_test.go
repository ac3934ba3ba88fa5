package stream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// answered returns what becomes of a text that comes in pieces of n characters, and whether its stream was ended.
func answered(said string, n int) (text, finish string, cut bool) {
	a := NewAnswer(nil, tools, nil)
	for said != "" && !cut {
		end := 0
		for range n {
			_, size := utf8.DecodeRuneInString(said[end:])
			end += size
		}
		content, _ := json.Marshal(said[:end]) // a string always encodes
		err := a.Add([]byte(delta(`"content":` + string(content))))
		cut = err == errRepeats
		said = said[end:]
	}
	reply, _ := a.End()
	return reply.Text, reply.FinishReason, cut
}

// What repeats itself without end is cut to one repetition, and ends as a long answer does.
func TestEndlessRepetition(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, round, want string
	}{
		"a word":            {"It is: ", "the ", "It is: the "},
		"a character":       {"Well ", "語", "Well 語"},
		"a line":            {"One.\n", "I don't know that.\n", "One.\nI don't know that.\n"},
		"a paragraph":       {"So:\n\n", strings.Repeat("x", 498) + ".\n", "So:\n\n" + strings.Repeat("x", 498) + ".\n"},
		"line feeds":        {"Done.", "\n", "Done.\n"},
		"signs":             {"List <T> ", "🔥", "List <T> 🔥"},
		"nothing before":    {"", "No. ", "No. "},
		"thoughts":          {"<think>", "Wait. ", ""},
		"an open call":      {"Thought: ", "I look it up.\n", "Thought: I look it up.\n"},
		"in a block":        {"```\n", "x = 1\n", "```\nx = 1\n"},
		"half of the start": {"語 cab", "abcab", "語 cabab"},
	} {
		for _, n := range []int{1, 7, 100_000} {
			text, finish, cut := answered(test.before+strings.Repeat(test.round, 8000), n)
			if !cut || finish != finishedLong || text != test.want {
				t.Errorf("%s in pieces of %d: %.80q, %s, cut %v", name, n, text, finish, cut)
			}
		}
	}
}

// What people want may repeat itself for a while.
func TestWantedRepetition(t *testing.T) {
	t.Parallel()
	numbered := ""
	for i := range 500 {
		numbered += fmt.Sprintf("%d. I won't talk in class.\n", i+1)
	}
	for name, said := range map[string]string{
		"a laugh":         strings.Repeat("ha ", 400),
		"a rule":          strings.Repeat("-", 1900),
		"a table":         "| a | b |\n| --- | --- |\n" + strings.Repeat("| 0 | 0 |\n", 190),
		"numbered lines":  numbered,
		"lines for class": strings.Repeat("I won't talk in class.\n", 80),
		"code":            "```go\n" + strings.Repeat("\t\tx = append(x, 0)\n", 100) + "```",
		"a poem's chorus": strings.Repeat(strings.Repeat("la", 200)+"\n\nA verse of its own kind, long as it is.\n", 5),
		"long paragraphs": strings.Repeat(strings.Repeat("abc ", 100)+"\n", 5),
		"many runs":       strings.Repeat(strings.Repeat("ab", 500)+"\n"+strings.Repeat("cd", 500)+"\n", 5),
	} {
		text, finish, cut := answered(said+"The end.", 50)
		if cut || text != said+"The end." || finish != finishedWell {
			t.Errorf("%s: %d of %d bytes, %s", name, len(text), len(said), finish)
		}
	}
}

// A text that doesn't end with a run is let through; one that does is cut at the same place however it comes.
func TestRepetitionInPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringOfN(rapid.SampledFrom([]rune("ab é語\n")), 0, 600, -1).Draw(t, "before")
		round := rapid.StringOfN(rapid.SampledFrom([]rune("ab é語\n")), 1, 60, -1).Draw(t, "round")
		rounds := rapid.IntRange(1, 200).Draw(t, "rounds")
		n := rapid.IntRange(1, 500).Draw(t, "characters a piece")
		said := before + strings.Repeat(round, rounds)
		text, finish, cut := answered(said, n)
		whole, _, cutWhole := answered(said, len(said))
		if text != whole || cut != cutWhole {
			t.Fatalf("%q and cut %v; %q and cut %v at once", text, cut, whole, cutWhole)
		}
		characters := utf8.RuneCountInString(said)
		if cut && characters < leastRun || !cut && finish != finishedWell {
			t.Fatalf("%d characters: cut %v, %s", characters, cut, finish)
		}
		long := utf8.RuneCountInString(round) * rounds
		if long > leastRun+lookEvery+len(round) && !cut {
			t.Fatalf("%d times %q isn't cut", rounds, round)
		}
		if !strings.HasPrefix(strings.TrimSpace(said), strings.TrimSpace(text)) || !utf8.ValidString(text) {
			t.Fatalf("%q became %q", said, text)
		}
	})
}

// runByHand is runAtEnd as one would say it.
func runByHand(text string, characters int) run {
	for round := 1; round <= longestRound && round*leastRounds <= len(text); round++ {
		length := round
		for length < len(text) && text[len(text)-1-length] == text[len(text)-1-length+round] {
			length++
		}
		for length > 0 && !utf8.RuneStart(text[len(text)-length]) {
			length--
		}
		said := text[len(text)-length:]
		if length >= leastRounds*round && utf8.RuneCountInString(said) >= characters {
			return run{round, length}
		}
	}
	return run{}
}

// A run is found as one would find it by hand.
func TestRunAtEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringOfN(rapid.SampledFrom([]rune("aé")), 0, 20, -1).Draw(t, "before")
		round := rapid.StringOfN(rapid.SampledFrom([]rune("aé")), 1, 5, -1).Draw(t, "round")
		text := before + strings.Repeat(round, rapid.IntRange(0, 12).Draw(t, "rounds"))
		characters := rapid.IntRange(0, 30).Draw(t, "characters")
		got := runAtEnd(text, characters)
		want := runByHand(text, characters)
		if got != want {
			t.Fatalf("%q: %v; want %v", text, got, want)
		}
	})
}
