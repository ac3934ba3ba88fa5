package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/lease"
	"hark/internal/wait"
	"hark/memory"
)

// handing is what a bot is configured with that hands its shard over.
func (s *scene) handing() Config {
	return Config{Token: s.discord.Token, CatchUp: month, Reconcile: true, AnswerMissed: 10 * time.Minute, HandOver: true,
		Policy: memory.Policy{Direct: true}}
}

// handsOver stops the bot, and makes another one that goes on with its session.
func (s *scene) handsOver(t *testing.T) {
	t.Helper()
	s.stops(t)
	cfg := s.handing()
	if cfg.Session = s.bot.Session(); cfg.Session == "" {
		t.Fatal("there is no session to hand over")
	}
	s.with(t, cfg)
}

// settles waits until the bot's session could be handed over.
func (s *scene) settles(t *testing.T) {
	t.Helper()
	s.filled(t)
	s.discord.WaitTakenIn()
	s.commitNothing(t)
	s.idle(t)
	s.discord.WaitFor("all to be looked for", func() bool { return s.bot.filler.Settled() })
}

func TestShardHasItsGuilds(t *testing.T) {
	t.Parallel()
	counts := map[discord.Shard]int{}
	for n := range 1000 {
		for no := range 3 {
			if s := (discord.Shard{No: no, Of: 3}); s.Has(memory.GuildID(n << 22)) {
				counts[s]++
			}
		}
	}
	if len(counts) != 3 || counts[discord.Shard{No: 1, Of: 3}] != 333 {
		t.Errorf("%v", counts)
	}
	if all := (discord.Shard{}); !all.Has(memory.DirectGuild) || !all.Has(1<<40) || all.String() != "0/1" {
		t.Error("the only shard hasn't all guilds")
	}
}

// Two bots over one store have a shard each.
func TestShardsAreIndependent(t *testing.T) {
	t.Parallel()
	s := set(t)
	var bots [2]*Bot
	var guilds [2]discordtest.Guild
	var channels [2]discordtest.ID
	for no := range bots {
		s.discord.NextOn(no, 2)
		guilds[no] = s.discord.AddGuild(fmt.Sprint("guild ", no))
		channels[no] = s.discord.AddChannel(guilds[no].ID, discordtest.Channel{Name: "general"}).ID
		s.discord.AddMember(guilds[no].ID, s.ana)
	}
	begin := func() (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		for no := range bots {
			cfg := s.handing()
			cfg.Shard, cfg.HandOver = discord.Shard{No: no, Of: 2}, false
			s.with(t, cfg)
			bots[no] = s.bot
			go func() { ended <- bots[no].Run(ctx) }()
		}
		s.discord.WaitShards(2)
		return func() {
			cancel()
			for range bots {
				if err := wait.For(t, "a bot to end", ended); err != nil {
					t.Error(err)
				}
			}
		}
	}
	end := begin()
	for no := range bots {
		s.discord.Say(channels[no], s.ana.ID, fmt.Sprintf("%s in guild %d?", s.discord.Bot.Mention(), no))
		s.answered(t, channels[no], "Friday")
	}
	dm := s.discord.DM(s.ana.ID, "and here?")
	s.answered(t, dm.ChannelID, "Friday")
	end()

	// what was missed is fetched by its own shard
	for no := range bots {
		s.discord.Say(channels[no], s.ana.ID, fmt.Sprintf("%s missed %d?", s.discord.Bot.Mention(), no))
	}
	end = begin()
	for no := range bots {
		s.discord.WaitFor("an answer in each guild", func() bool { return len(s.discord.Sent(channels[no])) == 2 })
		s.mirrors(t, channels[no])
	}
	end()
	for no := range bots {
		if sent := s.discord.Sent(channels[no]); len(sent) != 2 {
			t.Errorf("%d answers in guild %d", len(sent), no)
		}
	}
	if n := len(s.discord.Sent(dm.ChannelID)); n != 1 {
		t.Errorf("%d answers to a direct message", n)
	}
	if left := eventsOf[memory.GuildLeft](s.log); len(left) > 0 {
		t.Errorf("a shard thinks that Hark left another's guilds: %v", left)
	}
	puts := 0
	for _, r := range s.discord.Requests() {
		if r.Method == "PUT" {
			puts++
		}
	}
	if puts != 1 {
		t.Errorf("commands were written %d times", puts)
	}
}

func TestSessionIsHandedOver(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.with(t, s.handing()).run(t).ready(t)
	s.posts(t, s.channel, s.ana.ID, "before")
	s.settles(t)
	s.handsOver(t)
	s.discord.Say(s.channel, s.bo.ID, "meanwhile")
	s.ask("when?")
	dm := s.discord.DM(s.ana.ID, "and here?")
	requests := len(s.discord.Requests())
	s.run(t)
	s.answered(t, s.channel, "Friday")
	s.answered(t, dm.ChannelID, "Friday")
	s.posts(t, s.channel, s.bo.ID, "after")
	s.mirrors(t, s.channel)
	s.closed(t)
	s.idle(t)
	for _, line := range []string{"them: before", "them: meanwhile", "them: after", "hark: Friday"} {
		want := 1
		if line == "hark: Friday" {
			want = 2
		}
		n := 0
		for _, said := range s.log.said() {
			if said == line {
				n++
			}
		}
		if n != want {
			t.Errorf("%q is logged %d times", line, n)
		}
	}
	if n := len(s.discord.Sent(s.channel)); n != 1 {
		t.Errorf("%d answers", n)
	}
	if s.discord.Identifies() != 1 || s.discord.Resumes() != 1 {
		t.Errorf("%d sessions, %d resumed", s.discord.Identifies(), s.discord.Resumes())
	}
	for _, r := range s.discord.Requests()[requests:] {
		if r.Method == "GET" && r.Path == fmt.Sprintf("/channels/%d/messages", s.channel) {
			t.Error("it looked for gaps, though it missed nothing")
		}
	}
	if len(s.discord.Commands(0)) == 0 || s.bot.commands.Idle() && s.bot.Ready() != nil {
		t.Error("it isn't whole")
	}

	// and again
	s.settles(t)
	s.handsOver(t)
	s.ask("really?")
	s.run(t)
	s.discord.WaitFor("another answer", func() bool { return len(s.discord.Sent(s.channel)) == 2 })
	if s.discord.Identifies() != 1 || s.discord.Resumes() != 2 {
		t.Errorf("%d sessions, %d resumed", s.discord.Identifies(), s.discord.Resumes())
	}
}

// A session that Discord doesn't know any more costs a new one.
func TestSessionHandedOverTooLate(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.with(t, s.handing()).run(t).ready(t)
	s.posts(t, s.channel, s.ana.ID, "before")
	s.settles(t)
	s.handsOver(t)
	s.discord.RefuseResumes(1)
	s.ask("when?")
	s.run(t)
	s.answered(t, s.channel, "Friday")
	s.mirrors(t, s.channel)
	if s.discord.Identifies() != 2 || len(s.discord.Sent(s.channel)) != 1 {
		t.Errorf("%d sessions, %d answers", s.discord.Identifies(), len(s.discord.Sent(s.channel)))
	}
}

// What isn't in the log can't be handed over.
func TestNoSessionWhileSomethingIsOpen(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(s *scene){
		"an outage": func(s *scene) { s.discord.Outage(s.guild.ID, false) },
		"an incomplete channel": func(s *scene) {
			s.discord.Inject("GET /channels/*", 1000, discordtest.ServerError())
			s.discord.LeaveOut("CHANNEL_CREATE", "permission_overwrites")
			s.addChannel("more")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			s.with(t, s.handing()).run(t).ready(t)
			s.posts(t, s.channel, s.ana.ID, "before")
			s.settles(t)
			disturb(s)
			s.discord.WaitTakenIn()
			s.commitNothing(t)
			s.stops(t)
			if got := s.bot.Session(); got != "" {
				t.Errorf("it handed over %s", got)
			}
		})
	}
}

// A question that can't be answered any more is left to the next owner, who goes on in the same place.
func TestAnswerIsHandedOver(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.slowly("It is", " Friday")
	s.with(t, s.handing()).run(t).ready(t)
	s.settles(t)
	s.ask("when?")
	s.waitText("It is")
	waits := s.ask("and where?")
	s.discord.WaitTakenIn()
	s.handsOver(t)
	s.oracle.answer = says("Friday")
	s.run(t)
	s.discord.WaitFor("two answers", func() bool {
		return len(slices.DeleteFunc(s.replies(), func(text string) bool { return text != "Friday" })) == 2
	})
	s.closed(t)
	s.idle(t)
	if got := s.replies(); len(got) != 2 {
		t.Errorf("it says %q", got)
	}
	if last := s.discord.Sent(s.channel)[1]; last.Reference == nil || last.Reference.MessageID != waits.ID {
		t.Errorf("it answers %+v", last.Reference)
	}
}

// Once its shard is another process's, a bot sends and logs nothing.
func TestLostShard(t *testing.T) {
	t.Parallel()
	s := set(t)
	began, goOn := make(chan struct{}), make(chan struct{})
	s.oracle.answer = s.stuckAnswer(began, goOn)
	s.with(t, s.handing())
	ctx, lose := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.bot.Run(ctx) }()
	s.ready(t)
	s.ask("when?")
	<-began
	s.waitText("It is")
	s.ask("and where?")
	s.discord.WaitTakenIn()
	s.commitNothing(t)
	logged, sent := len(s.log.eventsNow()), s.changes()
	lose(lease.ErrLost)
	if err := wait.For(t, "Run to return", ended); err != nil {
		t.Error(err)
	}
	close(goOn)
	_, err := s.bot.ingest.Client.Direct(t.Context(), s.anaID)
	if !errors.Is(err, lease.ErrLost) {
		t.Errorf("a request got %v", err)
	}
	s.discord.Say(s.channel, s.ana.ID, "for the next")
	if n := len(s.log.eventsNow()); n != logged {
		t.Errorf("logged %v", s.log.eventsNow()[logged:])
	}
	if n := s.changes(); n != sent {
		t.Errorf("%d requests changed something afterwards", n-sent)
	}
	if s.bot.Session() != "" {
		t.Error("it hands over a session that it lost")
	}
}

// A guard stops requests before they are written.
func TestGuard(t *testing.T) {
	t.Parallel()
	s := set(t)
	cfg := s.handing()
	var lost error
	cfg.Guard = func() error { return lost }
	s.with(t, cfg)
	lost = lease.ErrLost
	before := len(s.discord.Requests())
	if _, err := s.bot.ingest.Client.Direct(t.Context(), s.anaID); cmp.Or(err, errDown) != lease.ErrLost ||
		len(s.discord.Requests()) != before {
		t.Errorf("got %v, after %d requests", err, len(s.discord.Requests())-before)
	}
}

// Sessions begin in their slots; resuming needs none. A session may take more than one slot: if the process stands
// still, its slot passes. TestSlotsThatPass in bot/discord counts them.
func TestSlots(t *testing.T) {
	t.Parallel()
	s := set(t, discordtest.WithConcurrency(3))
	cfg := s.handing()
	var reserved atomic.Int64
	fail := true
	cfg.Slot = func(_ context.Context, concurrency int) (time.Duration, error) {
		if fail {
			fail = false
			return 0, errDown
		}
		if concurrency != 3 {
			t.Errorf("asked for a slot of %d at once", concurrency)
		}
		reserved.Add(1)
		return time.Millisecond, nil
	}
	s.with(t, cfg).run(t).ready(t)
	first := reserved.Load()
	if first == 0 {
		t.Error("began a session without a slot")
	}
	s.discord.Drop()
	s.discord.WaitFor("the session to be resumed", func() bool { return s.discord.Resumes() == 1 })
	s.discord.WaitReady()
	if n := reserved.Load(); n != first {
		t.Errorf("reserved %d slots to resume", n-first)
	}
	s.discord.CloseWith(4009)
	s.discord.WaitFor("another session", func() bool { return s.discord.Identifies() == 2 })
	if reserved.Load() == first {
		t.Error("began another session without a slot")
	}
}

// stuckAnswer streams a beginning, and returns the rest once goOn is closed, whatever its context says.
func (s *scene) stuckAnswer(began chan<- struct{}, goOn <-chan struct{}) answerFunc {
	return func(_ context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
		stream("It is")
		close(began)
		<-goOn
		stream("It is Friday")
		return answer.Answer{Text: "It is Friday", Trace: traceOf(q)}, nil
	}
}

// changes counts the requests that change something in Discord.
func (s *scene) changes() (n int) {
	for _, r := range s.discord.Requests() {
		if r.Method != "GET" {
			n++
		}
	}
	return n
}
