package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
	"hark/memory/memorytest"
)

// FuzzOperations compares the store with memorytest's model.
func FuzzOperations(f *testing.F) {
	memorytest.Fuzz(f, func(t testing.TB) memory.Opened {
		s, err := Open(context.Background(), emptyDir(t), Options{Space: memorytest.Embedder{}.Space()})
		must(t, err)
		return s
	})
}

func number(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(0, 7), rapid.Int64Range(0, 7), rapid.Int64()).Draw(t, "number")
}

func below(t *rapid.T, n int) int { return rapid.IntRange(0, n-1).Draw(t, "below") }

// shortly is one of a few moments, of which some fall in one millisecond, or none.
func shortly(t *rapid.T) time.Time {
	if n := below(t, 256); n > 0 {
		return idAt(0).Add(time.Duration(n) * 777 * time.Microsecond)
	}
	return time.Time{}
}

var eventKinds = []memory.Event{
	memory.Posted{}, memory.Posted{}, memory.Posted{}, memory.Edited{}, memory.Deleted{}, memory.Rewritten{},
	memory.ExternalIDSeen{}, memory.Starred{}, memory.Heard{}, memory.Told{},
	memory.GuildSeen{}, memory.GuildLeft{}, memory.ChannelSeen{}, memory.ChannelGone{},
	memory.ChannelDeleted{}, memory.RoleSeen{}, memory.RoleGone{},
	memory.PersonSeen{}, memory.PersonLeft{}, memory.FactTold{}, memory.FactGone{}, memory.Learn{},
	memory.Learned{}, memory.Chose{}, memory.Asked{}, memory.Opted{},
	memory.GapFound{}, memory.GapFilled{}, memory.Marked{}, memory.LoreTold{}, memory.LoreTold{},
	memory.LoreGone{}, memory.Summarised{}, memory.Summarised{},
	memory.SessionCondensed{}, memory.CondensedGone{}, memory.SettingChosen{}, memory.LimitChosen{},
	memory.Spent{}, memory.Answered{},
}

func drawEvent(t *rapid.T) memory.Event {
	v := reflect.New(reflect.TypeOf(eventKinds[below(t, len(eventKinds))])).Elem()
	fill(t, v)
	return v.Interface().(memory.Event)
}

func fill(t *rapid.T, v reflect.Value) {
	var known any
	switch v.Interface().(type) {
	case memory.ChannelID:
		known = []memory.ChannelID{general, secret, 3000, 0}[below(t, 4)]
	case memory.MessageID:
		if known = memory.MessageID(number(t)); below(t, 4) > 0 {
			known = id(below(t, 16))
		}
	case memory.Kind:
		known = memory.Kind(below(t, 6))
	case memory.ChannelKind:
		known = memory.ChannelKind(below(t, 9))
	case memory.Choice:
		known = memory.Choice(below(t, 6))
	case time.Time:
		known = shortly(t)
	}
	switch {
	case known != nil:
		v.Set(reflect.ValueOf(known))
		return
	case v.CanInt():
		v.SetInt(number(t))
	case v.CanUint():
		v.SetUint(uint64(number(t)))
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(t, f)
			}
		}
		place(t, v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), below(t, 3), 3))
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Pointer:
		if below(t, 8) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.String:
		v.SetString(string(rapid.SliceOfN(rapid.Byte(), 0, 11).Draw(t, "text")))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float64:
		v.SetFloat(float64(below(t, 256)))
	}
}

// place has something lie in the guild that its channel lies in, mostly.
func place(t *rapid.T, v reflect.Value) {
	in, channel := v.FieldByName("Guild"), v.FieldByName("Channel")
	if in.IsValid() && in.CanInt() && below(t, 16) > 0 {
		in.SetInt(int64(guild))
		if channel.IsValid() && channel.CanInt() && channel.Int() == 3000 {
			in.SetInt(int64(memory.LocalGuild))
		}
	}
}

// The store accepts or refuses any event, its file stays sound, and batches make no difference.
func FuzzEvents(f *testing.F) {
	memorytest.FuzzDrawn(f, func(t *testing.T, rt *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawEvent), 0, 60).Draw(rt, "events")
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

// Every recalled message lies in one segment, in order, and an ordered stream is cut the same way in any
// batches.
func FuzzSegments(f *testing.F) {
	memorytest.FuzzDrawn(f, func(t *testing.T, rt *rapid.T) {
		var stream []memory.Event
		var want []memory.MessageID
		one, batches := open(t, emptyDir(t)), open(t, t.TempDir())
		now, from := idAt(0), 0
		for n := range rapid.IntRange(0, 120).Draw(rt, "messages") {
			now = now.Add(time.Duration(below(rt, 256)) * 7 * time.Second)
			m := memory.Message{ID: memory.FirstMessageID(now) + memory.MessageID(n), Guild: guild,
				Channel: general,
				Author:  memory.UserID(1 + below(rt, 6)), Kind: memory.Kind(below(rt, 5)),
				Content: fmt.Sprintf("n%d", n)}
			if back := below(rt, 256); back > 0 && back <= n {
				m.ReplyTo = stream[n-back].(memory.Posted).Message.ID
			}
			if below(rt, 2) > 0 {
				m.Mentions = []memory.UserID{memory.UserID(1 + below(rt, 6))}
			}
			if m.Kind.Recalled() {
				want = append(want, m.ID)
			}
			if stream = append(stream, memory.Posted{Message: m}); below(rt, 2) > 0 {
				apply(t, batches, stream[from:]...)
				from = len(stream)
			}
		}
		apply(t, one, stream...)
		apply(t, batches, stream[from:]...)
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
