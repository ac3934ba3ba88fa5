package bot

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

// usable has a use by the guild's owner of every command, by its path.
func (s *scene) usable(t *testing.T, said, answered discordtest.Message) map[string]func() *discordtest.Interaction {
	t.Helper()
	given := map[string]any{"question": "when?", "text": "x", "name": "Barn", "fact": "x", "on": true,
		"member": s.bo.ID, "setting": "mode", "before": "1d",
		"answer": "off", "keep": "forever"}
	all := map[string]func() *discordtest.Interaction{}
	for _, c := range s.discord.Registered() {
		all[c.Path] = func() *discordtest.Interaction {
			switch {
			case c.Path == whyCommand:
				return s.discord.MessageAction(answered, s.guild.Owner.ID, c.Path)
			case c.Type == discord.CommandMessage:
				return s.discord.MessageAction(said, s.guild.Owner.ID, c.Path)
			case c.Type == discord.CommandUser:
				return s.discord.UserAction(s.channel, s.guild.Owner.ID, s.guild.Owner.ID, c.Path)
			}
			var options []discordtest.Opt
			for _, o := range c.Options {
				if value, is := given[o.Name]; is && o.Name != "before" || o.Required {
					options = append(options, opt(o.Name, value))
				}
			}
			return s.discord.Slash(s.channel, s.guild.Owner.ID, c.Path, options...)
		}
	}
	return all
}

// everything is a scene in which every command works, with a message of bo's and an answer.
func everything(t *testing.T) (s *scene, said, answered discordtest.Message) {
	t.Helper()
	s = choosing(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return promptOf(t, "hello"), nil
	}
	s.oracle.catchUp = func(context.Context, answer.Question, time.Time) (answer.CaughtUp, error) {
		return answer.CaughtUp{}, nil
	}
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{}, nil
	}
	s.holding(12, nil)
	said = s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.discord.Say(s.channel, s.guild.Owner.ID, "hello")
	s.ask("when?")
	answered = s.answered(t, s.channel, "Friday").Message
	s.idle(t)
	return s, said, answered
}

// Every use is acknowledged while the log is stuck, and answered once it has all that came before. Status is at once.
func TestUsesAreAcknowledgedWhateverTheLogDoes(t *testing.T) {
	t.Parallel()
	s, said, answered := everything(t)
	all := s.usable(t, said, answered)
	var pressed []func() *discordtest.Interaction
	for path, does := range map[string]string{
		"memory optout": confirmOptOut, "recall": pagerName, "hark retention": keepsFor, "hark purge channel": purges,
		forgetCommand: confirmForgetThis,
	} {
		use := all[path]
		if path == "hark retention" {
			use = func() *discordtest.Interaction {
				return s.discord.Slash(s.channel, s.guild.Owner.ID, path, opt("keep", "1d"))
			}
			s.discord.Advance(48 * time.Hour)
		}
		m := use().WaitMessage()
		id := buttonOf(t, m.Message, does)
		if does == pagerName {
			id = buttonsIn(m)["»"].CustomID
		}
		pressed = append(pressed, func() *discordtest.Interaction {
			return s.discord.Click(m.Message, s.guild.Owner.ID, id)
		})
	}
	s.idle(t)
	asked := len(s.oracle.questions())
	release := s.log.hold()
	s.discord.Say(s.channel, s.bo.ID, "waits")
	var waiting []*discordtest.Interaction
	for path, use := range all {
		i := use()
		if r := i.Wait(); !r.Deferred() || !r.Ephemeral {
			t.Errorf("%s is answered with %+v", path, r)
		}
		if path == "hark status" {
			i.WaitMessage()
		}
		waiting = append(waiting, i)
	}
	for _, press := range pressed {
		i := press()
		if r := i.Wait(); !r.Deferred() {
			t.Errorf("a press is answered with %+v", r)
		}
	}
	if n := len(s.oracle.questions()) - asked; n != 0 {
		t.Errorf("%d were asked before all is logged that came before", n)
	}
	s.discord.Advance(10 * time.Second) // an acknowledgement would be too late now
	release()
	for _, i := range waiting {
		i.WaitMessage()
	}
}

// Whatever fails, its user is told so.
func TestUsesThatFailSaySo(t *testing.T) {
	t.Parallel()
	s, said, answered := everything(t)
	told := func(why string) {
		t.Helper()
		all := s.usable(t, said, answered)
		for _, path := range slices.Sorted(maps.Keys(all)) {
			if said := s.reads(all[path]().WaitMessage().Content); strings.Contains(said, "CODE") {
				why += "\n" + path + ": " + said
			}
		}
		golden.Seen(t, why)
	}
	s.log.fail(errDown)
	told("the log can't be written")
	s.log.fail(nil)
	s.breakReading(errDown)
	s.log.forgetting.fails = errDown
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return answer.Recalled{}, errDown
	}
	s.oracle.lore = func(context.Context, answer.Question) ([]memory.Lore, error) { return nil, errDown }
	s.oracle.find = func(answer.Question) (answer.FindResult, error) { return answer.FindResult{}, errDown }
	told("nothing can be read")
}

// waitIDs waits until the bot knows its commands' ids.
func (s *scene) waitIDs() {
	s.discord.WaitFor("the ids of commands", func() bool {
		return strings.HasPrefix(s.bot.commands.Mention("help"), "<")
	})
}

// After a restart, which registers nothing, the ids are known too.
func TestCommandsAreMentionedAfterARestart(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.again(t)
	s.waitIDs()
}
