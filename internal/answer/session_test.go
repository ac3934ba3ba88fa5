package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/memory"
	"hark/search"
)

func (w *world) sessionOf(q Question) []string {
	w.t.Helper()
	r := w.recall(q)
	var said []string
	for _, m := range r.session {
		said = append(said, m.Content)
	}
	return said
}

func TestSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	old := w.says(9*day, lobby, ben, "long ago")
	elsewhere := w.says(8*day, harbor, ben, "elsewhere")
	w.says(81*time.Minute, lobby, ben, "before the silence")
	w.says(50*time.Minute, lobby, ben, "one")
	notice := w.posts(35*time.Minute, memory.Message{Guild: guild, Channel: lobby, Kind: memory.FromSystem,
		Content: "Cleo joined"})
	last := w.says(21*time.Minute, lobby, cleo, "two")
	w.says(time.Minute, harbor, cleo, "in another channel")
	own := w.says(7*day, lobby, oracle, "an answer of unknown origin")
	q := w.asks(lobby, "three")
	w.says(-time.Minute, lobby, ben, "later")
	tests := []struct {
		name string
		with func(*Question)
		want string
	}{
		{"since the last silence", func(*Question) {}, "[one two]"},
		{"where nothing was posted", func(q *Question) { q.ID = 0; q.Now = noon }, "[one two]"},
		{"in the silence", func(q *Question) { q.ID = 0; q.Now = noon.Add(-80 * time.Minute) }, "[before the silence]"},
		{"after a silence", func(q *Question) { q.Now = noon.Add(10 * time.Minute) }, "[]"},
		{"replying to what was before", func(q *Question) { q.ReplyTo = old }, "[long ago one two]"},
		{"replying to what is there", func(q *Question) { q.ReplyTo = last }, "[one two]"},
		{"replying to a message elsewhere", func(q *Question) { q.ReplyTo = elsewhere }, "[one two]"},
		{"replying to nothing known", func(q *Question) { q.ReplyTo = old + 1 }, "[one two]"},
		{"replying to what can't be repeated", func(q *Question) { q.ReplyTo = own }, "[one two]"},
		{"replying to a notice", func(q *Question) { q.ReplyTo = notice }, "[one two]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := q
			tt.with(&q)
			if got := fmt.Sprint(w.sessionOf(q)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	w.engine.options.SessionGap = 2 * time.Hour
	if got := fmt.Sprint(w.sessionOf(q)); got != "[before the silence one two]" {
		t.Errorf("with a gap of two hours: %s", got)
	}
}

func TestOverlappingExcerptsShowEachMessageOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i, s := range []string{"Lighthouse password please", "The lighthouse password is swordfish",
		"A lighthouse password like swordfish is silly"} {
		w.says(day-time.Duration(i)*time.Minute, harbor, []memory.UserID{ann, ben, cleo}[i], s)
	}
	w.says(time.Minute, lobby, ben, "The lighthouse password was said just now")
	p := w.prompt(w.asks(lobby, "What is the lighthouse password?"))
	for _, s := range []string{"password please", "password is swordfish", "is silly", "said just now"} {
		if strings.Count(p, s) != 1 {
			t.Errorf("%q is there %d times:\n%s", s, strings.Count(p, s), p)
		}
	}
	has(t, p, "#harbor")
}

// faulty fails the n-th call of its log.
type faulty struct {
	Log
	n int
}

var errDisk = errors.New("the disk is on fire")

func try[T any](f *faulty, call func() (T, error)) (T, error) {
	if f.n--; f.n == 0 {
		return *new(T), errDisk
	}
	return call()
}

func (f *faulty) Guilds(ctx context.Context) ([]memory.GuildID, error) {
	return try(f, func() ([]memory.GuildID, error) { return f.Log.Guilds(ctx) })
}

func (f *faulty) Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error) {
	return try(f, func() (*memory.Guild, error) { return f.Log.Guild(ctx, id) })
}

func (f *faulty) People(ctx context.Context, id memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	return try(f, func() ([]memory.Person, error) { return f.Log.People(ctx, id, ids...) })
}

func (f *faulty) Lore(ctx context.Context, id memory.GuildID) ([]memory.Lore, error) {
	return try(f, func() ([]memory.Lore, error) { return f.Log.Lore(ctx, id) })
}

func (f *faulty) Records(ctx context.Context, q memory.RecordQuery) ([]memory.Record, error) {
	return try(f, func() ([]memory.Record, error) { return f.Log.Records(ctx, q) })
}

func (f *faulty) Summaries(ctx context.Context, id memory.ChannelID) ([]memory.Summary, error) {
	return try(f, func() ([]memory.Summary, error) { return f.Log.Summaries(ctx, id) })
}

func (f *faulty) Condensed(ctx context.Context, id memory.ChannelID) ([]memory.Condensed, error) {
	return try(f, func() ([]memory.Condensed, error) { return f.Log.Condensed(ctx, id) })
}

func (f *faulty) Apply(ctx context.Context, events ...memory.Event) error {
	_, err := try(f, func() (any, error) { return nil, f.Log.Apply(ctx, events...) })
	return err
}

func (f *faulty) Around(ctx context.Context, c memory.ChannelID, ids []memory.MessageID,
	before, after int) ([]memory.Message, error) {
	return try(f, func() ([]memory.Message, error) { return f.Log.Around(ctx, c, ids, before, after) })
}

func (f *faulty) Traces(ctx context.Context, q memory.TraceQuery) ([]memory.Trace, error) {
	return try(f, func() ([]memory.Trace, error) { return f.Log.Traces(ctx, q) })
}

func (f *faulty) Member(ctx context.Context, g memory.GuildID, u memory.UserID) (memory.Member, error) {
	return try(f, func() (memory.Member, error) { return f.Log.Member(ctx, g, u) })
}

func (f *faulty) Presence(ctx context.Context, scope memory.Scope,
	users []memory.UserID) (map[memory.UserID]memory.Presence, error) {
	return try(f, func() (map[memory.UserID]memory.Presence, error) {
		return f.Log.Presence(ctx, scope, users)
	})
}

// searches is a searcher that keeps what was searched for. Its n-th call fails.
type searches struct {
	Searcher
	n        int
	unranked error  // that of the reranker, if not nil
	before   func() // called before what was found is ranked again, if not nil
	asked    []search.Query
}

func (s *searches) broken() error {
	if s.n--; s.n == 0 {
		return errDisk
	}
	return nil
}

func (s *searches) Search(ctx context.Context, q search.Query) (search.Result, error) {
	s.asked = append(s.asked, q)
	if err := s.broken(); err != nil {
		return search.Result{}, err
	}
	r, err := s.Searcher.Search(ctx, q)
	r.RerankFailed = cmp.Or(s.unranked, r.RerankFailed)
	return r, err
}

func (s *searches) Rerank(ctx context.Context, r search.Result, skip []memory.MessageID,
	left func(context.Context, []search.Hit) ([]search.Hit, error)) (search.Result, error) {
	if s.before != nil {
		s.before()
	}
	if err := s.broken(); err != nil {
		return search.Result{}, err
	}
	return s.Searcher.Rerank(ctx, r, skip, left)
}

func (s *searches) Introduce(ctx context.Context, q search.Query) ([]search.Participant, error) {
	if err := s.broken(); err != nil {
		return nil, err
	}
	return s.Searcher.Introduce(ctx, q)
}

// spied has w's engine search by what keeps what was searched for.
func (w *world) spied() *searches {
	s := &searches{Searcher: w.engine.search}
	w.engine.search = s
	return s
}

// The first message of a forum post is shown once, in the session or in its summary.
func TestPostsFirstMessageIsShownOnce(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	id := memory.ChannelID(memory.FirstMessageID(noon.Add(-55*time.Minute))) + 31
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: id, Guild: guild, Parent: lobby,
		Kind: memory.PublicThread, Name: "post"}},
		memory.Posted{Message: memory.Message{ID: memory.MessageID(id), Guild: guild, Channel: id,
			Author: cleo, Content: "Shall we climb 8 hills?"}})
	w.engine.options.SessionGap = time.Hour
	q := w.asks(id, "So?")
	if p := w.prompt(q); strings.Count(p, "climb 8 hills") != 1 {
		t.Errorf("prompt\n%s", p)
	}
	w.deletes(id, q.ID)
	w.chats(id, 50)
	w.condensesNow(id)
	// what is told of in a summary is found still
	_, p, _ := strings.Cut(w.prompt(w.asks(id, "So?")), "=== CURRENT SESSION ===")
	if strings.Count(p, "climb 8 hills") != 1 ||
		!strings.Contains(p, condensedTitle+"\n  Cleo: Shall we climb 8 hills?") {
		t.Errorf("session\n%s", p)
	}
}

// BenchmarkDialogue reads a condensed session of 150 turns, half of them Hark's: all that comes before the search.
func BenchmarkDialogue(b *testing.B) {
	w := condensing(b, &keeper{})
	for turn := range 75 {
		w.gives(w.asksAt(time.Duration(2*turn)*20*time.Second, lobby, "And the number of the island?"),
			-time.Duration(2*turn+1)*20*time.Second)
		w.drain()
	}
	q := w.asksAt(51*time.Minute, lobby, "And?")
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		now, err := w.engine.readScope(b.Context(), q)
		if err != nil {
			b.Fatal(err)
		}
		d, err := w.engine.dialogueFor(b.Context(), q, now)
		if err != nil || d.condensed == nil {
			b.Fatal(d.condensed, err)
		}
		took = append(took, time.Since(began))
		if len(took) == 1 {
			b.Logf("%d turns, %d condensed", len(d.turns), len(d.sources))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// What the session has no room for is found, and what lies in closed channels counted, by one search.
func TestAQuestionIsSearchedForOnce(t *testing.T) {
	t.Parallel()
	for _, model := range []Model{nil, talks("small")} {
		w := newWorld(t, model)
		w.engine.builder = w.over(w.store, nil, builder.Options{Citations: true, MaxTokens: 1200,
			Sections: map[builder.SectionType]builder.Limits{builder.SectionHistory: {Priority: 9, Ceiling: 3000}}},
			Options{}).builder
		spy := w.spied()
		w.says(2*day, vault, ben, "The lighthouse password is secretly eel")
		early := w.says(20*time.Minute, lobby, ben, "The lighthouse password is tuna")
		for i := range 12 {
			w.says(2*day+time.Duration(i)*time.Hour, harbor, cleo,
				fmt.Sprintf("lighthouse %d %s", i, strings.Repeat("so tall ", 20)))
			w.says(15*time.Minute-time.Duration(i)*time.Minute, lobby, []memory.UserID{ann, ben}[i%2],
				fmt.Sprintf("lighthouse %d %s", i, strings.Repeat("and so on ", 20)))
		}
		q := w.asks(lobby, "What is the lighthouse password?")
		a := w.answer(q)
		r := w.recall(q)
		if len(spy.asked) != 2 { // the answer's and the recall's
			t.Errorf("%d searches", len(spy.asked)-1)
		}
		alone := &recalled{readableScope: r.readableScope, dialogue: r.dialogue, resolved: r.resolved, mode: r.mode}
		fits := len(r.turnsOf(r.resolved.builder.Build(w.engine.input(q, alone))))
		if len(r.shown.Session) == fits {
			t.Error("what was found took nothing of the session's room, which proves nothing")
		}
		if !manifest.IsHit(r.result.Hits, memory.Message{ID: early}) || a.Trace.HeldBack != 1 {
			t.Errorf("found %v, %d held back", r.result.Hits, a.Trace.HeldBack)
		}
		for _, m := range r.shown.Session {
			if manifest.IsHit(r.result.Hits, m) {
				t.Errorf("%d is shown twice", m.ID)
			}
		}
	}
}

// given is a reranker that tells what it was given.
type given func(texts []string)

func (g given) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	g(texts)
	return make([]float64, len(texts)), nil
}

// What is deleted between two rankings is neither quoted nor sent to the reranker.
func TestWhatIsDeletedIsntFoundAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	said := w.says(day, harbor, ben, "The lighthouse password is swordfish")
	for i := range 3 {
		w.says(2*day+time.Duration(i)*time.Hour, harbor, cleo, fmt.Sprintf("The lighthouse password %d was changed", i))
	}
	w.says(time.Minute, lobby, cleo, "Good morning")
	var sent string
	w.engine.search.(*search.Engine).WithReranker(given(func(texts []string) { sent = strings.Join(texts, "\n") }))
	w.spied().before = func() {
		has(t, sent, "swordfish")
		w.deletes(harbor, said)
	}
	hasNot(t, w.answer(w.asks(lobby, "What is the lighthouse password?")).Text, "swordfish")
	has(t, sent, "lighthouse")
	hasNot(t, sent, "swordfish")
}
