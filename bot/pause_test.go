package bot

import (
	"hark/internal/discordtest"
)

func channelCalled(name string) discordtest.Channel { return discordtest.Channel{Name: name} }
