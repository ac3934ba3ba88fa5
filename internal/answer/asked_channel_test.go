package answer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

func TestAChannelNamedInTheQuestionNarrowsTheSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(2*day, harbor, ben, "The ferry to the island leaves at seven")
	w.says(3*day, lobby, cleo, "The ferry museum opens at ten")
	w.says(4*day, vault, cleo, "The ferry carries gold")
	for _, question := range []string{"What about the ferry in <#902>?", "what was said about the ferry in #harbor?",
		"Ferry, #Harbor"} {
		p := w.prompt(w.asks(lobby, question))
		has(t, p, "leaves at seven")
		hasNot(t, p, "museum", "gold")
	}
	p := w.prompt(w.asks(lobby, "What about the ferry in <#903>?"))
	hasNot(t, p, "leaves at seven", "museum", "gold", "vault")
	has(t, p, "#unknown")
	p = w.prompt(w.asks(lobby, "What about the ferry in #vault?")) // a word like any other
	has(t, p, "museum")
	hasNot(t, p, "gold")
}

func TestAChannelIsSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.atOnce(func() {
		for i, s := range []string{"The keel is laid", "We ordered new ropes", "Cleo paints the mast on Sunday"} {
			w.says(day-time.Duration(i)*time.Hour, harbor, []memory.UserID{ben, cleo, ann}[i], s)
		}
		w.says(day, lobby, ben, "Pancakes at nine")
		w.says(day, vault, cleo, "The gold is counted")
	})
	for _, question := range []string{"summarize <#902>", "Summarize #harbor", "what was said in #harbor?",
		"please tell me what's new in <#902>", "Was gibt's Neues in <#902>?", "tl;dr <#902>",
		"was the weather ever a topic in <#902>?"} {
		p := w.prompt(w.asks(lobby, question))
		has(t, p, "keel is laid", "ordered new ropes", "paints the mast", "#harbor")
		hasNot(t, p, "Pancakes", "gold")
	}
	p := w.prompt(w.asks(lobby, "summarize <#903>"))
	hasNot(t, p, "keel is laid", "Pancakes", "gold")
	q := w.asks(lobby, "summarize <#902>")
	w.optsOut(cleo)
	hasNot(t, w.prompt(q), "ordered new ropes")
	q.Filter.From = []memory.UserID{ann}
	p = w.prompt(q)
	has(t, p, "paints the mast")
	hasNot(t, p, "keel is laid")
	has(t, w.answer(w.asks(lobby, "summarize #harbor")).Text, "paints the mast")
}

func TestAWrittenChannelIsNamedOnlyIfItIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	n := newNames()
	for id, c := range map[memory.ChannelID]memory.Channel{
		1: {Name: "dev"}, 2: {Name: "dev-ops"}, 3: {Name: "games"}, 4: {Name: "games"},
		5: {Name: "art", Kind: memory.PublicThread}, 6: {Name: "art"}, 7: {Name: "Kiln purchase", Kind: memory.PublicThread},
		8: {Name: "secret"}, 9: {Name: "café"},
	} {
		n.channels[id] = c
		n.visible[id] = id != 8
	}
	delete(n.visible, 8)
	for said, want := range map[string]string{
		"#dev": "[1]", "in #Dev?": "[1]", "#dev-ops": "[2]", "#dev ops": "[2]", "#developers": "[]", "#dev_x": "[]",
		"#games": "[]", "#art": "[6]", "#kiln purchase, please": "[7]", "#kiln-purchase": "[7]", "#secret": "[]",
		"#café": "[9]", "<#1> and #art": "[1 6]", "x#dev": "[]", "https://a.example/#dev": "[]", "<#8>": "[]", "#": "[]",
		"dev": "[]", "&#dev": "[]",
	} {
		if named, _ := n.channelsIn(said); fmt.Sprint(named) != want {
			t.Errorf("%q names %v, want %s", said, named, want)
		}
	}
	if got := n.withoutChannels("what's in <#1> (#dev) and #dev ops, #art?", []memory.ChannelID{1, 2, 6}); got !=
		"what's in and , ?" {
		t.Errorf("got %q", got)
	}
}

func TestLinksToMessagesAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var ids []memory.MessageID
	w.atOnce(func() {
		for i := range 9 {
			ids = append(ids, w.says(30*day-time.Duration(i)*time.Minute, harbor, ben, fmt.Sprintf("Plank %d is rotten", i)))
		}
		ids = append(ids, w.says(20*day, vault, cleo, "The gold is in the cellar"))
		for i := range 50 {
			w.says(10*day-time.Duration(i)*time.Minute, lobby, cleo, fmt.Sprintf("what does this mean: lorem %d", i))
		}
	})
	link := func(host string, channel memory.ChannelID, id memory.MessageID) string {
		return fmt.Sprintf("https://%s/channels/%d/%d/%d", host, guild, channel, id)
	}
	for _, host := range []string{"discord.com", "canary.discord.com", "ptb.discord.com", "discordapp.com"} {
		p := w.prompt(w.asks(lobby, "what does this mean? "+link(host, harbor, ids[4])))
		has(t, p, "Plank 4", "Plank 3", "Plank 5", "(Ben)")
		hasNot(t, p, "Plank 0", "Plank 8")
	}
	hasNot(t, w.prompt(w.asks(lobby, "what does this mean? "+link("discord.com", vault, ids[9]))), "gold")
	hasNot(t, w.prompt(w.asks(lobby, "what does this mean? "+link("discord.example", harbor, ids[4]))), "Plank 4")
	many := "compare"
	for _, i := range []int{0, 3, 6, 8} {
		many += " " + link("discord.com", harbor, ids[i])
	}
	p := w.prompt(w.asks(lobby, many))
	has(t, p, "Plank 0", "Plank 3", "Plank 6", "Plank 7")
	if strings.Count(p, "🔥") != 1+3 { // one is the legend
		t.Errorf("not three messages:\n%s", p)
	}
	q := w.asks(lobby, "what does this mean?")
	q.ReplyTo = w.says(time.Minute, lobby, cleo, "look: "+link("discord.com", harbor, ids[4]))
	has(t, w.prompt(q), "Plank 4")
	w.optsOut(ben)
	hasNot(t, w.prompt(w.asks(lobby, "what does this mean? "+link("discord.com", harbor, ids[4]))), "Plank")
}

func TestALinkedMessageIsASource(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: []string{"Rotten."}}
	w := newWorld(t, model)
	id := w.says(30*day, harbor, ben, "Plank four is rotten")
	a := w.answer(w.asks(lobby, fmt.Sprintf("what's that? https://discord.com/channels/%d/%d/%d", guild, harbor, id)))
	for _, s := range a.Trace.Sources {
		if s.Kind == memory.SourceMessage && s.ID == int64(id) {
			return
		}
	}
	t.Errorf("not a source: %+v", a.Trace.Sources)
}
