package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/internal/lease"
	"hark/internal/pace"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory/postgres"
)

const (
	// clockTolerance is how far a database's clock may be from this machine's.
	clockTolerance = 2 * time.Second
	// fewConnections is how many free connections are worth advice.
	fewConnections = 10
	// longLag is how far a standby may be behind.
	longLag = time.Minute
	// settling is how long it may take, after processes start or one dies, until each shard has an owner.
	settling = lease.Life + 2*lease.Renewal
	// settlingLook is the time between two looks at what settles.
	settlingLook = time.Second
)

// postgres checks the database that store names.
func (d *Doctor) postgres(ctx context.Context) []Finding {
	r, err := settled(ctx, func() (postgres.Report, error) { return postgres.Examine(ctx, d.Config.Store.Reveal()) })
	if err == nil {
		err = r.Unfit()
	}
	if err != nil {
		return []Finding{Failure(err, "check store").For("database")}
	}
	return []Finding{stored(r).For("database"), serverOf(r).For("database server"), commits(r).For("database commits"),
		connections(r).For("database connections"), replication(r).For("replication"), readers(r).For("erasing"),
		leases(r).For("leases")}
}

// settled looks at a database until nothing is about to change: Harks that start share the shards among themselves, and
// a server that starts answers soon.
func settled(ctx context.Context, look func() (postgres.Report, error)) (postgres.Report, error) {
	end := time.Now().Add(settling)
	for {
		r, err := look()
		wait := postgres.IsStarting(err) || err == nil && isShared(r.Leases)
		if !wait || !time.Now().Before(end) || pace.Sleep(ctx, settlingLook) != nil {
			return r, err
		}
	}
}

// isShared reports whether a shard has no owner although there are processes.
func isShared(leases []postgres.Lease) bool {
	owned := slices.ContainsFunc(leases, isOwned)
	return owned && slices.ContainsFunc(leases, func(l postgres.Lease) bool { return isShard(l.Job) && !isOwned(l) })
}

func isOwned(l postgres.Lease) bool { return l.Owner != "" && l.Left > 0 }

func isShard(job string) bool { return strings.HasPrefix(job, "shard ") }

func stored(r postgres.Report) Finding {
	switch {
	case !r.Exists:
		return passed("%s is empty; the first start creates the tables", r.Address)
	case r.SchemaVersion > r.Known:
		return Finding{Detail: fmt.Sprintf("the schema of %s is of version %d, made by a newer Hark than this one, which "+
			"knows %d", r.Address, r.SchemaVersion, r.Known), Advice: "use the newer Hark"}
	case r.SchemaVersion < r.Known:
		return passed("%s, version %d; the next start upgrades it to version %d", r.Address, r.SchemaVersion, r.Known)
	}
	return amounts(r.Messages, r.Channels, r.Guilds, r.Waiting, r.Unfinished,
		fmt.Sprintf("%s, version %d, %s", r.Address, r.SchemaVersion, terminal.Bytes(r.Bytes)))
}

// amounts says how much is stored and what is still to be done with it.
func amounts(messages, channels, guilds, waiting, unfinished int, where string) Finding {
	found := passed("%s in %s of %s; %s", terminal.Plural(messages, "message"),
		terminal.Plural(channels, "channel"), terminal.Plural(guilds, "server"), where)
	if waiting > 0 {
		found.Detail += fmt.Sprintf("; %s without a vector", terminal.Plural(waiting, "segment"))
	}
	switch {
	case unfinished > 0:
		found.Detail += fmt.Sprintf("; %s under way", terminal.Plural(unfinished, "forgetting"))
		found.Advice = "\"hark run\" carries it out: leave it running"
	case waiting > setup.FewSegments:
		found.Advice = "\"hark run\" makes them, or \"hark reindex\""
	}
	return found
}

func serverOf(r postgres.Report) Finding {
	f := passed("PostgreSQL %s, the primary; the user %q owns Hark's tables", r.Version, r.User)
	if r.Ahead.Abs() > clockTolerance {
		f.Detail += fmt.Sprintf("; its clock is %v from this machine's", r.Ahead.Abs().Round(time.Second))
		f.Advice = "set both clocks by NTP"
	}
	return f
}

// commits says whether what is committed stays.
func commits(r postgres.Report) Finding {
	var lost, advice []string
	if !r.Fsync {
		lost = append(lost, "fsync is off: a power failure can damage the database beyond repair")
		advice = append(advice, "set fsync = on in postgresql.conf and reload it")
	}
	if r.Commit == "off" {
		lost = append(lost, "synchronous_commit is off: a crash of the server or a failover loses what was said in the last "+
			"moments, and Hark doesn't fetch it again (what people decide is committed synchronously all the same)")
		advice = append(advice, fmt.Sprintf("ALTER ROLE %q SET synchronous_commit = on, and restart Hark", r.User))
	}
	if len(lost) > 0 {
		return advised(strings.Join(lost, "; "), strings.Join(advice, "; "))
	}
	return passed("fsync is on, and synchronous_commit is %s", r.Commit)
}

func connections(r postgres.Report) Finding {
	free := r.MostConnections - r.Connections
	f := passed("%d of %d are in use", r.Connections, r.MostConnections)
	if free < fewConnections {
		f.Advice = "raise max_connections or the user's limit, or lower pool_max_conns in store: each Hark needs some"
	}
	return f
}

func replication(r postgres.Report) Finding {
	if len(r.Standbys) == 0 {
		return passed("no standby is connected")
	}
	f := Finding{OK: true}
	var all []string
	for _, s := range r.Standbys {
		all = append(all, fmt.Sprintf("%s is %v and %s behind", s.Name, s.Lag.Round(time.Millisecond),
			terminal.Bytes(s.Bytes)))
		if s.Lag > longLag {
			f.Advice = "see why the standby doesn't keep up: what it lacks is lost if the primary is"
		}
	}
	f.Detail = strings.Join(all, "; ")
	waits := slices.ContainsFunc(r.Standbys, func(s postgres.Standby) bool { return s.Sync })
	if f.Advice == "" && (!waits || r.Commit == "local" || r.Commit == "off") {
		f.Detail += "; no commit waits for a standby"
		f.Advice = "a failover loses what was said in the last moments, and Hark doesn't fetch it again: set " +
			"synchronous_standby_names, and synchronous_commit = on"
	}
	return f
}

// readers are what keeps deleted text in the database's pages.
func readers(r postgres.Report) Finding {
	if len(r.Readers) == 0 {
		return passed("nothing keeps deleted text in the database's pages")
	}
	var all []string
	for _, reader := range r.Readers {
		text := reader.What
		if reader.Age > 0 {
			text += fmt.Sprintf(", for %v", reader.Age.Round(time.Second))
		}
		all = append(all, text)
	}
	return advised("deleted text stays in the database's pages because of "+strings.Join(all, "; "),
		"end what isn't needed")
}

func leases(r postgres.Report) Finding {
	if len(r.Leases) == 0 {
		return passed("no process has one")
	}
	jobs := map[string][]string{}
	free := []string(nil)
	var owners []string
	for _, l := range r.Leases {
		if !isOwned(l) {
			free = append(free, l.Job)
			continue
		}
		if jobs[l.Owner] == nil {
			owners = append(owners, l.Owner)
		}
		jobs[l.Owner] = append(jobs[l.Owner], l.Job)
	}
	var all []string
	for _, owner := range owners {
		all = append(all, fmt.Sprintf("%s has %s", owner, strings.Join(jobs[owner], ", ")))
	}
	if len(free) > 0 {
		all = append(all, "nobody has "+strings.Join(free, ", "))
	}
	if len(owners) > 0 && slices.ContainsFunc(free, isShard) {
		return advised(strings.Join(all, "; "), "if it stays so for a minute, see the logs: whose shard nobody has, those "+
			"servers don't hear from Hark")
	}
	return passed("%s", strings.Join(all, "; "))
}
