package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"hark/internal/config"
	"hark/memory"
)

type settingsData struct {
	Guilds   []choice
	Guild    *memory.Guild
	Ref      refOf
	Rows     []settingRow // of the server
	Limits   []limitRow
	Keeps    []settingRow // what is remembered where
	Operator []operatorSection
	Commands []*adminCommand // by which admins change all that
}

// settingRow is a value, where it holds and who set it.
type settingRow struct {
	Key, Value string
	Where      refOf // empty: in the whole server
	By         refOf
	Command    *adminCommand // that changes it
}

// adminCommand is a command of Discord's with which admins change settings.
type adminCommand struct{ Name, Does string }

// ID is its place on the page.
func (c *adminCommand) ID() string {
	return strings.ReplaceAll(strings.TrimPrefix(c.Name, "/"), " ", "-")
}

// The commands that the page links to.
var (
	setCommand = &adminCommand{"/hark set", "Sets a value for the channel in which it is used, for another, or with server: true for the " +
		"whole server. The value default takes it back."}
	audienceCommand = &adminCommand{"/hark audience", "States which roles always go together, or takes that back."}
	memoryCommand   = &adminCommand{"/hark memory", "Decides what is remembered, for the server, categories and channels."}
	limitsCommand   = &adminCommand{"/hark limits", "Decides how much the server, members, or those with a role may ask."}
)

type limitRow struct {
	Whose    string
	Messages string
	Tokens   string
	By       refOf
}

// operatorSection is a part of the configuration.
type operatorSection struct {
	Name   string
	Values []config.Resolved
}

// settings shows what holds where, and who set it.
func settings(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	d := settingsData{Guilds: v.discordGuilds()}
	var err error
	d.Guild, err = v.guildOrOnly(d.Guilds)
	if err != nil {
		return err
	}
	if d.Guild != nil {
		v.settingsOf(&d)
	}
	for _, value := range v.app.Config.Values() {
		name, _, _ := strings.Cut(value.Key, ".")
		if !strings.Contains(value.Key, ".") {
			name = "without a section"
		}
		if n := len(d.Operator); n == 0 || d.Operator[n-1].Name != name {
			d.Operator = append(d.Operator, operatorSection{Name: name})
		}
		last := &d.Operator[len(d.Operator)-1]
		last.Values = append(last.Values, value)
	}
	return v.show(http.StatusOK, "settings", "Settings", d)
}

// settingsOf fills in what admins set in a server.
func (v *visit) settingsOf(d *settingsData) {
	g := d.Guild
	d.Ref = v.guildRef(g.ID)
	d.Commands = []*adminCommand{setCommand, audienceCommand, memoryCommand, limitsCommand}
	add := func(rows *[]settingRow, key, value string, where refOf, by memory.UserID, command *adminCommand) {
		if value != "" {
			*rows = append(*rows, settingRow{key, value, where, v.chooser(g, by), command})
		}
	}
	for _, key := range memory.Settings() {
		add(&d.Rows, string(key), g.Settings[key], refOf{}, g.SetBy[key], setCommand)
		for _, c := range inOrder(g) {
			add(&d.Rows, string(key), c.Settings[key], v.channelRef(g.ID, c.ID), c.SetBy[key], setCommand)
		}
	}
	stated := func(all []memory.Implied, note string) {
		for _, i := range all {
			value := v.roleName(g, i.Role) + " also has " + v.roleName(g, i.Also) + note
			add(&d.Rows, "audience", value, refOf{}, g.SetBy[i.Setting()], audienceCommand)
		}
	}
	stated(g.Implied(), "")
	stated(g.Lapsed(), " (not used: perhaps neither the owner nor an administrator stated it)")
	stated(g.Suspended(), " (not used: Hark saw a member with the first role and without the second)")
	add(&d.Keeps, "remember", choiceNames[g.Choice], refOf{}, g.By, memoryCommand)
	for _, c := range inOrder(g) {
		add(&d.Keeps, "remember", choiceNames[c.Choice], v.channelRef(g.ID, c.ID), c.By, memoryCommand)
	}
	for _, l := range g.Limits {
		row := limitRow{
			By:       v.chooser(g, l.By),
			Messages: limitText(l.Messages),
			Tokens:   limitText(l.Tokens),
		}
		switch {
		case l.Role == 0:
			row.Whose = "the whole server"
		case l.Role == memory.RoleID(g.ID):
			row.Whose = "each member"
		default:
			row.Whose = "each member with " + v.roleName(g, l.Role)
		}
		d.Limits = append(d.Limits, row)
	}
}

// chooser is who set something in a server.
func (v *visit) chooser(g *memory.Guild, user memory.UserID) refOf {
	if user == 0 {
		return refOf{Name: "unknown, or forgotten"}
	}
	if v.person(g.ID, user).DisplayName() == "" { // who only used commands has no page
		return refOf{Name: user.String()}
	}
	return v.personRef(g.ID, user)
}

func limitText(n int) string {
	switch n {
	case memory.Unlimited:
		return "no limit"
	case memory.AsConfigured:
		return "as configured"
	}
	return number(n)
}

func (v *visit) roleName(g *memory.Guild, id memory.RoleID) string {
	for _, role := range g.Roles {
		if role.ID == id {
			return "@" + cmp.Or(strings.TrimPrefix(role.Name, "@"), id.String())
		}
	}
	return fmt.Sprintf("@%d", id)
}
