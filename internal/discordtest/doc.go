// Package discordtest is a fake Discord for tests: REST and gateway on loopback, honest by default, hostile on
// request. The fake's state is the truth: permissions follow Discord's rules, a message is stored once however
// often it is delivered, and what Discord would refuse is refused with its status and code and fails the test.
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
// The fake's time stands still until Advance moves it, so deadlines pass when the test says so. Nothing sleeps.
// Messages and members can be added before or after the bot connects. Every change is dispatched to the gateway
// sessions as Discord would, and kept for a resume.
//
// Requests and answers are also validated against Discord's OpenAPI document, if the file that
// HARK_DISCORD_OPENAPI names, or ../shared/data beside the module, has it.
package discordtest
