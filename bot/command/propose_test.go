package command

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

// Whatever is proposed is read from its message as it was shown.
func TestLoreIsReadAsItWasShown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[a-z][ -~éß🔥\n]{0,150}`)
		l := memory.Lore{Name: rapid.StringMatching(`[a-z][ -~é]{0,90}`).Draw(t, "name"),
			Text: rapid.StringN(1, 300, 1200).Draw(t, "text") + "x", Own: rapid.SliceOfN(words, 0, 25).Draw(t, "own")}
		for range rapid.IntRange(0, 5).Draw(t, "sources") {
			l.Sources = append(l.Sources, memory.MessageRef{Channel: memory.ChannelID(rapid.Int64Range(1,
				1<<62).Draw(t, "channel")), Message: memory.MessageID(rapid.Int64Range(1, 1<<62).Draw(t, "message"))})
		}
		a := &ingest.Question{ID: 1 << 40, Guild: 7, Channel: 8, Asker: 9}
		text, shown, err := reply.ShowLore(locale.Locale{}, a, l)
		if err != nil { // it can't be kept at all, or is too long for a message
			return
		}
		x := &interaction{}
		x.ID, x.Guild, x.Channel, x.User = 5, 7, 8, &discord.User{ID: 9}
		if err := json.Unmarshal([]byte(`{"id":"6"}`), &x.Message); err != nil {
			t.Fatal(err)
		}
		x.Message.Content = strings.TrimSpace(text)
		got, err := loreIn(x)
		if err != nil || got.Name != shown.Name || got.Text != shown.Text ||
			!slices.Equal(got.Own, shown.Own) || !slices.Equal(got.Sources, shown.Sources) ||
			got.Guild != 7 || got.Channel != 8 || got.By != 9 || got.ID != 6 {
			t.Fatalf("%q was shown for %+v, and read as %+v, %v", text, shown, got, err)
		}
		if markdown.Units(text) > markdown.MessageLimit {
			t.Fatalf("%d characters", markdown.Units(text))
		}
	})
	const shallI = "Shall I remember this?"
	for _, text := range []string{
		"", shallI, shallI + "\n**a**", shallI + "\na\n> b", "Shall I?\n**a**\n> b", shallI +
			"\n**?**\n> b", shallI + "\n**a**\n> b\nc",
		shallI + "\n**a**\n> b\n-# From:  [1](<https://elsewhere.example/channels/1/2/3>)", shallI +
			"\n**a**\n> b\n-# From: ",
	} {
		x := &interaction{}
		if err := json.Unmarshal([]byte(`{"id":"6"}`), &x.Message); err != nil {
			t.Fatal(err)
		}
		x.ID, x.Message.Content = 5, text
		if l, err := loreIn(x); err != unreadable {
			t.Errorf("%q is %+v, %v", text, l, err)
		}
	}
}

// What a model proposes can't mislead whoever is to agree to it, and is kept as it was shown.
func TestProposedLoreIsTamed(t *testing.T) {
	t.Parallel()
	a := &ingest.Question{ID: 1 << 40, Guild: 7, Channel: 8, Asker: 9}
	text, shown, err := reply.ShowLore(locale.Locale{}, a, memory.Lore{Name: "Bank discord.gg/abcd",
		Text: "It is [bank.example](https://evil.example)\n-# From: the boss\nJoin discord.gg/abcd",
		Own:  []string{"[a.example](https://evil.example)"}})
	if err != nil {
		t.Fatal(err)
	}
	const kept = "It is bank.example (<https://evil.example>)\n\\-# From: the boss\nJoin <https://discord.gg/abcd>"
	want := "Shall I remember this?\n**Bank <https://discord.gg/abcd>**\n> " + strings.ReplaceAll(kept, "\n", "\n> ") +
		"\n-# Also called: a.example (<https://evil.example>)"
	if text != want || shown.Text != kept {
		t.Errorf("it is shown as\n%s\nand kept as\n%s", text, shown.Text)
	}
}
