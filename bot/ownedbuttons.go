package bot

import (
	"slices"
	"strconv"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/memory"
)

// The names of the buttons below answers. They are in messages that Discord keeps, so they stay.
const (
	buttonStop    = "stop"
	buttonSources = "sources"
	buttonAgain   = "again"
	buttonDelete  = "delete"
)

// idLimit is how long the id of a button may be.
const idLimit = 100

// owned is what a button's id says of the answer that it stands below: all that is needed to act upon it
// after a restart, and where nothing was logged.
type owned struct {
	asker    memory.UserID
	question memory.MessageID
	before   []memory.MessageID // the answer's messages before the one with the button, as many as there was room for
}

// id is the id of a button of that name: ids to the base 36, the first message whole, those after it by how
// far they are from it.
func (o owned) id(name string) string {
	id := name + ":" + short36(int64(o.asker)) + ":" + short36(int64(o.question))
	for i, m := range o.before {
		n := int64(m)
		if i > 0 {
			n -= int64(o.before[0])
		}
		if more := ":" + short36(n); len(id)+len(more) <= idLimit {
			id += more
		}
	}
	return id
}

func short36(n int64) string { return strconv.FormatInt(n, 36) }

// integers are what the arguments of an id say, if all of them are numbers to that base.
func integers(args []string, base int) (all []int64, ok bool) {
	for _, arg := range args {
		n, err := strconv.ParseInt(arg, base, 64)
		if err != nil {
			return nil, false
		}
		all = append(all, n)
	}
	return all, true
}

// readOwned reads what stands after the name in a button's id. What isn't one is nobody's.
func readOwned(args []string) owned {
	all, ok := integers(args, 36)
	if !ok || len(all) < 2 {
		return owned{}
	}
	o := owned{asker: memory.UserID(all[0]), question: memory.MessageID(all[1])}
	for i, n := range all[2:] {
		if i > 0 {
			n += int64(o.before[0])
		}
		o.before = append(o.before, memory.MessageID(n))
	}
	return o
}

// messages are those of the answer that the button of an exchange stands below.
func (o owned) messages(x *exchange) []memory.MessageID {
	ids := slices.Clone(o.before)
	if x.Message != nil {
		ids = append(ids, memory.MessageID(x.Message.ID))
	}
	return ids
}

// writing are the buttons below an answer that is being written.
func (o owned) writing(l locale.Locale) []discord.Component {
	return []discord.Component{discord.Row(discord.Button(discord.StyleGrey, l.Text("Stop"), o.id(buttonStop)))}
}

// done are those below one that is written.
func (o owned) done(l locale.Locale, sources bool) []discord.Component {
	var buttons []discord.Component
	if sources {
		buttons = append(buttons, discord.Button(discord.StyleGrey, l.Text("Sources"), o.id(buttonSources)))
	}
	return []discord.Component{discord.Row(append(buttons, discord.Button(discord.StyleGrey, l.Text("Ask again"), o.id(buttonAgain)),
		discord.Button(discord.StyleGrey, l.Text("Delete"), o.id(buttonDelete)))...)}
}
