package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/rs/zerolog"

	"hark/internal/config"
	"hark/internal/terminal"
)

// newLogger logs to w as configured: "auto" is text on a terminal, JSON elsewhere. Text has colours on a terminal,
// unless NO_COLOR is set: https://no-color.org
func newLogger(c config.Log, w io.Writer, env func(string) (string, bool)) zerolog.Logger {
	_, isTerminal := terminal.Of(w)
	noColor, _ := env("NO_COLOR")
	if c.Format == "text" || c.Format == "auto" && isTerminal {
		w = zerolog.ConsoleWriter{
			Out:           w,
			TimeFormat:    time.DateTime,
			NoColor:       !isTerminal || noColor != "",
			FormatPrepare: readable,
		}
	}
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil {
		level = zerolog.InfoLevel
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

// readable formats milliseconds as a duration.
func readable(event map[string]any) error {
	if n, is := event["wait"].(json.Number); is {
		if ms, err := n.Float64(); err == nil {
			event["wait"] = time.Duration(ms * float64(time.Millisecond)).Round(time.Millisecond).String()
		}
	}
	return nil
}
