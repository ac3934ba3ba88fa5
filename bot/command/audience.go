package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/memory"
)

// mostAsked is how many members Discord is asked about before something is stated of roles.
const mostAsked = 20

const (
	audienceFoot  = "-# It decides where I may repeat what was said elsewhere: state only what is always true. `/privacy` shows it to all members. Where Discord tells me members' roles, I use these instead."
	audienceWho   = "-# Only the owner and administrators can state something. Once I see a member who has the first role and not the second, it no longer counts."
	mayNotState   = "Only the owner of this server and members with the permission Administrator can state that: it decides who may be told what. Everybody who can use this command can take it back."
	contradicted  = "I can't state that: <@%d> has <@&%d> and doesn't have <@&%d>."
	memberRefutes = "I can't state that: Discord tells me of a member who has <@&%d> and doesn't have <@&%d>."
	lapsedNow     = "This no longer counts, because it may have been stated by somebody who is neither the owner nor an administrator. One of them can state it again:"
	refutedNow    = "I no longer believe this, because I saw a member who has the first role and doesn't have the second:"
)

// audience states that one role implies another, takes that back, or shows what is stated.
func (c *Commands) audience(ctx context.Context, x *interaction) (response, error) {
	one, first := x.OptionID("role")
	other, second := x.OptionID("also")
	i := memory.Implied{Role: memory.RoleID(one), Also: memory.RoleID(other)}
	var err error
	shown := ""
	switch {
	case !first && !second:
		shown = impliedRolesText(x.Locale, x.server)
	case !first || !second || i.Role == i.Also:
		err = refusal(x.Text("Please choose two roles."))
	case x.Is("reset"): // which only ever has Hark tell less
		shown = x.Text("Taken back: whoever has <@&%d> may be without <@&%d>.", i.Role, i.Also)
		err = c.decideImplied(ctx, x, x.server.TakenBack(i, x.who(), c.Now()))
	default:
		shown, err = c.state(ctx, x, i)
	}
	return response{Content: markdown.Lines(shown, x.Text(audienceFoot), x.Text(audienceWho))}, err
}

// state states i, and says so.
func (c *Commands) state(ctx context.Context, x *interaction, i memory.Implied) (string, error) {
	if !x.May(memory.Administrator) && x.who() != x.server.Owner {
		return "", refusal(x.Text(mayNotState))
	}
	if !x.server.MayHave(i.Role) || !x.server.MayHave(i.Also) {
		return "", refusal(x.Text("Please choose roles that only some members have: not a bot's role, and not the one that everybody has."))
	}
	if err := c.contradicts(ctx, x, i); err != nil {
		return "", err
	}
	if err := c.decideImplied(ctx, x, x.server.Stated(i, x.who(), c.Now())); err != nil {
		return "", err
	}
	if !slices.Contains(x.server.Implied(), i) { // somebody was seen meanwhile
		return impliedRolesText(x.Locale, x.server), nil
	}
	return x.Text("Stated: whoever has <@&%d> has <@&%d>.", i.Role, i.Also), nil
}

// decideImplied commits what becomes of a statement, in the order in which members are seen.
func (c *Commands) decideImplied(ctx context.Context, x *interaction, e memory.SettingChosen) error {
	if err := c.Queue.Commit(ctx, []memory.Event{e}); err != nil {
		return fmt.Errorf("keep what is stated of roles in server %d: %w", x.Guild, err)
	}
	return c.loadGuild(ctx, x)
}

// contradicts returns a refusal if somebody who is known contradicts i. Discord is asked about those who did when they were
// last seen.
func (c *Commands) contradicts(ctx context.Context, x *interaction, i memory.Implied) error {
	if i.RefutedBy(x.roles()) {
		return refusal(x.Text(contradicted, x.who(), i.Role, i.Also))
	}
	if c.MemberRoles.Refute(x.guild(), i) {
		return refusal(x.Text(memberRefutes, i.Role, i.Also))
	}
	known, err := c.Memory.People(ctx, x.guild())
	if err != nil {
		return fmt.Errorf("look up the people of server %d: %w", x.Guild, err)
	}
	asked := 0
	for _, p := range known {
		if !p.Refutes(i) || asked == mostAsked {
			continue
		}
		asked++
		m, err := c.Client.Member(ctx, x.guild(), p.ID)
		if errors.Is(err, discord.ErrNoMember) {
			continue
		}
		if err != nil {
			return err
		}
		if i.RefutedBy(discord.RolesOf(m)) {
			return refusal(x.Text(contradicted, p.ID, i.Role, i.Also))
		}
	}
	return nil
}

// impliedRolesText lists what is stated of roles, and what of it doesn't count any more.
func impliedRolesText(l locale.Locale, g *memory.Guild) string {
	counts := g.Implied()
	refuted := g.Suspended()
	lapsed := g.Lapsed()
	if len(counts)+len(refuted)+len(lapsed) == 0 {
		return l.Text("Nothing is stated: a member may have any roles.")
	}
	shown := ""
	if len(counts) > 0 {
		shown = impliedList(l, l.Text("Those who manage this server state:"), counts)
	}
	if len(refuted) > 0 {
		shown = markdown.Lines(shown, impliedList(l, l.Text(refutedNow), refuted))
	}
	if len(lapsed) > 0 {
		shown = markdown.Lines(shown, impliedList(l, l.Text(lapsedNow), lapsed))
	}
	return shown
}

// impliedList lists statements below a heading, as far as there is room.
func impliedList(l locale.Locale, heading string, all []memory.Implied) string {
	shown := heading
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
	stated := len(x.server.Implied())+len(x.server.Suspended())+len(x.server.Lapsed()) > 0
	return when(stated, impliedRolesText(x.Locale, x.server))
}

// refutedLine says what of what was stated of roles doesn't count any more; "" if all does.
func (x *interaction) refutedLine() string {
	lines := ""
	if all := x.server.Lapsed(); len(all) > 0 {
		lines = "✗ " + impliedList(x.Locale, x.Text(lapsedNow), all)
	}
	if all := x.server.Suspended(); len(all) > 0 {
		lines = markdown.Lines(lines, "✗ "+impliedList(x.Locale, x.Text(refutedNow), all),
			x.Text("The owner or an administrator can state it again with `/hark audience`, once it is true."))
	}
	return lines
}
