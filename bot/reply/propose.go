package reply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/internal/pattern"
	"hark/memory"
)

// The names of the buttons below a proposal.
const (
	ButtonRemember = "remember"
	ButtonForgo    = "forgo"
)

// The parts of a proposal's text. ReadLore reads them back.
const (
	proposalHeading = "Shall I remember this?"
	maxProposals    = 3 // below an answer
	quoted          = "> "
	alsoCalled      = "-# Also called: %s"
	from            = "-# From: %s"
)

const sourceGone locale.MessageKey = "Something that this is from was deleted or changed meanwhile, or isn't remembered, so I don't keep it."

// propose shows what is to be remembered if the asker agrees, except what can't be kept or shown in one message.
// It returns the messages as logged, and the trace with the proposals' sources added, so that the answer is
// withdrawn with them.
func (r *Replier) propose(ctx context.Context, a *ingest.Question, proposals []answer.Proposal,
	trace memory.Trace) ([]discord.Posted, memory.Trace) {
	var shown []discord.Posted
	t := r.thread(a, "p"+a.Round)
	for _, p := range proposals[:min(len(proposals), maxProposals)] {
		m, sources, err := r.proposeOne(ctx, t, a, len(shown), p.Lore)
		if err != nil {
			r.Log.Warn().Err(err).Int64("question", int64(a.ID)).Msg("couldn't propose to remember something")
			continue
		}
		m.Content, _, _ = strings.Cut(m.Content, "\n") // the proposal's content stays out of the log
		shown = append(shown, m)
		trace = trace.WithSources(sources...)
	}
	return shown, trace
}

func (r *Replier) proposeOne(ctx context.Context, t *discord.Sender, a *ingest.Question, n int,
	l memory.Lore) (discord.Posted, []memory.Source, error) {
	in := r.LocaleFor(ctx, a)
	text, l, err := ShowLore(in, a, l)
	if err != nil {
		return discord.Posted{}, nil, err
	}
	sources, err := r.SourcesOf(ctx, l, 0)
	if err != nil {
		return discord.Posted{}, nil, err
	}
	o := Owned{Asker: a.Asker, Question: a.ID}
	m, err := t.Post(ctx, discord.Outgoing{
		Content:         text,
		Nonce:           discord.Nonce(t.Purpose, t.Question, n),
		EnforceNonce:    true,
		AllowedMentions: discord.NoMentions,
		Flags:           discord.SuppressEmbeds,
		Components: []discord.Component{discord.Row(
			discord.Button(discord.StyleGreen, in.Text("Remember"), o.ID(ButtonRemember)),
			discord.Button(discord.StyleGrey, in.Text("No"), o.ID(ButtonForgo)))},
	})
	return m, sources, err
}

var errTooLong = errors.New("show what is to be remembered: it is too long for a message")

// tamed returns lore of a model's as it can be shown in a channel, and so is kept.
func tamed(l memory.Lore) memory.Lore {
	l.Name = markdown.Tamed(l.Name)
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(l.Text), "\n")
	shown := markdown.Tamed(quoted + strings.Join(lines, "\n"+quoted))
	l.Text = strings.TrimPrefix(strings.ReplaceAll(shown, "\n"+quoted, "\n"), quoted)
	l.Own = slices.Clone(l.Own)
	for i, name := range l.Own {
		l.Own[i] = markdown.Tamed(name)
	}
	return l
}

// ShowLore returns the message that shows lore, with as many of its other names as fit. Only what it shows is
// kept.
func ShowLore(in locale.Locale, a *ingest.Question, l memory.Lore) (string, memory.Lore, error) {
	l.ID = int64(a.ID)
	l.Guild = a.Guild
	l.Channel = a.Channel
	l.By = a.Asker
	l.At = a.ID.Time()
	l, err := tamed(l).Checked()
	if err != nil {
		return "", l, fmt.Errorf("show what is to be remembered: %w", err)
	}
	text := in.Text(proposalHeading) + "\n**" + l.Name + "**\n" + quoted + strings.ReplaceAll(l.Text, "\n", "\n"+quoted)
	end := ""
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

// SourcesOf returns lore's sources from the log. It fails if one is missing, or was edited after since (0: any
// time is fine).
func (r *Replier) SourcesOf(ctx context.Context, l memory.Lore, since memory.MessageID) ([]memory.Source, error) {
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

var jumpLink = pattern.Of(`\(<https://discord\.com/channels/(?:@me|[0-9]{1,19})/([0-9]{1,19})/([0-9]{1,19})>\)`)

// localeOfHeading returns the locale of a proposal's heading, from which the channel's may differ by now.
func localeOfHeading(line string) (locale.Locale, bool) {
	for _, c := range locale.Catalogs() {
		if in := (locale.Locale{Catalog: c}); in.Text(proposalHeading) == line {
			return in, true
		}
	}
	in := locale.Locale{}
	return in, in.Text(proposalHeading) == line
}

// ReadLore reads the lore that ShowLore wrote, without its owner; false if it can't be read.
func ReadLore(content string) (l memory.Lore, ok bool) {
	lines := strings.Split(content, "\n")
	in, known := localeOfHeading(lines[0])
	if len(lines) < 3 || !known {
		return l, false
	}
	also := in.Text(alsoCalled, "")
	sources := in.Text(from, "")
	name, bold := strings.CutPrefix(lines[1], "**")
	name, closed := strings.CutSuffix(name, "**")
	if !bold || !closed {
		return l, false
	}
	l.Name = name
	var text []string
	for _, line := range lines[2:] {
		switch {
		case strings.HasPrefix(line, quoted) || line == strings.TrimSpace(quoted):
			text = append(text, strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "))
		case strings.HasPrefix(line, also):
			l.Own = append(l.Own, strings.TrimPrefix(line, also))
		case strings.HasPrefix(line, sources):
			links := jumpLink().FindAllStringSubmatch(line, -1)
			if len(links) == 0 || len(links) != strings.Count(line, "](") {
				return l, false
			}
			for _, link := range links {
				channel, _ := strconv.ParseInt(link[1], 10, 64)
				message, _ := strconv.ParseInt(link[2], 10, 64)
				l.Sources = append(l.Sources, memory.MessageRef{Channel: memory.ChannelID(channel),
					Message: memory.MessageID(message)})
			}
		default:
			return l, false
		}
	}
	l.Text = strings.Join(text, "\n")
	return l, true
}
