// Package web is the inspection page: it shows an operator what Hark remembers, why it answered as it did, and lets
// them try a question as anybody, anywhere.
//
// Nobody but the operator sees it: see access.go. Pages are made on the server from html/template and work without
// scripts. Text of members is data: only templates write it, and they escape it. The pages read the store's contract
// and change nothing, except that they forget, by the functions of the commands.
//
// Begin with New and routes. Each page has a file, with its template in files/templates.
package web

import (
	"context"
	"net/http"

	"hark/internal/archive"
	"hark/memory"
)

// New returns the site. Announce lets people log in by links.
func New(c Config) *Site {
	s := &Site{Config: c, access: newAccess(c)}
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.pattern, s.guarded(r))
	}
	s.handler = s.access.sameOrigin(mux)
	return s
}

// Announce has "hark web --link" find this site. Call it once nobody else can use the data.
func (s *Site) Announce() error { return s.access.announce() }

// FinishForgetting finishes interrupted forgettings in the background, where no bot does. The pages tell of it.
func (s *Site) FinishForgetting(ctx context.Context) error {
	k, err := archive.New(ctx, s.App().Store, s.App().Config)
	if err != nil {
		return err
	}
	begun, err := k.Forgettings(ctx, memory.Everywhere, 0)
	if err != nil || len(begun) == 0 {
		return err
	}
	_, err = s.jobs.begin("what was interrupted", func(ctx context.Context,
		progress func(done, total int)) (all memory.DeletionReport, err error) {
		done, err := k.FinishForgetting(ctx, progress)
		for _, r := range done {
			archive.AddReport(&all, r)
		}
		return all, err
	})
	return err
}

// Close ends running work and removes the key for login links.
func (s *Site) Close() error {
	s.checks.close()
	s.jobs.close()
	return s.access.close()
}

// ServeHTTP serves a page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// route is a page, or what a form sends.
type route struct {
	pattern string
	open    bool // also without a login
	serve   func(*visit) error
}

// routes are all routes. Tests walk them.
var routes = []route{
	{"GET /{$}", false, overview},
	{"GET /checks", false, allChecks},
	{"GET /ask", false, ask},
	{"GET /answers", false, answers},
	{"GET /answers/{channel}/{answer}", false, answerPage},
	{"GET /memory", false, servers},
	{"GET /memory/{guild}", false, serverPage},
	{"GET /memory/{guild}/people", false, people},
	{"GET /memory/{guild}/people/{user}", false, personPage},
	{"GET /memory/{guild}/lore", false, lore},
	{"GET /memory/{guild}/{channel}", false, channelPage},
	{"GET /audience", false, audience},
	{"GET /forget", false, forgetting},
	{"POST /forget", false, forget},
	{"GET /forget/{job}", false, forgettingPage},
	{"GET /settings", false, settings},
	{"POST /logout", false, logOut},
	{"GET /login", true, logIn},
	{"POST /login", true, logInByPassword},
	{"GET /static/{file}", true, static},
	{"GET /", false, func(*visit) error { return errNoPage }},
}

// guarded serves a route to those who may see it.
func (s *Site) guarded(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		v := &visit{
			Site: s,
			w:    w,
			r:    request,
			ctx:  request.Context(),
		}
		if !r.open && !s.access.isLoggedIn(request) {
			v.refuse()
			return
		}
		v.finish(r.serve(v))
	})
}
