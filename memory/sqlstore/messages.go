package sqlstore

import "hark/memory"

// messageText are the destinations for a message's content and extra. channel is the number of its channel, asked once
// the columns before were scanned.
func (v *Vault) messageText(m *memory.Message, channel func() int64) (content, extra any) {
	opened := func(column string, to any) any {
		return v.opened(to, func() Place { return at("message", column, channel(), m.ID) })
	}
	return opened("content", &m.Content), opened("extra", asExtra{m})
}

type asExtra struct{ *memory.Message }

// messageColumns are m's fields for storedColumns.
func (v *Vault) messageColumns(m *memory.Message, channel func() int64) []any {
	content, extra := v.messageText(m, channel)
	return []any{asInt[memory.MessageID]{&m.ID}, asInt[memory.UserID]{&m.Author}, asInt[memory.Kind]{&m.Kind},
		asInt[memory.MessageID]{&m.ReplyTo}, asTime{&m.Edited}, &m.Starred, asInt[int]{&m.Tokens}, content, extra}
}

func (t *transaction) encodeExtra(m memory.Message) any {
	if len(m.Files)+len(m.Mentions)+len(m.Links) == 0 && !m.IsCopy() {
		return nil
	}
	return t.jsonText(extra{m.Files, m.Mentions, m.Links, m.Original})
}

// extra holds the fields that few messages have.
type extra struct {
	Files    []memory.File   `json:"files,omitempty"`
	Mentions []memory.UserID `json:"mentions,omitempty"`
	Links    []memory.Link   `json:"links,omitempty"`
	Original memory.Original `json:"original,omitzero"`
}
