package postgres_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"hark/internal/lease"
	"hark/internal/wait"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
	"hark/memory/sqlstore"
)

// tb is a *testing.T or a *rapid.T.
type tb interface {
	rapid.TB
	Context() context.Context
}

// process is a store as one of several processes has it. Its leases aren't renewed, unless the test says so.
type process struct {
	*sqlstore.Store
	lease.Table
}

func openProcess(t testing.TB, url string) *process {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{Space: memorytest.Embedder{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	postgres.ByClock(s.Leases(), 9*time.Hour, time.Hour, time.Now)
	return &process{s, s.Leases()}
}

func (p *process) write(t tb) error {
	return p.Apply(t.Context(), memory.Heard{Guild: 1, Channel: 2, ID: 3})
}

func (p *process) claim(t tb, most int, jobs ...string) []lease.Lease {
	t.Helper()
	claimed, err := p.Claim(t.Context(), jobs, most)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(claimed, func(a, b lease.Lease) int { return cmp.Compare(a.Job, b.Job) })
	return claimed
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// server is a connection of the test's own.
func server(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	return db
}

func exec(t tb, db *pgx.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

const expireSQL = "UPDATE process SET expires = clock_timestamp() - interval '1 s' WHERE name = $1"

// Whatever processes claim, release and lose, each job has one owner, and who lost its own neither claims nor writes
// before it begins anew.
func TestLeasesHaveOneOwner(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	db := server(t, address)
	processes := []*process{openProcess(t, address), openProcess(t, address), openProcess(t, address)}
	for _, p := range processes {
		p.claim(t, 1, "") // else they write freely
	}
	jobs := []string{"a", "b", "c", "d", "e"}
	rapid.Check(t, func(t *rapid.T) {
		exec(t, db, "DELETE FROM lease")
		exec(t, db, "DELETE FROM process")
		for _, p := range processes {
			_ = p.write(t) // it learns that it is gone
			p.Reset()
		}
		type job struct {
			lease.Lease
			owner int // or nobody, or former
		}
		const nobody, former = -1, -2 // former: a process that began anew before others took over
		type state struct{ joined, expired, gone, knows bool }
		model, at := map[string]*job{}, make([]state, len(processes))
		for _, name := range jobs {
			model[name] = &job{Lease: lease.Lease{Job: name}, owner: nobody}
		}
		drawProcess := func(t *rapid.T) int { return rapid.IntRange(0, len(processes)-1).Draw(t, "process") }
		t.Repeat(map[string]func(*rapid.T){
			"claim": func(t *rapid.T) {
				i, most := drawProcess(t), rapid.IntRange(1, 4).Draw(t, "most")
				wanted := rapid.SliceOfNDistinct(rapid.SampledFrom(jobs), 1, -1, rapid.ID[string]).Draw(t, "jobs")
				claimed, err := processes[i].Claim(t.Context(), wanted, most)
				if at[i].expired {
					at[i].knows = true
					if !errors.Is(err, lease.ErrLost) || !isClosed(processes[i].Lost()) {
						t.Fatalf("process %d lost its leases and claimed: %v, %v", i, claimed, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				at[i].joined = true
				for _, j := range model {
					if j.owner == former || j.owner >= 0 && at[j.owner].expired {
						j.owner = nobody
					}
				}
				for p := range at {
					at[p].gone = at[p].expired
				}
				var want []lease.Lease
				for _, name := range wanted {
					if j := model[name]; j.owner == nobody && len(want) < most {
						j.owner = i
						j.Epoch++
						want = append(want, j.Lease)
						j.Note = ""
					}
				}
				byJob := func(a, b lease.Lease) int { return cmp.Compare(a.Job, b.Job) }
				slices.SortFunc(want, byJob)
				slices.SortFunc(claimed, byJob)
				if !slices.Equal(want, claimed) {
					t.Fatalf("process %d claimed %v, want %v", i, claimed, want)
				}
			},
			"release": func(t *rapid.T) {
				j := model[rapid.SampledFrom(jobs).Draw(t, "job")]
				if j.owner < 0 {
					t.Skip("nobody holds it")
				}
				note := rapid.SampledFrom([]string{"", "note"}).Draw(t, "note")
				if err := processes[j.owner].Release(t.Context(), j.Lease, note); err != nil {
					t.Fatal(err)
				}
				if !at[j.owner].knows {
					j.owner, j.Note = nobody, note
				}
			},
			"expire": func(t *rapid.T) {
				i := drawProcess(t)
				if !at[i].joined {
					t.Skip("it has no leases")
				}
				exec(t, db, expireSQL, postgres.ProcessName(processes[i].Table))
				at[i].expired = true
			},
			"write": func(t *rapid.T) {
				i := drawProcess(t)
				refused := !at[i].joined || at[i].gone || at[i].knows
				at[i].knows = at[i].knows || at[i].gone
				if err := processes[i].write(t); errors.Is(err, lease.ErrLost) != refused || !refused && err != nil {
					t.Fatalf("process %d, %+v: %v", i, at[i], err)
				}
			},
			"list": func(t *rapid.T) {
				got, err := processes[drawProcess(t)].Jobs(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, name := range jobs {
					if j := model[name]; j.owner >= 0 && !at[j.owner].expired {
						want = append(want, name)
					}
				}
				slices.Sort(got)
				if !slices.Equal(want, got) {
					t.Fatalf("listed %v, want %v", got, want)
				}
			},
			"begin anew": func(t *rapid.T) {
				i := drawProcess(t)
				if lost := isClosed(processes[i].Lost()); lost != at[i].knows || lost && processes[i].Valid() {
					t.Fatalf("process %d, %+v: lost %t", i, at[i], lost)
				} else if lost {
					processes[i].Reset()
					at[i] = state{}
					for _, j := range model {
						if j.owner == i {
							j.owner = former
						}
					}
				}
			},
		})
	})
}

func TestProcessesThatNeverClaimedWriteFreely(t *testing.T) {
	t.Parallel()
	p := openProcess(t, postgrestest.URL(t))
	if err := p.write(t); err != nil || !p.Valid() || p.Processes() != 1 {
		t.Error(err, p.Valid(), p.Processes())
	}
}

// Nobody takes over from a process while it commits, and the commit doesn't keep it from renewing.
func TestTakeoverWaitsForTheCommit(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	a, b, db := openProcess(t, address), openProcess(t, address), server(t, address)
	a.claim(t, 1, "job")
	name := postgres.ProcessName(a.Table)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var held *bool
	if err := tx.QueryRow(t.Context(), postgres.TakeTurn, "a", name, postgres.Idle).Scan(nil, nil, &held); err != nil || held == nil {
		t.Fatal(held, err)
	}
	exec(t, server(t, address), expireSQL, name)
	if claimed := b.claim(t, 1, "job"); len(claimed) > 0 {
		t.Fatalf("took over %v before the commit", claimed)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if claimed := b.claim(t, 1, "job"); len(claimed) != 1 || claimed[0].Epoch != 2 {
		t.Fatalf("took over %v after the commit", claimed)
	}
	if err := a.write(t); !errors.Is(err, lease.ErrLost) {
		t.Fatal(err)
	}
}

// When the server stops a transaction of a process that stands still, its leases are still its own.
func TestTurnEndsBeforeLeases(t *testing.T) {
	t.Parallel()
	db := server(t, postgrestest.URL(t))
	var timeout string
	if err := db.QueryRow(t.Context(), postgres.TakeTurn, "a", "", postgres.Idle).Scan(nil, &timeout, nil); err != nil {
		t.Fatal(err)
	}
	if d, err := time.ParseDuration(timeout); err != nil || d > lease.Life-lease.Renewal {
		t.Error(timeout, err)
	}
}

func TestRenewals(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	a, b := openProcess(t, address), openProcess(t, address)
	postgres.ByClock(a.Table, 9*time.Hour, 100*time.Millisecond, time.Now)
	var renewed wait.Signal
	postgres.OnRenewal(a.Table, renewed.Send)
	a.claim(t, 2, "x", "y")
	renewed.Until(t, "a renewal", func() bool { return a.Processes() == 1 }, nil)
	b.claim(t, 1, "x")
	renewed.Until(t, "a renewal", func() bool { return a.Processes() == 2 }, nil)
	exec(t, server(t, address), expireSQL, postgres.ProcessName(a.Table))
	wait.For(t, "the loss", a.Lost())
	if a.Valid() {
		t.Error("it has lost its leases and holds them")
	}
	if claimed := b.claim(t, 2, "x", "y"); len(claimed) != 2 {
		t.Errorf("took over %v", claimed)
	}
}

// A process that stops while it claims keeps its leases from nobody.
func TestTakeoverOfAProcessThatStopsInAClaim(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	a, b := openProcess(t, address), openProcess(t, address)
	stopped, goOn := make(chan struct{}), make(chan struct{})
	stop := false
	postgres.OnClaim(a.Table, func() {
		if stop {
			close(stopped)
			<-goOn
		}
	})
	a.claim(t, 1, "x")
	stop = true
	var claiming sync.WaitGroup
	claiming.Go(func() { _, _ = a.Claim(context.Background(), []string{"y"}, 1) })
	wait.For(t, "the claim", stopped)
	db := server(t, address)
	exec(t, db, expireSQL, postgres.ProcessName(a.Table))
	exec(t, db, "DELETE FROM process WHERE name = $1", postgres.ProcessName(a.Table)) // waits until its lock is gone
	if claimed := b.claim(t, 2, "x", "y"); len(claimed) != 2 {
		t.Errorf("took over %v, want x and y", claimed)
	}
	close(goOn)
	claiming.Wait()
}

// A lease that couldn't be given back would be nobody's work for as long as the process lives.
func TestReleaseIsTriedAgain(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	a, b := openProcess(t, address), openProcess(t, address)
	postgres.ByClock(a.Table, 9*time.Hour, 100*time.Millisecond, time.Now)
	var renewed wait.Signal
	postgres.OnRenewal(a.Table, renewed.Send)
	held := a.claim(t, 2, "x", "y")
	unreachable, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Release(unreachable, held[0], "session"); err == nil {
		t.Fatal("released without the server")
	}
	var taken []lease.Lease
	renewed.Until(t, "the release", func() bool {
		taken = append(taken, b.claim(t, 2, "x", "y")...)
		return len(taken) > 0
	}, nil)
	if len(taken) != 1 || taken[0].Job != "x" || taken[0].Note != "session" {
		t.Errorf("took over %v, want x with its session", taken)
	}
}

// A process that stood still knows by its own clock that its leases are over. So does one whose computer slept: its
// monotonic clock stood still.
func TestLeasesEndByTheLocalClock(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	for _, asleep := range []bool{false, true} {
		p := openProcess(t, address)
		start := time.Now()
		var passed time.Duration
		postgres.ByClock(p.Table, 9*time.Second, time.Hour, func() time.Time {
			if asleep {
				return start.Round(0).Add(passed)
			}
			return start.Add(passed)
		})
		p.claim(t, 1, "job")
		if passed = 7 * time.Second; !p.Valid() {
			t.Fatal("the leases ended too early")
		}
		if passed = 8 * time.Second; p.Valid() || !isClosed(p.Lost()) {
			t.Error("the leases didn't end a second before others may take over")
		}
		if err := p.write(t); !errors.Is(err, lease.ErrLost) {
			t.Error(err)
		}
	}
}

// A network that swallows everything ends in a loss, and no write hangs.
func TestSilentNetwork(t *testing.T) {
	t.Parallel()
	network := postgrestest.NewNetwork(t, postgrestest.URL(t))
	p := openProcess(t, network.URL)
	postgres.ByClock(p.Table, 900*time.Millisecond, 300*time.Millisecond, time.Now)
	p.claim(t, 1, "job")
	if err := p.write(t); err != nil {
		t.Fatal(err)
	}
	network.Cut()
	if err := p.write(t); !errors.Is(err, lease.ErrLost) {
		t.Error(err)
	}
	if !isClosed(p.Lost()) {
		t.Error("a write was refused before the loss")
	}
	network.End() // else closing waits for an answer
}

// Slots of a bucket keep their distance over all processes, and buckets don't wait for each other.
func TestSlots(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	const each, every = 5, time.Hour
	var mu sync.Mutex
	slots := map[int][]time.Duration{}
	var all sync.WaitGroup
	for range 3 {
		p := openProcess(t, address)
		for n := range 2 * each {
			all.Go(func() {
				in, err := p.Slot(t.Context(), n%2, every)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				slots[n%2] = append(slots[n%2], in.Round(every/2))
			})
		}
	}
	all.Wait()
	for bucket, got := range slots {
		slices.Sort(got)
		for i, in := range got {
			if in != time.Duration(i)*every {
				t.Errorf("bucket %d: slots in %v", bucket, got)
				break
			}
		}
		if len(got) != 3*each {
			t.Errorf("bucket %d has %d slots", bucket, len(got))
		}
	}
}

// Everybody sees which jobs living processes do.
func TestJobs(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	a, b := openProcess(t, address), openProcess(t, address)
	held := a.claim(t, 2, "shard 0/2", "shard 1/2", "janitor")
	b.claim(t, 9, "janitor")
	if err := a.Release(t.Context(), held[1], ""); err != nil {
		t.Fatal(err)
	}
	jobs, err := b.Jobs(t.Context())
	if got := fmt.Sprint(jobs, err); got != "[janitor shard 0/2] <nil>" {
		t.Errorf("got %s", got)
	}
}
