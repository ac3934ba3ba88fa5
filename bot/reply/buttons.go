package reply

import (
	"strconv"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/memory"
)

// The names of the buttons below answers. They are in messages that Discord keeps, so they stay.
const (
	ButtonStop    = "stop"
	ButtonSources = "sources"
	ButtonAgain   = "again"
	ButtonDelete  = "delete"
)

// idLimit is how long the id of a button may be.
const idLimit = 100

// Owned is what a button's id says of the answer that it stands below: all that is needed to act upon it
// after a restart, and where nothing was logged.
type Owned struct {
	Asker    memory.UserID
	Question memory.MessageID
	Before   []memory.MessageID // the answer's messages before the one with the button, as many as there was room for
}

// ID is the id of a button of that name: ids to the base 36, the first message whole, those after it by how
// far they are from it.
func (o Owned) ID(name string) string {
	id := name + ":" + Short36(int64(o.Asker)) + ":" + Short36(int64(o.Question))
	for i, m := range o.Before {
		n := int64(m)
		if i > 0 {
			n -= int64(o.Before[0])
		}
		if more := ":" + Short36(n); len(id)+len(more) <= idLimit {
			id += more
		}
	}
	return id
}

// Short36 is n to the base 36.
func Short36(n int64) string { return strconv.FormatInt(n, 36) }

// Integers are what the arguments of an id say, if all of them are numbers to that base.
func Integers(args []string, base int) (all []int64, ok bool) {
	for _, arg := range args {
		n, err := strconv.ParseInt(arg, base, 64)
		if err != nil {
			return nil, false
		}
		all = append(all, n)
	}
	return all, true
}

// ReadOwned reads what stands after the name in a button's id. What isn't one is nobody's.
func ReadOwned(args []string) Owned {
	all, ok := Integers(args, 36)
	if !ok || len(all) < 2 {
		return Owned{}
	}
	o := Owned{Asker: memory.UserID(all[0]), Question: memory.MessageID(all[1])}
	for i, n := range all[2:] {
		if i > 0 {
			n += int64(o.Before[0])
		}
		o.Before = append(o.Before, memory.MessageID(n))
	}
	return o
}

// Writing are the buttons below an answer that is being written.
func (o Owned) Writing(l locale.Locale) []discord.Component {
	return []discord.Component{discord.Row(discord.Button(discord.StyleGrey, l.Text("Stop"), o.ID(ButtonStop)))}
}

// Done are those below one that is written.
func (o Owned) Done(l locale.Locale, sources bool) []discord.Component {
	var buttons []discord.Component
	if sources {
		buttons = append(buttons, discord.Button(discord.StyleGrey, l.Text("Sources"), o.ID(ButtonSources)))
	}
	return []discord.Component{discord.Row(append(buttons, discord.Button(discord.StyleGrey,
		l.Text("Ask again"), o.ID(ButtonAgain)),
		discord.Button(discord.StyleGrey, l.Text("Delete"), o.ID(ButtonDelete)))...)}
}
