package discord

import (
	"time"

	"hark/internal/body"
)

// Body returns what the message carries, but for its files.
func (w *Message) Body() body.Body {
	b := body.Body{
		Shown: body.Shown(w.Components),
		Poll:  w.Poll.poll(),
	}
	if w.Content != nil {
		b.Content = *w.Content
	}
	for i := range w.Snapshots {
		b.Forwards = append(b.Forwards, w.Snapshots[i].Message.Body())
	}
	for _, e := range w.Embeds {
		b.Embeds = append(b.Embeds, e.embed())
	}
	for _, s := range w.Stickers {
		b.Stickers = append(b.Stickers, s.Name)
	}
	return b
}

func (e wireEmbed) embed() body.Embed {
	to := body.Embed{
		Type:        e.Type,
		URL:         e.URL,
		Title:       e.Title,
		Description: e.Description,
		Author:      e.Author.Name,
		Footer:      e.Footer.Text,
	}
	for _, f := range e.Fields {
		to.Fields = append(to.Fields, body.Field(f))
	}
	return to
}

// Uses returns the ids of the buttons and menus below the message.
func (w *Message) Uses() (ids []string) {
	for _, row := range w.Components {
		for _, c := range row.Components {
			ids = append(ids, c.CustomID)
		}
	}
	return ids
}

// Version returns when what the message carries last changed: when it was edited, or its poll ended. Zero: never.
func (w *Message) Version() time.Time {
	if w.Poll.ended() && w.Poll.Expiry.After(w.Edited) {
		return w.Poll.Expiry
	}
	return w.Edited
}

// ended reports whether the votes of a poll are final.
func (p *wirePoll) ended() bool { return p != nil && p.Results != nil && p.Results.Finalized }

func (p *wirePoll) poll() *body.Poll {
	if p == nil {
		return nil
	}
	to := &body.Poll{
		Question: p.Question.Text,
		Finished: p.ended(),
	}
	for _, a := range p.Answers {
		choice := body.Choice{
			Text:  a.Media.Text,
			Votes: p.votes(a.ID),
		}
		to.Answers = append(to.Answers, choice)
	}
	return to
}

func (p *wirePoll) votes(answer int) int {
	if p.Results == nil {
		return 0
	}
	for _, c := range p.Results.Counts {
		if c.ID == answer {
			return c.Count
		}
	}
	return 0
}
