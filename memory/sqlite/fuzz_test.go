package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/memorytest"
)

// FuzzOperations holds the store beside the model that memorytest keeps.
func FuzzOperations(f *testing.F) {
	memorytest.Fuzz(f, func(t testing.TB) memory.Store {
		s, err := Open(context.Background(), emptyDir(t), Options{Space: memorytest.Embedder{}.Space()})
		must(t, err)
		return s
	})
}

// bytesReader takes numbers and texts off bytes; zeros when there are none left.
type bytesReader struct{ data []byte }

func (r *bytesReader) byte() byte {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *bytesReader) below(n int) int { return int(r.byte()) % n }

func (r *bytesReader) text() string {
	n := min(int(r.byte()%12), len(r.data))
	s := string(r.data[:n])
	r.data = r.data[n:]
	return s
}

// number is mostly a small one, and now and then any.
func (r *bytesReader) number() int64 {
	b := r.byte()
	if b < 250 || len(r.data) < 8 {
		return int64(b % 8)
	}
	n := int64(binary.LittleEndian.Uint64(r.data))
	r.data = r.data[8:]
	return n
}

func (r *bytesReader) message() memory.MessageID {
	if n := r.number(); n < 0 || n >= 8 {
		return memory.MessageID(n)
	}
	return id(r.below(16))
}

func (r *bytesReader) time() time.Time {
	if b := r.byte(); b > 0 {
		return id(0).Time().Add(time.Duration(b) * 777 * time.Microsecond) // so that some fall in one millisecond
	}
	return time.Time{}
}

// told are the events that may be told.
var told = []memory.Event{
	memory.Posted{}, memory.Posted{}, memory.Posted{}, memory.Edited{}, memory.Deleted{}, memory.Rewritten{}, memory.Named{}, memory.Starred{}, memory.Heard{},
	memory.GuildSeen{}, memory.GuildLeft{}, memory.ChannelSeen{}, memory.ChannelGone{}, memory.ChannelDeleted{}, memory.RoleSeen{}, memory.RoleGone{},
	memory.PersonSeen{}, memory.PersonLeft{}, memory.FactTold{}, memory.FactGone{}, memory.Learn{}, memory.Learned{}, memory.Chose{}, memory.Asked{}, memory.Opted{},
	memory.GapFound{}, memory.GapFilled{}, memory.Marked{}, memory.LoreTold{}, memory.LoreTold{}, memory.LoreGone{}, memory.Summarised{}, memory.Summarised{},
	memory.SessionCondensed{}, memory.CondensedGone{}, memory.SettingChosen{}, memory.LimitChosen{}, memory.Spent{}, memory.Answered{},
}

// event is whatever the bytes say.
func (r *bytesReader) event() memory.Event {
	v := reflect.New(reflect.TypeOf(told[r.below(len(told))])).Elem()
	r.fill(v)
	return v.Interface().(memory.Event)
}

// fill sets what is told of something, and of all that is in it.
func (r *bytesReader) fill(v reflect.Value) {
	var known any
	switch v.Interface().(type) {
	case memory.ChannelID:
		known = []memory.ChannelID{general, secret, 3000, 0}[r.below(4)]
	case memory.MessageID:
		known = r.message()
	case memory.Kind:
		known = memory.Kind(r.below(6))
	case memory.ChannelKind:
		known = memory.ChannelKind(r.below(9))
	case memory.Choice:
		known = memory.Choice(r.below(6))
	case time.Time:
		known = r.time()
	}
	switch {
	case known != nil:
		v.Set(reflect.ValueOf(known))
		return
	case v.CanInt():
		v.SetInt(r.number())
	case v.CanUint():
		v.SetUint(uint64(r.number()))
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				r.fill(f)
			}
		}
		r.place(v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.below(3), 3))
		for i := range v.Len() {
			r.fill(v.Index(i))
		}
	case reflect.Pointer:
		if r.below(8) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem())
		}
	case reflect.String:
		v.SetString(r.text())
	case reflect.Bool:
		v.SetBool(r.byte()%2 == 0)
	case reflect.Float64:
		v.SetFloat(float64(r.byte()))
	}
}

// place has something lie in the guild that its channel lies in, mostly.
func (r *bytesReader) place(v reflect.Value) {
	in, channel := v.FieldByName("Guild"), v.FieldByName("Channel")
	if in.IsValid() && in.CanInt() && r.byte() <= 240 {
		in.SetInt(int64(guild))
		if channel.IsValid() && channel.CanInt() && channel.Int() == 3000 {
			in.SetInt(int64(memory.LocalGuild))
		}
	}
}

// Whatever is told, the store takes it or refuses it, its file is sound, and it doesn't matter in what batches it came.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{})
	for seed := range 4 {
		data := make([]byte, 1200)
		for i := range data {
			data[i] = byte(i*i*(seed+3)/7 + i*31 + seed)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &bytesReader{data}
		var events []memory.Event
		for len(r.data) > 0 && len(events) < 60 {
			events = append(events, r.event())
		}
		one, batches := open(t, emptyDir(t)), open(t, t.TempDir())
		taken := events[:0:0]
		for i, e := range events {
			err := one.Apply(t.Context(), e)
			if err == nil {
				taken = append(taken, e)
			} else if !errors.Is(err, memory.ErrRefused) {
				t.Fatalf("event %d, %+v: %v", i, e, err)
			}
		}
		for rest := taken; len(rest) > 0; {
			n := min(len(rest), 1+len(rest)%7)
			apply(t, batches, rest[:n]...)
			rest = rest[n:]
		}
		checkSound(t, one)
		checkSound(t, batches)
		if a, b := answers(t, one), answers(t, batches); !reflect.DeepEqual(a, b) {
			t.Fatalf("one by one:\n%v\nin batches:\n%v", a, b)
		}
		if len(taken) > 0 {
			apply(t, one, taken[len(taken)-1], taken[len(taken)-1])
			checkSound(t, one)
		}
	})
}

// answers are what a store says of all that it holds.
func answers(t testing.TB, s *Store) []string {
	t.Helper()
	var all []string
	say := func(v any, err error) {
		must(t, err)
		all = append(all, fmt.Sprintf("%+v", v))
	}
	guilds, err := s.Guilds(bg)
	say(guilds, err)
	for _, g := range guilds {
		structure, err := s.Guild(bg, g)
		if err == nil {
			say(*structure, nil)
		} else if !errors.Is(err, memory.ErrNotFound) {
			t.Fatal(err)
		}
		people, err := s.People(bg, g)
		say(people, err)
		lore, err := s.Lore(bg, g)
		say(lore, err)
		heard, err := s.HeardUntil(bg, g)
		say(heard, err)
	}
	for _, c := range []memory.ChannelID{general, secret, 3000} {
		log, err := s.Log(bg, c, -1<<63, 1<<63-1, 1000)
		say(log, err)
		summaries, err := s.Summaries(bg, c)
		say(summaries, err)
		n, counts, err := s.Frequencies(bg, in(c), []string{"a"}, 1000)
		say([]any{n, counts}, err)
	}
	unsummarised, err := s.SummaryBacklog(bg, 0)
	say(unsummarised, err)
	gaps, err := s.Gaps(bg, memory.Everywhere, false)
	say(gaps, err)
	unfinished, err := s.Forgettings(bg, memory.Everywhere, 0)
	say(unfinished, err)
	withdrawn, err := s.Withdrawn(bg, 100)
	say(withdrawn, err)
	segments, err := s.Pending(bg, 1000)
	for i := range segments {
		segments[i].Version = 0 // counts commits
	}
	say(segments, err)
	return all
}

// Every message that is recalled lies in one segment, in order, and a stream that comes in order is cut the same way
// whatever batches it comes in. Each message is five bytes: author, kind and batch, time since the one before, how far
// back it replies, whom it mentions.
func FuzzSegments(f *testing.F) {
	f.Add([]byte{1, 0, 4, 0, 0, 2, 9, 1, 1, 0, 1, 3, 200, 0, 2})
	f.Add(slices.Repeat([]byte{1, 0, 1, 0, 0}, 20))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var stream []memory.Event
		var want []memory.MessageID
		var ends []int
		now := id(0).Time()
		for ; len(data) >= 5 && len(stream) < 120; data = data[5:] {
			now = now.Add(time.Duration(data[2]) * 7 * time.Second)
			m := memory.Message{ID: memory.FirstMessageID(now) + memory.MessageID(len(stream)), Guild: guild,
				Channel: general,
				Author: memory.UserID(data[0]%6 +
					1), Kind: memory.Kind(data[1] % 5), Content: fmt.Sprintf("n%d", len(stream))}
			if back := int(data[3]); back > 0 && back <= len(stream) {
				m.ReplyTo = stream[len(stream)-back].(memory.Posted).Message.ID
			}
			if data[4] > 0 {
				m.Mentions = []memory.UserID{memory.UserID(data[4]%6 + 1)}
			}
			if m.Kind.Recalled() {
				want = append(want, m.ID)
			}
			if stream = append(stream, memory.Posted{Message: m}); data[1] >= 128 {
				ends = append(ends, len(stream))
			}
		}
		one, batches := open(t, emptyDir(t)), open(t, t.TempDir())
		apply(t, one, stream...)
		from := 0
		for _, end := range append(ends, len(stream)) {
			apply(t, batches, stream[from:end]...)
			from = end
		}
		cut := segmentsOf(t, one)
		if again := segmentsOf(t, batches); !reflect.DeepEqual(cut, again) {
			t.Fatalf("at once:\n%v\nin batches:\n%v", cut, again)
		}
		got := slices.Concat(cut...)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("segments hold %v, want each of %v once", got, want)
		}
		checkSound(t, one)
		checkSound(t, batches)
	})
}

// segmentsOf are the messages of each pending segment, checked for order and size.
func segmentsOf(t testing.TB, s *Store) [][]memory.MessageID {
	t.Helper()
	segments, err := s.Pending(bg, 10_000)
	must(t, err)
	var all [][]memory.MessageID
	for _, segment := range segments {
		var ids []memory.MessageID
		for _, m := range segment.Messages {
			ids = append(ids, m.ID)
		}
		if !slices.IsSorted(ids) || len(ids) == 0 || len(ids) > memory.MaxSegment {
			t.Fatalf("segment %d holds %v", segment.ID, ids)
		}
		all = append(all, ids)
	}
	slices.SortFunc(all, func(a, b []memory.MessageID) int { return cmp.Compare(a[0], b[0]) })
	return all
}
