package search

import (
	"cmp"
	"strings"

	"hark/memory"
)

// Explain says in English why an answer may not use a channel of the guild; empty if it may.
func (a *Audience) Explain(channel memory.ChannelID) string {
	v := a.judge(a.channels[channel])
	place := a.channelName(a.place.Channel)
	source := a.channelName(channel)
	switch v.Why {
	case ObstaclePlace:
		return "Hark doesn't know who can read " + place
	case ObstacleChannel:
		return "Hark doesn't know who can read " + source
	case ObstacleShut:
		return "Hark couldn't read " + source + " for a while and hasn't compared it since"
	case ObstacleUnshared:
		return a.explainUnshared(a.channels[channel])
	case ObstacleStructure:
		return "Hark doesn't know the server's roles"
	case ObstacleAge:
		return source + " is age-restricted and " + place + " isn't"
	case ObstaclePrivateThread:
		return source + " is a private thread"
	case ObstacleHark:
		return "Hark itself can't read " + source
	case ObstacleReader:
		return a.explainReader(v, channel)
	}
	return ""
}

// explainUnshared says why nothing passes between the place and c.
func (a *Audience) explainUnshared(c *memory.Channel) string {
	if !isShared(a.at) {
		c = a.at
	}
	if c.Kind == memory.LocalChannel {
		return a.channelName(c.ID) + " is read only at the command line"
	}
	return a.channelName(c.ID) + " holds direct messages: nothing passes between them and other channels"
}

// explainReader puts a counterexample in words.
func (a *Audience) explainReader(v Verdict, channel memory.ChannelID) string {
	reader := a.readerName(v)
	place := a.channelName(a.place.Channel)
	source := a.channelName(channel)
	switch {
	case a.isOneViewer():
		return reader + " can't read " + source
	case channel == a.place.Channel:
		return reader + " can view " + place + " but not read its history"
	case a.reads(v.User, v.Roles, a.rules(a.at)):
		return reader + " can read " + place + " but not " + source
	}
	return reader + " can view " + place + " but not read " + source
}

// readerName names who a counterexample is: "a member without roles", "@A", "@A with @B", "Zoe with @A, @B and @C".
func (a *Audience) readerName(v Verdict) string {
	var names []string
	if v.User != 0 {
		known, _ := a.people(v.User)
		names = append(names, cmp.Or(known.DisplayName(), v.User.String()))
	}
	for _, role := range v.Roles {
		names = append(names, a.roleName(role))
	}
	switch last := len(names) - 1; last {
	case -1:
		return "a member without roles"
	case 0:
		return names[0]
	case 1:
		return names[0] + " with " + names[1]
	default:
		return names[0] + " with " + strings.Join(names[1:last], ", ") + " and " + names[last]
	}
}

func (a *Audience) roleName(id memory.RoleID) string {
	for _, role := range a.guild.Roles {
		if role.ID == id && role.Name != "" {
			return "@" + role.Name
		}
	}
	return "@" + id.String()
}

func (a *Audience) channelName(id memory.ChannelID) string {
	if c := a.channels[id]; c != nil && c.Name != "" {
		return "#" + c.Name
	}
	return "#" + id.String()
}
