package bot

// addAdmin adds the commands by which those who manage a server look after Hark.
func (c *commands) addAdmin() {
	c.tools["hark status"] = tool{refuse: managesNot, early: true, do: c.status}
	c.tools["hark pause"] = tool{refuse: managesNot, do: c.pause}
	c.tools["hark context"] = tool{refuse: asksNoPrompt, do: c.recall(c.promptQuestion, c.showPrompt)}
	c.addPanel()
}

// adminOptions are the subcommands of /hark for that.
func adminOptions() []option {
	return []option{
		sub("status", "Shows how I am, what I keep of this server, and what answers take"),
		sub("context", "Shows the exact prompt that a question of yours would make here, as a file", textOption("question", "What you'd ask me", longestQuestion)),
		sub("pause", "Has me answer nobody for a while, or go on", pauseOptions()...),
	}
}
