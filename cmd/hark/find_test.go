package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

// parcels has things said in both channels, of which a search finds ten.
func (w *world) parcels() (general, staff []discordtest.Message) {
	things := []string{"apples", "bolts", "candles", "drums", "eggs"}
	for _, what := range things {
		general = append(general, w.discord.Say(w.general.ID, w.jane.ID, "The parcel with "+what+" has come"))
		staff = append(staff, w.discord.Say(w.staff.ID, w.ana.ID, "The parcel with secret "+what+" has come"))
	}
	return general, staff
}

// turned is what stands in the place of a page once its button was pressed: another, with its number among the buttons.
func (w *world) turned(m discordtest.Sent, who discordtest.User, label, page string) (now discordtest.Sent) {
	w.Helper()
	i := w.discord.Click(m.Message, who.ID, w.buttons(m)[label])
	i.Wait()
	w.discord.WaitFor("page "+page, func() bool {
		now = i.WaitMessage()
		return w.buttons(now)[page] != ""
	})
	return now
}

// buttons are the ids of the buttons below what somebody is shown, by label.
func (w *world) buttons(m discordtest.Sent) map[string]string {
	ids := map[string]string{}
	for _, raw := range m.Components {
		var row struct {
			Components []struct {
				Label string `json:"label"`
				ID    string `json:"custom_id"`
			} `json:"components"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			w.Fatal(err)
		}
		for _, b := range row.Components {
			ids[b.Label] = b.ID
		}
	}
	return ids
}

// What /recall and Find related show is what whoever asks may read, on each page anew.
func TestRecallObeysWhatHoldsAtEachPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	general, _ := w.parcels()
	w.later()
	question := given("question", "parcel")
	otto := w.use(w.otto.ID, "recall", "5 messages found", question)
	w.lacks(otto.Content, "secret")
	if len(otto.Components) > 0 {
		t.Errorf("otto can turn pages: %+v", otto.Components)
	}
	w.lacks(w.use(w.otto.ID, "recall", "found nothing", question, given("in", w.staff.ID)).Content, "secret")
	w.holds(w.use(w.jane.ID, "recall", "5 messages found", question, given("from", w.ana.ID)).Content, "secret")
	related := w.shown(w.discord.MessageAction(general[0], w.otto.ID, "Find related"), "3 messages found") // neither itself nor what stands beside it
	w.lacks(related.Content, "secret")
	w.lacks(related.Content, "apples")
	w.lacks(related.Content, "bolts")

	first := w.use(w.jane.ID, "recall", "10 messages found", question)
	second := w.turned(first, w.jane, "»", "2/2")
	all := first.Content + second.Content
	for _, what := range []string{"secret apples", "secret bolts", "secret candles", "secret drums", "secret eggs", "with bolts", "with eggs"} {
		w.holds(all, what)
	}
	w.discord.UpdateMember(w.guild.ID, w.jane.ID, func(m *discordtest.Member) { m.Roles = nil })
	w.discord.Delete(w.general.ID, general[0].ID)
	first = w.turned(second, w.jane, "«", "1/2")
	second = w.turned(first, w.jane, "»", "2/2")
	w.lacks(first.Content+second.Content, "secret")
	w.lacks(first.Content+second.Content, "with apples")
	w.holds(first.Content+second.Content, "with bolts")
}

// /catchup sums up with the model, quotes without it, keeps nothing, and tells nobody of what they may not read.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("- Parcels have come", " [1][3][99].") })
	w.start()
	general, staff := w.parcels()
	m := w.use(w.otto.ID, "catchup", "Parcels have come")
	w.holds(m.Content, fmt.Sprintf("- Parcels have come [\\[1\\]](<https://discord.com/channels/%d/%d/%d>)[\\[3\\]](<", w.guild.ID, w.general.ID, general[0].ID))
	w.lacks(m.Content, "[99") // not bare digits: the links have numbers of their own
	w.holds(w.prompt(), "The parcel with drums has come")
	w.lacks(w.prompt(), "secret")
	w.discord.Delete(w.general.ID, general[1].ID)
	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Fail(400, "bad", "no") })
	m = w.use(w.otto.ID, "catchup", "> The parcel", given("since", "1d"))
	w.holds(m.Content, "> The parcel with drums has come\n— **jane**")
	w.lacks(m.Content, "bolts")
	w.lacks(m.Content, "secret")
	w.discord.Say(w.general.ID, w.otto.ID, "thanks")
	w.lacks(w.use(w.otto.ID, "catchup", "").Content, "parcel")
	w.discord.Advance(time.Minute)
	m = w.shown(w.discord.Slash(w.staff.ID, w.jane.ID, "catchup"), "secret drums")
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if texts := w.logged(w.staff.ID); len(texts) != len(staff) || slices.ContainsFunc(w.discord.Messages(w.staff.ID), func(m discordtest.Message) bool { return m.Author.ID == w.discord.Bot.ID }) {
		t.Errorf("there are %q", texts)
	}
	w.lacks(w.log.String(), "parcel")
}
