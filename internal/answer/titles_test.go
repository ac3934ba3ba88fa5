package answer

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

const help memory.ChannelID = 920

// post makes a thread of Cleo's in the forum "help" some time before noon, and returns its id.
func (w *world) post(ago time.Duration, title string) memory.ChannelID {
	w.t.Helper()
	id := memory.ChannelID(memory.FirstMessageID(noon.Add(-ago)))
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: help, Guild: guild, Kind: memory.ForumChannel, Name: "help",
		Tags: []memory.Tag{{ID: 1, Name: "solved"}}}})
	w.title(id, title)
	return id
}

func (w *world) title(post memory.ChannelID, title string) {
	w.t.Helper()
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: post, Guild: guild, Parent: help, Kind: memory.PublicThread,
		Name: title, Owner: cleo, Tags: []memory.Tag{{ID: 1}}}})
}

// begins logs the first message of a post, whose id is the post's.
func (w *world) begins(post memory.ChannelID, text string) {
	w.t.Helper()
	w.apply(memory.Posted{Message: memory.Message{ID: memory.MessageID(post), Guild: guild, Channel: post, Author: cleo,
		Content: text}})
}

func TestThePromptNamesThreads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &scripted{})
	vpn := w.post(3*day, "VPN does not connect on Linux")
	w.says(2*day, vpn, ben, "Load the module, then start it again")
	elsewhere := w.prompt(w.asks(lobby, "Why does the VPN not connect?"))
	has(t, elsewhere, "#help › VPN does not connect on Linux [tags: solved] | <@22>: Load the module")
	here := w.prompt(w.asks(vpn, "summarise this post"))
	has(t, here, "#help › VPN does not connect on Linux [tags: solved] | <@21> (Ann): summarise this post")
	has(t, w.prompt(w.asks(lobby, "summarise this channel")), "[2024-06-15 12:00] <@21> (Ann): summarise this channel")
	w.title(vpn, "Tunnel breaks")
	renamed := w.prompt(w.asks(vpn, "summarise this post"))
	has(t, renamed, "#help › Tunnel breaks [tags: solved] |")
	hasNot(t, renamed, "VPN")
	w.optsOut(cleo)
	w.title(vpn, "Tunnel breaks")
	hasNot(t, w.prompt(w.asks(vpn, "summarise this post")), "Tunnel", "solved")
}

func TestAQuoteNamesItsThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	kiln := w.post(3*day, "Kiln *purchase*")
	said := w.says(2*day, kiln, ben, "The cheap one is 400 euros")
	a := w.answer(w.asks(lobby, "How much is the kiln?"))
	has(t, a.Text, "> The cheap one is 400 euros", `**Ben** in #help › Kiln \*purchase\*, `)
	if len(a.Sources) != 1 || a.Sources[0].Message != said || a.Sources[0].Place != "help › Kiln *purchase*" {
		t.Errorf("sources %+v", a.Sources)
	}
}

// What an answer repeats of a title goes with whoever made the thread, as their message that began it.
func TestATitleIsASourceOfTheAnswerThatRepeatsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &scripted{pieces: []string{"It is about the zinnober contraption."}})
	w.engine.options.KeepPrompts = true
	post := w.post(3*day, "Zinnober contraption fails")
	w.begins(post, "It hums, then nothing")
	w.says(2*day, post, ben, "Have you tried oil?")
	a := w.answer(w.asks(post, "summarise this post"))
	began := func(s memory.Source) bool { return s.Repeats && s.Channel == post && s.ID == int64(post) }
	if !slices.ContainsFunc(a.Trace.Sources, began) || !slices.Contains(a.Trace.Named, cleo) {
		t.Errorf("sources %+v, named %v", a.Trace.Sources, a.Trace.Named)
	}
}

// An answer whose title is gone by the time it is written isn't shown; a rename takes nothing back.
func TestAnAnswerIsTakenBackIfItsTitleIsGone(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		model := &scripted{pieces: []string{"It is about a contraption."}}
		w := newWorld(t, model)
		post := w.post(3*day, "Zinnober contraption fails")
		w.says(2*day, post, ben, "Have you tried oil?")
		q := w.asks(post, "summarise this post")
		model.before = func() {
			if gone {
				w.optsOut(cleo)
			}
			w.title(post, "Zinnober contraption runs")
		}
		a := w.answer(q)
		if takenBack := a.Trace.Origin.Writer == memory.TakenBack; takenBack != gone {
			t.Errorf("gone %t: %q", gone, a.Text)
		}
	}
}

// A tag and a forward tell of a thread without its title, which would be no source of the answer.
func TestTitlesAreNotToldBesideTagsAndForwards(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"tag", "forward"} {
		w := newWorld(t, &scripted{pieces: []string{"In the drawer."}})
		post := w.post(3*day, "Zinnober contraption fails")
		w.begins(post, "It hums, then nothing")
		if how == "tag" {
			w.says(2*day, lobby, ben, "The oven manual is in <#"+strconv.FormatInt(int64(post), 10)+">")
		} else {
			said := w.says(2*day, post, ben, "The oven manual is in the drawer")
			w.apply(memory.Posted{Message: memory.Message{
				ID:       said + 5000,
				Guild:    guild,
				Channel:  lobby,
				Author:   ann,
				Content:  "[forwarded] The oven manual is in the drawer",
				Original: memory.Original{Guild: guild, Channel: post, Message: said},
			}})
		}
		q := w.asks(lobby, "Where is the oven manual?")
		q.Limit = 1
		if prompt := w.prompt(q); strings.Contains(prompt, "Zinnober") {
			t.Errorf("%s: %s", how, prompt)
		}
	}
}
