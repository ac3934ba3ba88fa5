//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
)

// fleet is several Hark processes on one database and one Discord.
type fleet struct {
	*world
	database string
	shards   int
	places   []place // one for each shard
	members  []*member

	mu    sync.Mutex
	said  map[discordtest.ID]discordtest.Message
	asked []discordtest.Message
}

// lateness is how much later than sent an IDENTIFY may be read here, on a machine that runs everything at once.
const lateness = 500 * time.Millisecond

// place is where people talk that one shard hears.
type place struct {
	shard   int
	channel discordtest.Channel
}

// member is where one Hark process after another runs.
type member struct {
	no      int // its door at Discord
	env     map[string]string
	network *postgrestest.Network
	log     *buffer
	process *exec.Cmd // nil: none
	stopped [][2]time.Time
}

func newFleet(t *testing.T, processes, shards, concurrency int) *fleet {
	database := postgrestest.URL(t) // before the processes' cleanup, so after it
	f := &fleet{database: database, shards: shards, said: map[discordtest.ID]discordtest.Message{}}
	f.world = newWorld(t, discordtest.WithShards(shards), discordtest.WithConcurrency(concurrency),
		discordtest.WithIdentifyEvery(5*time.Second-lateness), discordtest.WithTime(time.Now()))
	for no := range shards {
		f.discord.NextOn(no, shards)
		g := f.discord.AddGuild(fmt.Sprintf("Guild %d", no))
		p := place{no, f.discord.AddChannel(g.ID, discordtest.Channel{Name: "general"})}
		f.discord.AddMember(g.ID, f.ana)
		f.places = append(f.places, p)
	}
	for range processes {
		m := &member{no: len(f.members) + 1, env: map[string]string{}, log: &buffer{wrote: func() {}},
			network: postgrestest.NewNetwork(t, database)}
		for name, value := range f.env {
			m.env[name] = value
		}
		m.env["HARK_DISCORD_API_URL"], m.env["HARK_STORE"] = f.discord.Door(), m.network.URL
		m.env["HARK_DATA"] = t.TempDir()
		m.env["HARK_LIMITS_MEMBER_MESSAGES"], m.env["HARK_LIMITS_GUILD_MESSAGES"] = "0", "0"
		f.members = append(f.members, m)
		t.Cleanup(func() {
			f.signal(m, syscall.SIGCONT)
			f.end(m, syscall.SIGKILL)
			if t.Failed() {
				text := m.log.String()
				t.Logf("log of process %d:\n%s", m.no, text[max(0, len(text)-20_000):])
			}
		})
		f.begin(m)
	}
	t.Cleanup(func() {
		for _, q := range f.asked {
			if t.Failed() && !f.isAnswered(q) {
				t.Logf("%d in %d: %q: %q", q.ID, q.ChannelID, q.Content, f.answersTo(q))
			}
		}
	})
	f.waitShared()
	var asked []discordtest.Message
	for _, p := range f.places { // what is said before Hark has seen a guild isn't remembered
		asked = append(asked, f.say(p, true, "hello"))
	}
	f.waitAnswers("the first answers", asked, func() {})
	return f
}

// waitAnswers waits until all these questions are answered, and calls each then.
func (f *fleet) waitAnswers(what string, asked []discordtest.Message, each func()) {
	f.Helper()
	asked = slices.Clone(asked)
	f.discord.WaitFor(what, func() bool {
		asked = slices.DeleteFunc(asked, func(q discordtest.Message) bool {
			answered := f.isAnswered(q)
			if answered {
				each()
			}
			return answered
		})
		return len(asked) == 0
	})
}

// begin starts a process.
func (f *fleet) begin(m *member) {
	m.process = exec.Command("hark", "run")
	m.process.Env = append(environOf(m.env), "PATH="+os.Getenv("PATH"))
	m.process.Stdout, m.process.Stderr = m.log, m.log
	if err := m.process.Start(); err != nil {
		f.Fatal(err)
	}
}

func (f *fleet) signal(m *member, s syscall.Signal) {
	if m.process != nil {
		_ = m.process.Process.Signal(s)
	}
}

// end ends a process and waits for that.
func (f *fleet) end(m *member, s syscall.Signal) {
	if m.process != nil {
		f.signal(m, s)
		_ = m.process.Wait()
		m.process = nil
	}
}

// owners returns which process began the newest session of each shard; 0: none did.
func (f *fleet) owners() []int {
	owners := make([]int, f.shards)
	for _, b := range f.discord.Begun() {
		owners[b.Shard] = b.Door
	}
	return owners
}

// waitShared waits until each process has a shard.
func (f *fleet) waitShared() {
	f.Helper()
	f.discord.WaitShards(f.shards)
	f.discord.WaitFor("every process to have a shard", func() bool {
		owners := f.owners()
		return !slices.ContainsFunc(f.members, func(m *member) bool { return !slices.Contains(owners, m.no) })
	})
}

// say has somebody say or ask something in a place.
func (f *fleet) say(p place, ask bool, text string) discordtest.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ask {
		text = f.discord.Bot.Mention() + " " + text + "?"
	}
	f.discord.Advance(max(0, time.Since(f.discord.Now()))) // what is said between is missed, and nonces expire
	m := f.discord.Say(p.channel.ID, f.ana.ID, text)
	f.said[m.ID] = m
	if ask {
		f.asked = append(f.asked, m)
	}
	return m
}

// talk says and asks things everywhere until ctx ends.
func (f *fleet) talk(ctx context.Context) {
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.say(f.places[rand.IntN(f.shards)], n%20 == 0, fmt.Sprintf("line %d", n))
		}
	}
}

// fault is what may happen to a process, and how that is mended.
type fault struct {
	name     string
	takeover bool // whether others take over
	inject   func(f *fleet, m *member)
	mend     func(f *fleet, m *member)
}

var faults = []fault{
	{"KILL", true, func(f *fleet, m *member) { f.end(m, syscall.SIGKILL) }, (*fleet).begin},
	{"TERM", true, func(f *fleet, m *member) {
		f.signal(m, syscall.SIGTERM)
	}, func(f *fleet, m *member) {
		_ = m.process.Wait()
		f.begin(m)
	}},
	{"STOP", true, func(f *fleet, m *member) {
		m.stopped = append(m.stopped, [2]time.Time{time.Now()})
		f.signal(m, syscall.SIGSTOP)
	}, func(f *fleet, m *member) {
		f.signal(m, syscall.SIGCONT)
		m.stopped[len(m.stopped)-1][1] = time.Now()
	}},
	{"network cut", true, func(_ *fleet, m *member) { m.network.Cut() }, func(_ *fleet, m *member) { m.network.Heal() }},
	{"database restarted", false, func(f *fleet, _ *member) { postgrestest.Terminate(f, f.database) }, nil},
	{"lost in a transaction", false, func(f *fleet, _ *member) { postgrestest.TerminateWriter(f, f.database) }, nil},
}

// isAnswered reports whether a question has a whole answer, or an excuse: the database may fail while it is answered.
func (f *fleet) isAnswered(q discordtest.Message) bool {
	return f.unanswered([]discordtest.Message{q}, nil) == 0 || f.isExcused(q)
}

func (f *fleet) isExcused(q discordtest.Message) bool {
	return slices.ContainsFunc(f.answersTo(q), func(text string) bool {
		return strings.HasPrefix(text, "I can't get at what I remember") || strings.Contains(text, "I take my answer back") ||
			strings.HasPrefix(text, "I'm busy") // on a slow machine, when much waits after a fault
	})
}

// suffer injects a fault into a process that has shards, and asks a question in each of these right after. It returns
// how long these took to be answered, and, if others take over, to their first request there.
func (f *fleet) suffer(x fault) (answers, takeovers []time.Duration) {
	f.Helper()
	f.waitShared()
	m := f.members[rand.IntN(len(f.members))]
	owners := f.owners()
	began := time.Now()
	x.inject(f, m)
	var asked []discordtest.Message
	for _, p := range f.places {
		if owners[p.shard] == m.no || !x.takeover {
			asked = append(asked, f.say(p, true, "still there after "+x.name))
		}
	}
	f.waitAnswers("answers after "+x.name, asked, func() { answers = append(answers, time.Since(began)) })
	for _, r := range f.discord.Requests() {
		if !x.takeover || r.Door == m.no || r.At.Before(began) {
			continue
		}
		asked = slices.DeleteFunc(asked, func(q discordtest.Message) bool {
			here := strings.HasPrefix(r.Path, "/channels/"+q.ChannelID.String())
			if here {
				takeovers = append(takeovers, r.At.Sub(began))
			}
			return here
		})
	}
	if x.mend != nil {
		x.mend(f, m)
	}
	return answers, takeovers
}

// TestSeveralProcesses has several Hark processes share the shards of a bot while these and their database fail. Each
// message is logged once, each question is answered once, and only a shard's owner sends.
func TestSeveralProcesses(t *testing.T) {
	t.Parallel()
	type run struct{ processes, faults int }
	runs := []run{{2, 3}}
	if os.Getenv("HARK_LONG") != "" {
		runs = []run{{2, 100}, {3, 100}}
	}
	if n, err := strconv.Atoi(os.Getenv("HARK_FAULTS")); err == nil { // as many with two processes as with three
		runs = []run{{2, n}, {3, n}}
	}
	for _, r := range runs {
		t.Run(fmt.Sprintf("%d processes", r.processes), func(t *testing.T) {
			f := newFleet(t, r.processes, 6, 3)
			order := []fault{faults[2], faults[0], faults[5]} // the short form
			for len(order) < r.faults {
				order = append(order, faults[rand.IntN(len(faults))])
			}
			talking, hush := context.WithCancel(t.Context())
			var talk sync.WaitGroup
			talk.Go(func() { f.talk(talking) })
			t.Cleanup(func() { hush(); talk.Wait() })
			took := map[string][]time.Duration{}
			var takeovers []time.Duration
			for n, x := range order {
				answers, taken := f.suffer(x)
				if testing.Verbose() {
					fmt.Printf("%d processes, fault %d: %s, taken over after %v, answered after %v\n", r.processes, n+1, x.name,
						taken, answers)
				}
				took[x.name] = append(took[x.name], answers...)
				takeovers = append(takeovers, taken...)
			}
			hush()
			talk.Wait()
			f.finish(order, took, takeovers)
		})
	}
}

// finish checks and tells how it went.
func (f *fleet) finish(order []fault, took map[string][]time.Duration, takeovers []time.Duration) {
	f.Helper()
	f.waitShared()
	f.discord.WaitFor("all answers", func() bool {
		return !slices.ContainsFunc(f.asked, func(q discordtest.Message) bool { return !f.isAnswered(q) })
	})
	f.discord.WaitTakenIn()
	for _, m := range f.members {
		f.end(m, syscall.SIGTERM)
	}
	lost := f.notLogged()
	twice, excused := 0, 0
	for _, q := range f.asked {
		if n := len(f.answersTo(q)); n != 1 {
			twice++
			f.Errorf("%q is answered %d times: %q", q.Content, n, f.answersTo(q))
		}
		if f.isExcused(q) {
			excused++
		}
	}
	strangers, beside := f.strangers(), f.besides()
	identified, resumed := 0, 0
	for _, b := range f.discord.Begun() {
		if b.Resumed {
			resumed++
		} else {
			identified++
		}
	}
	for name, all := range took {
		slices.Sort(all)
		f.Logf("%-22s %3d answers, after %v (p50), %v (p95), %v (last)", name, len(all), quantile(all, 50), quantile(all, 95),
			quantile(all, 100))
	}
	slices.Sort(takeovers)
	f.Logf("%d processes, %d faults; %d messages, %d lost; %d questions, %d not answered once, %d with an excuse",
		len(f.members), len(order), len(f.said), lost, len(f.asked), twice, excused)
	f.Logf("%d sessions, %d resumed, %d too early, %d beside another; %d requests by others than the owner; "+
		"takeover: p50 %v, p95 %v", identified, resumed, f.discord.Misuses(discordtest.Early), beside, strangers,
		quantile(takeovers, 50), quantile(takeovers, 95))
}

func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1].Round(10 * time.Millisecond)
}

// notLogged returns how many messages aren't in the log as they were said.
func (f *fleet) notLogged() (n int) {
	store, err := postgres.Open(f.Context(), f.database, postgres.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer store.Close()
	for _, p := range f.places {
		var ids []memory.MessageID
		for id, m := range f.said {
			if m.ChannelID == p.channel.ID {
				ids = append(ids, memory.MessageID(id))
			}
		}
		messages, err := store.Around(f.Context(), memory.ChannelID(p.channel.ID), ids, 0, 0)
		if err != nil {
			f.Fatal(err)
		}
		logged := map[memory.MessageID]int{}
		for _, m := range messages {
			logged[m.ID]++
		}
		for _, id := range ids {
			if logged[id] != 1 {
				n++
				f.Errorf("%q is logged %d times", f.said[discordtest.ID(id)].Content, logged[id])
			}
		}
	}
	return n
}

var inChannel = regexp.MustCompile(`^/channels/(\d+)`)

// strangers returns how many requests a process made for a shard of which another had begun a session since.
func (f *fleet) strangers() (n int) {
	shardOf := map[string]int{}
	for _, p := range f.places {
		shardOf[p.channel.ID.String()] = p.shard
	}
	begun := f.discord.Begun()
	for _, r := range f.discord.Requests() {
		in := inChannel.FindStringSubmatch(r.Path)
		if in == nil || r.Method == "GET" {
			continue
		}
		shard, known := shardOf[in[1]]
		owner := 0
		for _, b := range begun {
			if b.Shard == shard && b.At.Before(r.At) {
				owner = b.Door
			}
		}
		if known && owner != r.Door {
			n++
			var body struct{ Content string }
			_ = json.Unmarshal(r.Body, &body)
			f.Errorf("process %d sent %s %s (%q) at %v, and process %d had shard %d", r.Door, r.Method, r.Path,
				body.Content, r.At, owner, shard)
		}
	}
	return n
}

// besides returns how many sessions began while another process, that wasn't stopped, was connected to the shard.
func (f *fleet) besides() (n int) {
	for _, b := range f.discord.Begun() {
		for _, door := range b.Beside {
			if door == b.Door {
				continue
			}
			n++
			if !slices.ContainsFunc(f.members[door-1].stopped, func(s [2]time.Time) bool {
				return s[0].Before(b.At) && (s[1].IsZero() || b.At.Before(s[1]))
			}) {
				f.Errorf("process %d began a session of shard %d at %v while process %d had one", b.Door, b.Shard, b.At, door)
			}
		}
	}
	return n
}
