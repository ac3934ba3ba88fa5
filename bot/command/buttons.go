package command

import (
	"hark/bot/discord"
	"hark/bot/reply"
	"hark/memory"
)

// ownedBy is what the id of the button tells that was pressed.
func ownedBy(x *interaction) reply.Owned { return reply.ReadOwned(x.Args()) }

// notMine keeps a button to whoever asked, and, unless that is 0, to those who have a permission.
func notMine(or memory.Permissions) func(*interaction) string {
	return func(x *interaction) string {
		asker := ownedBy(x).Asker
		switch {
		case asker == 0:
			return x.Text(unknownCommandText)
		case x.who() == asker, or != 0 && x.May(or):
			return ""
		case or == discord.ManageMessages:
			return x.Text("Only <@%d>, who asked, and those who manage messages here can do that.", asker)
		case or == discord.ManageGuild:
			return x.Text("Only <@%d>, who asked, and those who manage this server can do that.", asker)
		}
		return x.Text("Only <@%d>, who asked, can do that. Ask me yourself: mention me with your question.", asker)
	}
}
