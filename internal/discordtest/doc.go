// Package discordtest is a fake Discord for tests: REST and gateway on loopback, honest by default and hostile
// where a test asks for it. What the fake holds is the truth of the test: who may see what is computed by
// Discord's rules, a message is stored once however often it is delivered, and whatever Discord would refuse is
// refused with Discord's status and code and fails the test as well.
//
//	discord := discordtest.New(t)
//	guild := discord.AddGuild("Garden")
//	channel := discord.AddChannel(guild.ID, discordtest.Channel{Name: "general"})
//	ana := discord.AddMember(guild.ID, discordtest.User{Username: "ana"})
//	session, _ := discordgo.New("Bot " + discord.Token)
//	session.Client, session.Dialer, session.SyncEvents = discord.Client(), discord.Dialer(), true
//	session.Open() // or: point discord.api_url at discord.URL and run the bot
//	discord.WaitReady()
//	discord.Say(channel.ID, ana.ID, discord.Bot.Mention()+" when was the party?")
//	answer := discord.WaitSent(channel.ID, func(m discordtest.Sent) bool { return m.Content != "" })
//
// Time is the fake's own: it stands still until Advance moves it, so a deadline of 3 seconds or 15 minutes passes
// when the test says so. Nothing here sleeps. Messages and members can be added before or after the bot connects;
// once a gateway session exists, every change is dispatched to it as Discord would, and kept for a resume.
//
// Where Discord's OpenAPI document is at hand, requests and answers are validated against it as well. It is
// looked for in the file that HARK_DISCORD_OPENAPI names, then in ../shared/data beside the module.
package discordtest
