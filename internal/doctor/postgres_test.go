package doctor

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"hark/internal/config"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
)

func findings(t *testing.T, address string) (all string) {
	t.Helper()
	c := config.Default()
	c.Store = config.NewSecret(address)
	for _, f := range (&Doctor{Config: c}).postgres(t.Context()) {
		all += f.String() + "\n"
	}
	return all
}

// A sound database passes every check, with or without tables; one that can't be reached fails one.
func TestDatabases(t *testing.T) {
	t.Parallel()
	for _, address := range []string{postgrestest.URL(t), postgrestest.Bare(t)} {
		all := findings(t, address)
		for _, check := range []string{"database", "database server", "database commits", "database connections",
			"replication", "erasing", "leases"} {
			if !strings.Contains(all, "✓ "+check+": ") && !strings.Contains(all, "! "+check+": ") {
				t.Errorf("%s isn't in\n%s", check, all)
			}
		}
		if strings.Contains(all, "✗") {
			t.Error(all)
		}
	}
	unsure := postgrestest.URL(t)
	unsure += map[bool]string{true: "&", false: "?"}[strings.Contains(unsure, "?")] + "synchronous_commit=off"
	if all := findings(t, unsure); !strings.Contains(all, "synchronous_commit is off: a crash") {
		t.Error(all)
	}
	if all := findings(t, "postgres://hark:secret-password@127.0.0.1:9/hark"); strings.Count(all, "\n") != 1 ||
		!strings.HasPrefix(all, "✗ database: ") || strings.Contains(all, "secret-password") {
		t.Error(all)
	}
}

// While Harks start and share the shards, the doctor waits; not if that never ends, nor if none runs.
func TestDoctorWaitsForSharesOfShards(t *testing.T) {
	t.Parallel()
	owned := postgres.Lease{Job: "shard 0/2", Owner: "a", Left: 1}
	free := postgres.Lease{Job: "shard 1/2"}
	other := postgres.Lease{Job: "shard 1/2", Owner: "b", Left: 1}
	idle := postgres.Lease{Job: "janitor"}
	for name, c := range map[string]struct {
		leases [][]postgres.Lease // at each look; the last one stays
		looks  int
	}{
		"shared":        {[][]postgres.Lease{{owned, other}}, 1},
		"a free job":    {[][]postgres.Lease{{owned, other, idle}}, 1},
		"nobody runs":   {[][]postgres.Lease{{free}}, 1},
		"being shared":  {[][]postgres.Lease{{owned, free}, {owned, free}, {owned, other}}, 3},
		"never settles": {[][]postgres.Lease{{owned, free}}, 1 + int(settling/settlingLook)},
	} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			r, err := settled(t.Context(), func() (postgres.Report, error) {
				now := c.leases[min(looks, len(c.leases)-1)]
				looks++
				return postgres.Report{Leases: now}, nil
			})
			last := c.leases[len(c.leases)-1]
			if err != nil || looks != c.looks || !slices.Equal(r.Leases, last) {
				t.Errorf("%s: %d looks, want %d: %v, %v", name, looks, c.looks, r.Leases, err)
			}
		})
	}
	broken := errors.New("broken")
	if _, err := settled(t.Context(), func() (postgres.Report, error) { return postgres.Report{}, broken }); err != broken {
		t.Error(err)
	}
}

// What is wrong or worth advice is told of each part of a report.
func TestReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found Finding
		want  string
	}{
		{stored(postgres.Report{Exists: true, SchemaVersion: 9, Known: 1}), "✗"},
		{serverOf(postgres.Report{Server: postgres.Server{Version: "15.0"}}), "✓ : PostgreSQL 15.0, the primary"},
		{serverOf(postgres.Report{Ahead: -2 * clockTolerance}), "set both clocks"},
		{commits(postgres.Report{Fsync: true, Commit: "on"}), "✓ : fsync is on, and synchronous_commit is on"},
		{commits(postgres.Report{Commit: "on"}), "! : fsync is off"},
		{commits(postgres.Report{Fsync: true, Commit: "off"}), "! : synchronous_commit is off"},
		{commits(postgres.Report{Commit: "off"}), "beyond repair; synchronous_commit is off"},
		{replication(postgres.Report{Commit: "on", Standbys: []postgres.Standby{{Name: "b"}}}),
			"no commit waits for a standby → a failover loses"},
		{replication(postgres.Report{Commit: "local", Standbys: []postgres.Standby{{Name: "b", Sync: true}}}),
			"no commit waits for a standby"},
		{replication(postgres.Report{Commit: "on", Standbys: []postgres.Standby{{Name: "a"}, {Name: "b", Sync: true}}}), "✓"},
		{connections(postgres.Report{Connections: 95, MostConnections: 97}), "! : 95 of 97 are in use"},
		{replication(postgres.Report{Standbys: []postgres.Standby{{Name: "b", Lag: 2 * longLag}}}),
			"! : b is 2m0s and 0 B behind"},
		{readers(postgres.Report{Readers: []postgres.Reader{{What: "the replication slot old"}}}), "! : deleted text stays"},
		{leases(postgres.Report{Leases: []postgres.Lease{{Job: "shard 0/2", Owner: "a", Left: 1}, {Job: "shard 1/2"}}}),
			"! : a has shard 0/2; nobody has shard 1/2"},
	} {
		if got := c.found.String(); !strings.Contains(got, c.want) {
			t.Errorf("%s; want %s", got, c.want)
		}
	}
}
