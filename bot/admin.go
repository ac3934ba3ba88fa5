package bot

import "hark/memory"

// addAdmin adds the commands by which those who manage a server look after Hark.
func (c *commands) addAdmin() {
	c.tools["hark status"] = tool{refuse: managesNot, early: true, do: c.status}
	c.tools["hark pause"] = tool{refuse: managesNot, do: c.pause}
	c.tools["hark timezone"] = tool{refuse: managesNot, do: c.timezone, completes: c.zoneNames, chosen: true}
	c.tools["hark model"] = c.tools["model"]
	c.tools["hark context"] = tool{refuse: asksNoPrompt, do: c.recall(c.promptQuestion, c.showPrompt)}
	c.addPanel()
}

// adminOptions are the subcommands of /hark for that.
func adminOptions() []option {
	return []option{
		sub("status", "Shows how I am, what I keep of this server, and what answers take"),
		sub("model", "Shows which model answers, or chooses another", settable(memory.SettingModel, "The model")...),
		sub("context", "Shows the exact prompt that a question of yours would make here, as a file", textOption("question", "What you'd ask me", longestQuestion)),
		sub("timezone", "Decides in which time zone I tell times", timezoneOptions()...),
		sub("pause", "Has me answer nobody for a while, or go on", pauseOptions()...),
	}
}
