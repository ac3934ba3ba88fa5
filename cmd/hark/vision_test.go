package main

import (
	"fmt"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

// Who of the model and its fallback can see is shown an image; who can't is told that there is one.
func TestFallbackSees(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ own, standIn bool }{{false, true}, {true, false}, {true, true}, {false, false}} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			told := func(sees bool) string {
				if sees {
					return "true"
				}
				return "false"
			}
			w.configure("[llm]\nvision = " + told(test.own) + "\n[llm.fallback]\nmodel = \"standin\"\nvision = " + told(test.standIn) + "\n")
			w.model.Answer(func(r llmtest.Request) llmtest.Reply {
				sees := test.own
				if r.Model == "standin" {
					sees = test.standIn
				}
				last := r.Messages[len(r.Messages)-1]
				if (len(last.Images) == 1) != sees || strings.Contains(last.Content, "you can't see") == sees {
					t.Errorf("%s is sent %d images with %q", r.Model, len(last.Images), last.Content)
				}
				if r.Model != "standin" {
					return llmtest.Fail(401, "x", "no")
				}
				return llmtest.Say("Noted")
			})
			w.start()
			png := []byte("\x89PNG\r\n\x1a\n0000")
			w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" what is it?", discordtest.WithData("cat.png", "", "image/png", png))
			w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool { return strings.HasPrefix(m.Content, "Noted") })
		})
	}
}
