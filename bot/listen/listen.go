// Package listen has models tell what is said in voice messages and what pictures show, where admins agreed. It comes
// after the log and never delays it. How far it came is in the store, so that nothing is passed over when Hark stops.
package listen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/internal/answer"
	"hark/internal/media"
	"hark/internal/metrics"
	"hark/internal/pace"
	"hark/memory"
)

// Every is the time between two looks for files.
const Every = 5 * time.Second

const (
	page = 100 // messages read at once
	// After a failure of a server, it isn't asked for firstPause, then twice as long each time.
	firstPause, longestPause = 30 * time.Second, time.Hour
	// mostTries is how often a message is tried, over two hours: some servers fail at a file forever.
	mostTries = 8
)

// Worker tells of the files of a shard's guilds.
type Worker struct {
	*ingest.Options
	Teller  *media.Teller
	Metrics *metrics.Metrics

	pauses map[memory.FileKind]*pause
}

// pause is how long a kind of files waits after failures, and how often one message has failed.
type pause struct {
	until   time.Time
	next    time.Duration
	message memory.MessageID
	tries   int
}

// Run works until ctx is done.
func (w *Worker) Run(ctx context.Context) {
	if !w.Teller.Can(memory.VoiceFile) && !w.Teller.Can(memory.ImageFile) {
		return
	}
	pace.Every(ctx, Every, nil, func(ctx context.Context) {
		if err := w.Round(ctx); err != nil && ctx.Err() == nil {
			w.Log.Warn().Err(discord.Redact(err)).Msg("couldn't look for voice messages and pictures; trying again")
		}
		w.Progress()
	})
}

// Round tells of the files that have come since the last one. A guild that fails doesn't keep it from the others: the
// error is the first.
func (w *Worker) Round(ctx context.Context) error {
	guilds, err := w.Memory.Guilds(ctx)
	for _, id := range guilds {
		if ctx.Err() == nil && id != memory.LocalGuild && id != memory.DirectGuild {
			err = cmp.Or(err, w.guild(ctx, id))
		}
	}
	return err
}

// guild tells of the files of a guild.
func (w *Worker) guild(ctx context.Context, id memory.GuildID) error {
	g, heard, err := w.Decided(ctx, id)
	if err != nil || g == nil {
		return err
	}
	for i := range g.Channels {
		c := &g.Channels[i]
		if mark, known := markOf(c); known && heard[c.ID] > mark {
			if err := w.channel(ctx, c, mark, heard[c.ID]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Decided marks from where on it is agreed to tell of files: nothing older is told of, nor what comes between a refusal
// and the next agreement. It returns the guild, nil if it is gone, and the newest message heard in each channel.
func (w *Worker) Decided(ctx context.Context, id memory.GuildID) (*memory.Guild,
	map[memory.ChannelID]memory.MessageID, error) {
	g, err := w.Memory.Guild(ctx, id)
	if err != nil || !g.Left.IsZero() {
		return nil, nil, err
	}
	heard, err := w.Memory.HeardUntil(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	var marks []memory.Event
	for i := range g.Channels {
		c := &g.Channels[i]
		mark := memory.SettingChosen{
			Guild:   id,
			Channel: c.ID,
			Key:     memory.SettingHeard,
			At:      w.Now(),
		}
		_, known := markOf(c)
		switch wanted := w.agrees(g, c.ID); {
		case wanted == known:
			continue
		case wanted:
			mark.Value = cmp.Or(heard[c.ID], memory.FirstMessageID(w.Now())).String()
		}
		marks = append(marks, mark)
	}
	if len(marks) > 0 {
		if err := w.Memory.Apply(ctx, marks...); err != nil {
			return nil, nil, err
		}
		g, err = w.Memory.Guild(ctx, id)
	}
	return g, heard, err
}

// agrees reports whether files of any kind are told of in a channel.
func (w *Worker) agrees(g *memory.Guild, channel memory.ChannelID) bool {
	return w.wants(g, channel, memory.VoiceFile) || w.wants(g, channel, memory.ImageFile)
}

// wants reports whether files of a kind are told of in a channel, and it is remembered.
func (w *Worker) wants(g *memory.Guild, channel memory.ChannelID, kind memory.FileKind) bool {
	return w.Teller.Can(kind) && g.Tells(channel, kind) && w.Policy.Remembers(g, channel)
}

// markOf returns the newest message of a channel whose files were told of.
func markOf(c *memory.Channel) (memory.MessageID, bool) {
	n, err := strconv.ParseInt(c.Settings[memory.SettingHeard], 10, 64)
	return memory.MessageID(n), err == nil
}

func (w *Worker) mark(ctx context.Context, c *memory.Channel, value string) error {
	return w.Memory.Apply(ctx, memory.SettingChosen{
		Guild:   c.Guild,
		Channel: c.ID,
		Key:     memory.SettingHeard,
		Value:   value,
		At:      w.Now(),
	})
}

// channel tells of the files of a channel's messages after one, up to another.
func (w *Worker) channel(ctx context.Context, c *memory.Channel, after, until memory.MessageID) error {
	for after < until {
		messages, err := w.Memory.Log(ctx, c.ID, after, until, page)
		if err != nil {
			return err
		}
		done := until
		if len(messages) == page {
			done = messages[page-1].ID
		}
		for _, m := range messages {
			wait, err := w.message(ctx, m)
			if err != nil {
				return err
			}
			if wait {
				done = m.ID - 1
				break
			}
		}
		if done > after {
			if err := w.mark(ctx, c, done.String()); err != nil {
				return err
			}
		}
		if done < until && len(messages) < page || done <= after {
			return nil
		}
		after = done
	}
	return nil
}

// message tells of a message's files. It reports whether one has to wait.
func (w *Worker) message(ctx context.Context, m memory.Message) (wait bool, err error) {
	var fresh []discord.Attachment
	for _, f := range m.Files {
		g, err := w.Memory.Guild(ctx, m.Guild) // what is agreed may have changed
		if err != nil {
			return false, err
		}
		if f.Told != "" || f.ID == 0 || !m.Kind.Recalled() || !w.wants(g, m.Channel, f.Kind) {
			continue
		}
		if w.waits(f.Kind) {
			return true, nil
		}
		if f.Kind == memory.ImageFile && w.today(g).pictures >= w.Teller.PerDay {
			w.count(f.Kind, "over the budget")
			continue
		}
		if fresh == nil { // addresses aren't kept
			found, err := w.Client.Message(ctx, m.Channel, m.ID)
			if status := discord.Status(err); status == http.StatusNotFound || status == http.StatusForbidden {
				return false, nil
			}
			if err != nil {
				return true, fmt.Errorf("look up the files of a message: %w", err)
			}
			fresh = discord.AttachmentsOf(found, m.ID)
		}
		at := slices.IndexFunc(fresh, func(a discord.Attachment) bool { return int64(a.ID) == f.ID })
		if at < 0 {
			continue
		}
		told, err := Tell(ctx, w.Client, w.Teller, fresh[at])
		switch {
		case ctx.Err() != nil:
			return true, ctx.Err()
		case errors.Is(err, media.ErrFile), errors.Is(err, answer.ErrFileGone), errors.Is(err, answer.ErrFileTooLarge):
			w.count(f.Kind, "refused")
			continue
		case err != nil:
			w.count(f.Kind, "failed")
			if w.failed(f.Kind, m.ID, err) {
				return true, nil
			}
			continue
		}
		delete(w.pauses, f.Kind)
		w.count(f.Kind, "told")
		w.Metrics.MediaTokens.Add(float64(told.Tokens))
		if err := w.keep(ctx, m, f.ID, f.Kind, told); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Hear returns what is said in the voice messages of a question, where that is agreed; empty if it can't be known now.
// What is logged is told of only once.
func (w *Worker) Hear(ctx context.Context, q *ingest.Question) string {
	var said []string
	for _, a := range q.Files {
		if a.Message != q.ID || a.Kind() != memory.VoiceFile {
			continue
		}
		text, err := w.hear(ctx, q, a)
		if err != nil {
			w.count(memory.VoiceFile, "failed")
			w.Log.Warn().Err(discord.Redact(err)).Msg("couldn't write down a question that was spoken")
		}
		said = append(said, text)
	}
	return strings.TrimSpace(strings.Join(said, " "))
}

func (w *Worker) hear(ctx context.Context, q *ingest.Question, a discord.Attachment) (string, error) {
	g, err := w.Memory.Guild(ctx, q.Guild)
	if errors.Is(err, memory.ErrNotFound) || err == nil && !w.wants(g, q.Channel, memory.VoiceFile) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	logged, err := w.Memory.Around(ctx, q.Channel, []memory.MessageID{q.ID}, 0, 0)
	if err != nil {
		return "", err
	}
	for _, m := range logged {
		for _, f := range m.Files {
			if f.ID == int64(a.ID) && f.Told != "" {
				return f.Told, nil
			}
		}
	}
	told, err := Tell(ctx, w.Client, w.Teller, a)
	if err != nil {
		return "", err
	}
	w.count(memory.VoiceFile, "told")
	return told.Text, w.keep(ctx, memory.Message{
		ID:      q.ID,
		Guild:   q.Guild,
		Channel: q.Channel,
	}, int64(a.ID),
		memory.VoiceFile, told)
}

// Tell fetches a file and returns what a model tells of it.
func Tell(ctx context.Context, client *discord.Client, teller *media.Teller, a discord.Attachment) (media.Told, error) {
	kind := a.Kind()
	if a.Size > media.Limit(kind) || a.Seconds > media.MaxVoice.Seconds() {
		return media.Told{}, media.ErrFile
	}
	data, err := client.File(ctx, a, media.Limit(kind))
	if err != nil {
		return media.Told{}, err
	}
	return teller.Tell(ctx, kind, data)
}

// keep stores what was told, if that is still agreed: asking takes a while.
func (w *Worker) keep(ctx context.Context, m memory.Message, file int64, kind memory.FileKind, told media.Told) error {
	g, err := w.Memory.Guild(ctx, m.Guild)
	if err != nil {
		return err
	}
	n := w.today(g)
	if kind == memory.VoiceFile {
		n.voice++
	} else {
		n.pictures++
	}
	events := []memory.Event{memory.SettingChosen{
		Guild: m.Guild,
		Key:   memory.SettingHeard,
		Value: n.String(),
		At:    w.Now(),
	}}
	if w.wants(g, m.Channel, kind) {
		events = append(events, memory.Told{
			Guild:   m.Guild,
			Channel: m.Channel,
			ID:      m.ID,
			File:    file,
			Text:    told.Text,
		})
	}
	return w.Memory.Apply(ctx, events...)
}

// Counts are how many files of a guild were told of on a UTC day.
type Counts struct {
	day             string
	voice, pictures int
}

func (n Counts) String() string { return fmt.Sprintf("%s %d %d", n.day, n.voice, n.pictures) }

// Voice returns how many voice messages were written down.
func (n Counts) Voice() int { return n.voice }

// Pictures returns how many pictures were described.
func (n Counts) Pictures() int { return n.pictures }

// Today returns how many files of a guild were told of on the UTC day of a time.
func Today(g *memory.Guild, now time.Time) Counts {
	today := now.UTC().Format(time.DateOnly)
	var n Counts
	_, err := fmt.Sscan(g.Settings[memory.SettingHeard], &n.day, &n.voice, &n.pictures)
	if err != nil || n.day != today {
		return Counts{day: today}
	}
	return n
}

func (w *Worker) today(g *memory.Guild) Counts { return Today(g, w.Now()) }

// waits reports whether a kind of files waits after a failure.
func (w *Worker) waits(kind memory.FileKind) bool {
	p := w.pauses[kind]
	return p != nil && w.Now().Before(p.until)
}

// failed has a kind of files wait. It reports whether the message is tried again.
func (w *Worker) failed(kind memory.FileKind, message memory.MessageID, err error) bool {
	if w.pauses == nil {
		w.pauses = map[memory.FileKind]*pause{}
	}
	p := w.pauses[kind]
	if p == nil {
		p = &pause{next: firstPause}
		w.pauses[kind] = p
	}
	if p.message != message {
		p.message = message
		p.tries = 0
	}
	p.tries++
	p.until = w.Now().Add(p.next)
	p.next = min(2*p.next, longestPause)
	log := w.Log.Warn().Err(discord.Redact(err)).Str("kind", string(kind)).Int("tries", p.tries)
	if p.tries == mostTries {
		log.Msg("couldn't tell what is in a file; it is passed over")
		return false
	}
	log.Time("until", p.until).Msg("couldn't tell what is in a file; it waits")
	return true
}

func (w *Worker) count(kind memory.FileKind, outcome string) {
	w.Metrics.Media.WithLabelValues(string(kind), outcome).Inc()
}
