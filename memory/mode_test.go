package memory_test

import (
	"testing"

	. "hark/memory"
)

func TestModeOfAThreadIsItsChannels(t *testing.T) {
	t.Parallel()
	g := Guild{Channels: []Channel{
		{ID: garden, Kind: CategoryChannel, Mode: "creation"},
		{ID: general, Parent: garden, Mode: "search"},
		{ID: chat, Parent: general, Kind: PublicThread},
		{ID: secret, Parent: general, Kind: PrivateThread, Mode: "analysis"},
		{ID: staff, Parent: garden},
		{ID: orphan, Parent: unknown, Kind: PublicThread},
	}}
	for id, want := range map[ChannelID]string{
		general: "search", chat: "search", secret: "analysis", staff: "", orphan: "", unknown: "",
	} {
		if got := g.ModeIn(id); got != want {
			t.Errorf("of channel %d: %q, want %q", id, got, want)
		}
	}
}
