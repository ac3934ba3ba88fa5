package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

// altered is a store that still holds what nobody agrees to.
type altered struct {
	*sqlite.Store
	guild func(g *memory.Guild)
	out   map[memory.UserID]bool
	facts map[memory.UserID][]memory.Fact      // nil: as they are
	said  map[memory.MessageID]*memory.Message // what messages have become; nil: they are gone
	fails bool
}

// restore takes back what was altered.
func (a *altered) restore() {
	a.guild, a.out, a.facts, a.said, a.fails = nil, map[memory.UserID]bool{}, nil,
		map[memory.MessageID]*memory.Message{}, false
}

func (a *altered) Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID,
	before, after int) (found []memory.Message, err error) {
	if before+after > 0 {
		return a.Store.Around(ctx, channel, ids, before, after)
	}
	if a.fails {
		return nil, errDisk
	}
	all, err := a.Store.Around(ctx, channel, ids, 0, 0)
	for _, m := range all {
		now, changed := a.said[m.ID]
		if changed && now != nil {
			m.Content = now.Content
		}
		if !changed || now != nil {
			found = append(found, m)
		}
	}
	return found, err
}

func (a *altered) Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error) {
	g, err := a.Store.Guild(ctx, id)
	if err != nil || a.guild == nil {
		return g, err
	}
	changed := *g
	changed.Channels = append([]memory.Channel(nil), g.Channels...)
	a.guild(&changed)
	return &changed, nil
}

func (a *altered) Member(_ context.Context, in memory.GuildID, user memory.UserID) (memory.Member, error) {
	return memory.Member{OptedOut: in == guild && a.out[user]}, nil
}

func (a *altered) People(ctx context.Context, id memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	people, err := a.Store.People(ctx, id, ids...)
	people = slices.Clone(people)
	for i, p := range people {
		if id == guild && a.facts != nil {
			people[i].Facts = a.facts[p.ID]
		}
	}
	return people, err
}

func (w *world) alter(model Model, o Options) *altered {
	w.t.Helper()
	a := &altered{Store: w.store}
	a.restore()
	a.facts = map[memory.UserID][]memory.Fact{}
	w.engine = w.over(a, model, builder.Options{Citations: true}, o)
	w.engine.search = search.New(a, a, embed.Builtin{})
	return a
}

// choose returns a change of the guild that chooses for a channel; 0: for the guild.
func choose(id memory.ChannelID, choice memory.Choice) func(*memory.Guild) {
	return func(g *memory.Guild) {
		if id == 0 {
			g.Choice = choice
		}
		for i := range g.Channels {
			if g.Channels[i].ID == id {
				g.Channels[i].Choice = choice
			}
		}
	}
}

// all is a change that consists of several.
func all(changes ...func(*memory.Guild)) func(*memory.Guild) {
	return func(g *memory.Guild) {
		for _, change := range changes {
			change(g)
		}
	}
}

func asked(g *memory.Guild) { g.Asked = true }

func left(g *memory.Guild) { g.Left = noon.Add(-time.Hour) }

func TestConsentIsAskedForAgainAtRecall(t *testing.T) {
	t.Parallel()
	everything := []memory.ChannelID{lobby, harbor, vault, kiosk, attic}
	asks := memory.Policy{Ask: true}
	tests := []struct {
		name     string
		policy   memory.Policy
		change   func(*memory.Guild)
		operator bool
		has      []memory.ChannelID
	}{
		{"nothing decided, no need to ask", memory.Policy{}, nil, false, []memory.ChannelID{lobby, harbor}},
		{"nothing decided", asks, nil, false, nil},
		{"everything chosen", asks, choose(0, memory.Remember), false, []memory.ChannelID{lobby, harbor}},
		{"public channels chosen", asks, choose(0, memory.RememberPublic), false, []memory.ChannelID{lobby, harbor}},
		{"one channel chosen", asks, all(choose(0, memory.RememberChosen), choose(harbor, memory.Remember)),
			false, []memory.ChannelID{harbor}},
		{"a channel ignored", memory.Policy{}, choose(harbor, memory.Ignore), false, []memory.ChannelID{lobby}},
		{"the guild ignored", memory.Policy{}, choose(0, memory.Ignore), false, nil},
		{"the guild left", memory.Policy{}, left, false, nil},
		{"the operator, nothing decided, no need to ask", memory.Policy{}, nil, true, everything},
		{"the operator, nothing decided", asks, nil, true, []memory.ChannelID{attic}},
		{"the operator, admins asked", asks, asked, true, nil},
		{"the operator, everything chosen", asks, all(asked, choose(0, memory.Remember)), true, everything},
		{"the operator, public channels chosen", asks, choose(0, memory.RememberPublic), true,
			[]memory.ChannelID{lobby, harbor}},
		{"the operator, the imported channel ignored", memory.Policy{}, choose(attic, memory.Ignore), true,
			[]memory.ChannelID{lobby, harbor, vault, kiosk}},
		{"the operator, the guild ignored", asks, choose(0, memory.Ignore), true, nil},
		{"the operator, the guild left", memory.Policy{}, left, true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.alter(nil, Options{Policy: tt.policy}).guild = tt.change
			for _, c := range everything {
				w.says(day, c, ben, fmt.Sprintf("The lighthouse password is canary%d", c))
			}
			q := Question{Guild: guild, Channel: lobby, Asker: ann, Name: "Ann",
				Text: "What is the lighthouse password?", Now: noon}
			q.Operator, q.Everywhere = tt.operator, tt.operator
			prompt := w.prompt(q)
			for _, c := range everything {
				found, wanted := strings.Contains(prompt, fmt.Sprintf("canary%d", c)), slices.Contains(tt.has, c)
				if found != wanted {
					t.Errorf("channel %d: found %v, wanted %v", c, found, wanted)
				}
			}
		})
	}
}

// A logged session is used where its channel is remembered, or is the operator's own.
func TestSessionsNeedConsent(t *testing.T) {
	t.Parallel()
	const terminal memory.ChannelID = 77
	asks, direct := memory.Policy{Ask: true}, memory.Policy{Direct: true}
	for name, c := range map[string]struct {
		policy   memory.Policy
		guild    memory.GuildID
		channel  memory.ChannelID
		operator bool
		used     bool
	}{
		"a terminal's":                       {asks, memory.LocalGuild, terminal, true, true},
		"what was imported":                  {asks, guild, attic, true, true},
		"what was imported, for all":         {asks, guild, attic, false, false},
		"a direct message":                   {direct, memory.DirectGuild, annsDM, false, true},
		"a direct message of the operator's": {direct, memory.DirectGuild, annsDM, true, false},
		"a direct message, not remembered":   {asks, memory.DirectGuild, annsDM, false, false},
		"asked nowhere":                      {memory.Policy{}, guild, 0, true, false},
	} {
		w := newWorld(t, nil)
		w.alter(nil, Options{Policy: c.policy})
		w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: terminal, Guild: memory.LocalGuild,
			Kind: memory.LocalChannel}})
		if c.channel != 0 {
			w.posts(day, memory.Message{Guild: c.guild, Channel: c.channel, Author: ann,
				Content: "The lighthouse password is swordfish"})
			w.posts(time.Minute, memory.Message{Guild: c.guild, Channel: c.channel, Author: ann,
				Content: "a moment ago"})
		}
		p := w.prompt(Question{Guild: c.guild, Channel: c.channel, Asker: ann,
			Text: "What is the lighthouse password?", Now: noon, Operator: c.operator})
		if strings.Contains(p, "swordfish") != c.used || strings.Contains(p, "a moment ago") != c.used ||
			strings.Contains(p, "CURRENT SESSION") != c.used {
			t.Errorf("%s: used is\n%s", name, p)
		}
	}
}
