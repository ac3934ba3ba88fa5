package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/rs/zerolog"
)

func TestSecretsDoNotShow(t *testing.T) {
	t.Parallel()
	const word = "hunter2"
	c := Default()
	c.Discord.Token = NewSecret(word)
	c.LLM.Extra, _ = extraOf(map[string]any{"user": word, "source": map[string]any{"key": word}})
	hidden := struct{ inner Secret }{c.Discord.Token}
	var out bytes.Buffer
	for _, verb := range "vsqxXdobeEfgGtTpcU" {
		for _, flags := range []string{"", "+", "#", "020", "-20.3"} {
			format := "%" + flags + string(verb) + "\n"
			fmt.Fprintf(&out, format, c.Discord.Token)
			fmt.Fprintf(&out, format, &c.Discord.Token)
			fmt.Fprintf(&out, format, c)
			fmt.Fprintf(&out, format, hidden)
			fmt.Fprintf(&out, format, []Secret{c.Discord.Token})
		}
	}
	log := zerolog.New(&out)
	log.Info().Any("a", c).Any("b", c.Discord.Token).Stringer("c", c.Discord.Token).Any("d", hidden).
		Str("e", c.Discord.Token.String()).Interface("f", map[string]Secret{"x": c.Discord.Token}).Msg("")
	slog.New(slog.NewTextHandler(&out, nil)).Info("", "a", c, "b", c.Discord.Token)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("", "a", c, "b", c.Discord.Token)
	if err := json.NewEncoder(&out).Encode(c); err != nil {
		t.Fatal(err)
	}
	if err := toml.NewEncoder(&out).Encode(c); err != nil {
		t.Fatal(err)
	}
	seen := strings.ToLower(out.String())
	for _, form := range []string{word, fmt.Sprintf("%x", word), fmt.Sprintf("% x", word), fmt.Sprint([]byte(word))} {
		if strings.Contains(seen, form) {
			t.Errorf("%q shows in %s", form, seen)
		}
	}
	if got := fmt.Sprintf("%+v|%#x", c.Discord.Token, c.LLM.APIKey); got != "[set]|[not set]" {
		t.Errorf("it prints %s", got)
	}
	for name, marshal := range map[string]func(any) ([]byte, error){"JSON": json.Marshal, "TOML": toml.Marshal} {
		got, err := marshal(map[string]Secret{"a": c.Discord.Token, "b": c.LLM.APIKey})
		if err != nil || !strings.Contains(string(got), "[set]") || !strings.Contains(string(got), "[not set]") {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	if s, none := NewSecret("hunter2"), NewSecret(""); !s.IsSet() || s.Reveal() != "hunter2" ||
		none.IsSet() || none.Reveal() != "" || none != (Secret{}) {
		t.Errorf("%q, %q", s.Reveal(), none.Reveal())
	}
}
