package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hark/memory"
)

// talk is a session of lines "who: text", a minute apart; "who>n: text" replies to the n-th, from 1 on.
func talk(lines ...string) []memory.Message {
	who := map[string]memory.UserID{"Ann": ann, "Ben": ben, "Cleo": cleo}
	var all []memory.Message
	for i, line := range lines {
		name, text, _ := strings.Cut(line, ": ")
		m := memory.Message{ID: memory.FirstMessageID(noon.Add(time.Duration(i) * time.Minute)),
			Channel: lobby, Guild: guild, Content: text}
		if speaker, to, replies := strings.Cut(name, ">"); replies {
			var n int
			fmt.Sscan(to, &n)
			name, m.ReplyTo = speaker, all[n-1].ID
		}
		m.Author = who[name]
		all = append(all, m)
	}
	return all
}

// addressed is a session of one message of Ann's, which mentions somebody.
func addressed(text string, whom memory.UserID) []memory.Message {
	m := talk("Ann: " + text)
	m[0].Mentions = []memory.UserID{whom}
	return m
}

// directly is a session of one direct message of Ann's.
func directly(text string) []memory.Message {
	m := talk("Ann: " + text)
	m[0].Guild = memory.DirectGuild
	return m
}

func called(id memory.UserID) string {
	return map[memory.UserID]string{ann: "Ann", ben: "Ben", cleo: "Cleo"}[id]
}

func isBot(id memory.UserID) bool { return id == oracle }

func TestWhatIsExtracted(t *testing.T) {
	t.Parallel()
	filler := strings.Split(strings.Repeat("Ben: yeah the weather is nice and all\n", 30), "\n")[:30]
	long := strings.Repeat("and then the harbour was full of boats ", 20)
	for name, c := range map[string]struct {
		said   []memory.Message
		text   string // nothing: no summary
		kind   memory.SummaryKind
		topics string
	}{
		"nothing":    {nil, "", "", ""},
		"empty talk": {talk("Ann: hi", "Ben: lol", "Ann: 👍"), "", "", ""},
		"a statement": {talk("Ann: hi", "Ben: I moved to Lisbon"), "Ben: I moved to Lisbon",
			memory.SummaryFact, "lisbon moved"},
		"a bare figure": {talk("Ann: 42", "Ben: ok"), "Ann: 42", memory.SummaryFact, ""},
		"two lines": {talk("Ann: the ferry\nleaves   early"), "Ann: the ferry leaves early",
			memory.SummaryTalk, "leaves ferry early"},
		"a question with its answer": {
			talk("Ann: What is your personal best, Ben?",
				"Ben: 25:50"), "Ann: What is your personal best, Ben? · Ben: 25:50", memory.SummaryFact,
			"personal best ben"},
		"an answer that replies": {
			talk("Ann: What is your personal best?", "Cleo: what",
				"Ben>1: 25:50"), "Ann: What is your personal best? · Ben: 25:50", memory.SummaryFact, "personal best"},
		"an answer to somebody else": {
			talk("Ann: What is your personal best?",
				"Ann: the ferry leaves early"), "Ann: the ferry leaves early", memory.SummaryTalk,
			"leaves ferry early"},
		"a question without an answer": {talk("Ann: ok then", "Ben: Where does the ferry leave?"),
			"Ben: Where does the ferry leave?", memory.SummaryQuestion, "ferry leave"},
		"the last question": {talk("Ann: Where does the ferry leave?", "Ben: Is the harbour open?"),
			"Ben: Is the harbour open?", memory.SummaryQuestion, "harbour open"},
		"a question with a figure": {talk("Ann: Did you know that I ran the 5K in 25:50?"),
			"Ann: Did you know that I ran the 5K in 25:50?", memory.SummaryQuestion, "know ran"},
		"a figure beside a question": {talk("Ann: I ran the 5K in 25:50. And you?"),
			"Ann: I ran the 5K in 25:50. And you?", memory.SummaryFact, "ran"},
		"a figure on another line": {talk("Ann: I ran the 5K in 25:50\nand you?"),
			"Ann: I ran the 5K in 25:50 and you?", memory.SummaryFact, "ran"},
		"a question and its answer": {
			talk("Ben: How fast was the 5K?",
				"Ann: Twenty minutes exactly."), "Ben: How fast was the 5K? · Ann: Twenty minutes exactly.",
			memory.SummaryTalk, ""},
		"Hark is asked":                {talk("Ann: @hark how fast was the 5K?"), "", "", ""},
		"Hark is asked without a mark": {talk("Ann: @hark how fast was the 5K"), "", "", ""},
		"Hark is told": {talk("Ann: @hark my best for the 5K is 25:50"),
			"Ann: @hark my best for the 5K is 25:50", memory.SummaryFact, "best"},
		"Hark is mentioned": {addressed("<@99> how fast was the 5K?", oracle), "", "", ""},
		"somebody is mentioned": {addressed("<@2> how fast was the 5K?", ben),
			"Ann: <@2> how fast was the 5K?", memory.SummaryQuestion, ""},
		"what follows a question to Hark": {talk("Ann: @hark how fast was the 5K?",
			"Ben: the ferry leaves early"), "Ben: the ferry leaves early", memory.SummaryTalk, ""},
		"repeated": {talk(strings.Split(strings.Repeat("Ben: the bus is late again\n",
			6)+"Ben: the bus is late again!\nAnn: Keep the peanuts out of the soup", "\n")...),
			"Ben: the bus is late again! · Ann: Keep the peanuts out of the soup", memory.SummaryTalk, ""},
		"denied": {talk("Ann: the ferry leaves early",
			"Ben: the ferry doesn't leave early"), "Ben: the ferry doesn't leave early", memory.SummaryTalk, ""},
		"no longer denied": {talk("Ann: the ferry doesn't leave early",
			"Ben: the ferry leaves early"),
			"Ann: the ferry doesn't leave early · Ben: the ferry leaves early", memory.SummaryTalk, ""},
		"asked by oneself": {directly("how fast was the 5K?"), "", "", ""},
		"another order of figures": {talk("Ann: it took 25:50", "Ben: it took 50:25"),
			"Ann: it took 25:50 · Ben: it took 50:25", memory.SummaryFact, ""},
		"each of oneself": {talk("Ann: my nuts allergy is bad", "Ben: my nuts allergy is bad"),
			"Ann: my nuts allergy is bad · Ben: my nuts allergy is bad", memory.SummaryFact, ""},
		"short statements": {talk("Ann: the ferry leaves early", "Ben: Peanuts!!",
			"Ann: thanks", "Ann: Divorced."), "Ann: the ferry leaves early · Ben: Peanuts!! · Ann: Divorced.",
			memory.SummaryTalk, ""},
		"a question beside a statement": {talk("Ann: the ferry leaves early",
			"Ann: I ran it in 25:50, can you believe it?"),
			"Ann: the ferry leaves early · Ann: I ran it in 25:50, can you believe it?", memory.SummaryTalk, ""},
		"a decision": {talk("Ann: we need a boat", "Ben: agreed, the red boat it is",
			"Ann: it cost 90"), "Ann: we need a boat · Ben: agreed, the red boat it is · Ann: it cost 90",
			memory.SummaryDecision, "boat agreed need cost red"},
		"a plan": {talk("Ann: we will meet at the harbour tomorrow"),
			"Ann: we will meet at the harbour tomorrow", memory.SummaryPlan, "harbour meet"},
		"German": {talk("Ann: Wir haben beschlossen, das rote Boot zu kaufen."),
			"Ann: Wir haben beschlossen, das rote Boot zu kaufen.", memory.SummaryDecision, ""},
		"Japanese": {talk("Ann: 自己ベストは25分50秒です。"), "Ann: 自己ベストは25分50秒です。",
			memory.SummaryFact, ""},
		"links and tags have no figures": {talk("Ann: <@123456> https://example.org/2024/05"),
			"Ann: <@123456> https://example.org/2024/05", memory.SummaryTalk, ""},
		"only the best of much": {slices.Concat(talk(filler...),
			talk("Cleo: My number is 555-0199, call me before Friday.")),
			"Cleo: My number is 555-0199, call me before Friday.", "", ""},
		"long messages are cut": {talk("Ann: " + long), "", "", ""},
	} {
		s := extracted(c.said, called, isBot)
		if name == "long messages are cut" {
			if n := utf8.RuneCountInString(s.Text); n < 550 || n > 600 ||
				!strings.HasPrefix(s.Text, "Ann: and then") || !strings.HasSuffix(s.Text, "…") {
				t.Errorf("%s: %q", name, s.Text)
			}
			continue
		}
		if s == nil {
			if c.text != "" {
				t.Errorf("%s: nothing", name)
			}
			continue
		}
		if name == "only the best of much" {
			if !strings.Contains(s.Text, c.text) {
				t.Errorf("%s: %q", name, s.Text)
			}
			continue
		}
		topics := strings.Join(s.Topics, " ")
		if s.Text != c.text || s.Kind != c.kind || c.topics != "" && topics != c.topics {
			t.Errorf("%s: %q, %s about %q", name, s.Text, s.Kind, topics)
		}
		if len(s.Sources) != strings.Count(c.text, between)+1 {
			t.Errorf("%s: the sources are %v", name, s.Sources)
		}
	}
}

// Where there is room for few messages, those with a figure, a date, a name, a decision, a star or a
// statement of somebody about themselves stay, before those that merely have as many rare words.
func TestSignsGoBeforeWords(t *testing.T) {
	t.Parallel()
	for what, sign := range map[string]string{
		"a figure": "the best was 25:50", "a date": "it ended on tuesday there", "a decision": "the best was agreed there",
		"oneself": "my best was fine there", "a name": "the best was Zeppelin there",
	} {
		lines := []string{"Ann: " + sign}
		for i := range 14 {
			lines = append(lines, fmt.Sprintf("Ben: the plain%[1]c was word%[1]c there", 'a'+rune(i)))
		}
		if s := extracted(talk(lines...), called, isBot); !strings.Contains(s.Text, sign) {
			t.Errorf("%s: %q", what, s.Text)
		}
		plain := "the best was fine there"
		lines[0] = "Ann: " + plain
		starred := talk(lines...)
		if s := extracted(starred, called, isBot); strings.Contains(s.Text, plain) {
			t.Errorf("%s isn't what made it stay: %q", what, s.Text)
		}
		starred[0].Starred = true
		if s := extracted(starred, called, isBot); !strings.Contains(s.Text, plain) {
			t.Errorf("starred, and %q", s.Text)
		}
	}
}

// What stands at the end of a long message isn't lost: all of it is quoted where there is room, and else what
// tells most.
func TestTheEndOfLongMessagesIsQuoted(t *testing.T) {
	t.Parallel()
	long := "So I have been training since spring with the group from the river, and it was hard at first because of the heat and my knee, " +
		"but the coach was patient with all of us and the whole team came along to cheer for me, and in the end my personal best for the charity 5K is 25:50."
	if s := extracted(talk("Ann: "+long, "Ben: wow"), called, isBot); s.Text != "Ann: "+long {
		t.Errorf("%q", s.Text)
	}
	plain := strings.Repeat("and the harbour was full of boats ", 20)
	for what, c := range map[string]struct{ said, want, lost string }{
		"the end":     {plain + "and my best is 25:50.", "and my best is 25:50.", ""},
		"the middle":  {plain + "it took 25:50 there " + plain, "it took 25:50 there", ""},
		"a sentence":  {plain + ". We decided to buy it. " + plain, "…We decided to buy it.", ""},
		"no question": {plain + "were there 7? " + plain + plain + "It was 25:50.", "It was 25:50.", "there 7"},
		"no spaces":   {strings.Repeat("東京の雨", 300) + "自己ベストは25分50秒です。", "25分50秒", ""},
	} {
		s := extracted(talk("Ann: "+c.said), called, isBot)
		if n := utf8.RuneCountInString(s.Text); !strings.Contains(s.Text, c.want) || c.lost != "" &&
			strings.Contains(s.Text, c.lost) || n > memory.MaxSummaryText || n < 400 {
			t.Errorf("%s: %d characters, %q", what, n, s.Text)
		}
	}
	var many []string
	for i := range 4 {
		many = append(many, fmt.Sprintf("Ben: %sand pier%c costs %d", plain[:60+i], 'a'+i, 70+i),
			fmt.Sprintf("Ann: %sthe ferry%c costs %d", plain, 'a'+i, 30+i))
	}
	s := extracted(talk(many...), called, isBot)
	if n := utf8.RuneCountInString(s.Text); n < 450 || n > memory.MaxSummaryText {
		t.Errorf("%d characters: %q", n, s.Text)
	}
}

// Nor is it lost among many long ones that say much the same, with figures and decisions.
func TestTheLastIsNotLostAmongTheSame(t *testing.T) {
	t.Parallel()
	for _, n := range []int{4, 8, 12, 40} {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf(
				"Cleo: We agreed that on Monday, June %d, our Acme folder %d goes to box %d in Basel, as Dora said.", i+1,
				100+i, 7*i+3))
		}
		const last = "Ann: By the way, my personal best for the charity 5K is 25:50."
		if s := extracted(talk(append(lines, last)...), called, isBot); !strings.HasSuffix(s.Text, last) ||
			strings.Count(s.Text, between) < 3 {
			t.Errorf("of %d: %q", n, s.Text)
		}
	}
}

// Whatever is said: the summary can be stored, names exactly the messages that it quotes, in order of time,
// and the same session makes the same.
func TestExtractionHolds(t *testing.T) {
	t.Parallel()
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"25:50", "what?", "My personal best for the charity 5K is 25:50.", "z" +
			strings.Repeat("\u0301", 900), strings.Repeat("東京の雨", 200), strings.Repeat("👩‍👩‍👧‍👦", 150),
		"Where does the ferry leave?", "agreed", "the ferry leaves the harbour early", strings.Repeat("word 7 ", 300),
	}))
	rapid.Check(t, func(t *rapid.T) {
		session := make([]memory.Message, rapid.IntRange(0, 40).Draw(t, "messages"))
		for i := range session {
			session[i] = memory.Message{ID: memory.MessageID(i + 1),
				Author: rapid.SampledFrom([]memory.UserID{ann, ben}).Draw(t,
					"who"), Content: memory.Clean(texts.Draw(t, "text"))}
			if i > 0 && rapid.IntRange(0, 4).Draw(t, "replies?") == 0 {
				session[i].ReplyTo = memory.MessageID(rapid.IntRange(1, i).Draw(t, "to"))
			}
		}
		name := rapid.SampledFrom([]string{"Ann", strings.Repeat("A\u0301", 100), "", "=== x"}).Draw(t, "name")
		s := extracted(session, func(memory.UserID) string { return name }, isBot)
		if s == nil {
			return
		}
		s.ID, s.Channel, s.Made = memory.MessageID(len(session)), lobby, noon
		if _, err := s.Checked(); err != nil {
			t.Fatalf("%v: %+v", err, s)
		}
		rest := s.Text
		for i, source := range s.Sources {
			line := saidIn(session[source.Message-1], name, isBot)
			spoken, ok := strings.CutPrefix(rest, line.name+": ")
			if !ok || i > 0 && source.Message <= s.Sources[i-1].Message {
				t.Fatalf("%q isn't made of its sources: %+v", s.Text, s.Sources)
			}
			whole := strings.ReplaceAll(line.whole, "\n", " ")
			at := spoken
			if i+1 < len(s.Sources) {
				next := between + saidIn(session[s.Sources[i+1].Message-1], name, isBot).name + ": "
				n := strings.Index(spoken, next)
				if n < 0 {
					t.Fatalf("%q isn't followed by %q", spoken, next)
				}
				at, rest = spoken[:n], spoken[n+len(between):]
			}
			if bare := strings.TrimSuffix(strings.TrimPrefix(at, "…"), "…"); !strings.Contains(whole,
				strings.TrimSpace(bare)) {
				t.Fatalf("%q isn't of %q", at, whole)
			}
		}
		if again := extracted(session, func(memory.UserID) string { return name },
			isBot); fmt.Sprint(again.Text, again.Topics) != fmt.Sprint(s.Text, s.Topics) {
			t.Fatalf("%q, and %q", s.Text, again.Text)
		}
	})
}

// Highlights of any length are no longer than there is room for.
func TestHighlightsFit(t *testing.T) {
	t.Parallel()
	var session []memory.Message
	for i := range 100 {
		session = append(session, memory.Message{ID: memory.MessageID(i + 1), Author: ben,
			Content: fmt.Sprintf("Crate %d of %s weighs %d kg", i, strings.Repeat("wood ", i%30), 3*i)})
	}
	name := func(memory.UserID) string { return "Ben" }
	var long []int
	for _, most := range []int{300, 600, 1200} {
		n := 0
		for _, s := range highlights(session, name, func(memory.UserID) bool { return false }, most) {
			n += s.runes()
		}
		if n > most {
			t.Errorf("%d characters of %d", n, most)
		}
		long = append(long, n)
	}
	if !slices.IsSorted(long) || long[0] == long[2] {
		t.Errorf("more room holds no more: %d", long)
	}
}
