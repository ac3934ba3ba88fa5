package console

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"hark/internal/answer"
	"hark/internal/archive"
	"hark/internal/imports"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
	"hark/memory/sqlstore"
)

// Place is where the operator asks a question.
type Place struct {
	Guild   memory.GuildID
	Channel memory.ChannelID
	Name    string
	// Everywhere makes everything readable, except direct messages.
	Everywhere bool
}

// Terminal is the terminal's own channel: that of "hark chat", and of questions that name none.
var Terminal = Place{
	Guild:      memory.LocalGuild,
	Channel:    1,
	Name:       "terminal",
	Everywhere: true,
}

// PlaceCalled returns the channel called name, or Terminal if name is empty. It fails for direct messages.
func PlaceCalled(ctx context.Context, a *setup.App, name string) (Place, error) {
	if name == "" {
		return Terminal, nil
	}
	k, err := archive.New(ctx, a.Store, a.Config)
	if err != nil {
		return Place{}, err
	}
	c, err := k.FindChannel(memory.Everywhere, name)
	if err == nil && c.Guild == memory.DirectGuild {
		err = fmt.Errorf("#%s are direct messages, which Hark uses only in the same direct message; "+
			"\"hark export --channel\" writes them to a file", terminal.OneLine(cmp.Or(c.Name, name)))
	}
	return Place{
		Guild:   c.Guild,
		Channel: c.ID,
		Name:    c.Name,
	}, err
}

// Within returns the server whose people and channels can be named at a place, or memory.Everywhere.
func (p Place) Within() memory.GuildID {
	if p.Everywhere {
		return memory.Everywhere
	}
	return p.Guild
}

// Question returns what the operator asks at a place.
func (p Place) Question(text string, now time.Time) answer.Question {
	return answer.Question{
		Guild:      p.Guild,
		Channel:    p.Channel,
		Text:       text,
		Now:        now,
		Operator:   true,
		Everywhere: p.Everywhere,
	}
}

// Person returns the person called name in a place's guild; if unknown, one with an id derived from the name.
func (p Place) Person(ctx context.Context, store *sqlstore.Store, name string) (_ memory.Person, known bool,
	err error) {
	people, err := store.People(ctx, p.Guild)
	for _, person := range people {
		if strings.EqualFold(person.DisplayName(), name) || strings.EqualFold(person.Username, name) {
			return person, true, err
		}
	}
	return memory.Person{
		ID:    imports.UserID(name),
		Guild: p.Guild,
		Name:  name,
	}, false, err
}
