package main

import (
	"errors"
	"regexp"
	"testing"
	"time"

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
		log := newLogger(config.Log{Level: "warn", Format: c.format}, out, nowhere)
		log.Info().Msg("too little")
		log.Warn().Err(errors.New("torn\x1b[31m")).Dur("wait", 1500*time.Millisecond).Str("model", "large").Msg("connecting again")
		if !regexp.MustCompile(c.want).MatchString(out.String()) {
			t.Errorf("%s: %q", c.format, out)
		}
	}
	if err := readable(map[string]any{"wait": "soon"}); err != nil {
		t.Error(err)
	}
}
