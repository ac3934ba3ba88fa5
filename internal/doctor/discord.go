package doctor

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/internal/clock"
	"hark/internal/config"
	"hark/memory"
)

// DiscordTime bounds the requests to Discord.
const DiscordTime = 15 * time.Second

func (d *Doctor) discord(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, DiscordTime)
	defer cancel()
	theirs := &clock.Clock{}
	account, found := CheckAccount(ctx, d.Config, theirs.Transport(d.Discord))
	if account != nil {
		found = append(append(found, d.guilds(ctx, account)...), d.gateway(ctx, account).For("gateway"))
	}
	return append(found, d.clock(ctx, theirs).For("clock"))
}

// CheckAccount checks the token and the intents. The account is nil if Discord doesn't answer.
func CheckAccount(ctx context.Context, c config.Config, transport http.RoundTripper) (*discord.Account, []Finding) {
	account, err := discord.Check(ctx, discord.Options{
		Token:  c.Discord.Token.Reveal(),
		APIURL: c.Discord.APIURL,
		Client: &http.Client{Transport: transport,
			Timeout: DiscordTime},
	})
	if err != nil {
		return nil, []Finding{Failure(err, "check the network, and discord.api_url if you set it").For("Discord")}
	}
	intents := passed("the Message Content intent is on, and so is Server Members")
	switch {
	case !account.Content:
		intents = Failure(discord.ErrIntents, "")
	case !account.Members:
		intents = passed("the Message Content intent is on; Server Members, which is optional, is off: with it Hark " +
			"recalls more where roles open channels")
	}
	takes := passed("it accepts the token; Hark is %s, application %s", account.Name, account.App)
	return account, []Finding{takes.For("Discord"), intents.For("intents")}
}

func (d *Doctor) guilds(ctx context.Context, a *discord.Account) []Finding {
	guilds, err := a.Guilds(ctx)
	if err != nil {
		return []Finding{failed(err, "try again later").For("permissions")}
	}
	var found []Finding
	add := func(check string, f Finding) { found = append(found, f.For(check)) }
	dev := memory.GuildID(d.Config.Discord.Guild())
	lonely := dev != 0
	for _, g := range guilds {
		add("permissions in "+g.Name, permissions(a, g))
		if g.ID == dev {
			lonely = false
			add("commands", advised("only "+g.Name+" has them",
				"when you no longer change Hark, remove discord.dev_guild"))
		}
	}
	if len(guilds) == 0 {
		add("permissions", advised("Hark is in no server yet", "invite it: "+discord.InviteURL(a.App, 0)))
	}
	if lonely {
		add("commands", Finding{Detail: fmt.Sprintf("discord.dev_guild names the server %d, and Hark isn't in it", dev),
			Advice: "change or remove discord.dev_guild, or invite Hark: " + discord.InviteURL(a.App, dev)})
	}
	return found
}

func permissions(a *discord.Account, g discord.GuildAccess) Finding {
	missing := g.Missing
	switch {
	case g.NoCommands:
		missing = append(missing, "the scope applications.commands")
	case g.Untold:
		return advised("unknown: Discord didn't send them", "look in the server's settings, or try again later")
	case len(missing) == 0:
		return passed("Hark has all that it needs")
	}
	return Finding{Detail: "missing: " + strings.Join(missing, ", "),
		Advice: "somebody who manages that server grants it with " + discord.InviteURL(a.App, g.ID)}
}

// lowStarts connections left mean that something restarts Hark all the time.
const lowStarts = 100

func (d *Doctor) gateway(ctx context.Context, a *discord.Account) Finding {
	s, err := a.Starts(ctx)
	if err != nil {
		return failed(err, "try again later")
	}
	f := passed("%d of %d connections are left today", s.Remaining, s.Total)
	switch {
	case s.Remaining == 0:
		f.OK = false
		f.Advice = fmt.Sprintf("stop Hark and wait %v, then find out what restarts it all the time",
			s.Reset.Round(time.Minute))
	case s.Remaining < lowStarts:
		f.Advice = "something restarts Hark all the time: its log says why"
	case s.Shards > 1:
		f.Detail += fmt.Sprintf("; Discord recommends %d shards", s.Shards)
		if n := int(d.Config.Discord.Shards); n > 0 && n < s.Shards {
			f.Detail += fmt.Sprintf(", and Hark is set to %d", n)
			f.Advice = "set discord.shards to \"auto\": a connection holds 2,500 servers at most"
		}
	}
	return f
}

// maxClockSkew is how far the clock may be off.
const maxClockSkew = 5 * time.Second

// clock compares our clock with Discord's, or if that is unknown, with the model server's.
func (d *Doctor) clock(ctx context.Context, theirs *clock.Clock) Finding {
	whose := "Discord's"
	off, known := theirs.Ahead()
	if !known && d.Config.LLM.Model != "" {
		whose = "that of the model's server"
		off, known = clockOf(ctx, d.Config.LLM.BaseURL)
	}
	if !known {
		return advised("no server answered to compare the clock with", "check it by hand: date -u")
	}
	if off.Abs() <= maxClockSkew {
		return passed("it agrees with %s", whose)
	}
	how := "ahead of"
	if off < 0 {
		how = "behind"
	}
	return Finding{Detail: fmt.Sprintf("it is %v %s %s", off.Abs().Round(time.Second), how, whose),
		Advice: "have it set over the network, on Linux with: timedatectl set-ntp true"}
}

// clockOf returns by how much our clock is ahead of that of the server at an address.
func clockOf(ctx context.Context, address string) (off time.Duration, known bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return 0, false
	}
	var theirs clock.Clock
	answer, err := theirs.Transport(http.DefaultTransport).RoundTrip(request)
	if err == nil {
		answer.Body.Close()
	}
	return theirs.Ahead()
}
