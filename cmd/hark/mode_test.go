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
		memory.SettingChosen{Guild: 600, Channel: 601, Key: memory.SettingMode, Value: "search", At: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	c.run(0, "mode", "creation", "--channel", "posts")
	c.sees()
	c.run(0, "mode", "--channel", "leeks")
	c.sees()
	c.run(0, "mode", "analysis", "--channel", "503")
	c.sees()
	c.run(0, "mode", "--guild", "Garden")
	c.sees()
	c.run(1, "mode", "default", "--channel", "tools")
	c.sees()
	c.run(0, "mode", "--channel", "tools")
	c.sees()
}
