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
}

// settingRow is a value, where it holds and who set it.
type settingRow struct {
	Key, Value string
	Where      refOf // empty: in the whole server
	By         refOf
	Command    string // that changes it
}

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
	if d.Guild, err = v.guildOrOnly(d.Guilds); err != nil {
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
	add := func(rows *[]settingRow, key, value string, where refOf, by memory.UserID, command string) {
		if value != "" {
			*rows = append(*rows, settingRow{key, value, where, v.chooser(g, by), command})
		}
	}
	for _, key := range memory.Settings() {
		add(&d.Rows, string(key), g.Settings[key], refOf{}, g.SetBy[key], "/hark set")
		for _, c := range inOrder(g) {
			add(&d.Rows, string(key), c.Settings[key], v.channelRef(g.ID, c.ID), c.SetBy[key], "/hark set")
		}
	}
	for _, i := range g.Implied() {
		add(&d.Rows, "audience", v.roleName(g, i.Role)+" also has "+v.roleName(g, i.Also), refOf{}, g.SetBy[i.Setting()],
			"/hark audience")
	}
	add(&d.Keeps, "remember", choiceNames[g.Choice], refOf{}, g.By, "/hark memory")
	for _, c := range inOrder(g) {
		add(&d.Keeps, "remember", choiceNames[c.Choice], v.channelRef(g.ID, c.ID), c.By, "/hark memory")
	}
	for _, l := range g.Limits {
		row := limitRow{By: v.chooser(g, l.By), Messages: limitText(l.Messages), Tokens: limitText(l.Tokens)}
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
