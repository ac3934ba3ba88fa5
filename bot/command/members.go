package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/memory"
	"hark/search"
)

// factsOf is how many facts and aliases are kept of a person at most: as many as a menu holds.
const factsOf = discord.MenuLimit

const (
	removedFacts = "facts" // the menu of facts to remove

	nothingKeptHere = "Nothing is remembered here, so I don't keep that either. Those who manage a server decide it with `/hark memory`."
	youAreOut       = "You've opted out here, so I keep nothing about you. `/memory optin` changes that."
)

// checkFact refuses a fact about m that is empty, too long or known already, and a fresh one where nothing is
// remembered or if there are too many.
func (x *interaction) checkFact(m member, f memory.Fact, fresh bool) error {
	why := x.keepsNothing()
	longest := longestOf(f)
	switch n := utf8.RuneCountInString(f.Text); {
	case why != "":
	case n == 0:
		why = x.Text("There is nothing in it. Please write something.")
	case n > longest:
		why = x.Text("That is too long: at most %s characters, and it has %s.", x.Locale.Number(longest),
			x.Locale.Number(n))
	case slices.ContainsFunc(m.person.Facts, func(o memory.Fact) bool {
		return o.Text == f.Text && o.Alias == f.Alias && o.Channel == f.Channel
	}):
		why = x.Text("I know that already.")
	case fresh && !x.remembers(f.Channel):
		why = x.Text(nothingKeptHere)
	case fresh && len(m.person.Facts) >= factsOf:
		why = x.Text("I keep at most %d things about one person. Please remove one first, with `/memory remove`.", factsOf)
	default:
		return nil
	}
	return refusal(why)
}

// member is what is known of a person in a guild.
type member struct {
	person memory.Person // without an id if nothing is known
	out    bool          // whether they have opted out
}

func (c *Commands) member(ctx context.Context, x *interaction, user memory.UserID) (member, error) {
	out, err := memory.HasOptedOut(ctx, c.Memory, x.guild(), user)
	if err != nil {
		return member{}, fmt.Errorf("look whether somebody has opted out: %w", err)
	}
	found, err := c.Memory.People(ctx, x.guild(), user)
	if err != nil {
		return member{}, fmt.Errorf("look up user %d in server %d: %w", user, x.guild(), err)
	}
	person, _ := first(found)
	return member{person, out}, nil
}

// readable returns the channels that the user of x may read.
func (c *Commands) readable(ctx context.Context, x *interaction) []memory.ChannelID {
	find := func(id memory.UserID) (memory.Person, bool) { // after an error the person is unknown
		found, _ := c.Memory.People(ctx, x.guild(), id)
		return first(found)
	}
	return search.Readable(x.server, search.Place{
		Channel: memory.ChannelID(x.Channel),
		Viewer:  x.who(),
		Roles:   x.roles(),
		Sets:    c.MemberRoles.Sets(x.server),
	}, find)
}

// first returns the first of people, if there is one.
func first(people []memory.Person) (memory.Person, bool) {
	if len(people) == 0 {
		return memory.Person{}, false
	}
	return people[0], true
}

// asMember returns an action that passes what is known of the user.
func (c *Commands) asMember(do func(context.Context, *interaction, member) (response, error)) action {
	return func(ctx context.Context, x *interaction) (response, error) {
		m, err := c.member(ctx, x, x.who())
		if err != nil {
			return response{}, err
		}
		return do(ctx, x, m)
	}
}

// addFact keeps what the user says about themselves.
func (c *Commands) addFact(option string, alias bool) action {
	return c.asMember(func(ctx context.Context, x *interaction, m member) (response, error) {
		if m.out {
			return response{}, refusal(x.Text(youAreOut))
		}
		return c.keepFact(ctx, x, m, x.who(), memory.Fact{Text: x.Words(option), Alias: alias},
			x.Text("Saved. `/memory show` shows it, and `/memory remove` removes it."))
	})
}

const whomUnknown = "I can't tell whom you mean. Please choose a member."

// factAbout keeps what a manager of the server says about a member.
func (c *Commands) factAbout(ctx context.Context, x *interaction) (response, error) {
	id, given := x.OptionID("member")
	if !given {
		return response{}, refusal(x.Text(whomUnknown))
	}
	user := memory.UserID(id)
	m, err := c.member(ctx, x, user)
	switch {
	case err != nil:
		return response{}, err
	case m.out:
		return response{}, refusal(x.Text("I keep nothing about <@%d>: they've opted out.", user))
	case m.person.ID == 0:
		return response{}, refusal(x.Text("I don't know <@%d> yet: they haven't written where I remember.", user))
	}
	return c.keepFact(ctx, x, m, user, memory.Fact{Text: x.Words("text")},
		x.Text("Saved. <@%d> sees it in `/memory show`, with your name, and can remove it.", user))
}

// keepFact keeps a fact about a member together with old events, and returns done and who may be told the fact. A fact
// that isn't from a message is from the channel of x.
func (c *Commands) keepFact(ctx context.Context, x *interaction, m member, about memory.UserID, fact memory.Fact,
	done string, old ...memory.Event) (response, error) {
	fact.ID = int64(x.ID)
	fact.By = x.who()
	if fact.Message == 0 {
		fact.Channel = memory.ChannelID(x.Channel)
	}
	if err := x.checkFact(m, fact, len(old) == 0); err != nil {
		return response{}, err
	}
	return response{Content: done + "\n-# " + x.whoIsTold(fact, c.readable(ctx, x))}, c.apply(ctx, x,
		"keep what was told", append(old, memory.FactTold{
			Guild: x.guild(),
			User:  about,
			Fact:  fact,
		})...)
}

// whoIsTold says who may be told a fact. readable are the channels that the user of x may read: others aren't named.
func (x *interaction) whoIsTold(f memory.Fact, readable []memory.ChannelID) string {
	switch {
	case f.Channel == 0:
		return x.Text("I may tell it anywhere in this server.")
	case x.guild() == memory.DirectGuild:
		return x.Text("I tell it only here, in our direct messages.")
	case f.Channel != memory.ChannelID(x.Channel) && !slices.Contains(readable, f.Channel):
		return x.Text("I tell it only where everybody who reads my answer may read the channel that it is from. You can't read that channel, or not from here.")
	}
	return x.Text("I tell it only where everybody who reads my answer may read <#%d>.", f.Channel)
}

// keepsNothing returns why no facts are kept in the guild; "" if they are.
func (x *interaction) keepsNothing() string {
	switch {
	case x.Guild == 0 && !x.policy.Direct:
		return x.Text("I keep nothing from direct messages: whoever runs me decided so.")
	case x.Guild != 0 && !slices.ContainsFunc(channelIDs(x.server), x.remembers):
		return x.Text(nothingKeptHere)
	}
	return ""
}

// askFacts shows the menu of facts to remove.
func (c *Commands) askFacts(_ context.Context, x *interaction, m member) (response, error) {
	if len(m.person.Facts) == 0 {
		return response{Content: x.Text("I was told nothing about you, so there is nothing to remove.")}, nil
	}
	var options []discord.Choice
	for _, f := range m.person.Facts {
		options = append(options, discord.Choice{Label: labelOf(factText(x.Locale, f)),
			Value: strconv.FormatInt(f.ID, 10)})
	}
	return response{
		Content: x.Text("What should I forget?"),
		Components: []discord.Component{discord.Row(discord.Menu(removedFacts,
			x.Text("Choose what I should forget"), options))},
	}, nil
}

// removeFacts removes the chosen facts about the user.
func (c *Commands) removeFacts(ctx context.Context, x *interaction, m member) (response, error) {
	var gone []memory.Event
	for _, f := range m.person.Facts {
		if slices.Contains(x.Data.Values, strconv.FormatInt(f.ID, 10)) {
			gone = append(gone, memory.FactGone{
				Guild: x.guild(),
				User:  x.who(),
				Fact:  f.ID,
			})
		}
	}
	return response{Content: x.Text("Forgotten: %d things that I was told about you.", len(gone))},
		c.apply(ctx, x, "take back what was told", gone...)
}

// longestLabel is Discord's limit of an option's label in a menu.
const longestLabel = 100

// labelOf cuts s to the length of a label.
func labelOf(s string) string {
	if markdown.Units(s) <= longestLabel {
		return s
	}
	return discord.Fit(s, longestLabel-1) + "…"
}

// formFact is the form that changes a fact, with its id.
const formFact = "fact-edit"

// factTexts completes the facts about the user. The values are ids.
func (c *Commands) factTexts(ctx context.Context, x *interaction) ([]optionChoice, error) {
	m, err := c.member(ctx, x, x.who())
	var all []optionChoice
	for _, f := range m.person.Facts {
		all = append(all, optionChoice{Name: labelOf(factText(x.Locale, f)), Value: strconv.FormatInt(f.ID, 10)})
	}
	return all, err
}

// factText returns a fact as a line.
func factText(l locale.Locale, f memory.Fact) string {
	if f.Alias {
		return l.Text("also called %s", f.Text)
	}
	return f.Text
}

// factNamed returns the fact about m that x names, by its id or text, or by the id in the form.
func (x *interaction) factNamed(m member) (memory.Fact, error) {
	name := x.Which("fact")
	for _, f := range m.person.Facts {
		if strconv.FormatInt(f.ID, 10) == name || strings.EqualFold(f.Text, name) {
			return f, nil
		}
	}
	return memory.Fact{}, refusal(
		x.Text("I know nothing like that about you. Choose one of the things that I show while you type; `/memory show` has them all."))
}

// askFact returns the form of /memory edit, if no text is given.
func (c *Commands) askFact(ctx context.Context, x *interaction) (discord.Form, error) {
	if x.Words("text") != "" {
		return discord.Form{}, nil
	}
	m, err := c.member(ctx, x, x.who())
	if err != nil {
		return discord.Form{}, err
	}
	if why := x.keepsNothing(); why != "" {
		return discord.Form{}, refusal(why)
	}
	f, err := x.factNamed(m)
	if err != nil {
		return discord.Form{}, err
	}
	return discord.Form{
		ID:    ID(formFact, f.ID),
		Title: x.Text("What should I know instead?"),
		Fields: []discord.Component{
			discord.Input(discord.InputText, "text", x.Text("About you"), f.Text, longestOf(f), true),
		},
	}, nil
}

// longestOf returns how many characters a fact may have.
func longestOf(f memory.Fact) int {
	if f.Alias {
		return longestAlias
	}
	return longestFact
}

// editFact replaces a fact. The old one is removed, also from answers. If it was learned from a message, so is the new
// one: it is told only where the message may be read, and goes with it. Else it belongs to the channel of x.
func (c *Commands) editFact(ctx context.Context, x *interaction, m member) (response, error) {
	if m.out {
		return response{}, refusal(x.Text(youAreOut))
	}
	f, err := x.factNamed(m)
	if err != nil {
		return response{}, err
	}
	gone := memory.FactGone{
		Guild: x.guild(),
		User:  x.who(),
		Fact:  f.ID,
	}
	f.Text = x.Words("text")
	return c.keepFact(ctx, x, m, x.who(), f,
		x.Text("Changed. `/memory show` shows it. The old text is forgotten, and so are my answers that used it."),
		gone)
}

const learnNotYet = "You want me to learn about you from what you write here, but those who manage this server haven't switched it on."

// learnMember sets whether facts are learned from what the user writes.
func (c *Commands) learnMember(ctx context.Context, x *interaction, m member) (response, error) {
	switch {
	case x.Guild == 0:
		return response{}, refusal(x.Text("That works in servers only: I learn nothing from direct messages."))
	case m.out:
		return response{}, refusal(x.Text(youAreOut))
	}
	said := x.Text("From now on I learn about you from what you write here, where that is remembered. `/memory show` shows what I learned and from where; `/memory remove` removes it.")
	switch {
	case !x.Is("on"):
		said = x.Text("I learn nothing about you from what you write here. `/memory show` shows what I learned before, and `/memory remove` removes it.")
	case x.server.Learn.IsZero():
		said = x.Text(learnNotYet)
	}
	return response{Content: said}, c.learn(ctx, x, x.who())
}

// learnGuild sets it for all members who want it.
func (c *Commands) learnGuild(ctx context.Context, x *interaction) (response, error) {
	said := x.Text("I learn nothing about members of this server from what they write.")
	if x.Is("on") {
		said = x.Text("From now on I learn about members of this server from what they write, but only about those who switch it on for themselves with `/memory learn`.")
	}
	return response{Content: said}, c.learn(ctx, x, 0)
}

func (c *Commands) learn(ctx context.Context, x *interaction, user memory.UserID) error {
	return c.apply(ctx, x, "keep whether facts are learned", memory.Learn{
		Guild: x.guild(),
		User:  user,
		On:    x.Is("on"),
		At:    c.Now(),
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
