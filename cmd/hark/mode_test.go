package main

import (
	"testing"
	"time"

	"hark/memory"
	"hark/memory/sqlite"
)

func TestModesOfThreadsAndLaterOnes(t *testing.T) {
	t.Parallel()
	c, data := stocked(t)
	store, err := sqlite.Open(t.Context(), data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Apply(t.Context(),
		memory.ChannelSeen{Channel: memory.Channel{ID: 503, Guild: 500, Parent: 502, Kind: memory.PublicThread, Name: "leeks"}},
		memory.ModeChosen{Guild: 600, Channel: 601, Mode: "search", At: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	c.run(0, "mode", "creation", "--channel", "posts")
	c.says("#posts of Garden: creation\n")
	c.run(0, "mode", "--channel", "leeks")
	c.says("#leeks of Garden: creation, as in its channel\n")
	c.run(0, "mode", "analysis", "--channel", "503")
	c.says("#leeks of Garden: analysis\n")
	c.run(0, "mode", "--guild", "Garden")
	c.says("#posts of Garden: creation\n#leeks of Garden: analysis\n")
	c.run(1, "mode", "auto", "--channel", "tools")
	c.says("hark: the mode of #tools of Shed wasn't changed: it was chosen at a later time than it is by this machine's clock")
	c.run(0, "mode", "--channel", "tools")
	c.says("#tools of Shed: search\n")
}
