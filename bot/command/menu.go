package command

import (
	"slices"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/ttl"
	"hark/memory"
)

// starCommand is in the menu of a message.
const starCommand = "Remember ⭐"

// declared returns all commands with their handlers.
func (c *Commands) declared() []command {
	member := option{
		Type:     discord.OptionUser,
		Name:     "member",
		Required: true,
	}
	about := member
	wrote := member
	about.Description = "Whom it is about"
	wrote.Description = "Who wrote it"
	on := option{
		Type:        discord.OptionSwitch,
		Name:        "on",
		Description: "Whether I may",
		Required:    true,
	}
	whole := option{
		Type:        discord.OptionSwitch,
		Name:        "server",
		Description: "For the whole server, except channels with a setting of their own",
	}
	forWhich := channelOption("channel", "For which channel (left out: this one)", answerable)
	here := channelOption("channel", "Which channel (left out: this one)", answerable)
	orCategory := channelOption("channel", here.Description, append([]int{4}, answerable...))
	only := channelOption("channel", "Only this channel, with its threads", answerable)
	since := textOption("since", "Nothing older than this: a day such as 2024-05-31, or a span such as 90d", longestTime)
	question := textOption("question", "What you'd ask me", longestQuestion).required()
	lore := textOption("name", "Its name, or another that it goes by", memory.MaxLoreName).required().completed()
	text := textOption("text", "What I shall remember", memory.MaxLoreText)
	aliases := textOption("aliases", "Other names that it goes by, with commas between them", longestAliases)
	whom := textOption("for", "Whose limit to set (left out, and no role: shows the limits)", 0)
	whom.Choices = []optionChoice{{Name: "all of this server, together", Value: limitServer},
		{Name: "each member", Value: limitMembers}}
	number := func(name, description string) option {
		return option{
			Type:        discord.OptionNumber,
			Name:        name,
			Description: description,
			MinValue:    new(0),
			MaxValue:    new(mostOfLimit),
		}
	}
	setting := textOption("setting", "What to set", 0).required()
	for _, key := range append(slices.Clone(panelKeys), memory.SettingPersona) {
		setting.Choices = append(setting.Choices, optionChoice{Name: keyName(locale.Locale{}, key), Value: string(key)})
	}
	by := textOption("by", "How you get it (left out: here, so that only you see it)", 0)
	by.Choices = []optionChoice{{Name: "direct message", Value: exportByDM}}
	both := []int{discord.InGuilds, discord.InDirect}
	guilds := []int{discord.InGuilds}
	return []command{
		slash("context", "Shows what I'd remember for a question. Only you see it.", both,
			&handler{do: c.recall(false, showRecalled)}, question),
		slash("memory", "What I remember about you, and whether I do. Only you see it.", both, nil,
			sub("show", "Shows all that I keep about you", handler{do: c.asMember(c.showMember)}),
			sub("add", "Tells me something about you that I should know",
				handler{do: c.addFact("text", false)},
				textOption("text", "What I should know", longestFact).required()),
			sub("alias", "Tells me another name that you go by",
				handler{do: c.addFact("name", true)},
				textOption("name", "The name", longestAlias).required()),
			sub("edit", "Changes something that I was told about you; asks in a form if no text is given",
				handler{
					opens:     c.askFact,
					do:        c.asMember(c.editFact),
					completes: c.factTexts,
				},
				textOption("fact", "What to change", longestFact).required().completed(),
				textOption("text", "What I should know instead", longestFact)),
			sub("remove", "Removes something that I was told about you", handler{do: c.asMember(c.askFacts)}),
			sub("learn", "Decides whether I learn about you from what you write here",
				handler{do: c.asMember(c.learnMember)}, on),
			sub("connect", "Gives you a token, by which a program of yours reads here what you may read",
				handler{do: c.asMember(c.connect)}),
			sub("disconnect", "Takes back the token of a program of yours", handler{do: c.disconnect}),
			sub("forget", "Has me forget all that you wrote here", handler{do: c.confirmOwn(confirmForget)}),
			sub("export", "Gives you a file with all that I keep about you here", handler{do: c.export}, by),
			sub("optout", "Has me forget all that you wrote here, and keep nothing of yours any more",
				handler{do: c.confirmOwn(confirmOptOut)}),
			sub("optin", "Lets me remember you again, from now on", handler{do: c.asMember(c.optIn)})),
		slash("hark", "For those who manage this server", guilds, nil,
			sub("memory", "Decides what I remember of what is said here", handler{do: c.showSettings}),
			sub("fact", "Tells me something about a member, who can see it", handler{do: c.factAbout},
				about, textOption("text", "What I should know", longestFact).required()),
			sub("learn", "Decides whether I learn about members from what they write, if they want it",
				handler{do: c.learnGuild}, on),
			sub("settings", "Shows all that is set for a channel or for this server, with buttons and menus to change it", handler{do: c.openPanel},
				forWhich, whole),
			sub("set", "Sets how I answer: model, mode, language, persona and so on",
				handler{
					opens:     c.askPersona,
					do:        c.set,
					completes: c.settingValues,
				}, setting,
				textOption("value", "The value, or default (left out: shows the current one, or asks for a persona in a form)", answer.MaxPersona).completed(),
				forWhich, whole),
			sub("limits", "Shows or decides how much members may ask me", handler{do: c.limit}, whom,
				option{
					Type:        discord.OptionRole,
					Name:        "role",
					Description: "Sets the limit for each member with this role, instead of the one for each member",
				},
				number("messages", "Questions a minute; 0: no limit"), number("tokens",
					"Tokens a day (UTC); 0: no limit"),
				option{
					Type:        discord.OptionSwitch,
					Name:        "reset",
					Description: "Takes back what was decided before",
				}),
			sub("audience", "Shows or states which roles always go together, so that I know better who may read what",
				handler{do: c.audience},
				option{
					Type:        discord.OptionRole,
					Name:        "role",
					Description: "Whoever has this role …",
				},
				option{
					Type:        discord.OptionRole,
					Name:        "also",
					Description: "… always has this one, too",
				},
				option{
					Type:        discord.OptionSwitch,
					Name:        "reset",
					Description: "Takes back what was decided before",
				}),
			sub("status", "Shows how I am, what I keep of this server, and what answers take",
				handler{early: true, do: c.status}),
			sub("context", "Shows the exact prompt that a question of yours would make here, as a file",
				handler{do: c.recall(true, c.showPrompt)}, question),
			sub("pause", "Has me answer nobody for a while, or go on", handler{do: c.pause},
				textOption("state", "Whether to pause or to go on (left out: shows whether I'm paused)",
					0).of(answer.SettingOn, answer.SettingOff),
				textOption("for", "For how long, such as 2h or 1d (left out: until somebody ends it)", 30)),
			group("channel", "What I do in a channel",
				sub("log", "Has me remember what is said in a channel or a category",
					handler{do: inChannel(c.logChannel)}, orCategory),
				sub("ignore", "Keeps me from remembering what is said in a channel or a category",
					handler{do: inChannel(c.ignoreChannel)}, orCategory),
				sub("answer", "Decides whether I answer in a channel when I'm mentioned (with nothing given: shows it)", handler{do: inChannel(c.answerChannel)},
					textOption("answer", "Whether I answer", 0).of(answersOn, answersOff,
						answersDefault), here, whole)),
			sub("retention", "Shows or decides how long I remember what is said", handler{do: inChannel(c.retention)},
				textOption("keep", "Days such as 90d, forever, or default", longestTime), here, whole),
			sub("backfill", "Fetches what was said in a channel before I listened there, or shows how far that is",
				handler{do: inChannel(c.backfill), endless: true}, here, since),
			group("purge", "Has me forget for good",
				sub("member", "Has me forget all that somebody wrote in this server, and what I know of them",
					handler{do: c.askMember}, wrote),
				sub("channel", "Has me forget all that was said in a channel",
					handler{do: inChannel(c.askChannel)}, here),
				sub("before", "Has me forget all that was said before a given day", handler{do: inChannelGiven(c.askBefore)},
					textOption("before", "A day, such as 2024-05-31, or how long ago, such as 90d",
						longestTime).required(), only)),
			sub("export", "Gives you what I remember of this server, as far as you can read it, as a file",
				handler{do: inChannelGiven(c.exportServer)}, only, since,
				textOption("before", "Only what is older than this: a day such as 2024-05-31, or a span such as 90d",
					longestTime))).needing(discord.ManageGuild),
		slash("model", "Shows which model answers, or chooses another", guilds,
			&handler{do: c.set, completes: c.settingValues},
			textOption("model", "The model (left out: shows the current one)",
				0).completed(), forWhich, whole).needing(discord.ManageGuild),
		slash("lore", "What this server wants me to remember under a name. Only you see it.", guilds, nil,
			sub("list", "Shows the lore that you may read", handler{do: c.listLore}),
			sub("show", "Shows what I remember under a name, who told me, and what it is from",
				handler{do: c.showLore, completes: c.loreNames(false)}, lore),
			sub("add", "Tells me something to remember; asks in a form if the name or the text is missing",
				handler{
					refuse: writesNot,
					opens:  c.askLore,
					do:     c.asMember(c.addOneLore),
				},
				textOption("name", "What to call it", memory.MaxLoreName), text, aliases,
				textOption("from", "The link to the message that it is from; if that is deleted, so is this", 200)),
			sub("edit", "Changes what I remember under a name; asks in a form if no change is given",
				handler{
					opens:     c.askChange,
					do:        c.editLore,
					completes: c.loreNames(true),
				}, lore,
				textOption("new-name", "What to call it from now on", memory.MaxLoreName), text, aliases),
			sub("remove", "Has me forget what I remember under a name",
				handler{do: c.askRemoval, completes: c.loreNames(true)}, lore)),
		slash("recall", "Finds what was said, among what you may read. Only you see it.", both,
			&handler{do: c.find, completes: timeChoices("7d", "30d")},
			textOption("question", "A question, or a few words", longestQuestion).required(),
			channelOption("in", "Only what was said in this channel and its threads", answerable),
			option{
				Type:        discord.OptionUser,
				Name:        "from",
				Description: "Only what this person said",
			},
			textOption("since", "Nothing older than this: 2026-07-01, yesterday, 7d, 3 weeks",
				longestTime).completed(),
			textOption("until", "Nothing newer than this: 2026-07-01, yesterday, 7d, 3 weeks",
				longestTime).completed()),
		slash("catchup", "Tells what was said in this channel since you last wrote here. Only you see it.", guilds,
			&handler{do: c.catchUp, completes: timeChoices("3d", "7d")},
			textOption("since", "Nothing older than this: 2026-07-01, yesterday, 3d (7 days at most)", longestTime).completed()),
		slash("limits", "Shows how much you may ask me, and what is left. Only you see it.", both,
			&handler{do: c.showLimits}),
		inMenu(discord.CommandMessage, starCommand,
			locale.MessageKey("Marks a message as important, so that I recall it sooner, or takes the mark away"),
			guilds, handler{do: c.star}).needing(discord.ManageMessages),
		inMenu(discord.CommandMessage, relatedCommand,
			locale.MessageKey("Finds what else was said about what a message says. Only you see it."), both,
			handler{refuse: relatesNothing, do: c.findRelated}),
		inMenu(discord.CommandMessage, whyCommand,
			locale.MessageKey("Shows how an answer of mine came about, as far as you may read it"), both,
			handler{refuse: c.isntOurs, do: c.explainAnswer}),
		inMenu(discord.CommandMessage, forgetCommand,
			locale.MessageKey("Has me forget a message of yours for good, or an answer that you asked for"), both,
			handler{do: c.askForgetThis}),
		inMenu(discord.CommandUser, aboutCommand,
			locale.MessageKey("Shows all that I keep about you: for yourself only"), both,
			handler{do: c.about}),
		slash("privacy", "What I keep here, for how long, where it goes, and who runs me. Only you see it.",
			both, &handler{do: c.asMember(c.privacy)}),
		slash("help", "What I can do, and what each command means. Only you see it.", both,
			&handler{do: c.help, completes: c.helpNames},
			textOption("command", "The command to explain", 100).completed()),
	}
}

// components returns the handlers of buttons, menus and forms by Interaction.Path. Messages in Discord contain
// their ids, so the ids never change.
func (c *Commands) components() map[string]handler {
	all := map[string]handler{
		"component " + reply.ButtonStop: {refuse: notMine(discord.ManageMessages), updates: true,
			early: true, do: c.stop},
		"component " + reply.ButtonSources:  {do: c.sources},
		"component " + reply.ButtonAgain:    {refuse: notMine(0), updates: true, do: c.askAgain},
		"component " + reply.ButtonDelete:   {refuse: notMine(discord.ManageMessages), updates: true, do: c.remove},
		"component " + reply.ButtonRun:      {refuse: notMine(0), updates: true, early: true, do: c.lets(true)},
		"component " + reply.ButtonDoNot:    {refuse: notMine(0), updates: true, early: true, do: c.lets(false)},
		"component " + reply.ButtonRemember: {refuse: notMine(discord.ManageGuild), updates: true, do: c.remember},
		"component " + reply.ButtonForgo:    {refuse: notMine(discord.ManageGuild), updates: true, do: c.forgo},
		"component " + removedFacts:         {updates: true, do: c.asMember(c.removeFacts)},
		"component " + confirmOptOut:        {updates: true, early: true, endless: true, do: c.optOut},
		"component " + confirmForget:        {updates: true, endless: true, do: c.forgetMember},
		"component " + confirmForgetThis:    {updates: true, do: c.forgetThis},
		"component " + confirmLoreOff:       {updates: true, do: c.removeLore},
		"component " + pagerName:            {updates: true, do: c.turnPage},
		"form " + formFact:                  {do: c.asMember(c.editFact)},
		"form " + formLoreAdd:               {refuse: writesNot, do: c.asMember(c.addOneLore)},
		"form " + formLoreEdit:              {do: c.editLore},
	}
	for path, h := range map[string]handler{
		"form " + formPersona:         {do: c.set},
		"component " + choosePublic:   {updates: true, do: c.decide(memory.RememberPublic)},
		"component " + chooseNothing:  {updates: true, do: c.decide(memory.Ignore)},
		"component " + chooseChannels: {do: c.askChannels},
		"component " + chosenChannels: {updates: true, do: c.chooseChannels},
		"component " + chosenNever:    {updates: true, do: c.never},
		"component " + stopsBackfill:  {updates: true, do: inChannel(c.stopBackfill)},
		"component " + keepsFor:       {updates: true, do: inChannel(c.keep)},
		"component " + expires:        {updates: true, do: c.agreeToExpiring},
		"component " + asksPurge:      {do: inChannel(c.askChannel)},
		"component " + purges:         {updates: true, endless: true, do: c.purge},
		"component " + panelChannel:   {updates: true, do: c.panelAfter(c.chooseChannel)},
		"component " + panelServer:    {updates: true, do: c.panelAfter(nil)},
		"component " + panelKey:       {updates: true, do: c.panelAfter(c.chooseKey)},
		"component " + panelSet:       {updates: true, do: c.panelAfter(c.panelSets)},
		"component " + panelMemory:    {do: c.showSettings},
		"component " + panelPersona:   {opens: c.askPanelPersona},
		"component " + panelLimits:    {opens: c.askLimits},
		"form " + panelPersona:        {updates: true, do: c.panelAfter(c.panelSets)},
		"form " + panelLimits:         {updates: true, do: c.panelAfter(c.setLimits)},
	} {
		h.managers = true
		all[path] = h
	}
	return all
}

// New returns the commands. Commands.Put takes each use.
func New(o *Options, n *Notices) *Commands {
	c := &Commands{
		Options:    o,
		questions:  o.Replies.Questions(),
		notices:    n,
		results:    ttl.New[discord.Snowflake, *resultCache](maxResults),
		grantCache: &grantCache{ttl.New[memory.Membership, bool](maxGrants), o.Now},
		overrides:  newOverrides(o),
		running:    make(semaphore, parallelCommands),
		rejecting:  make(semaphore, parallelCommands),
		completing: make(semaphore, parallelCommands),
	}
	c.handlers = c.components()
	c.entries = entriesOf(c.declared())
	for _, e := range c.entries {
		h := *e.handler
		h.managers = e.Type == discord.CommandSlash && e.Permissions != nil
		h.needs = e.needs
		c.handlers[e.path] = h
	}
	return c
}
