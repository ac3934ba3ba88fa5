package vectors

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"hark/memory"
)

const dimensions = 70 // which fill neither a word nor a power of two

var space = memory.Space{Name: "test", Dimensions: dimensions}

// fakeSource is a database, of one process or of another.
type fakeSource struct {
	mu       sync.Mutex
	rows     map[int64]map[int64]Row // by guild and id
	versions map[int64]int64
	broken   error
	loads    map[int64]int
	loading  func() // called while a guild is read
}

func newSource() *fakeSource {
	return &fakeSource{rows: map[int64]map[int64]Row{}, versions: map[int64]int64{}, loads: map[int64]int{}}
}

// commit stores changes in a guild. A row without steps is deleted.
func (s *fakeSource) commit(guild int64, rows ...Row) Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[guild] == nil {
		s.rows[guild] = map[int64]Row{}
	}
	for _, r := range rows {
		if r.Steps == nil {
			delete(s.rows[guild], r.ID)
			continue
		}
		s.rows[guild][r.ID] = r
	}
	s.versions[guild]++
	return Change{Version: s.versions[guild], Rows: rows}
}

// Load implements Source.
func (s *fakeSource) Load(ctx context.Context, guild int64, _ memory.Space, begin func(int) bool,
	put func(Row) error) (int64, error) {
	s.mu.Lock()
	rows := make([]Row, 0, len(s.rows[guild]))
	for _, r := range s.rows[guild] {
		rows = append(rows, r)
	}
	version := s.versions[guild]
	err := s.broken
	s.loads[guild]++
	loading := s.loading
	s.mu.Unlock()
	if loading != nil {
		loading()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	exact := begin(len(rows))
	for _, r := range rows {
		if exact {
			r.Sketch = nil
		} else {
			r.Steps = nil
		}
		if err := put(r); err != nil {
			return 0, err
		}
	}
	return version, nil
}

// Steps implements Source.
func (s *fakeSource) Steps(_ context.Context, guild int64, _ memory.Space, ids []int64,
	put func(int64, []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if r, ok := s.rows[guild][id]; ok {
			if err := put(id, r.Steps); err != nil {
				return err
			}
		}
	}
	return s.broken
}

// exactly is what a search should find.
func (s *fakeSource) exactly(scopes []Scope, vector []float32, limit int) (all []Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, scope := range scopes {
		var found []Found
		for id, r := range s.rows[scope.Guild] {
			if slices.Contains(scope.Channels, r.Channel) && r.Last >= scope.Since && r.First < scope.Until {
				v := make([]float32, len(vector))
				if err := unpackUnit(r.Steps, v); err != nil {
					panic(err)
				}
				var product float32 // as chromem-go sums
				for i, x := range unit(vector) {
					product += x * v[i]
				}
				found = append(found, Found{scope.Guild, id, product})
			}
		}
		sortFound(found)
		all = append(all, found[:min(limit, len(found))]...)
	}
	sortFound(all)
	return all
}

// random is a vector. There are few, so that some rows are equally near.
func random(n int) []float32 {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// newIndex returns an index of s, which the test closes.
func newIndex(t *testing.T, s Source, o Options) *Index {
	t.Helper()
	x := New(s, o)
	x.Reset(space)
	t.Cleanup(x.Close)
	return x
}

// exactBytes is how much memory rows take in an exact guild.
func exactBytes(rows int) int64 { return int64(rows)*perRow + newExact(dimensions).bytes(rows) }

// find searches in scopes.
func find(t interface {
	Helper()
	Fatal(...any)
}, x *Index, vector []float32, limit int, scopes ...Scope) []Found {
	t.Helper()
	search, err := x.Search(context.Background(), space, scopes)
	must(t, err)
	defer search.Close()
	found, _, err := search.Nearest(context.Background(), vector, limit)
	must(t, err)
	return found
}
