package discordtest_test

import (
	"slices"
	"testing"

	"hark/internal/discordtest"
)

func TestConnectAndHear(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	b := connect(t, discord)
	said := discord.Say(c.ID, ana.ID, "hello")
	discord.Edit(c.ID, said.ID, "hello there")
	discord.Delete(c.ID, said.ID)
	got := b.waitHeard(t, 5)
	want := []string{"ready", "guild Garden", "create hello", "update hello there", "delete " + said.ID.String()}
	if !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	b := connect(t, discord)
	body := plain("once")
	body["nonce"], body["enforce_nonce"] = "n-1", true
	discord.Inject("POST /channels/*/messages", 2, discordtest.DoneButBadGateway())
	if err := b.post(c.ID, body); err != nil {
		t.Fatal(err)
	}
	if sent := discord.Sent(c.ID); len(sent) != 1 || sent[0].Content != "once" {
		t.Errorf("sent %+v, want one message", sent)
	}
}
