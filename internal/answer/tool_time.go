package answer

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"hark/internal/chat"
)

// currentTime tells what time it is.
type currentTime struct{ e *Engine }

// Spec is what the model is told.
func (currentTime) Spec() chat.Tool {
	return chat.Tool{
		Name:        "current_time",
		Description: "The date, the weekday and the time now.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"zone":{"type":"string","maxLength":60,"description":"an IANA time zone such as Europe/Berlin; left out: the zone of all times shown"}}}`),
	}
}

// Call tells the time at which the question was asked, which is now for the answer.
func (c currentTime) Call(_ context.Context, t *Turn, arguments json.RawMessage) (Outcome, error) {
	var a struct{ Zone string }
	if err := json.Unmarshal(arguments, &a); err != nil {
		return Outcome{}, err
	}
	zone := t.Zone()
	if a.Zone = strings.TrimSpace(a.Zone); a.Zone != "" {
		var err error
		if zone, err = time.LoadLocation(a.Zone); err != nil || zone == time.Local {
			return Outcome{}, mendf(`"zone" has to be the IANA name of a time zone, such as UTC or Europe/Berlin.`)
		}
	}
	now := t.Question.Now.In(zone)
	return Outcome{Text: now.Format("[2006-01-02 15:04] Monday, ") + zone.String(), Summary: "told"}, nil
}
