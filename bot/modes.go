package bot

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hark/builder"
	"hark/memory"
)

// modeAutomatic is what the choice of /hark mode is called that has the mode inferred.
const modeAutomatic = "automatic"

// modeMeans is what it means that a mode was chosen for a channel.
var modeMeans = map[builder.Mode]string{
	"":                       "I tell by each question what kind of work it asks for",
	builder.ModeGeneral:      "I take every question for talk, and answer briefly",
	builder.ModeCreation:     "I take every question as a wish for something new, such as a text, a plan or code",
	builder.ModeSearch:       "I take every question as one about what was said before, and say first what, who and when",
	builder.ModeModification: "I take every question as a wish to change something that is there, and give back all of it",
	builder.ModeAnalysis:     "I take every question as one to explain, compare, judge or sum up",
}

func (c *commands) addModes() {
	c.tools["hark mode"] = tool{refuse: managesNot, do: c.mode}
}

// modeOptions are the options of /hark mode.
func modeOptions() []option {
	mode := option{Type: optionText, Name: "mode", Description: "What to take questions for (left out: shows what is chosen)"}
	for _, m := range append([]builder.Mode{modeAutomatic}, builder.Modes()...) {
		mode.Choices = append(mode.Choices, optionChoice{string(m), string(m)})
	}
	return []option{mode, {Type: optionChannel, Name: "channel", Description: "Where (left out: here)", ChannelTypes: answerable}}
}

// answerable are the types of channel that Hark answers in, or in whose posts, of those that options know.
var answerable = []int{0, 2, 5, 10, 11, 12, 13, 15}

// mode chooses in which mode questions are answered in a channel, or shows it.
func (c *commands) mode(ctx context.Context, x *exchange) (sheet, error) {
	channel := memory.ChannelID(x.Channel)
	if given := x.option("channel"); given != "" {
		id, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return sheet{}, errUnknownChannel
		}
		channel = memory.ChannelID(id)
	}
	name := x.option("mode")
	if name == "" {
		g, err := c.bot.admit.guild(ctx, x.guild())
		return sheet{Content: toldMode(g, channel)}, err
	}
	mode := builder.Mode(name)
	if mode == modeAutomatic {
		mode = ""
	}
	if _, known := modeMeans[mode]; !known {
		return sheet{Content: unknownTool}, nil
	}
	if err := c.bot.memory.Apply(ctx, memory.ModeChosen{Guild: x.guild(), Channel: channel, Mode: string(mode), At: c.bot.now()}); err != nil {
		return sheet{}, fmt.Errorf("keep the mode of channel %d: %w", channel, err)
	}
	return sheet{Content: fmt.Sprintf("In <#%d>, and in its threads where nothing else is chosen, %s.", channel, modeMeans[mode])}, nil
}

// toldMode says in which mode questions are answered in a channel, and where else one was chosen.
func toldMode(g *memory.Guild, channel memory.ChannelID) string {
	var b strings.Builder
	means, known := modeMeans[builder.Mode(g.ModeIn(channel))]
	if !known { // a newer Hark knew it
		means = modeMeans[""]
	}
	fmt.Fprintf(&b, "In <#%d>, %s.", channel, means)
	for _, m := range builder.Modes() {
		var chosen []memory.ChannelID
		for _, at := range g.Channels {
			if at.Mode == string(m) {
				chosen = append(chosen, at.ID)
			}
		}
		if len(chosen) > 0 {
			fmt.Fprintf(&b, "\nChosen as %s: %s.", m, channelList(chosen))
		}
	}
	return b.String()
}
