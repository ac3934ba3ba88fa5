package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/console"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
	"hark/search"
)

// asking holds the flags of commands that ask, at the command line and in a talk.
type asking struct {
	*flags
	channel string
	as      string
	json    bool
	filter  filter
}

func (a *asking) addFlags(c *cobra.Command) {
	if a.talk == nil {
		c.Flags().StringVar(&a.channel, "channel", "",
			"ask as in the channel of this `name` or id, and find what may be said there "+
				"(default: everything except direct messages)")
		c.Flags().StringVar(&a.as, "as", "", "ask as the person of this `name`")
	}
	c.Flags().BoolVar(&a.json, "json", false, "print JSON")
	a.filter.addFlags(c)
}

// withQuestion calls do with the question and the talk's App, or one that it opens.
func (a *asking) withQuestion(do func(c *cobra.Command, app *setup.App, q answer.Question) error) func(*cobra.Command,
	[]string) error {
	return func(c *cobra.Command, args []string) error {
		text := strings.Join(args, " ")
		if strings.TrimSpace(text) == "" {
			return errors.New("the question is empty: write it after the command, in quotes")
		}
		ask := func(c *cobra.Command, app *setup.App, p console.Place) error {
			q, err := a.question(c.Context(), app, p, text)
			if err != nil {
				return err
			}
			return do(c, app, q)
		}
		if t := a.talk; t != nil {
			a.as = t.Speaker
			return ask(c, t.App, t.Place)
		}
		return a.withApp(func(c *cobra.Command, app *setup.App, _ []string) error {
			p, err := console.PlaceCalled(c.Context(), app, a.channel)
			if err != nil {
				return err
			}
			return ask(c, app, p)
		})(c, args)
	}
}

// question returns the question asked at a place. It first indexes recent messages if they are few.
func (a *asking) question(ctx context.Context, app *setup.App, p console.Place, text string) (answer.Question, error) {
	q := p.Question(text, time.Now())
	var err error
	q.Filter, err = a.filter.read(ctx, app, p.Within(), q.Now)
	if err != nil {
		return q, err
	}
	if a.as != "" {
		as, known, err := p.Person(ctx, app.Store, a.as)
		if err != nil {
			return q, err
		}
		q.Asker = as.ID
		q.Name = a.as
		if !known && a.talk == nil {
			fmt.Fprintf(a.env.stderr, "hark: nobody there is called %q, so the question is a stranger's\n", a.as)
		}
	}
	if err := app.IndexFew(ctx); ctx.Err() != nil {
		return q, ctx.Err()
	} else if err != nil {
		fmt.Fprintf(a.env.stderr, "hark: not all messages are indexed by meaning yet: %v\n", err)
	}
	return q, nil
}

// searchCommand is "hark search", and "/recall" in a talk.
func (f *flags) searchCommand(use, short string) *cobra.Command {
	a := asking{flags: f}
	limit := 10
	c := &cobra.Command{
		Use: use, Short: short, Args: oneQuestion,
		RunE: a.withQuestion(func(c *cobra.Command, app *setup.App, q answer.Question) error {
			q.Limit = max(limit, search.DefaultLimit)
			q.Mode = builder.ModeSearch
			if q.Everywhere {
				q.Channel = 0 // it continues no session
			}
			if f.talk != nil {
				q.Session = []memory.Message{} // search the running session too
			}
			return a.find(c, app, q, limit)
		}),
	}
	a.addFlags(c)
	c.Flags().IntVar(&limit, "limit", limit, "show at most this `number` of messages")
	return c
}

// find prints at most limit messages that a question recalls.
func (a *asking) find(c *cobra.Command, app *setup.App, q answer.Question, limit int) error {
	if limit < 1 {
		return fmt.Errorf("--limit %d: show at least one message", limit)
	}
	r, err := app.Answers.Recall(c.Context(), q)
	if err != nil {
		return err
	}
	a.noteSession(r.Prompt)
	a.warnDegraded(r.Result)
	hits := slices.Concat(r.Result.Hits, r.Left)
	found := len(hits)
	hits = slices.DeleteFunc(hits, func(h search.Hit) bool { return !r.Result.IsWorthShowing(h) })
	below := found - len(hits)
	hits = hits[:min(limit, len(hits))]
	defer func() {
		if below > 0 {
			fmt.Fprintf(a.env.stderr, "Left out: %s of too little relevance.\n", terminal.Plural(below, "message"))
		}
	}()
	if !a.json {
		for _, h := range r.Result.Lore {
			heading := cli.Relevance(app.Builder.Labels(), h.Relevance) + "lore: " + terminal.OneLine(h.Lore.Name)
			cli.PrintHit(c.OutOrStdout(), heading, h.Lore.Text, []string{h.Why})
		}
		for _, h := range r.Earlier {
			heading := fmt.Sprintf("📜 %.2f  summary, %s, %s", h.Relevance, h.Summary.Kind,
				h.Summary.To().In(app.Config.Answer.Location()).Format(cli.MinuteLayout))
			cli.PrintHit(c.OutOrStdout(), heading, h.Summary.Text, h.Why)
		}
		if len(hits) == 0 && len(r.Result.Lore)+len(r.Earlier) > 0 {
			return nil
		}
	}
	return printHits(c, app, a.json, hits)
}

var oneQuestion = cli.AtLeastOne("what is the question? Write it after the command, in quotes")

// noteSession says which messages aren't searched because the prompt holds them.
func (a *asking) noteSession(p builder.Prompt) {
	for _, s := range p.Report.Sections {
		if s.Type == builder.SectionSession && s.Included > 0 {
			fmt.Fprintf(a.env.stderr, "The last %s there aren't searched: as the current session, they are in the prompt "+
				"already.\n", terminal.Plural(s.Included, "message"))
		}
	}
}

func (a *asking) warnDegraded(r search.Result) {
	if r.RerankFailed != nil {
		fmt.Fprintf(a.env.stderr, "hark: the order is Hark's own: %v\n", r.RerankFailed)
	}
	if r.TextOnly && len(r.Hits) > 0 {
		fmt.Fprintln(a.env.stderr, "Found by words only: no vectors are made yet, or the embedder doesn't work.")
	}
}

type shownHit struct {
	Relevance float64          `json:"relevance"`
	Channel   string           `json:"channel"`
	ChannelID memory.ChannelID `json:"channel_id,string"`
	MessageID memory.MessageID `json:"message_id,string"`
	Name      string           `json:"name,omitempty"` // in the file it was imported from
	Author    string           `json:"author"`
	Time      time.Time        `json:"time"`
	Text      string           `json:"text"`
	Why       []string         `json:"why"`
	place     string           // the channel, with its parent's name before a thread's
}

func printHits(c *cobra.Command, a *setup.App, asJSON bool, hits []search.Hit) error {
	k, err := archive.New(c.Context(), a.Store, a.Config)
	if err != nil {
		return err
	}
	shown := make([]shownHit, len(hits))
	for i, h := range hits {
		shown[i], err = shownOf(c.Context(), k, h)
		if err != nil {
			return err
		}
	}
	if asJSON {
		return cli.PrintJSON(c.OutOrStdout(), shown)
	}
	switch {
	case len(shown) == 0 && len(k.Servers) == 0:
		fmt.Fprintln(c.ErrOrStderr(), "Nothing is remembered yet: import something, or talk with \"hark chat\".")
	case len(shown) == 0:
		fmt.Fprintln(c.ErrOrStderr(), "Nothing was found.")
	}
	for _, s := range shown {
		heading := fmt.Sprintf("%s%s in #%s, %s", cli.Relevance(a.Builder.Labels(), s.Relevance),
			terminal.OneLine(s.Author), terminal.OneLine(s.place),
			s.Time.In(a.Config.Answer.Location()).Format(cli.MinuteLayout))
		cli.PrintHit(c.OutOrStdout(), heading, s.Text, s.Why)
	}
	return nil
}

func shownOf(ctx context.Context, k *archive.Archive, h search.Hit) (shownHit, error) {
	m := h.Message
	people, err := k.PeopleOf(ctx, m.Guild)
	if err != nil {
		return shownHit{}, err
	}
	called, err := k.ExternalIDs(ctx, m.Channel, []memory.MessageID{m.ID})
	s := shownHit{
		Relevance: h.Relevance,
		Channel:   k.ChannelName(m.Guild, m.Channel),
		ChannelID: m.Channel,
		MessageID: m.ID,
		Name:      called[m.ID],
		Author:    cmp.Or(people[m.Author].DisplayName(), m.Author.String()),
		Time:      m.Time(),
		Text:      m.Text(),
		Why:       []string{},
		place:     k.PlaceName(m.Guild, m.Channel),
	}
	for _, w := range h.Why {
		s.Why = append(s.Why, strings.TrimSpace(w.Kind+" "+w.Detail))
	}
	return s, err
}
