package answer

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
		m := memory.Message{ID: memory.FirstMessageID(noon.Add(time.Duration(i) * time.Minute)), Channel: lobby, Guild: guild, Content: text}
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

func called(id memory.UserID) string {
	return map[memory.UserID]string{ann: "Ann", ben: "Ben", cleo: "Cleo"}[id]
}

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
		"nothing":       {nil, "", "", ""},
		"empty talk":    {talk("Ann: hi", "Ben: lol", "Ann: 👍"), "", "", ""},
		"a statement":   {talk("Ann: hi", "Ben: I moved to Lisbon"), "Ben: I moved to Lisbon", memory.SummaryFact, "lisbon moved"},
		"a bare figure": {talk("Ann: 42", "Ben: ok"), "Ann: 42", memory.SummaryFact, ""},
		"two lines":     {talk("Ann: the ferry\nleaves   early"), "Ann: the ferry leaves early", memory.SummaryTalk, "leaves ferry early"},
		"a question with its answer": {
			talk("Ann: What is your personal best, Ben?", "Ben: 25:50"), "Ann: What is your personal best, Ben? · Ben: 25:50", memory.SummaryFact, "personal best ben"},
		"an answer that replies": {
			talk("Ann: What is your personal best?", "Cleo: what", "Ben>1: 25:50"), "Ann: What is your personal best? · Ben: 25:50", memory.SummaryFact, "personal best"},
		"an answer to somebody else": {
			talk("Ann: What is your personal best?", "Ann: the ferry leaves early"), "Ann: the ferry leaves early", memory.SummaryTalk, "leaves ferry early"},
		"a question without an answer":   {talk("Ann: ok then", "Ben: Where does the ferry leave?"), "Ben: Where does the ferry leave?", memory.SummaryQuestion, "ferry leave"},
		"the last question":              {talk("Ann: Where does the ferry leave?", "Ben: Is the harbour open?"), "Ben: Is the harbour open?", memory.SummaryQuestion, "harbour open"},
		"a question that tells":          {talk("Ann: Did you know that I ran the 5K in 25:50?"), "Ann: Did you know that I ran the 5K in 25:50?", memory.SummaryFact, "know ran"},
		"a decision":                     {talk("Ann: we need a boat", "Ben: agreed, the red boat it is", "Ann: it cost 90"), "Ann: we need a boat · Ben: agreed, the red boat it is · Ann: it cost 90", memory.SummaryDecision, "boat agreed need cost red"},
		"a plan":                         {talk("Ann: we will meet at the harbour tomorrow"), "Ann: we will meet at the harbour tomorrow", memory.SummaryPlan, "harbour meet"},
		"German":                         {talk("Ann: Wir haben beschlossen, das rote Boot zu kaufen."), "Ann: Wir haben beschlossen, das rote Boot zu kaufen.", memory.SummaryDecision, ""},
		"Japanese":                       {talk("Ann: 自己ベストは25分50秒です。"), "Ann: 自己ベストは25分50秒です。", memory.SummaryFact, ""},
		"links and tags have no figures": {talk("Ann: <@123456> https://example.org/2024/05"), "Ann: <@123456> https://example.org/2024/05", memory.SummaryTalk, ""},
		"only the best of much":          {slices.Concat(talk(filler...), talk("Cleo: My number is 555-0199, call me before Friday.")), "Cleo: My number is 555-0199, call me before Friday.", "", ""},
		"long messages are cut":          {talk("Ann: " + long), "", "", ""},
	} {
		s := extracted(c.said, called)
		if name == "long messages are cut" {
			if n := utf8.RuneCountInString(s.Text); n > 230 || !strings.HasSuffix(s.Text, "…") {
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

// Where there is room for few messages, those with a figure, a date, a name, a decision, a star or a statement of somebody about
// themselves stay, before those that merely have as many rare words.
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
		if s := extracted(talk(lines...), called); !strings.Contains(s.Text, sign) {
			t.Errorf("%s: %q", what, s.Text)
		}
		plain := "the best was fine there"
		lines[0] = "Ann: " + plain
		starred := talk(lines...)
		if s := extracted(starred, called); strings.Contains(s.Text, plain) {
			t.Errorf("%s isn't what made it stay: %q", what, s.Text)
		}
		starred[0].Starred = true
		if s := extracted(starred, called); !strings.Contains(s.Text, plain) {
			t.Errorf("starred, and %q", s.Text)
		}
	}
}

// A short statement with a figure isn't lost among long ones.
func TestFiguresAreNotLostAmongWords(t *testing.T) {
	t.Parallel()
	lines := []string{"Ann: my personal best is 25:50"}
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("Ben: plain%[1]d words about%[1]d several%[1]d things that%[1]d were seen%[1]d somewhere%[1]d along%[1]d the way", i)[:60])
		lines[i+1] = strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return 'a' + r
			}
			return r
		}, lines[i+1])
	}
	if s := extracted(talk(lines...), called); !strings.Contains(s.Text, "25:50") {
		t.Errorf("%q", s.Text)
	}
}

// Whatever is said: the summary can be stored, names exactly the messages that it quotes, in order of time, and the same
// session makes the same.
func TestExtractionHolds(t *testing.T) {
	t.Parallel()
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"25:50", "what?", "My personal best for the charity 5K is 25:50.", "z" + strings.Repeat("\u0301", 900), strings.Repeat("東京の雨", 200), strings.Repeat("👩‍👩‍👧‍👦", 150),
		"Where does the ferry leave?", "agreed", "the ferry leaves the harbour early", strings.Repeat("word 7 ", 300),
	}))
	rapid.Check(t, func(t *rapid.T) {
		session := make([]memory.Message, rapid.IntRange(0, 40).Draw(t, "messages"))
		for i := range session {
			session[i] = memory.Message{ID: memory.MessageID(i + 1), Author: rapid.SampledFrom([]memory.UserID{ann, ben}).Draw(t, "who"), Content: memory.Clean(texts.Draw(t, "text"))}
			if i > 0 && rapid.IntRange(0, 4).Draw(t, "replies?") == 0 {
				session[i].ReplyTo = memory.MessageID(rapid.IntRange(1, i).Draw(t, "to"))
			}
		}
		name := rapid.SampledFrom([]string{"Ann", strings.Repeat("A\u0301", 100), "", "=== x"}).Draw(t, "name")
		s := extracted(session, func(memory.UserID) string { return name })
		if s == nil {
			return
		}
		s.ID, s.Channel, s.Made = memory.MessageID(len(session)), lobby, noon
		if _, err := s.Checked(); err != nil {
			t.Fatalf("%v: %+v", err, s)
		}
		var lines []string
		for _, source := range s.Sources {
			lines = append(lines, saidIn(session[source.Message-1], name).line)
		}
		if want := strings.TrimSpace(strings.Join(lines, between)); strings.TrimSpace(s.Text) != want {
			t.Fatalf("%q isn't made of its sources: %q", s.Text, want)
		}
		if again := extracted(session, func(memory.UserID) string { return name }); fmt.Sprint(again.Text, again.Topics) != fmt.Sprint(s.Text, s.Topics) {
			t.Fatalf("%q, and %q", s.Text, again.Text)
		}
	})
}
