package ingest

import (
	"context"
	"time"

	"hark/memory"
)

// LookUp returns messages as Discord has them now. It fetches those that may have changed during an absence and
// aren't compared yet, and logs edits and deletions. Messages that can't be verified within patience are left
// out.
func (f *Filler) LookUp(ctx context.Context, messages []memory.Message,
	patience time.Duration) ([]memory.Message, error) {
	doubted, err := f.unverified(ctx, messages)
	if err != nil || len(doubted) == 0 {
		return messages, err
	}
	known := f.verified.Load() // those of another time away don't count
	left := map[memory.ChannelID][]memory.Message{}
	sure := map[memory.ChannelID][]memory.MessageID{}
	for _, m := range messages {
		at := memory.MessageRef{Channel: m.Channel, Message: m.ID}
		switch isKnown, _ := known.Get(at, f.Now()); {
		case !doubted[at]:
		case isKnown:
			sure[m.Channel] = append(sure[m.Channel], m.ID)
		default:
			left[m.Channel] = append(left[m.Channel], m)
		}
	}
	f.fetchAgain(ctx, left, patience, func(m memory.Message) {
		known.Put(memory.MessageRef{Channel: m.Channel, Message: m.ID}, true, f.Now(), f.Now().Add(verifiedFor))
		sure[m.Channel] = append(sure[m.Channel], m.ID)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := map[memory.MessageRef]memory.Message{}
	for channel, ids := range sure {
		found, err := f.Memory.Around(ctx, channel, ids, 0, 0)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			now[memory.MessageRef{Channel: channel, Message: m.ID}] = m
		}
	}
	var kept []memory.Message
	for _, m := range messages {
		at := memory.MessageRef{Channel: m.Channel, Message: m.ID}
		if is, there := now[at]; there {
			kept = append(kept, is)
		} else if !doubted[at] {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// unverified returns the messages that haven't been compared with Discord since an absence.
func (f *Filler) unverified(ctx context.Context, messages []memory.Message) (map[memory.MessageRef]bool, error) {
	doubted := map[memory.MessageRef]bool{}
	unswept := map[memory.GuildID][]memory.Gap{}
	for _, m := range messages {
		gaps, asked := unswept[m.Guild]
		if !asked {
			var err error
			gaps, err = f.Memory.Gaps(ctx, m.Guild, true)
			if err != nil {
				return nil, err
			}
			unswept[m.Guild] = gaps
		}
		for _, g := range gaps {
			if m.Channel == g.Channel && m.ID > g.After && m.ID <= g.Until {
				doubted[memory.MessageRef{Channel: m.Channel, Message: m.ID}] = true
			}
		}
	}
	return doubted, nil
}

// fetchAgain compares messages with Discord's for at most patience. It calls compared with each that was.
func (f *Filler) fetchAgain(ctx context.Context, left map[memory.ChannelID][]memory.Message,
	patience time.Duration, compared func(memory.Message)) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pages := 0
	for channel, of := range left {
		for len(of) > 0 && pages < maxLookUpPages && ctx.Err() == nil {
			first := of[0].ID
			last := of[0].ID
			for _, m := range of {
				first = min(first, m.ID)
				last = max(last, m.ID)
			}
			pages++
			through, err := f.recheck(ctx, memory.Gap{
				Guild:   of[0].Guild,
				Channel: channel,
				After:   first - 1,
				Until:   last,
			})
			if err != nil {
				break
			}
			var later []memory.Message
			for _, m := range of {
				if m.ID > through {
					later = append(later, m)
				} else {
					compared(m)
				}
			}
			of = later
		}
	}
}
