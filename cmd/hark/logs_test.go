package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/internal/config"
)

func TestLogForPeopleAndMachines(t *testing.T) {
	t.Parallel()
	nowhere := func(string) (string, bool) { return "", false }
	for _, c := range []struct{ format, want string }{
		{"text", `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d WRN connecting again error="torn\\x1b\[31m" model=large wait=1\.5s\n$`},
		{"json", `^{"level":"warn","error":"torn\\u001b\[31m","wait":1500,"model":"large","time":"[^"]+","message":"connecting again"}\n$`},
		{"auto", `^{"level":"warn"`}, // a buffer is no terminal
	} {
		out := &buffer{}
		log, level := newLogger(config.Log{Level: "warn", Format: c.format}, out, nowhere)
		log.Info().Msg("too little")
		log.Warn().Err(errors.New("torn\x1b[31m")).Dur("wait", 1500*time.Millisecond).Str("model", "large").Msg("connecting again")
		if !regexp.MustCompile(c.want).MatchString(out.String()) {
			t.Errorf("%s: %q", c.format, out)
		}
		level.set("debug")
		log.Debug().Msg("more")
		level.set("error")
		log.Warn().Msg("less")
		if strings.Contains(out.String(), "less") || !strings.Contains(out.String(), "more") {
			t.Errorf("%s: the level isn't another: %q", c.format, out)
		}
	}
	if level := new(threshold); true {
		if level.set("loud"); zerolog.Level(level.level.Load()) != zerolog.InfoLevel {
			t.Error("a level that nobody knows isn't info")
		}
	}
	if err := readable(map[string]any{"wait": "soon"}); err != nil {
		t.Error(err)
	}
}
