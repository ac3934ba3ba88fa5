package tools

import (
	"context"
	"strings"
	"time"
)

// currentTime shows when the question was asked, which is now for the answer.
func currentTime() Tool {
	return NewTool("current_time", "The date, the weekday and the time now.",
		`{"type":"object","properties":{`+
			`"zone":{"type":"string","maxLength":60,"description":"an IANA time zone such as Europe/Berlin; left `+
			`out: the zone of all times shown"}}}`,
		(*Turn).currentTime)
}

func (t *Turn) currentTime(_ context.Context, a struct{ Zone string }) (Outcome, error) {
	zone := t.Answer.Zone()
	a.Zone = strings.TrimSpace(a.Zone)
	if a.Zone != "" {
		var err error
		zone, err = time.LoadLocation(a.Zone)
		if err != nil || zone == time.Local {
			return Outcome{}, callErrorf(`"zone" has to be the IANA name of a time zone, such as UTC or Europe/Berlin.`)
		}
	}
	now := t.Question.Now.In(zone)
	return Outcome{Text: now.Format("[2006-01-02 15:04] Monday, ") + zone.String(), Summary: "told"}, nil
}
