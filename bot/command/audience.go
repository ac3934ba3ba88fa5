package command

import (
	"context"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

// audience states that one role implies another, takes that back, or shows what is stated.
func (c *Commands) audience(ctx context.Context, x *interaction) (response, error) {
	one, first := x.OptionID("role")
	other, second := x.OptionID("also")
	i := memory.Implied{Role: memory.RoleID(one), Also: memory.RoleID(other)}
	value, done := answer.SettingOn, x.Text("Stated: whoever has <@&%d> has <@&%d>.", i.Role, i.Also)
	if x.Is("reset") {
		value, done = "", x.Text("Taken back: whoever has <@&%d> may be without <@&%d>.", i.Role, i.Also)
	}
	foot := x.Text("-# It decides where I may repeat what was said elsewhere: state only what is always true. `/privacy` shows it to all members. Where Discord tells me members' roles, I use these instead.")
	switch {
	case !first && !second:
		return response{Content: markdown.Lines(impliedRolesText(x.Locale, x.server), foot)}, nil
	case !first || !second || i.Role == i.Also:
		return response{}, refusal(x.Text("Please choose two roles."))
	case value != "" && (!x.server.MayHave(i.Role) || !x.server.MayHave(i.Also)):
		return response{}, refusal(x.Text("Please choose roles that only some members have: not a bot's role, and not the one that everybody has."))
	}
	return response{Content: markdown.Lines(done, foot)}, c.setAt(ctx, x, 0, i.Setting(), value)
}

// impliedRolesText lists what is stated of roles.
func impliedRolesText(l locale.Locale, g *memory.Guild) string {
	all := g.Implied()
	if len(all) == 0 {
		return l.Text("Nothing is stated: a member may have any roles.")
	}
	shown := l.Text("Those who manage this server state:")
	for _, i := range all {
		if len(shown) > pageLimit/3 {
			return markdown.Lines(shown, l.Text("- and more"))
		}
		shown = markdown.Lines(shown, l.Text("- whoever has <@&%d> has <@&%d>", i.Role, i.Also))
	}
	return shown
}

// rolesHere says how Hark knows which roles members have.
func (c *Commands) rolesHere(x *interaction) string {
	if c.MemberRoles.Sets(x.server) != nil {
		return x.Text("For that, Discord tells me who has which roles. I don't store a list of members.")
	}
	return when(len(x.server.Implied()) > 0, impliedRolesText(x.Locale, x.server))
}
