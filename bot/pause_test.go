package bot

import (
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

func channelCalled(name string) discordtest.Channel { return discordtest.Channel{Name: name} }

func TestPausedItAnswersNobody(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.says(t, s.use(t, s.ana, "hark pause"))
	q := s.ask("before?")
	before := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.says(t, s.use(t, s.ana, "hark pause", opt("state", "on")))
	s.chose(t, 0, memory.SettingPaused, "on")
	pausedForNow := s.replied(t, s.ask("one?")).Content
	s.ask("two?")
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" and now?")
	s.log.waitSaid(t, "them: "+s.discord.Bot.Mention()+" two?") // it goes on logging
	s.says(t, s.sets(t, "mode", ""))                            // and commands work
	if got := whispered(t, s, s.press(before.Message, s.ana, buttonAgain)); got != pausedForNow {
		t.Errorf("who asks again is told %q", got)
	}
	second := s.discord.AddChannel(s.guild.ID, channelCalled("second"))
	if m := s.reply(t, s.asks(second.ID, s.ana, "here?")); m.Content != pausedForNow {
		t.Errorf("elsewhere it says %q", m.Content)
	}
	s.restart(t)
	s.ask("three?") // nobody knows any more that it was said there
	s.discord.WaitFor("the same again", func() bool { return s.count(s.channel, pausedForNow) == 2 })
	s.discord.Advance(pausedAgain)
	s.ask("four?")
	s.discord.WaitFor("the same after a while", func() bool { return s.count(s.channel, pausedForNow) == 3 })
	s.idle(t)
	if n := len(s.oracle.questions()); n != 1 {
		t.Errorf("%d questions were answered", n)
	}
	if got := s.refusals(t); got[pausedQuestion] != 2 {
		t.Errorf("refused %v", got)
	}
	s.says(t, s.use(t, s.ana, "hark pause", opt("state", "off")))
	s.ask("five?")
	s.discord.WaitFor("an answer", func() bool { return s.count(s.channel, "Friday") == 2 })
	s.over(t, 2)
}

// count is how many of the bot's messages in a channel read so.
func (s *scene) count(channel discordtest.ID, text string) (n int) {
	for _, m := range s.discord.Sent(channel) {
		if m.Content == text {
			n++
		}
	}
	return n
}

func TestPausesForAWhileEndByThemselves(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.sets(t, "language", "de", opt("server", true))
	until := s.discord.Now().Add(2 * time.Hour)
	s.says(t, s.use(t, s.ana, "hark pause", opt("for", "2 h")))
	e := s.lastSetting()
	at, err := time.Parse(time.RFC3339, e.Value)
	if err != nil || at.Sub(until).Abs() > time.Minute {
		t.Errorf("paused until %q, want about %v", e.Value, until)
	}
	s.restart(t)
	s.replied(t, s.ask("one?"))
	s.discord.Advance(at.Sub(s.discord.Now()))
	s.ask("two?")
	s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.says(t, s.use(t, s.ana, "hark pause"))
}

func TestSpans(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "2h": 2 * time.Hour, " 1 D 12h ": 36 * time.Hour, "1w": 7 * 24 * time.Hour, "1m": time.Minute, "366d": 366 * 24 * time.Hour,
		"": 0, "0m": 0, "367d": 0, "999999w": 0, "999999w 999999w": 0, "h": 0, "2": 0, "-1h": 0, "1.5h": 0, "1h 30": 0, "2 hours": 0, "9999999m": 0,
	} {
		if got, ok := spanOf(text); ok != (want > 0) || ok && got != want {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
}
