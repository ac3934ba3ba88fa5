package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llamatest"
)

// What the model of a real llama-server answers, and members see of it.
const (
	llamaAnswer = "The report is due on Friday [1]."
	llamaShown  = "The report is due on Friday."
)

const llamaTalk = "Jane: the deadline of the harbour report is Friday\n" + llamaQuestion

const llamaQuestion = "Tom: @hark when is the deadline of the harbour report?\n"

// llamaScripts returns an answer and a call of search_memory in a family's form.
func llamaScripts(family string) []llamatest.Script {
	answer := llamatest.Script{Name: "answer", Text: llamaAnswer}
	if family == "thinking" {
		answer.Text = "Jane said so.\n</think>\n\n" + llamaAnswer
	}
	call := llamatest.Script{Name: "call", Text: llamatest.CallOf(family, "search_memory", `{"query": "deadline"}`)}
	return []llamatest.Script{answer, call}
}

// llama starts a llama-server with a family's template and a model that answers after some calls of a tool, if it is
// offered one.
func llama(t *testing.T, family string, calls int, args ...string) *llamatest.Server {
	t.Helper()
	return llamaWith(t, family, llamaScripts(family), calls, args...)
}

// llamaWith is llama with other scripts.
func llamaWith(t *testing.T, family string, scripts []llamatest.Script, calls int, args ...string) *llamatest.Server {
	t.Helper()
	m := llamatest.NewModel(scripts...)
	s := llamatest.Start(t, m.Write(t), append(args, llamatest.Template(t, family)...)...)
	s.Play(m, func(r llamatest.Request) string {
		if r.OffersTools() && strings.Count(r.Roles(), "t") < calls {
			return "call"
		}
		return "answer"
	})
	return s
}

// llamaChat is the command line with a real llama-server.
func llamaChat(t *testing.T, s *llamatest.Server) *commandLine {
	return &commandLine{T: t, stdin: llamaTalk, env: map[string]string{
		"HARK_LLM_MODEL": "scripted", "HARK_LLM_BASE_URL": s.URL()}}
}

// llamaAnswered checks that members get the answer and nothing else.
func llamaAnswered(t *testing.T, c *commandLine, s *llamatest.Server) {
	t.Helper()
	answer, sources, _ := strings.Cut(c.out.String(), "\n")
	if answer != llamaShown && answer != llamaAnswer || sources != "" && !strings.HasPrefix(sources, "  [1] Jane") {
		t.Errorf("got %q; told %q", c.out.String(), c.err.String())
	}
	if t.Failed() {
		for _, r := range s.Requests() {
			t.Logf("%s of %d bytes: %d", r.Roles(), len(r.Body), r.Status)
		}
	}
}

// Each family's template and each layout lead to an answer: at once, after a call, and after as many calls as there may
// be.
func TestLlamaAnswersTheChat(t *testing.T) {
	t.Parallel()
	runs := []struct {
		layout string
		calls  int
	}{{"sections", 0}, {"sections", 1}, {"sections", 99}, {"chat", 1}, {"chat", 99}, {"plain", 0}}
	for _, family := range llamatest.Families {
		for _, run := range runs {
			if family == "gemma" {
				run.calls = 0 // it has no form for calls
			}
			t.Run(fmt.Sprintf("%s %s %d", family, run.layout, run.calls), func(t *testing.T) {
				t.Parallel()
				s := llama(t, family, run.calls, "-np", "1", "-c", "16384")
				c := llamaChat(t, s)
				c.env["HARK_BUILDER_LAYOUT"] = run.layout
				c.stdin = "Ada: good morning\nJane: hello, you two\n" + llamaTalk
				c.run(0, "chat", "--data", t.TempDir())
				llamaAnswered(t, c, s)
			})
		}
	}
}

// A small window makes the prompt small, but never without the question.
func TestLlamaSmallWindowsKeepTheQuestion(t *testing.T) {
	t.Parallel()
	for _, window := range []int{1024, 2048, 4096} {
		t.Run(strconv.Itoa(window), func(t *testing.T) {
			t.Parallel()
			s := llama(t, "chatml", 0, "-np", "1", "-c", strconv.Itoa(window))
			c := llamaChat(t, s)
			data := t.TempDir()
			c.run(0, "import", writeFile(t, llamaPast(300)), "--data", data)
			for range 2 {
				before := len(s.Requests())
				c.run(0, "chat", "--data", data)
				llamaAnswered(t, c, s)
				requests := s.Requests()
				for _, r := range requests {
					if !strings.Contains(r.Prompt(), "when is the deadline of the harbour report?") {
						t.Error("the model wasn't asked the question")
					}
				}
				if n := len(requests) - before; n > 2 {
					t.Errorf("it took %d requests", n)
				}
			}
		})
	}
}

// llamaPast is a long past about deadlines.
func llamaPast(messages int) string {
	var past strings.Builder
	for i := range messages {
		past.WriteString(posted("harbour/1", strconv.Itoa(i+1), "Jane",
			fmt.Sprintf("The deadline of report %d moved again, this time because of the weather at the harbour.", i)))
	}
	return past.String()
}

// What a tool finds may not fit any more. The answer is made of less, and members see a whole answer, also if the model
// has written something before its call.
func TestLlamaOutcomeOverflowsTheWindow(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "I look it up. "} {
		for _, window := range []int{4608, 5120} {
			t.Run(fmt.Sprintf("%s%d", before, window), func(t *testing.T) {
				t.Parallel()
				scripts := llamaScripts("chatml")
				scripts[1].Text = before + scripts[1].Text
				s := llamaWith(t, "chatml", scripts, 3, "-np", "1", "-c", strconv.Itoa(window))
				c := llamaChat(t, s)
				data := t.TempDir()
				c.run(0, "import", writeFile(t, llamaPast(300)), "--data", data)
				c.run(0, "chat", "--data", data)
				if before == "" {
					llamaAnswered(t, c, s)
				}
				if answers := strings.Count(c.out.String(), "The report is due on Friday"); answers != 1 {
					t.Errorf("%d answers in %q", answers, c.out.String())
				}
			})
		}
	}
}

// The server's parser fails at what the model writes while tools are offered: it answers without.
func TestLlamaParserFailsInTheChat(t *testing.T) {
	t.Parallel()
	m := llamatest.NewModel(llamatest.Script{Name: "answer", Text: llamaAnswer},
		llamatest.Script{Name: "broken", Text: `{"name": "search_memory", "arguments": {"query": "deadline"}}`})
	s := llamatest.Start(t, m.Write(t), append(llamatest.Template(t, "llama3"), "-np", "1", "-c", "16384")...)
	s.Play(m, func(r llamatest.Request) string {
		if r.OffersTools() {
			return "broken"
		}
		return "answer"
	})
	c := llamaChat(t, s)
	c.run(0, "chat", "--data", t.TempDir())
	llamaAnswered(t, c, s)
}

// The default server has four slots over one cache. Members who ask at the same time all get whole answers.
func TestLlamaManyAskAtOnce(t *testing.T) {
	t.Parallel()
	s := llama(t, "chatml", 1, "-c", "4096")
	w := newWorld(t)
	w.env["HARK_LLM_BASE_URL"] = s.URL()
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, strings.TrimPrefix(strings.Split(llamaTalk, "\n")[0], "Jane: "))
	w.later()
	var questions []discordtest.Message
	for _, channel := range []discordtest.Channel{w.general, w.staff} {
		for _, who := range []discordtest.User{w.ana, w.jane} {
			questions = append(questions, w.question(channel, who, "when is the deadline of the harbour report?"))
		}
	}
	for _, q := range questions {
		answer := w.discord.WaitSent(q.ChannelID, func(m discordtest.Sent) bool {
			return m.Reference != nil && m.Reference.MessageID == q.ID && llamaEnded(m.Content)
		})
		whole := strings.HasPrefix(answer.Content, strings.TrimSuffix(llamaShown, "."))
		if !whole || strings.Contains(answer.Content, "⚠️") {
			t.Errorf("got %q", answer.Content)
		}
	}
	w.stopWell()
}

// llamaEnded reports whether a reply is an answer, or says why there is none.
func llamaEnded(reply string) bool {
	return strings.Contains(reply, "due on Friday") || strings.Contains(reply, "⚠️") ||
		strings.Contains(reply, "isn't answering")
}

// A name where the server wants a template makes each prompt four tokens: the model can't see the question. The doctor
// says so.
func TestLlamaDoctorSeesALostPrompt(t *testing.T) {
	t.Parallel()
	m := llamatest.NewModel(llamatest.Script{Name: "answer", Text: llamaAnswer})
	s := llamatest.Start(t, m.Write(t), "--chat-template", "llama3", "-np", "1", "-c", "16384")
	w := newWorld(t)
	w.env["HARK_LLM_BASE_URL"] = s.URL()
	_, said := w.doctor()
	for line := range strings.Lines(said) {
		if strings.Contains(line, " model: ") {
			if strings.HasPrefix(line, "✓") {
				t.Errorf("it says %s", line)
			}
			return
		}
	}
	t.Errorf("it says nothing of the model:\n%s", said)
}

// The doctor finds nothing wrong with a good server. What a template doesn't take, it says, and that Hark answers all
// the same.
func TestLlamaDoctor(t *testing.T) {
	t.Parallel()
	for _, family := range llamatest.Families {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			s := llama(t, family, 0, "-np", "1", "-c", "16384")
			w := newWorld(t)
			w.env["HARK_LLM_BASE_URL"] = s.URL()
			code, said := w.doctor()
			if code != 0 {
				t.Errorf("exit code %d:\n%s", code, said)
			}
			for line := range strings.Lines(said) {
				if !strings.Contains(line, " model: ") {
					continue
				}
				strict := family == "gemma" || family == "mistral"
				if strict && !strings.Contains(line, "role") {
					t.Errorf("of roles that must take turns it says nothing: %s", line)
				}
				if !strict && !strings.HasPrefix(line, "✓") {
					t.Errorf("it says %s", line)
				}
			}
		})
	}
}

// Vectors and ranks come from real servers, too. A model for chats that is configured as the embedder isn't started for
// that: which switch it lacks is said, and members are answered all the same.
func TestLlamaEmbedderAndReranker(t *testing.T) {
	t.Parallel()
	s := llama(t, "chatml", 0, "-np", "1", "-c", "16384")
	embedder := llamatest.Start(t, llamatest.Embedder(t), "--embeddings", "--pooling", "mean", "-np", "1", "-c", "2048")
	reranker := llamatest.Start(t, llamatest.Reranker(t), "--reranking", "-np", "1", "-c", "4096")
	c := llamaChat(t, s)
	c.env["HARK_EMBEDDING_MODEL"] = "embedder"
	c.env["HARK_EMBEDDING_BASE_URL"] = embedder.URL()
	c.env["HARK_SEARCH_RERANK_URL"] = reranker.URL() + "/rerank"
	c.env["HARK_SEARCH_RERANK_TIMEOUT"] = "1m" // other tests use the machine, too
	data := t.TempDir()
	c.run(0, "import", writeFile(t, llamaPast(20)), "--data", data)
	c.run(0, "chat", "--data", data)
	llamaAnswered(t, c, s)
	vectors := len(embedder.Requests())
	ranks := len(reranker.Requests())
	if vectors == 0 || ranks == 0 || c.err.String() != "" {
		t.Errorf("%d vectors and %d ranks were asked for; told %q", vectors, ranks, c.err.String())
	}

	c = llamaChat(t, s)
	c.env["HARK_EMBEDDING_MODEL"] = "scripted"
	c.env["HARK_EMBEDDING_BASE_URL"] = s.URL()
	c.run(0, "chat", "--data", t.TempDir())
	llamaAnswered(t, c, s)
	if !strings.Contains(c.err.String(), "--embeddings") {
		t.Errorf("told %q", c.err.String())
	}
}
