package memory

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Bots is what becomes of the messages of bots and webhooks: a value of SettingBots.
type Bots string

// The values of SettingBots.
const (
	BotsForgotten  Bots = "forgotten"  // not logged
	BotsRemembered Bots = "remembered" // logged
	// BotsHeard: logged, and a webhook may ask, as a bridge's or a plural system's does for a person.
	BotsHeard Bots = "heard"
)

// AllBots returns all values, in display order.
func AllBots() []Bots { return []Bots{BotsForgotten, BotsRemembered, BotsHeard} }

// BotsIn returns what becomes of messages of bots and webhooks in a channel; otherwise, if nothing was set.
func (g *Guild) BotsIn(channel ChannelID, otherwise Bots) Bots {
	value, _ := g.Setting(channel, SettingBots)
	for _, known := range AllBots() {
		if Bots(value) == known {
			return known
		}
	}
	return otherwise
}

// WebhookPerson returns the id under which a webhook's messages of a name are kept: a name counts as a person of that
// channel, since one webhook speaks for many.
func WebhookPerson(channel ChannelID, name string) UserID {
	sum := sha256.Sum256(fmt.Appendf(nil, "webhook %d %s", channel, name))
	return UserID(max(1, binary.BigEndian.Uint64(sum[:8])>>1))
}
