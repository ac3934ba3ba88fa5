package search_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
	"hark/search"
)

// told is lore of the village with these names, the first its own, told a day after dawn.
func told(id int64, text string, names ...string) memory.Lore {
	return memory.Lore{ID: id, Guild: village, Name: names[0], Own: names[1:], Text: text, At: dawn.AddDate(0, 0, 1)}
}

// recallLore is what a question finds, as "id why".
func recallLore(t *testing.T, k *talk, lore []memory.Lore, q search.Query) []string {
	t.Helper()
	r := find(t, k.knowing(lore), q)
	found := []string{}
	for i, h := range r.Lore {
		found = append(found, fmt.Sprint(h.Lore.ID, " ", h.Why))
		if h.Relevance <= 0 || h.Relevance > 1 || i > 0 && h.Relevance > r.Lore[i-1].Relevance {
			t.Errorf("%q: relevance %v after %+v", q.Text, h.Relevance, r.Lore[:i])
		}
	}
	return found
}

func TestLoreIsFoundAsPeopleSpeakOfIt(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	lore := []memory.Lore{
		told(1, "due on Friday", "Project X"),
		told(2, "we move to the new server in May", "Server migration plan", "the big move", "der Umzug"),
		told(3, "every second Tuesday", "BookClub"),
		told(4, "at Zoë's", "Café Olé"),
		told(5, "始まりは五月", "移行計画"),
		told(6, "the internal tools", "IT"),
		told(7, "who plays what", "The Who"),
		told(8, "the tax on windows, with a budget of ninety", "Project X budget"),
		told(9, "sing on Mondays", "Mill Valley Choir"),
		told(10, "in the cellar", "Internal Tools"),
		told(11, "are grey", "Chimney pot"),
	}
	for _, c := range []struct{ question, want string }{
		{"When is Project X due?", "[1 name 8 words]"},
		{"when is PROJECT-X due", "[1 name 8 words]"},
		{"what of the X project?", "[1 alias 8 words]"},
		{"what of my x-project", "[1 alias 8 words]"},
		{"is projectx done", "[1 alias]"},
		{"is PX done?", "[1 initials]"},
		{"is px done?", "[]"}, // two small letters are a word too often
		{"does the mvc sing?", "[9 initials]"},
		{"MVC", "[9 initials]"},
		{"what's in the project X budget?", "[8 name 1 name]"},
		{"projects are expensive, X said", "[1 name 8 words]"},
		{"projector Xylophone", "[]"},
		{"remind me of my server migration plan", "[2 name]"},
		{"remind me of our Server-Migration Plans", "[2 name]"},
		{"what is the plan for the migration of our server?", "[2 name]"},
		{"when is the big move", "[2 alias]"},
		{"wann ist der Umzug", "[2 alias]"},
		{"when does the book club meet", "[3 name]"},
		{"when does the bookclub meet", "[3 name]"},
		{"a book for my club", "[3 words]"}, // not its name
		{"is IT up?", "[]"},                 // whose initials are a common word
		{"a michimney pot, or a chimney pot", "[11 name]"},
		{"a michimney pot", "[11 alias]"},
		{"where is the cafe ole", "[4 name]"},
		{"where is the olé café", "[4 alias]"},
		{"私の移行計画はいつ", "[5 name]"},
		{"移行", "[5 alias]"},
		{"who is it?", "[]"},
		{"windows tax", "[8 words]"},
		{"do they take the zeppelin on fridays, or is it marmalade?", "[]"},
		{"", "[]"},
	} {
		if got := fmt.Sprint(recallLore(t, k, lore, ask(c.question, green))); got != c.want {
			t.Errorf("%q finds %s, want %s", c.question, got, c.want)
		}
	}
}

func TestTheRarestWordOfANameCallsLore(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	for i := range 8 {
		k.say(t, dawn.Add(time.Duration(i)*time.Minute), green, marta, "another project, mein Projekt, 別の計画")
	}
	lore := []memory.Lore{told(1, "ends in May", "Project Nightingale"),
		told(2, "beginnt im Mai", "Das Projekt Nachtigall"), told(4, "五月", "夜鳥計画")}
	for _, c := range []struct {
		question string
		lore     []memory.Lore
		want     string
	}{
		{"what is Nightingale?", lore, "[1 alias]"},
		{"wann beginnt die Nachtigall?", lore, "[2 alias]"},
		{"夜鳥は何ですか", lore, "[4 alias]"},
		{"計画は何ですか", lore, "[]"},
		{"how is the project?", lore, "[1 words]"},
		{"what is Nightingale?", append(lore, told(3, "for birds", "Nightingale box")), "[1 words 3 words]"},
	} {
		if got := fmt.Sprint(recallLore(t, k, c.lore, ask(c.question, green))); got != c.want {
			t.Errorf("%q finds %s, want %s", c.question, got, c.want)
		}
	}
}

// counted is a log that notes whose frequencies are asked for.
type counted struct {
	search.Log
	terms []string
}

func (c *counted) Frequencies(ctx context.Context, scope memory.Scope, terms []string, limit int) (int, []int, error) {
	c.terms = append(c.terms, terms...)
	return c.Log.Frequencies(ctx, scope, terms, limit)
}

// Counting words is slow, so only those of names that one word can identify are counted.
func TestOnlyNamesThatAWordIdentifiesAreCounted(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	var lore []memory.Lore
	for i := range 50 {
		lore = append(lore, told(int64(i+1), "for the roof", fmt.Sprintf("Chapel fund %d", i)))
	}
	lore = append(lore, told(51, "for the organ", "Velvet Chapel Nightingale"))
	log := &counted{Log: k.store}
	e := search.New(log, directory{Directory: k.store, lore: map[memory.GuildID][]memory.Lore{village: lore}})
	r := find(t, e, ask("which chapel is nightingale?", green))
	if len(r.Lore) != 1 || r.Lore[0].Lore.ID != 51 || r.Lore[0].Why != "alias" {
		t.Errorf("it finds %+v", r.Lore)
	}
	if slices.Contains(log.terms, "fund") || !slices.Contains(log.terms, "nightingal") {
		t.Errorf("it counts %q", log.terms)
	}
}

// How often a name was said in an unreadable past doesn't decide whether lore is found.
func TestAnUnreadablePastCallsNoLore(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	for i := range 8 {
		k.say(t, dawn.Add(time.Duration(i)*time.Minute), green, marta, "the nightingale sings")
	}
	k.say(t, dawn.AddDate(0, 0, 2), green, marta, "hello")
	q := ask("what is Nightingale?", green)
	q.Scope.Since, q.Opened = dawn.Add(time.Hour), true
	lore := []memory.Lore{told(1, "ends in May", "Project Nightingale")}
	if got := fmt.Sprint(recallLore(t, k, lore, q)); got != "[1 alias]" {
		t.Errorf("found %s", got)
	}
}

func TestInitialsThatCanMeanAnythingElseMeanNothing(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	valley, video := told(1, "sing", "Mill Valley Choir"), told(2, "draw", "My Video Course", "a course in video")
	hidden := told(3, "secret", "Most Valuable Crypt")
	hidden.Channel = crypt
	mvc := told(4, "a pattern", "Model", "MVC")
	for _, c := range []struct {
		lore []memory.Lore
		want string
	}{
		{[]memory.Lore{valley}, "[1 initials]"},
		{[]memory.Lore{valley, video}, "[1 initials]"}, // VC are those of the other
		{[]memory.Lore{valley, told(5, "build", "Many Village Castles")}, "[]"},
		{[]memory.Lore{valley, hidden}, "[1 initials]"}, // or the hidden would show
		{[]memory.Lore{valley, mvc}, "[4 alias]"},
	} {
		if got := fmt.Sprint(recallLore(t, k, c.lore, ask("tell me of MVC", green))); got != c.want {
			t.Errorf("%d pieces: %s, want %s", len(c.lore), got, c.want)
		}
	}
}

func TestTheBestLoreComesFirst(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	var lore []memory.Lore
	for i := range 8 {
		l := told(int64(i+1), "the roof", fmt.Sprintf("Roof %d", i+1), "roofing")
		l.At = l.At.Add(time.Duration(i%4) * time.Hour)
		lore = append(lore, l)
	}
	if got, want := fmt.Sprint(recallLore(t, k, lore, ask("roofing, and roof 3?", green))),
		"[3 name 4 alias 8 alias 7 alias 2 alias]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLoreIsOfItsTime(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	lore := []memory.Lore{told(1, "due", "Project X")}
	q := ask("project x", green)
	for _, c := range []struct {
		since, until, now time.Time
		want              string
	}{
		{want: "[1 name]", now: q.Now},
		{now: dawn.AddDate(0, 0, 1), want: "[]"}, // not told yet
		{now: q.Now, since: dawn.AddDate(0, 0, 1), want: "[1 name]"},
		{now: q.Now, since: dawn.AddDate(0, 0, 2), want: "[]"},
		{now: q.Now, until: dawn.AddDate(0, 0, 1), want: "[]"},
	} {
		q.Now, q.Scope.Since, q.Scope.Until = c.now, c.since, c.until
		if got := fmt.Sprint(recallLore(t, k, lore, q)); got != c.want {
			t.Errorf("since %v until %v at %v: %s, want %s", c.since, c.until, c.now, got, c.want)
		}
	}
}

// Lore is found only if all of its channels may be read. Other lore leaves no trace in the result.
func TestLoreStaysInItsAudience(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	channel := rapid.SampledFrom([]memory.ChannelID{0, green, pub, crypt, 99})
	names := rapid.SampledFrom([]string{"Chapel Roof", "Roof Chapel", "Crypt Rats", "Case Report", "roof", "goat"})
	questions := rapid.SampledFrom([]string{"the chapel roof", "CR", "my roof, our goat", "crypt-rats?",
		"rats", "what of the CR and the roof of the chapel?"})
	rapid.Check(t, func(rt *rapid.T) {
		scope := rapid.SliceOfNDistinct(rapid.SampledFrom([]memory.ChannelID{green, pub, crypt}), 0, 3,
			rapid.ID).Draw(rt, "scope")
		var all, readable []memory.Lore
		for i := range rapid.IntRange(0, 7).Draw(rt, "pieces") {
			l := told(int64(i+1), rapid.SampledFrom([]string{"rats", "the chapel roof leaks",
				"see above"}).Draw(rt, "text"), names.Draw(rt, "name"))
			l.Channel = channel.Draw(rt, "told in")
			for range rapid.IntRange(0, 2).Draw(rt, "sources") {
				l.Sources = append(l.Sources, memory.MessageRef{Channel: channel.Draw(rt, "said in"), Message: 7})
			}
			if rapid.IntRange(0, 5).Draw(rt, "elsewhere?") == 0 {
				l.Guild++
			}
			all = append(all, l)
			ok := l.Guild == village && len(scope) > 0 && (l.Channel == 0 || slices.Contains(scope, l.Channel))
			for _, s := range l.Sources {
				ok = ok && slices.Contains(scope, s.Channel)
			}
			if ok {
				readable = append(readable, l)
			}
		}
		q := ask(questions.Draw(rt, "question"), scope...)
		var results [2]search.Result
		for i, lore := range [][]memory.Lore{all, readable} {
			results[i] = find(rt, k.knowing(lore), q)
		}
		if !reflect.DeepEqual(results[0], results[1]) {
			rt.Fatalf("in %v, with what can't be read:\n%+v\nwithout:\n%+v", scope, results[0].Lore, results[1].Lore)
		}
		for _, h := range results[0].Lore {
			if !slices.ContainsFunc(readable, func(l memory.Lore) bool { return l.ID == h.Lore.ID }) {
				rt.Fatalf("in %v it finds %+v", scope, h)
			}
		}
	})
}

// For any question and name, the search neither fails nor finds more than there is.
func FuzzLore(f *testing.F) {
	k, _ := gossip(f)
	for _, s := range []string{"", "Project X", "the", "移行計画", "\xff ' ’s", "<:a:1> ſ İ",
		strings.Repeat("a", 4000), "( \" OR"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, question, name, own string) {
		l, err := told(1, "text", name, own).Checked()
		if err != nil {
			return
		}
		found := recallLore(t, k, []memory.Lore{l}, ask(question, green))
		if len(found) > 1 {
			t.Errorf("%q finds %q", question, found)
		}
		if q := ask(name, green); !strings.ContainsAny(name, "<>") &&
			strings.HasSuffix(fmt.Sprint(recallLore(t, k, []memory.Lore{l}, q)), "words]") {
			t.Errorf("%q isn't found by its name", name)
		}
	})
}

// Searches without lore, and with entries of 500 letters.
func BenchmarkLore(b *testing.B) {
	k, _ := gossip(b)
	for _, n := range []int{0, 20, 200, 1000} {
		var lore []memory.Lore
		for i := range n {
			lore = append(lore, told(int64(i+1),
				strings.Repeat(fmt.Sprintf("the %d chapels of the valley are mended ", i),
					12), fmt.Sprintf("Chapel fund %d", i), "chapel box"))
		}
		e := k.knowing(lore)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				find(b, e, ask("who pays for chapel fund 7?", green))
			}
		})
	}
}
