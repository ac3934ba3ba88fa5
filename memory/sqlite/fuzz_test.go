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

func (r *bytesReader) channel() memory.ChannelID {
	return []memory.ChannelID{general, secret, 3000, 0}[r.below(4)]
}
func (r *bytesReader) user() memory.UserID { return memory.UserID(r.number()) }

// guild is where a channel lies, mostly.
func (r *bytesReader) guild(channel memory.ChannelID) memory.GuildID {
	if r.byte() > 240 {
		return memory.GuildID(r.number())
	}
	return map[memory.ChannelID]memory.GuildID{3000: memory.LocalGuild}[channel] + map[bool]memory.GuildID{true: guild}[channel != 3000]
}

func (r *bytesReader) whole() memory.Message {
	m := memory.Message{
		Channel: r.channel(), ID: r.message(), Author: r.user(), Kind: memory.Kind(r.below(6)), Content: r.text(), Edited: r.time(),
		ReplyTo: r.message(), Starred: r.byte()%2 == 0,
	}
	m.Guild = r.guild(m.Channel)
	for range r.below(3) {
		m.Files = append(m.Files, memory.File{Name: r.text(), Description: r.text()})
		m.Mentions = append(m.Mentions, r.user())
	}
	return m
}

func (r *bytesReader) structure() memory.Channel {
	c := memory.Channel{ID: r.channel(), Kind: memory.ChannelKind(r.below(9)), Parent: r.channel(), Name: r.text(), Unplaced: r.byte()%2 == 0}
	c.Guild = r.guild(c.ID)
	for range r.below(3) {
		c.Overwrites = append(c.Overwrites, memory.Overwrite{Role: memory.RoleID(r.number()), User: r.user(), Allow: memory.Permissions(r.number())})
	}
	return c
}

// event is whatever the bytes say.
func (r *bytesReader) event() memory.Event {
	channel := r.channel()
	where := r.guild(channel)
	switch r.below(38) {
	case 24:
		return memory.Learn{Guild: where, User: r.user(), On: r.byte()%2 == 0, At: r.time()}
	case 25:
		return memory.Learned{Guild: where, Channel: channel, Until: r.message()}
	case 0:
		return memory.Edited{Guild: where, Channel: channel, ID: r.message(), Content: r.text(), At: r.time()}
	case 1:
		return memory.Deleted{Guild: where, Channel: channel, IDs: []memory.MessageID{r.message(), r.message()}}
	case 2:
		return memory.Named{Channel: channel, ID: r.message(), Name: r.text()}
	case 3:
		return memory.Starred{Guild: where, Channel: channel, ID: r.message(), On: r.byte()%2 == 0, At: r.time()}
	case 4:
		return memory.Heard{Guild: where, Channel: channel, ID: r.message()}
	case 5:
		return memory.GuildSeen{At: r.time(), Guild: memory.Guild{ID: where, Name: r.text(), Channels: []memory.Channel{r.structure()}, Roles: []memory.Role{{ID: memory.RoleID(r.number()), Name: r.text()}}}}
	case 6:
		return memory.GuildLeft{Guild: where, At: r.time()}
	case 7:
		return memory.ChannelSeen{Channel: r.structure()}
	case 8:
		return memory.ChannelGone{Guild: where, Channel: channel}
	case 9:
		return memory.ChannelDeleted{Guild: where, Channel: channel, At: r.time()}
	case 10:
		return memory.RoleSeen{Guild: where, Role: memory.Role{ID: memory.RoleID(r.number()), Name: r.text()}}
	case 11:
		return memory.RoleGone{Guild: where, Role: memory.RoleID(r.number())}
	case 12:
		return memory.PersonSeen{Person: memory.Person{ID: r.user(), Guild: where, Username: r.text(), Nick: r.text(), RolesKnown: r.byte()%2 == 0, Roles: []memory.RoleID{7}}}
	case 13:
		return memory.PersonLeft{Guild: where, User: r.user()}
	case 14:
		return memory.FactTold{Guild: where, User: r.user(), Fact: memory.Fact{ID: r.number(), Text: r.text(), By: r.user(), Channel: r.channel(), Message: r.message()}}
	case 15:
		return memory.FactGone{Guild: where, User: r.user(), Fact: r.number()}
	case 16:
		return memory.Chose{Guild: where, Channel: channel, Choice: memory.Choice(r.below(6)), At: r.time()}
	case 17:
		return memory.Asked{Guild: where, Channel: channel, Message: r.message()}
	case 18:
		return memory.Opted{Guild: where, User: r.user(), Out: r.byte()%2 == 0, At: r.time()}
	case 19:
		return memory.GapFound{Gap: r.gap(where, channel)}
	case 20:
		return memory.GapFilled{Gap: r.gap(where, channel), Through: r.message()}
	case 21:
		return memory.Marked{Channel: channel, Message: r.message()}
	case 23:
		return memory.LoreGone{Guild: where, ID: r.number()}
	case 29:
		return memory.SummaryGone{Guild: where, Channel: channel, ID: r.message()}
	case 30, 31, 32, 33:
		e := memory.Summarised{Guild: where, Channel: channel, After: r.message(), Until: r.message()}
		if r.byte() < 200 {
			e.Summary = &memory.Summary{ID: e.Until, Channel: channel, Text: r.text(), Topics: []string{r.text()}, Kind: memory.SummaryTalk, Made: r.time(), Sources: []memory.SummarySource{{Message: r.message()}}}
		}
		return e
	case 26, 27, 28:
		return memory.LoreTold{Lore: memory.Lore{ID: r.number(), Guild: where, Name: r.text(), Text: r.text(), Own: []string{r.text()}, By: r.user(), Channel: r.channel(), At: r.time(),
			Sources: []memory.Spot{{Channel: r.channel(), Message: r.message()}}[:r.below(2)]}}
	case 35:
		return memory.LimitChosen{Guild: where, RoleLimit: memory.RoleLimit{Role: memory.RoleID(r.number()), Limit: memory.Limit{Messages: r.below(4) - 1, Tokens: r.below(4) - 1}}, At: r.time()}
	case 36:
		return memory.Spent{Guild: where, User: r.user(), Question: r.message(), Tokens: r.below(100)}
	case 34:
		return memory.SettingChosen{Guild: where, Channel: channel, Key: memory.Setting(r.text()), Value: r.text(), At: r.time()}
	case 22:
		return memory.Answered{Trace: memory.Trace{Guild: where, Channel: channel, Answer: r.message(), Question: r.message(), Parts: []memory.MessageID{r.message()},
			Recalled: []memory.TraceHit{{Channel: r.channel(), Message: r.message(), Number: 1}}, Lore: []int64{r.number()}[:r.below(2)],
			Summaries: []memory.MessageID{r.message()}[:r.below(2)], SummariesMade: []int64{r.time().UnixMilli()}}}
	}
	return memory.Posted{Message: r.whole(), Live: r.byte()%2 == 0}
}

func (r *bytesReader) gap(guild memory.GuildID, channel memory.ChannelID) memory.Gap {
	return memory.Gap{Guild: guild, Channel: channel, After: r.message(), Until: r.message(), Past: r.byte()%2 == 0, Fetched: r.below(100)}
}

// Whatever is told, the store takes it or refuses it, its file is sound, and it doesn't matter in what batches it came.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{})
	for seed := range 4 {
		data := make([]byte, 600)
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
	unsummarised, err := s.Unsummarised(bg, 0)
	say(unsummarised, err)
	gaps, err := s.Gaps(bg)
	say(gaps, err)
	unfinished, err := s.Unfinished(bg)
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
			m := memory.Message{ID: memory.FirstMessageID(now) + memory.MessageID(len(stream)), Guild: guild, Channel: general,
				Author: memory.UserID(data[0]%6 + 1), Kind: memory.Kind(data[1] % 5), Content: fmt.Sprintf("n%d", len(stream))}
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
