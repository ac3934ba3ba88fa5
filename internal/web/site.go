package web

import (
	"context"
	"crypto/sha256"
	"embed"
	"net/http"
	"sync"
	"time"

	"hark/internal/archive"
	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/setup"
	"hark/memory"
	"hark/search"
)

// Config is what the pages need.
type Config struct {
	Web config.Web
	// Dir is the data directory, where the key of login links lies.
	Dir string
	// Address is the host and port at which the pages are served.
	Address string
	Version string
	// App returns the open memory; nil while it is closed.
	App func() *setup.App
	// Examine makes doctor's checks; with brief without asking models.
	Examine func(ctx context.Context, brief bool, tell func(doctor.Finding))
	// Live returns the state of the bot; nil: none runs in this process.
	Live func() *Live
}

// Live is the state of a running bot.
type Live struct {
	NotReady error // why it isn't ready
	Shards   []Shard
	Events   int // that aren't in the log yet
	Waiting  int // questions
	Busy     int // questions being answered
	// RoleSets are the sets of roles that a guild's members have; nil: not all are known.
	RoleSets func(*memory.Guild) *search.RoleSets
	// ForgetSessions deletes what a Forgetting selects in a guild from sessions that aren't logged.
	ForgetSessions func(*memory.Guild, memory.Forgetting)
}

// Shard is a shard that this process holds.
type Shard struct {
	Name      string
	Connected bool
	Guilds    int
}

// Site serves the pages.
type Site struct {
	Config
	access  *access
	jobs    jobs
	checks  checks
	handler http.Handler
}

// access decides who may see the pages: whoever has a session, which a login link or the password begins, or whom the
// reverse proxy names.
type access struct {
	Config
	key    []byte
	origin *http.CrossOriginProtection
	tries  *tries
	now    func() time.Time

	mu       sync.Mutex
	sessions map[[sha256.Size]byte]time.Time // by the hash of the cookie: when it ends
	used     map[string]time.Time            // links, until they end
}

// linkKey is the content of keyFile, for "hark web --link".
type linkKey struct {
	URL     string `json:"url"`
	Address string `json:"address"` // that is listened at
	Key     []byte `json:"key"`
}

// visit is a request for a page.
type visit struct {
	*Site
	w   http.ResponseWriter
	r   *http.Request
	ctx context.Context

	app     *setup.App
	archive *archive.Archive
	direct  *memory.Guild // the direct messages
	people  map[memory.Membership]memory.Person
}

//go:embed files
var files embed.FS

// checks keeps the last result of doctor's brief checks.
type checks struct {
	mu      sync.Mutex
	running context.CancelFunc // nil: they don't run
	work    sync.WaitGroup
	at      time.Time
	found   []doctor.Finding
}

// jobs are the forgettings that this page began.
type jobs struct {
	mu    sync.Mutex
	all   []*job
	ended bool
	stop  []context.CancelFunc
	work  sync.WaitGroup
}

// job is a forgetting that runs, or has run.
type job struct {
	ID    int
	What  string
	Begun time.Time

	mu          sync.Mutex
	done, total int
	finished    time.Time
	report      memory.DeletionReport
	failed      error
}
