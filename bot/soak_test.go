package bot

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/internal/discordtest"
	"hark/internal/embed"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlstore"
	"hark/search"
)

// soakEnv has TestSoaked's directory and the addresses of its fakes.
const soakEnv = "HARK_SOAK"

// soakMark is in every message of a soak: its number, its version, and when it was sent.
var soakMark = regexp.MustCompile(`mark(\d+)v(\d+)at(\d+)end`)

func markOf(n, version int) string {
	return fmt.Sprintf(" mark%dv%dat%dend", n, version, time.Now().UnixMicro())
}

// soakLog measures the time from sending to committing.
type soakLog struct {
	*sqlite.Store
	mu   sync.Mutex
	took []time.Duration // since the last tell
}

func (l *soakLog) Apply(ctx context.Context, events ...memory.Event) error {
	err := l.Store.Apply(ctx, events...)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		if p, is := e.(memory.Posted); is {
			if found := soakMark.FindStringSubmatch(p.Message.Content); found != nil {
				sent, _ := strconv.ParseInt(found[3], 10, 64)
				l.took = append(l.took, time.Since(time.UnixMicro(sent)))
			}
		}
	}
	return err
}

func (l *soakLog) tell() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	status, _ := os.ReadFile("/proc/self/status")
	_, rss, _ := strings.Cut(string(status), "VmRSS:")
	rss, _, _ = strings.Cut(rss, "\n")
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Printf("%s: RSS %s, heap %d kB, %d messages, committed after %.0f ms (p50), %.0f ms (p99), CPU so far %.1f s\n",
		time.Now().Format(time.TimeOnly), strings.TrimSpace(rss), m.HeapAlloc>>10, len(l.took),
		percentile(l.took, 50), percentile(l.took, 99), time.Duration(u.Utime.Nano()+u.Stime.Nano()).Seconds())
	l.took = nil
}

// TestSoaked runs Hark in a process of BenchmarkSoak's, until its input ends.
func TestSoaked(t *testing.T) {
	with := strings.Fields(os.Getenv(soakEnv))
	if len(with) == 0 {
		t.Skip("for BenchmarkSoak")
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	store := opened(t, with[0])
	log := &soakLog{Store: store}
	engine := answering(t, log, search.New(log, log, embed.Builtin{}), modelAt(with[3]), memory.Policy{})
	bot, err := New(Config{Token: with[2], APIURL: with[1]}, log, engine,
		zerolog.New(os.Stdout).Level(zerolog.WarnLevel))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() { _ = (&memory.Indexer{Queue: log, Embedder: embed.Builtin{}}).Run(ctx) })
	all.Go(func() { _ = (&memory.Janitor{Store: log, Prompts: time.Hour}).Run(ctx) })
	all.Go(func() {
		for tick := time.NewTicker(time.Minute); ; log.tell() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	err = bot.Run(ctx)
	all.Wait()
	if log.tell(); err != nil || store.Close() != nil {
		t.Error("it didn't end well", err)
	}
}

// BenchmarkSoak sends 500 events and a question each second, in 50 channels. Afterwards the store has all messages as
// they are, and its file nothing of older versions or deleted ones. An hour is -benchtime 3600x -timeout 2h.
func BenchmarkSoak(b *testing.B) {
	const rate = 500
	d, model, dir := discordtest.New(b, discordtest.WithTime(time.Now())), llmtest.New(b), b.TempDir()
	guild := d.AddGuild("Garden").ID
	var channels, people []discordtest.ID
	for i := range 50 {
		channels = append(channels, d.AddChannel(guild, discordtest.Channel{Name: fmt.Sprint("channel-", i)}).ID)
		people = append(people, d.AddMember(guild, discordtest.User{Username: fmt.Sprint("person-", i)}).ID)
	}
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("It is ", "so [1].") })
	hark := exec.Command(os.Args[0], "-test.run=^TestSoaked$", "-test.timeout=0", "-test.v")
	hark.Env = append(os.Environ(), soakEnv+"="+strings.Join([]string{dir, d.URL, d.Token, model.URL()}, " "))
	hark.Stdout, hark.Stderr = os.Stdout, os.Stderr
	end, err := hark.StdinPipe()
	if err == nil {
		err = hark.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	d.WaitReady()
	type message struct {
		channel, id discordtest.ID
		text        string // empty: deleted
		version     int
	}
	var said []message
	random, questions := rand.New(rand.NewPCG(8, 9)), 0
	say := func(text string, in int) { // three people at a time talk in each channel
		text += markOf(len(said), 0)
		to, who := channels[in], people[(in+len(said)/20_000+random.IntN(3))%len(people)]
		said = append(said, message{channel: to, text: text, id: d.Say(to, who, text).ID})
	}
	for began, n := time.Now(), 0; b.Loop(); questions++ {
		say(d.Bot.Mention()+" what is "+sentence(random)+"?", questions%len(channels))
		for range rate {
			time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / rate)))
			n++
			d.Advance(time.Second / rate) // edits of the same moment have no order
			at := max(0, len(said)-1-random.IntN(5000))
			switch m, what := &said[at], random.IntN(100); {
			case what >= 12 || m.text == "" || strings.HasPrefix(m.text, "<"):
				say(sentence(random), random.IntN(len(channels)))
			case what < 4:
				d.Delete(m.channel, m.id)
				m.text = ""
			default:
				m.version++
				m.text = sentence(random) + markOf(at, m.version)
				d.Edit(m.channel, m.id, m.text)
			}
		}
	}
	d.WaitTakenIn()
	answered := map[discordtest.ID]bool{} // also with answers that were taken back
	d.WaitFor("the answers", func() bool {
		for _, c := range channels {
			for _, m := range d.Sent(c) {
				if m.Reference != nil {
					answered[m.Reference.MessageID] = true
				}
			}
		}
		return len(answered) == questions
	})
	end.Close()
	if err := hark.Wait(); err != nil {
		b.Fatal(err)
	}
	kept, path, lost, stale := map[int64]string{}, filepath.Join(dir, sqlite.FileName), 0, 0
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := sqlstore.Each(b.Context(), db, func(scan sqlstore.Scanner) error {
		var id int64
		var text string
		err := scan(&id, &text)
		kept[id] = text
		return err
	}, "SELECT id, content FROM message"); err != nil {
		b.Fatal(err)
	}
	for _, m := range said {
		if kept[int64(m.id)] != m.text {
			lost++
		}
	}
	file, err := os.ReadFile(path)
	for _, found := range soakMark.FindAllSubmatch(file, -1) {
		n, _ := strconv.Atoi(string(found[1]))
		if v, _ := strconv.Atoi(string(found[2])); said[n].text == "" || v != said[n].version {
			stale++
		}
	}
	if err != nil || lost > 0 || stale > 0 {
		b.Errorf("%d of %d messages aren't in the log as they are, %d texts are in its file still: %v", lost, len(said),
			stale, err)
	}
	b.ReportMetric(float64(len(said)), "messages")
	b.ReportMetric(float64(len(answered)), "answers")
}
