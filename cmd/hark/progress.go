package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar returns a progress bar on w if that is a terminal, else one that shows nothing. bytes says that it counts bytes.
func bar(w io.Writer, total int64, what string, bytes bool) *progressbar.ProgressBar {
	var out io.Writer = io.Discard
	if t, ok := terminalOf(w); ok {
		out = t
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine turns it that races with us and never ends
	)
}

// progress returns a function that shows on w, if that is a terminal, how much of some work is done.
func progress(w io.Writer, what string) func(done, total int) {
	var shown *progressbar.ProgressBar
	return func(done, total int) {
		if shown == nil {
			shown = bar(w, int64(total), what, false)
		}
		_ = shown.Set(done)
	}
}
