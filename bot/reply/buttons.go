package reply

import (
	"strconv"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/memory"
)

// The names of the buttons below answers. Discord keeps them in messages, so they never change.
const (
	ButtonStop    = "stop"
	ButtonSources = "sources"
	ButtonAgain   = "again"
	ButtonDelete  = "delete"
)

// idLimit is Discord's limit of a custom_id.
const idLimit = 100

// Owned is the answer that a button's id names, so that the button works after a restart and without a log.
type Owned struct {
	Asker    memory.UserID
	Question memory.MessageID
	Before   []memory.MessageID // the answer's messages before the button's, as many as fit
}

// ID returns a button's id: ids in base 36, the first message in full, the others relative to it.
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

// Short36 returns n in base 36.
func Short36(n int64) string { return strconv.FormatInt(n, 36) }

// Integers parses an id's arguments; false if one isn't a number in base.
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

// ReadOwned reads what follows the name in a button's id; the zero Owned if it is malformed.
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

// Done returns the buttons below a finished answer. sources: it has sources to show.
func (o Owned) Done(l locale.Locale, sources bool) []discord.Component {
	var row []discord.Component
	if sources {
		row = append(row, o.button(ButtonSources, l.Text("Sources")))
	}
	row = append(row, o.button(ButtonAgain, l.Text("Ask again")), o.button(ButtonDelete, l.Text("Delete")))
	return []discord.Component{discord.Row(row...)}
}

func (o Owned) button(name, label string) discord.Component {
	return discord.Button(discord.StyleGrey, label, o.ID(name))
}
