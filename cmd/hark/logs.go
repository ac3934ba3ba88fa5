package main

import (
	"encoding/json"
	"io"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"hark/internal/config"
)

// threshold lets pass what is logged at its level or above. The level can be changed while others log.
type threshold struct{ level atomic.Int32 }

// Run implements zerolog.Hook.
func (t *threshold) Run(e *zerolog.Event, level zerolog.Level, _ string) {
	if level < zerolog.Level(t.level.Load()) {
		e.Discard()
	}
}

// set is told log.level, which was checked.
func (t *threshold) set(name string) {
	level, err := zerolog.ParseLevel(name)
	if err != nil {
		level = zerolog.InfoLevel
	}
	t.level.Store(int32(level))
}

// newLogger logs to w as configured, at a level that can be changed: "auto" is for people where a terminal is, for machines
// elsewhere. Colours are for terminals, and not where NO_COLOR is set: https://no-color.org
func newLogger(c config.Log, w io.Writer, env func(string) (string, bool)) (zerolog.Logger, *threshold) {
	_, isTerminal := terminalOf(w)
	noColor, _ := env("NO_COLOR")
	if c.Format == "text" || c.Format == "auto" && isTerminal {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.DateTime, NoColor: !isTerminal || noColor != "", FormatPrepare: readable}
	}
	t := &threshold{}
	t.set(c.Level)
	return zerolog.New(w).Hook(t).With().Timestamp().Logger(), t
}

// readable makes times of the numbers of milliseconds that machines get.
func readable(event map[string]any) error {
	if n, is := event["wait"].(json.Number); is {
		if ms, err := n.Float64(); err == nil {
			event["wait"] = time.Duration(ms * float64(time.Millisecond)).Round(time.Millisecond).String()
		}
	}
	return nil
}
