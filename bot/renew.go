package bot

import "hark/internal/answer"

// Terms are what can change while a Bot runs.
type Terms struct {
	Choices answer.Choices // as in Config
	Limits  Limits         // as in Config
	Answers Answerer
	Privacy Privacy       // as in Config
	Health  func() Health // as in Config
}

// Renew has questions answered on other terms. What is being answered goes on as it was begun.
func (b *Bot) Renew(t Terms) { b.terms.Store(&t) }

func (b *Bot) choices() answer.Choices { return b.terms.Load().Choices }

func (b *Bot) limits() Limits { return b.terms.Load().Limits }

func (b *Bot) privacy() Privacy { return b.terms.Load().Privacy }

func (b *Bot) answers() Answerer { return b.terms.Load().Answers }
