package bot

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"hark/bot/discord"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

// conversation plays a script. After "$ " is what somebody does; below it is what they are shown and, after "~", what
// is logged. ana manages the server, bo doesn't. Steps:
//
//	channel NAME [in NAME], thread NAME in NAME, category NAME, secret NAME   a channel more; only Hark sees a secret one
//	role NAME [manage-messages], member NAME                                 a role or a member more
//	server lets ROLE use COMMAND
//	WHO gets ROLE, WHO loses all roles, WHO speaks LANGUAGE
//	WHO [in NAME | directly] says TEXT, or asks TEXT, which is what was said last then, and shown
//	WHO [in NAME | directly] /COMMAND OPTION:VALUE ...                       "\n" is a new line, "^" what was said last
//	WHO types /COMMAND OPTION:VALUE                                          and is offered values
//	WHO picks APP of MESSAGE | of @NAME                                      in the menu of a message or a member
//	WHO presses LABEL [= VALUE, VALUE]                                       a button or a menu of what was shown last
//	WHO fills in FIELD=VALUE | FIELD=VALUE                                   the form that was opened last
//	later SPAN, restart [keeping SPAN], log fails, log can't be read, log can't forget, log works
type conversation struct {
	*scene
	names  map[string]discordtest.ID
	form   *discordtest.Interaction
	panel  discordtest.Message // the last one shown with buttons or menus
	said   discordtest.Message
	logged int // events before the step
	begun  int // forgettings before it
	text   strings.Builder
}

// TestConversations plays the scripts. -update writes what people are shown.
func TestConversations(t *testing.T) {
	t.Parallel()
	const file = "testdata/conversations.txtar"
	scripts, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range scripts.Files {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			c := &conversation{scene: choosing(t)}
			c.names = map[string]discordtest.ID{"ana": c.ana.ID, "bo": c.bo.ID, "Hark": c.discord.Bot.ID,
				"general": c.channel}
			c.oracle.lore = func(ctx context.Context, q answer.Question) ([]memory.Lore, error) {
				return c.log.Lore(ctx, q.Guild)
			}
			c.oracle.answer = takes(1234)
			for line := range strings.Lines(string(f.Data)) {
				if step, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ "); is {
					c.logged, c.begun = len(c.log.eventsNow()), len(c.log.forgetting.begun)
					c.text.WriteString(line)
					before := c.refusals(t)
					c.plays(t, step)
					c.decisions()
					for why, n := range c.refusals(t) {
						if n > before[why] {
							fmt.Fprintln(&c.text, "~ refused:", why)
						}
					}
				} else if strings.HasPrefix(line, "$#") {
					c.text.WriteString(line)
				}
			}
			scripts.Files[i].Data = []byte(c.text.String())
		})
	}
	t.Cleanup(func() { golden.File(t, file, string(txtar.Format(scripts))) })
}

func (c *conversation) plays(t *testing.T, step string) {
	t.Helper()
	words := strings.Fields(step)
	switch rest := strings.Join(words[1:], " "); words[0] {
	case "channel", "thread", "category", "secret":
		c.adds(t, words[0], words[1], words[2:])
	case "role":
		may := map[bool]discordtest.Permissions{true: discordtest.ManageMessages}
		c.names[words[1]] = c.discord.AddRole(c.guild.ID, words[1], may[len(words) > 2]).ID
	case "member":
		c.names[rest] = c.discord.AddMember(c.guild.ID, discordtest.User{Username: rest}).ID
	case "later":
		c.discord.Advance(spanOfStep(t, rest))
	case "restart":
		cfg := c.bot.cfg
		if len(words) > 1 {
			cfg.Retention = spanOfStep(t, words[2])
		}
		c.restartWith(t, cfg)
	case "server":
		c.discord.SetCommandPermission(c.guild.ID, c.names[words[2]], words[4], true)
	case "log":
		fails := map[string]error{rest: errDown}
		c.log.fail(fails["fails"])
		c.breakReading(fails["can't be read"])
		c.log.forgetting.fails = fails["can't forget"]
	default:
		c.does(t, c.names[words[0]], rest)
	}
}

func (c *conversation) adds(t *testing.T, kind, name string, in []string) {
	t.Helper()
	ch := discordtest.Channel{Name: name,
		Type: map[string]discordtest.ChannelType{"thread": discordtest.PublicThread,
			"category": discordtest.Category}[kind]}
	if len(in) > 0 {
		parent := c.names[in[1]]
		ch.ParentID = &parent
	}
	if kind == "secret" {
		c.names[name] = c.secret(name).ID
	} else {
		c.names[name] = c.discord.AddChannel(c.guild.ID, ch).ID
	}
	c.discord.WaitTakenIn()
	c.idle(t)
}

// does plays what a member does.
func (c *conversation) does(t *testing.T, who discordtest.ID, what string) {
	t.Helper()
	at := c.channel
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "in":
		var name string
		name, what, _ = strings.Cut(rest, " ")
		at = c.names[name]
	case "directly":
		at, what = c.discord.DM(who, "hello").ChannelID, rest
		c.discord.WaitTakenIn()
		c.idle(t)
	}
	verb, rest, _ = strings.Cut(what, " ")
	switch verb {
	case "says":
		c.said = c.discord.Say(at, who, rest)
		c.discord.WaitTakenIn()
		c.idle(t)
	case "asks":
		sent := len(c.discord.Sent(at))
		c.discord.Say(at, who, c.discord.Bot.Mention()+" "+rest)
		c.discord.WaitTakenIn()
		c.idle(t)
		for _, m := range c.discord.Sent(at)[sent:] {
			c.panel, c.said = m.Message, m.Message
			fmt.Fprintln(&c.text, "Everybody sees:\n"+c.looks(m))
		}
	case "gets", "loses":
		c.discord.UpdateMember(c.guild.ID, who, func(m *discordtest.Member) {
			if m.Roles = append(m.Roles, c.names[rest]); verb == "loses" {
				m.Roles = nil
			}
		})
	case "speaks":
		c.discord.SetLocale(who, rest)
	case "types":
		path, options := c.command(t, rest)
		for _, name := range slices.Sorted(maps.Keys(c.discord.Complete(at, who, path, options...).Wait().Choices())) {
			fmt.Fprintln(&c.text, "- "+c.reads(name))
		}
	case "picks":
		app, of, _ := strings.Cut(rest, " of ")
		if name, is := strings.CutPrefix(of, "@"); is {
			c.shows(t, c.discord.UserAction(at, c.names[name], who, app))
		} else {
			c.shows(t, c.discord.MessageAction(c.said, who, app))
		}
	case "presses":
		label, values, _ := strings.Cut(rest, " = ")
		at := slices.IndexFunc(partsOf(c.panel), func(p discord.Component) bool { return c.labelOf(p) == label })
		if at < 0 {
			t.Fatalf("nothing reads %q", label)
		}
		var chosen []string
		for value := range strings.SplitSeq(values, ", ") {
			if name, is := strings.CutPrefix(value, "#"); is {
				value = c.names[name].String()
			}
			for _, o := range partsOf(c.panel)[at].Options {
				if o.Label == value {
					value = o.Value
				}
			}
			chosen = append(chosen, value)
		}
		if values == "" {
			chosen = nil
		}
		c.shows(t, c.discord.Click(c.panel, who, partsOf(c.panel)[at].CustomID, chosen...))
	case "fills":
		fields := map[string]string{}
		for field := range strings.SplitSeq(strings.TrimPrefix(rest, "in "), " | ") {
			name, value, _ := strings.Cut(field, "=")
			fields[name] = strings.ReplaceAll(value, `\n`, "\n")
		}
		c.shows(t, c.form.Submit(fields))
	default:
		path, options := c.command(t, what)
		c.shows(t, c.discord.Slash(at, who, path, options...))
	}
}

// spanOfStep reads a span such as 30d.
func spanOfStep(t *testing.T, text string) time.Duration {
	t.Helper()
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour,
		'd': 24 * time.Hour}[text[len(text)-1]]
	n, err := strconv.Atoi(text[:len(text)-1])
	if err != nil || unit == 0 {
		t.Fatalf("%q is no span", text)
	}
	return time.Duration(n) * unit
}

// command reads a command's path and options.
func (c *conversation) command(t *testing.T, text string) (path string, options []discordtest.Opt) {
	t.Helper()
	var e discordtest.Command
	for _, is := range c.discord.Registered() {
		if strings.HasPrefix(text+" ", "/"+is.Path+" ") && len(is.Path) > len(e.Path) {
			e = is
		}
	}
	if e.Path == "" {
		t.Fatalf("no command is %q", text)
	}
	names := []string{}
	for _, o := range e.Options {
		names = append(names, o.Name)
	}
	given := regexp.MustCompile(" (" + strings.Join(names, "|") + "):")
	text = strings.TrimPrefix(text, "/"+e.Path)
	found := given.FindAllStringSubmatchIndex(text, -1)
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		name, value := text[at[2]:at[3]], text[at[1]:end]
		options = append(options, opt(name, c.value(e.Options[slices.Index(names, name)].Type, value)))
	}
	return e.Path, options
}

// value is an option's value as Discord sends it.
func (c *conversation) value(kind int, text string) any {
	switch kind {
	case discord.OptionUser, discord.OptionChannel, discord.OptionRole:
		return c.names[strings.TrimLeft(text, "@#")]
	case discord.OptionNumber:
		n, _ := strconv.Atoi(text)
		return n
	case discord.OptionSwitch:
		return text == "true"
	}
	link := fmt.Sprintf("https://discord.com/channels/%d/%d/%d", c.guild.ID, c.said.ChannelID, c.said.ID)
	return strings.NewReplacer(`\n`, "\n", "^", link).Replace(text)
}

// shows writes down what an interaction shows.
func (c *conversation) shows(t *testing.T, i *discordtest.Interaction) {
	t.Helper()
	if r := i.Wait(); r.Form() != nil {
		c.form = i
		for _, field := range slices.Sorted(maps.Keys(r.Form())) {
			fmt.Fprintf(&c.text, "[ %s: %q ]\n", field, c.reads(r.Form()[field]))
		}
		return
	}
	c.idle(t)
	for _, m := range append([]discordtest.Sent{i.WaitMessage()}, i.FollowUps()...) {
		if m.Flags&discordtest.Ephemeral == 0 {
			c.text.WriteString("Everybody sees:\n")
		}
		if len(m.Components) > 0 {
			c.panel = m.Message
		}
		fmt.Fprintln(&c.text, c.looks(m))
	}
}

// decisions writes down what a step logged.
func (c *conversation) decisions() {
	for _, e := range c.log.eventsNow()[c.logged:] {
		switch e := e.(type) {
		case memory.Posted:
			if e.Message.Kind != memory.FromHark {
				fmt.Fprintf(&c.text, "~ Posted in %s: %s\n", c.reads(e.Message.Channel.String()),
					c.reads(e.Message.Content))
			}
		case memory.Chose, memory.SettingChosen, memory.LimitChosen, memory.Learn, memory.Opted,
			memory.FactTold, memory.FactGone, memory.LoreTold, memory.LoreGone, memory.Starred, memory.Deleted:
			c.decision(e)
		}
	}
	for _, f := range c.log.forgetting.begun[c.begun:] {
		c.decision(f)
	}
}

var fractionOf = regexp.MustCompile(`(\.\d+)? \+0000 UTC`)

// decision writes down an event without its server and time, which it must have.
func (c *conversation) decision(e any) {
	v := reflect.ValueOf(e)
	line := "~ " + v.Type().Name()
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Name; {
		case name == "Guild" && v.Field(i).Interface() != c.guildID, name == "At" &&
			v.Field(i).IsZero():
			line += fmt.Sprintf(" WRONG %s:%v", name, v.Field(i))
		case name != "Guild" && name != "At" && !v.Field(i).IsZero():
			line += fmt.Sprintf(" %s:%+v", name, v.Field(i))
		}
	}
	line = fractionOf.ReplaceAllString(c.reads(line), "") // decisions are told apart by it
	fmt.Fprintln(&c.text, strings.ReplaceAll(line, "\n", `\n`))
}
