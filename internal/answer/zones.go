package answer

import (
	_ "embed"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/memory"
)

// zoneList has the names of the time zones that there are in the world, one a line, in order; without the old
// names that some of them have as well.
//
//go:embed zones.txt
var zoneList string

var zoneNames = strings.Fields(zoneList)

// Zones are the IANA names of the time zones to choose from, in order.
func Zones() []string { return slices.Clone(zoneNames) }

// zones are those that were used, by name: to read one takes longer than a question should for it.
var zones sync.Map

// zoneCalled is the zone of an IANA name; nil if there is none.
func zoneCalled(name string) *time.Location {
	if z, known := zones.Load(name); known {
		return z.(*time.Location)
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "" || z == time.Local {
		return nil
	}
	kept, _ := zones.LoadOrStore(z.String(), z)
	return kept.(*time.Location)
}

// checkZone is the name of a time zone as it is kept. Capitals and blanks needn't be right.
func checkZone(value string) (string, error) {
	if value == "" {
		return "", nil
	}
	name := strings.ReplaceAll(value, " ", "_")
	if i := slices.IndexFunc(zoneNames, func(z string) bool { return strings.EqualFold(z, name) }); i >= 0 {
		return zoneNames[i], nil
	}
	z := zoneCalled(name)
	if z == nil {
		return "", memory.Complain("there is no time zone %.100q: choose the IANA name of one, such as UTC or Europe/Berlin", value)
	}
	return z.String(), nil
}

// checkPause is a pause as it is kept: "" for none.
func checkPause(value string) (string, error) {
	switch {
	case value == "", strings.EqualFold(value, SettingOff):
		return "", nil
	case strings.EqualFold(value, SettingOn):
		return SettingOn, nil
	}
	until, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return "", errors.New("a pause is on, off, or the time until which it lasts, such as 2027-01-31T18:00:00Z")
	}
	return until.UTC().Format(time.RFC3339), nil
}
