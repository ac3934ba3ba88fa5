package command

import (
	"context"
	"strconv"
	"strings"

	"hark/bot/discord"
	"hark/bot/markdown"
	"hark/memory"
)

func limitedQuestions(l *memory.Limit) *int { return &l.Messages }

func limitedTokens(l *memory.Limit) *int { return &l.Tokens }

// limitRole returns the role of a limit as memory.RoleLimit has it.
func limitRole(g *memory.Guild, all bool) memory.RoleID {
	if all {
		return 0
	}
	return memory.RoleID(g.ID)
}

func (c *Commands) askLimits(_ context.Context, x *interaction) (discord.Form, error) {
	f := discord.Form{ID: ID(panelLimits, strings.Join(x.Args(), ":")),
		Title: x.Text("0: no limit; empty: the default")}
	for _, of := range limitFields {
		limit := x.server.LimitOf(limitRole(x.server, of.all))
		value := ""
		if n := *of.of(&limit); n != memory.AsConfigured {
			value = strconv.Itoa(n)
		}
		f.Fields = append(f.Fields, discord.Input(discord.InputLine, of.id, x.Keyed(of.label), value, 15, false))
	}
	return f, nil
}

// setLimits sets the limits from the form: all of them or none.
func (c *Commands) setLimits(ctx context.Context, p *panel) error {
	limits := map[memory.RoleID]memory.Limit{}
	for _, of := range limitFields {
		n, ok := limitIn(p.Option(of.id))
		if !ok {
			p.note = p.Text("“%s” is no limit. Please write a number from 0 to %s, or leave it empty. Nothing was changed.", markdown.Plain(p.Option(of.id), 30), p.Locale.Number(mostOfLimit))
			return nil
		}
		role := limitRole(p.server, of.all)
		limit := limits[role]
		*of.of(&limit) = n
		limits[role] = limit
	}
	return p.after(c.chooseLimits(ctx, p.interaction, limits))
}

// limitIn parses a limit; empty: memory.AsConfigured.
func limitIn(text string) (int, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return memory.AsConfigured, true
	}
	n, err := strconv.Atoi(strings.NewReplacer(" ", "", ",", "", ".", "", "'", "", "\u00a0", "", "\u202f",
		"").Replace(text))
	return n, err == nil && limitDigits.MatchString(text) && n <= mostOfLimit
}
