package discordtest

import (
	"fmt"
	"strconv"
	"time"
)

// ID is a snowflake. It is a string in JSON, as Discord has it; zero means "none".
type ID int64

// discordEpoch is the first millisecond of 2015, from which snowflakes count.
const discordEpoch = 1420070400000

func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Time is when the thing was made, to the millisecond, in UTC.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id)>>22 + discordEpoch).UTC() }

// MarshalText writes the id in decimal.
func (id ID) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(id), 10), nil }

// UnmarshalText reads a decimal id; anything else is an error.
func (id *ID) UnmarshalText(b []byte) error {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("value %q is not snowflake", b)
	}
	*id = ID(n)
	return nil
}

func parseID(s string) ID {
	var id ID
	if id.UnmarshalText([]byte(s)) != nil {
		return 0
	}
	return id
}

// clock stands still until a test moves it. Ids made in the same millisecond differ and keep their order.
type clock struct {
	now  time.Time
	last int64
}

func (c *clock) nextID() ID {
	id := (c.now.UnixMilli() - discordEpoch) << 22
	if id <= c.last {
		id = c.last + 1
	}
	c.last = id
	return ID(id)
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000-07:00") }
