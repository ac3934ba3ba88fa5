package discordtest_test

import (
	"testing"
	"time"

	"hark/internal/discordtest"
)

// TestNonceMakesARetryOneMessage lets discordgo retry two calls that had been carried out.
func TestNonceMakesARetryOneMessage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		enforce bool
		want    int
	}{{"with enforce_nonce", true, 1}, {"without", false, 3}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			discord := discordtest.New(t)
			_, c, _ := place(discord)
			b := connect(t, discord)
			body := plain("once")
			body["nonce"], body["enforce_nonce"] = "n-1", test.enforce
			inj := discord.Inject("POST /channels/*/messages", 2, discordtest.DoneButBadGateway())
			if err := b.post(c.ID, body); err != nil {
				t.Fatal(err)
			}
			if sent := discord.Sent(c.ID); len(sent) != test.want || inj.Hits() != 2 {
				t.Errorf("%d messages after %d faults, want %d after 2", len(sent), inj.Hits(), test.want)
			}
		})
	}
}

func TestNonceIsForgotten(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	r := newREST(t, discord)
	body := plain("once")
	body["nonce"], body["enforce_nonce"] = 17, true
	path := "/channels/" + c.ID.String() + "/messages"
	r.want(200, 0, "POST", path, body)
	r.want(200, 0, "POST", path, body)
	discord.Advance(10 * time.Minute)
	r.want(200, 0, "POST", path, body)
	if sent := discord.Sent(c.ID); len(sent) != 2 {
		t.Errorf("%d messages, want 2", len(sent))
	}
}
