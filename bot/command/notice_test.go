package command

import (
	"strings"
	"testing"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/golden"
	"hark/memory"
)

func TestWhatIsToldOfAGuild(t *testing.T) {
	t.Parallel()
	many := &memory.Guild{Choice: memory.RememberChosen}
	for i := range 32 {
		many.Channels = append(many.Channels, memory.Channel{ID: memory.ChannelID(i + 100), Choice: memory.Remember})
	}
	for _, got := range []string{
		policyText(locale.Locale{}, &memory.Guild{}, memory.Policy{Ask: true}), policyText(locale.Locale{},
			&memory.Guild{},
			memory.Policy{}),
		policyText(locale.Locale{}, &memory.Guild{Choice: memory.Remember}, memory.Policy{Ask: true}),
		policyText(locale.Locale{}, many,
			memory.Policy{}),
		policyText(locale.Locale{}, &memory.Guild{Choice: memory.Ignore}, memory.Policy{AgeLimited: true}),
	} {
		golden.Seen(t, got)
		if markdown.Units(got) > markdown.MessageLimit {
			t.Errorf("%q is too long", got)
		}
	}
	withModel := Privacy{Models: []string{"llm.example"}}
	golden.Seen(t, askingText(locale.Locale{}, withModel))
	golden.Seen(t, askingText(locale.Locale{}, Privacy{}))
	for language, catalog := range locale.Catalogs() {
		l := locale.Locale{Catalog: catalog}
		with := askingText(l, withModel)
		model := l.Text(noticeModel)
		if markdown.Units(with) > markdown.MessageLimit {
			t.Errorf("the notice is too long in %s", language)
		}
		if without := askingText(l, Privacy{}); strings.Replace(with, model, "", 1) != without || model == noticeModel {
			t.Errorf("in %s: %q without a model, %q with one", language, without, with)
		}
	}
}
