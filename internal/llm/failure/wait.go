package failure

import (
	"strconv"
	"time"

	"hark/internal/pattern"
)

// waitSaid matches for how long servers say that they want no request, as Groq, OpenAI, Google and Azure write it.
var waitSaid = pattern.Of(`(?i)(?:try again|retry) (?:in|after):? (?:((?:\d{1,9}(?:\.\d+)?(?:ms|h|m|s))+)\b` +
	`|(\d{1,9}(?:\.\d+)?) ?(second|minute|hour)?)`)

// longestWait bounds what a server can wish for.
const longestWait = 24 * time.Hour

// Wait returns for how long the message says that no request is wanted; 0 if it doesn't say.
func (f Failure) Wait() time.Duration {
	found := waitSaid().FindStringSubmatch(f.inWords())
	if found == nil {
		return 0
	}
	wait, err := time.ParseDuration(found[1])
	if err == nil {
		return min(wait, longestWait)
	}
	n, _ := strconv.ParseFloat(found[2], 64) // the pattern lets through only numbers
	unit := time.Second
	switch found[3] {
	case "minute":
		unit = time.Minute
	case "hour":
		unit = time.Hour
	}
	return time.Duration(min(n*unit.Seconds(), longestWait.Seconds()) * float64(time.Second))
}
