package command

import (
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/internal/answer"
	"hark/memory"
)

// Discord's clock goes before ours: whatever has a smaller number than the click was said before it.
func TestForgettingEndsAtTheClickByDiscordsClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := &Commands{Options: offline(ingest.Options{Now: func() time.Time { return now }}, answer.Choices{})}
	for ahead, want := range map[time.Duration]time.Duration{time.Hour: time.Hour, -time.Hour: 0} {
		x := &interaction{Interaction: discord.Interaction{ID: discord.Snowflake(memory.FirstMessageID(now.Add(ahead)))}}
		if got := c.at(x).Sub(now); got < want || got > want+time.Millisecond {
			t.Errorf("%v ahead: %v", ahead, got)
		}
	}
}
