package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

const (
	buttonRemember = "remember"
	buttonForgo    = "forgo"
)

const (
	shallI       = "Shall I remember this?"
	mostProposed = 3 // below an answer
	quoted       = "> "
	alsoCalled   = "-# Also called: %s"
	from         = "-# From: %s"
)

// propose shows what is to be remembered if the asker agrees. What can't be kept, or shown in one message,
// isn't. It returns the messages as they are logged, and the answer's trace: it is made from their sources as
// well, and goes with them.
func (r *replier) propose(ctx context.Context, a *ingest.Question, proposals []answer.Proposal, trace memory.Trace) ([]discord.Posted,
	memory.Trace) {
	var shown []discord.Posted
	t := r.thread(a, "p"+a.Round)
	for _, p := range proposals[:min(len(proposals), mostProposed)] {
		m, sources, err := r.proposeOne(ctx, t, a, len(shown), p.Lore)
		if err != nil {
			r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg("couldn't propose to remember something")
			continue
		}
		m.Content, _, _ = strings.Cut(m.Content, "\n") // what is to be remembered stays out of the log
		shown, trace = append(shown, m), trace.WithSources(sources...)
	}
	return shown, trace
}

func (r *replier) proposeOne(ctx context.Context, t *discord.Sender, a *ingest.Question, n int,
	l memory.Lore) (discord.Posted, []memory.Source, error) {
	in := r.localeIn(ctx, a.Guild, a.Channel)
	text, l, err := showLore(in, a, l)
	if err != nil {
		return discord.Posted{}, nil, err
	}
	sources, err := r.sourcesOf(ctx, l, 0)
	if err != nil {
		return discord.Posted{}, nil, err
	}
	o := owned{asker: a.Asker, question: a.ID}
	m, err := t.Post(ctx, discord.Outgoing{
		Content: text, Nonce: discord.Nonce(t.Purpose, t.Question,
			n), EnforceNonce: true, AllowedMentions: discord.Nobody, Flags: discord.SuppressEmbeds,
		Components: []discord.Component{discord.Row(discord.Button(discord.StyleGreen, in.Text("Remember"), o.id(buttonRemember)),
			discord.Button(discord.StyleGrey, in.Text("No"), o.id(buttonForgo)))},
	})
	return m, sources, err
}

var errTooLong = errors.New("show what is to be remembered: it is too long for a message")

// showLore is the message that shows lore, with as many of its other names as there is room for: what it
// shows is all that is kept.
func showLore(in locale.Locale, a *ingest.Question, l memory.Lore) (string, memory.Lore, error) {
	l.ID, l.Guild, l.Channel, l.By, l.At = int64(a.ID), a.Guild, a.Channel, a.Asker, a.ID.Time()
	l.Text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(l.Text)
	l, err := l.Checked()
	if err != nil {
		return "", l, fmt.Errorf("show what is to be remembered: %w", err)
	}
	text, end := in.Text(shallI)+"\n**"+l.Name+"**\n"+quoted+strings.ReplaceAll(l.Text, "\n", "\n"+quoted), ""
	var links []string
	for i, s := range l.Sources {
		links = append(links, fmt.Sprintf("[%d](<%s>)", i+1, markdown.JumpURL(a.Guild, s.Channel, s.Message)))
	}
	if len(links) > 0 {
		end = "\n" + in.Text(from, strings.Join(links, " "))
	}
	if markdown.Units(text+end) > markdown.MessageLimit {
		return "", l, errTooLong
	}
	for i, name := range l.Own {
		more := "\n" + in.Text(alsoCalled, name)
		if markdown.Units(text+more+end) > markdown.MessageLimit {
			l.Own = l.Own[:i]
			break
		}
		text += more
	}
	return text + end, l, nil
}

// sourcesOf are the sources of lore, as they are in the log. It is an error if one isn't there, or was edited
// after an id was given out, unless that is 0.
func (r *replier) sourcesOf(ctx context.Context, l memory.Lore, since memory.MessageID) ([]memory.Source, error) {
	var sources []memory.Source
	for _, s := range l.Sources {
		found, err := r.Memory.Around(ctx, s.Channel, []memory.MessageID{s.Message}, 0, 0)
		if err != nil {
			return nil, fmt.Errorf("look up message %d: %w", s.Message, err)
		}
		if len(found) == 0 || found[0].Guild != l.Guild || since != 0 && found[0].Edited.After(since.Time()) {
			return nil, sourceGone
		}
		sources = append(sources, found[0].AsSource(true))
	}
	return sources, nil
}
