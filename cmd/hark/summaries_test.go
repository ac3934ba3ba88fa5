package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hark/internal/console"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
)

const synthesis = `{"summary":"Ann's personal best for the charity 5K is 25:50.","topics":["charity 5k"],"kind":"fact"}`

// summariserWords begin the prompt for summaries.
const summariserWords = "You sum up"

// summedUp writes a summary where one is asked for, and otherwise answers.
func summedUp(r llmtest.Request) llmtest.Reply {
	if strings.Contains(r.Messages[0].Content, summariserWords) {
		return llmtest.Say(synthesis)
	}
	return llmtest.Say("Noted", " [1].")
}

// lately is a command line on a memory with a local channel, where Ann and Ben talked a day ago, and with Hark two
// hours ago.
func lately(t *testing.T) *commandLine {
	t.Helper()
	data, serial := t.TempDir(), memory.MessageID(0)
	events := []memory.Event{
		memory.ChannelSeen{Channel: memory.Channel{ID: 501, Guild: memory.LocalGuild,
			Kind: memory.LocalChannel, Name: "track"}},
		memory.PersonSeen{Person: memory.Person{ID: 7, Guild: memory.LocalGuild,
			Name: "Ann"}}, memory.PersonSeen{Person: memory.Person{ID: 8, Guild: memory.LocalGuild, Name: "Ben"}},
	}
	for _, m := range []struct {
		ago    time.Duration
		author memory.UserID
		text   string
	}{
		{24 * time.Hour, 8, "All documents are sorted into 14 folders."}, {2 * time.Hour, 7,
			"My personal best for the charity 5K is 25:50."},
		{2 * time.Hour, 8, "We agreed to meet at the park."}, {2 * time.Hour, console.HarkID, "Well done!"},
	} {
		serial++
		message := memory.Message{ID: memory.FirstMessageID(time.Now().Add(-m.ago)) + serial,
			Guild: memory.LocalGuild, Channel: 501, Author: m.author, Content: m.text}
		if m.author == console.HarkID {
			message.Kind = memory.FromHark
		}
		events = append(events, memory.Posted{Message: message})
	}
	opened(t, data, func(store *sqlite.Store) error { return store.Apply(t.Context(), events...) })
	return &commandLine{T: t, env: map[string]string{"HARK_DATA": data}}
}

func (c *commandLine) summaries() (all []memory.Summary) {
	c.Helper()
	opened(c, c.env["HARK_DATA"], func(store *sqlite.Store) (err error) {
		all, err = store.Summaries(c.Context(), 501)
		return err
	})
	return all
}

// talks asks something there.
func (c *commandLine) talks() {
	c.Helper()
	c.stdin = "Ann: @hark how fast was I?\n"
	c.run(0, "chat", "--channel", "track")
	c.stdin = ""
}

func TestSummariesAtTheTerminal(t *testing.T) {
	t.Parallel()
	c := lately(t)
	c.talks()
	all := c.summaries()
	const text = "Ann: My personal best for the charity 5K is 25:50. · Ben: We agreed to meet at the park."
	if len(all) != 2 || all[1].Text != text || all[1].Kind != memory.SummaryDecision ||
		len(all[1].Sources) != 2 || all[1].Model != "" || all[1].To().Before(all[1].From()) {
		t.Fatalf("%+v", all)
	}
	c.run(0, "search", "--channel", "track", "documents")
	c.says("summary, decision, ")
	c.says("(newest")
	c.run(0, "search", "--channel", "track", "--topic", "documents", "documents")
	if out := c.out.String(); strings.Contains(out, "summary, decision") || !strings.Contains(out, "summary, fact, ") {
		t.Errorf("found\n%s", out)
	}
	c.run(0, "search", "documents")
	if strings.Contains(c.out.String(), "summary") {
		t.Errorf("asked nowhere, and found\n%s", c.out.String())
	}
	c.run(0, "context", "--channel", "track", "--kind", "fact", "--json", "what about the documents?")
	var p jsonPrompt
	if err := json.Unmarshal([]byte(c.out.String()), &p); err != nil || len(p.Summaries) != 1 ||
		p.Summaries[0].Kind != "fact" || len(p.Summaries[0].Why) == 0 {
		t.Errorf("%v: %+v", err, p.Summaries)
	}
	c.run(1, "context", "--kind", "poem", "what?")

	s := c.exported("--user", "Ann").Servers[0]
	if len(s.Summaries) != 1 || s.Summaries[0].Text != "" || len(s.Summaries[0].Topics) > 0 ||
		len(s.Summaries[0].Sources) != 1 {
		t.Errorf("of Ann is exported %+v", s.Summaries)
	}
	if s := c.exported("--user", "Ben").Servers[0]; len(s.Summaries) != 2 || s.Summaries[0].Text == "" ||
		s.Summaries[1].Text != "" {
		t.Errorf("of Ben is exported %+v", s.Summaries)
	}

	c.run(0, "forget", "--user", "Ann", "--yes")
	c.sees()
	c.talks() // sums up the rest again
	if left := c.summaries(); len(left) != 2 || left[1].Text != "Ben: We agreed to meet at the park." {
		t.Errorf("left is %+v", left)
	}
}

func TestChatSumsUpByTheModel(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"model": "[previous_context] ", "extract": "Ann: My personal best for the charity 5K is 25:50.", "off": "",
	} {
		c, model := lately(t), llmtest.New(t)
		model.Answer(summedUp)
		c.env["HARK_LLM_MODEL"], c.env["HARK_LLM_BASE_URL"], c.env["HARK_MEMORY_SUMMARIES"] = "test-model",
			model.URL(), setting
		c.talks()
		requests := model.Requests()
		asked, prompt := 0, string(requests[len(requests)-1].Body)
		for _, r := range requests {
			if strings.Contains(r.Messages[0].Content, summariserWords) {
				asked++
			}
		}
		if (asked == 1) != (setting == "model") || !strings.Contains(prompt, want) ||
			strings.Contains(prompt, `\n[previous_context] [`) == (setting == "off") {
			t.Errorf("%s: asked %d times, and the prompt is\n%s", setting, asked, prompt)
		}
		if all := c.summaries(); (len(all) == 2 && all[1].Model == "test-model") != (setting == "model") {
			t.Errorf("%s: %+v", setting, all)
		}
	}
}

// The first talk is summed up whenever the next begins.
func TestTheFirstTalkIsSummedUpWheneverTheNextIs(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := commandLine{T: t, env: map[string]string{"HARK_DATA": data},
		stdin: "Ann: my personal best for the charity 5K is 25:50\nAnn: and I have new shoes\n"}
	c.run(0, "chat")
	c.run(0, "chat") // which doesn't skip the first
	opened(t, data, func(store *sqlite.Store) error {
		left, err := store.SummaryBacklog(t.Context(), memory.FirstMessageID(time.Now().AddDate(0, 0, 90)))
		if err != nil || len(left) != 1 {
			t.Fatalf("%+v, %v", left, err)
		}
		all, err := store.Log(t.Context(), left[0].Channel, left[0].After, left[0].Until, 9)
		if len(all) != 4 {
			t.Errorf("%d messages", len(all))
		}
		return err
	})
}
