package bot

import (
	"context"
	"sync"
	"time"

	"hark/memory"
)

// How much is looked up at Discord at once.
const (
	lookUpPages = 20
	mostLooked  = 1 << 16 // messages that are known to be as Discord has them
)

// looked are the messages that were looked up since Hark was away last.
type looked struct {
	mu    sync.Mutex
	at    map[spot]bool
	since int // changes when Hark was away
}

func (l *looked) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.at)
	l.since++
}

// without are those of messages that weren't looked up, and since when that holds.
func (l *looked) without(messages []memory.Message) (left []memory.Message, since int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range messages {
		if !l.at[spot{m.Channel, m.ID}] {
			left = append(left, m)
		}
	}
	return left, l.since
}

func (l *looked) add(at []spot, since int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since != since {
		return
	}
	if l.at == nil || len(l.at)+len(at) > mostLooked {
		l.at = map[spot]bool{}
	}
	for _, s := range at {
		l.at[s] = true
	}
}

// LookUp is what there is of messages that are about to be used, as Discord has them now. Those that may have changed while
// Hark was away, and aren't compared yet, are fetched, and the log is told of what was edited or deleted. What can't be looked
// up within patience is left out.
func (b *Bot) LookUp(ctx context.Context, messages []memory.Message, patience time.Duration) ([]memory.Message, error) {
	doubted, err := b.doubted(ctx, messages)
	if err != nil || len(doubted) == 0 {
		return messages, err
	}
	left, since := b.looked.without(doubted)
	sure := map[spot]bool{}
	for _, m := range doubted {
		sure[spot{m.Channel, m.ID}] = true
	}
	wanted := map[memory.ChannelID][]memory.MessageID{}
	for _, m := range left {
		delete(sure, spot{m.Channel, m.ID})
	}
	b.fetchAgain(ctx, left, patience, sure, since)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for at := range sure {
		wanted[at.channel] = append(wanted[at.channel], at.id)
	}
	now := map[spot]memory.Message{}
	for channel, ids := range wanted {
		found, err := b.memory.Around(ctx, channel, ids, 0, 0)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			now[spot{channel, m.ID}] = m
		}
	}
	unsure := map[spot]bool{}
	for _, m := range doubted {
		unsure[spot{m.Channel, m.ID}] = true
	}
	var kept []memory.Message
	for _, m := range messages {
		at := spot{m.Channel, m.ID}
		if is, there := now[at]; there {
			kept = append(kept, is)
		} else if !unsure[at] {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// doubted are those of messages that aren't compared with Discord since Hark was away.
func (b *Bot) doubted(ctx context.Context, messages []memory.Message) (doubted []memory.Message, err error) {
	unswept := map[memory.GuildID]map[memory.ChannelID][]memory.Gap{}
	for _, m := range messages {
		channels, asked := unswept[m.Guild]
		if !asked {
			all, err := b.memory.Gaps(ctx, m.Guild, true)
			if err != nil {
				return nil, err
			}
			channels = map[memory.ChannelID][]memory.Gap{}
			for _, g := range all {
				channels[g.Channel] = append(channels[g.Channel], g)
			}
			unswept[m.Guild] = channels
		}
		for _, g := range channels[m.Channel] {
			if m.ID > g.After && m.ID <= g.Until {
				doubted = append(doubted, m)
			}
		}
	}
	return doubted, nil
}

// fetchAgain compares messages with Discord's for no longer than patience, and adds to sure which were.
func (b *Bot) fetchAgain(ctx context.Context, messages []memory.Message, patience time.Duration, sure map[spot]bool, since int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	convert := newConverter(b.self, b.cfg.LogBots, b.now)
	byChannel := map[memory.ChannelID][]memory.Message{}
	for _, m := range messages {
		byChannel[m.Channel] = append(byChannel[m.Channel], m)
	}
	pages := 0
	for channel, of := range byChannel {
		for len(of) > 0 && pages < lookUpPages && ctx.Err() == nil {
			first, last := of[0].ID, of[0].ID
			for _, m := range of {
				first, last = min(first, m.ID), max(last, m.ID)
			}
			pages++
			c, err := b.compare(ctx, convert, memory.Gap{Guild: of[0].Guild, Channel: channel, After: first - 1, Until: last}, 0)
			if err == nil && len(c.events) > 0 {
				err = b.commit(ctx, c.events)
			}
			if err != nil {
				b.filler.failed(ctx, err, "couldn't look up what is about to be used, so it isn't")
				break
			}
			var later []memory.Message
			var done []spot
			for _, m := range of {
				if m.ID > c.through {
					later = append(later, m)
				} else {
					done = append(done, spot{channel, m.ID})
				}
			}
			for _, at := range done {
				sure[at] = true
			}
			b.looked.add(done, since)
			of = later
		}
	}
}
