package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
)

const (
	crashDir   = "HARK_TEST_CRASH_DIR"
	crashFirst = "HARK_TEST_CRASH_FIRST"
	perBatch   = 6
)

// crashBatch is the nth batch: new messages in three channels, and an edit and a deletion of the previous
// batch.
func crashBatch(n int) []memory.Event {
	var events []memory.Event
	for i := range perBatch {
		events = append(events, crashMessage(n, i))
	}
	if n > 0 {
		events = append(events, edited(crashChannel(n-1, 1), (n-1)*perBatch+1, crashWord(n-1, 1)+"after common"),
			deleted(crashChannel(n-1, 0), (n-1)*perBatch))
	}
	return events
}

func crashMessage(n, i int) memory.Posted {
	return posted(crashChannel(n, i), n*perBatch+i, crashWord(n, i)+" common words of talk")
}

func crashChannel(n, i int) memory.ChannelID { return general + memory.ChannelID((n+i)%3) }

// crashWord is in one message only.
func crashWord(n, i int) string { return fmt.Sprintf("w%dx%dq", n, i) }

// TestCrashChild is the process that TestCrash kills: it logs batches, reports each acknowledged one, and
// embeds meanwhile.
func TestCrashChild(t *testing.T) {
	s, first := childStore(t)
	indexer := memory.Indexer{Queue: s, Embedder: memorytest.Embedder{}}
	go indexer.Run(context.Background()) // until the process dies
	for n := first; ; n++ {
		apply(t, s, crashBatch(n)...)
		fmt.Printf("acknowledged %d\n", n)
	}
}

// After a kill at any point, everything acknowledged is there once, deletions hold, and everything derived
// agrees with the log.
func TestCrash(t *testing.T) {
	t.Parallel()
	stores, kills := 1, 4
	if long {
		stores, kills = 10, 20
	}
	for range stores {
		dir, next := emptyDir(t), 0
		for range kills {
			from := next
			next = crash(t, dir, next, 1+rand.IntN(12)) + 1
			s := openOnce(t, dir)
			checkCrashed(t, s, from, next)
			if closed(t, s); t.Failed() {
				return
			}
		}
		s := open(t, dir)
		drain(t, s)
		checkCrashed(t, s, 0, next)
		t.Logf("%d kills, %d messages acknowledged", kills, next*perBatch)
	}
}

// crash runs a child from batch first on, kills it after some acknowledgements, and returns the last one.
func crash(t *testing.T, dir string, first, after int) int {
	t.Helper()
	last := -1
	killChild(t, "TestCrashChild", dir, first, after, func(line string) bool {
		return scanned(line, "acknowledged %d", &last)
	})
	if last < 0 {
		t.Fatal("the child acknowledged nothing")
	}
	return last
}

// killChild runs a test in a process of its own on dir from a batch on, reads its lines, and kills it after
// some.
func killChild(t *testing.T, test, dir string, first, after int, hear func(line string) bool) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	child.Env = append(os.Environ(), crashDir+"="+dir, crashFirst+"="+strconv.Itoa(first))
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	must(t, err)
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); {
		if !hear(lines.Text()) {
			t.Errorf("the child said %q", lines.Text())
			continue
		}
		if seen++; seen == after {
			must(t, child.Process.Kill()) // SIGKILL; what is in the pipe still counts
		}
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
}

// childStore returns the store and first batch of a process that killChild runs. Other processes skip the
// test.
func childStore(t *testing.T) (s *Store, first int) {
	t.Helper()
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("is run by another test")
	}
	first, err := strconv.Atoi(os.Getenv(crashFirst))
	must(t, err)
	return open(t, dir), first
}

func scanned(line, format string, to ...any) bool {
	n, err := fmt.Sscanf(line, format, to...)
	return err == nil && n == len(to)
}

// checkCrashed checks the acknowledged batches [from, next). The next one may be there or not.
func checkCrashed(t *testing.T, s *Store, from, next int) {
	t.Helper()
	checkSound(t, s)
	more, err := s.Around(t.Context(), crashChannel(next, 0), []memory.MessageID{id(next * perBatch)}, 0, 0)
	must(t, err)
	for n := from; n < next; n++ {
		edits := n < next-1 || len(more) > 0 // whether the batch after it is there
		for i := range perBatch {
			channel := crashChannel(n, i)
			want, content := []memory.MessageID{id(n*perBatch + i)}, crashMessage(n, i).Message.Content
			switch {
			case edits && i == 0:
				want = nil
			case edits && i == 1:
				content = crashWord(n, 1) + "after common"
			}
			messages, err := s.Around(t.Context(), channel, []memory.MessageID{id(n*perBatch + i)}, 0, 0)
			must(t, err)
			if len(messages) != len(want) || len(want) == 1 && messages[0].Content != content {
				t.Errorf("message %d of batch %d: %+v", i, n, messages)
			}
			term := crashWord(n, i)
			if edits && i == 1 {
				if got := find(t, s, in(channel), term); len(got) > 0 {
					t.Errorf("%q is found after its edit", term)
				}
				term += "after"
			}
			if got := find(t, s, in(channel), term); !slices.Equal(got, want) {
				t.Errorf("%q finds %v, want %v", term, got, want)
			}
		}
	}
	var all, recalled int
	if err := s.engine.read.QueryRow("SELECT count(*), count(DISTINCT id) FROM message").Scan(&all,
		&recalled); err != nil || all != recalled {
		t.Errorf("%d messages, %d ids: %v", all, recalled, err)
	}
	if got := len(find(t, s, in(general, general+1, general+2), "common")); from == 0 && got != min(100, all) {
		t.Errorf("%d of %d messages hold the word that is in all", got, all)
	}
}
