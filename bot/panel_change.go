package bot

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"hark/internal/answer"
	"hark/memory"
)

// chooseChannel shows what is set for the channel that was chosen.
func (c *commands) chooseChannel(_ context.Context, x *exchange, p *panel) error {
	p.goTo(x.value())
	return nil
}

// chooseServer shows what is set for the place in the button's id.
func (c *commands) chooseServer(context.Context, *exchange, *panel) error { return nil }

func (c *commands) chooseKey(_ context.Context, x *exchange, p *panel) error {
	p.key = ""
	for _, key := range panelKeys {
		if string(key) == x.value() {
			p.key = key
		}
	}
	if p.key == "" {
		p.note = p.text(staleChoice)
	}
	return nil
}

// value is the first that was chosen from a menu; "" if none was.
func (i *wireInteraction) value() string {
	if len(i.Data.Values) == 0 {
		return ""
	}
	return i.Data.Values[0]
}

// setKey sets what was chosen.
func (c *commands) setKey(ctx context.Context, x *exchange, p *panel) error {
	value, err := c.bot.cfg.Choices.Check(p.key, x.value())
	if p.key == "" || err != nil { // of a menu that is older than what can be chosen
		p.note = p.text(staleChoice)
		return nil
	}
	return c.setIn(ctx, x, p, p.key, value)
}

// setIn sets a key at the panel's place, and has the panel show it.
func (c *commands) setIn(ctx context.Context, x *exchange, p *panel, key memory.Setting, value string) error {
	return p.after(x, c.setAt(ctx, x, p.at, key, value))
}

// after has the panel show what holds after a change, if that didn't fail.
func (p *panel) after(x *exchange, err error) error {
	p.guild, p.note = x.server, "✓ "+p.text("Done. It holds from the next question on.")
	return err
}

func (c *commands) ownPersona(ctx context.Context, x *exchange, p *panel) error {
	return c.setIn(ctx, x, p, memory.SettingPersona, "")
}

func (c *commands) askPanelPersona(_ context.Context, x *exchange) (form, error) {
	at, err := x.place()
	if err != nil {
		return form{}, err
	}
	return x.personaForm(panelPersona, at)
}

func (c *commands) setPanelPersona(ctx context.Context, x *exchange, p *panel) error {
	value, err := c.bot.cfg.Choices.Check(memory.SettingPersona, x.persona())
	if err != nil {
		p.note = p.text("I can't do that: %s.", p.complaint(err))
		return nil
	}
	return c.setIn(ctx, x, p, memory.SettingPersona, value)
}

func (c *commands) pauseNow(ctx context.Context, x *exchange, p *panel) error {
	value := answer.SettingOn
	if args := x.args(); len(args) > 1 && args[1] != answer.SettingOn {
		d, ok := spanOf(args[1])
		if !ok {
			p.note = p.text(staleChoice)
			return nil
		}
		value = c.pauseUntil(d)
	}
	return c.setIn(ctx, x, p, memory.SettingPaused, value)
}

func (c *commands) goOn(ctx context.Context, x *exchange, p *panel) error {
	return c.setIn(ctx, x, p, memory.SettingPaused, "")
}

// limitFields are what stands in the form for limits: whose limit, and of what.
var limitFields = []struct {
	id     string
	guild  bool // of all members together
	tokens bool // rather than questions
}{{"each-messages", false, false}, {"each-tokens", false, true}, {"all-messages", true, false}, {"all-tokens", true, true}}

// limitRole is the role whose limit it is, as memory.RoleLimit tells them.
func limitRole(g *memory.Guild, all bool) memory.RoleID {
	if all {
		return 0
	}
	return memory.RoleID(g.ID)
}

func (c *commands) askLimits(_ context.Context, x *exchange) (form, error) {
	labels := []string{x.text("Each member: questions a minute"), x.text("Each member: tokens a day"), x.text("All together: questions a minute"), x.text("All together: tokens a day")}
	f := form{ID: panelLimits + ":" + strings.Join(x.args(), ":"), Title: x.text("0: no limit; empty: as I was set up")}
	for i, of := range limitFields {
		limit := x.server.LimitOf(limitRole(x.server, of.guild))
		n, value := limit.Messages, ""
		if of.tokens {
			n = limit.Tokens
		}
		if n != memory.AsConfigured {
			value = strconv.Itoa(n)
		}
		f.Fields = append(f.Fields, field{ID: of.id, Label: labels[i], Value: value, Most: 15})
	}
	return f, nil
}

// setLimits decides what was written in the form, all of it or nothing.
func (c *commands) setLimits(ctx context.Context, x *exchange, p *panel) error {
	limits := map[bool]memory.Limit{}
	for _, of := range limitFields {
		n, ok := limitIn(x.field(of.id))
		if !ok {
			p.note = p.text("“%s” is no limit. Please write a number from 0 to %s, or leave it empty. Nothing was changed.", plain(x.field(of.id), 30), x.locale.number(mostOfLimit))
			return nil
		}
		limit := limits[of.guild]
		if of.tokens {
			limit.Tokens = n
		} else {
			limit.Messages = n
		}
		limits[of.guild] = limit
	}
	var events []memory.Event
	for _, all := range []bool{false, true} {
		if role := limitRole(p.guild, all); limits[all] != p.guild.LimitOf(role) {
			events = append(events, memory.LimitChosen{Guild: x.guild(), RoleLimit: memory.RoleLimit{Role: role, Limit: limits[all]}, At: c.bot.now()})
		}
	}
	return p.after(x, c.apply(ctx, x, "keep limits", events...))
}

// limitDigits are digits, perhaps in groups of three.
var limitDigits = regexp.MustCompile(`^-?[0-9]+$|^[0-9]{1,3}([ ,.'\x{a0}\x{202f}][0-9]{3})+$`)

// limitIn is a limit as somebody writes it: digits, perhaps in groups.
func limitIn(text string) (int, bool) {
	text = strings.TrimSpace(text)
	grouped := limitDigits.MatchString(text)
	text = strings.NewReplacer(" ", "", ",", "", ".", "", "'", "", "\u00a0", "", "\u202f", "").Replace(text)
	if text == "" {
		return memory.AsConfigured, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && grouped && n >= 0 && n <= mostOfLimit
}
