package terminal

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar returns a progress bar on w, which shows nothing if w is no terminal. bytes: it counts bytes.
func Bar(w io.Writer, total int64, what string, bytes bool) *progressbar.ProgressBar {
	var out = io.Discard
	if t, ok := Of(w); ok {
		out = t
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // or a goroutine races with us and never ends
	)
}

// Progress returns a function that shows a Bar on w.
func Progress(w io.Writer, what string) func(done, total int) {
	var shown *progressbar.ProgressBar
	return func(done, total int) {
		if shown == nil {
			shown = Bar(w, int64(total), what, false)
		}
		_ = shown.Set(done)
	}
}
