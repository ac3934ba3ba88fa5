// Package dates parses the times that people give to the command line and to commands in Discord. Begin with
// Parse.
package dates

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrUnknown means that a text isn't a known form of time.
var ErrUnknown = errors.New("write a date such as 2024-05-31, today or yesterday, or how long ago, such as 90d, " +
	"12h or 3 weeks")

// Today and Yesterday are the days that have names.
const (
	Today     = "today"
	Yesterday = "yesterday"
)

// mostDays is the longest time ago accepted, so that results stay within the calendar.
const mostDays = 100_000

var ago = regexp.MustCompile(`^(\d{1,6}) ?([a-z]+)( ago)?$`)

// units by name.
var units = map[string]struct {
	months, days int
	time         time.Duration
}{
	"min": {time: time.Minute}, "mins": {time: time.Minute}, "minute": {time: time.Minute}, "minutes": {time: time.Minute},
	"h": {time: time.Hour}, "hour": {time: time.Hour}, "hours": {time: time.Hour},
	"d": {days: 1}, "day": {days: 1}, "days": {days: 1},
	"w": {days: 7}, "week": {days: 7}, "weeks": {days: 7},
	"mo": {months: 1}, "month": {months: 1}, "months": {months: 1},
	"y": {months: 12}, "year": {months: 12}, "years": {months: 12},
}

// Parse reads a time, relative to now: a day in zone, up to the beginning of the next; or a moment, where to equals
// from. Its error wraps ErrUnknown.
func Parse(text string, now time.Time, zone *time.Location) (from, to time.Time, err error) {
	written := text
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	now = now.In(zone)
	year, month, day := now.Date()
	switch text {
	case Today:
		return aDay(year, month, day, zone)
	case Yesterday:
		return aDay(year, month, day-1, zone)
	}
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return aDay(at.Year(), at.Month(), at.Day(), zone)
	}
	if at, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		return at, at, nil
	}
	if at, err := time.ParseInLocation("2006-01-02 15:04", text, zone); err == nil {
		return at, at, nil
	}
	if at, ok := before(text, now); ok {
		return at, at, nil
	}
	return from, to, fmt.Errorf("%q is no time: %w", written, ErrUnknown)
}

func aDay(year int, month time.Month, day int, zone *time.Location) (from, to time.Time, err error) {
	return time.Date(year, month, day, 0, 0, 0, 0, zone), time.Date(year, month, day+1, 0, 0, 0, 0, zone), nil
}

// before returns now minus what text says.
func before(text string, now time.Time) (time.Time, bool) {
	if m := ago.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // at most six digits
		unit, known := units[m[2]]
		if known && n*(unit.days+31*unit.months) < mostDays {
			return now.AddDate(0, -n*unit.months, -n*unit.days).Add(-time.Duration(n) * unit.time), true
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 { // such as 1h30m
		return now.Add(-d), true
	}
	return time.Time{}, false
}
