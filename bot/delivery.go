package bot

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"hark/memory"
)

// sender sends the parts of one answer to where the question was asked.
type sender interface {
	typing(ctx context.Context) error
	// create posts a part; the same part twice is one message.
	create(ctx context.Context, part int, content string) (posted, error)
	edit(ctx context.Context, id memory.MessageID, content string) (posted, error)
	remove(ctx context.Context, id memory.MessageID) error
}

// posted is a message as Discord has it.
type posted struct {
	id      memory.MessageID
	content string
	edited  time.Time
	wanted  string // what we sent to make it so
}

// errGone says that an answer can't be delivered: its message was deleted, or the channel is closed to us.
var errGone = errors.New("the answer has nowhere to go")

// delivery shows an answer in Discord while it is being written: at most one request is under way, the newest
// text wins, and requests keep a distance of pace. Parts that are full stay as they are.
type delivery struct {
	to     sender
	pace   time.Duration
	typing time.Duration // how often typing is renewed until the first text is there

	mu    sync.Mutex
	text  string
	fresh chan struct{} // holds one when there is something to do

	parts []posted
}

func newDelivery(to sender, pace, typing time.Duration) *delivery {
	return &delivery{to: to, pace: pace, typing: typing, fresh: make(chan struct{}, 1)}
}

// stream takes the whole text so far. It never blocks, and may be called by any goroutine.
func (d *delivery) stream(text string) {
	d.mu.Lock()
	d.text = text
	d.mu.Unlock()
	d.wake()
}

// latest is the text streamed last.
func (d *delivery) latest() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text
}

func (d *delivery) wake() {
	select {
	case d.fresh <- struct{}{}:
	default:
	}
}

// run delivers what is streamed until done is closed or ctx ends. It returns errGone when there is no point
// in going on.
func (d *delivery) run(ctx context.Context, done <-chan struct{}) error {
	renew := time.NewTicker(d.typing)
	defer renew.Stop()
	_ = d.to.typing(ctx) // an ornament
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-renew.C:
			if len(d.parts) == 0 {
				_ = d.to.typing(ctx)
			}
			continue
		case <-d.fresh:
		}
		more, err := d.step(ctx, layout(d.latest(), "", piece.String))
		if errors.Is(err, errGone) {
			return err
		}
		if more || err != nil {
			d.wake()
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(d.pace):
		}
	}
}

// finish brings Discord to contents, however many requests it takes.
func (d *delivery) finish(ctx context.Context, contents []string) error {
	for more := true; more; {
		var err error
		if more, err = d.step(ctx, contents); err != nil {
			return err
		}
	}
	for len(d.parts) > len(contents) {
		last := len(d.parts) - 1
		if err := d.to.remove(ctx, d.parts[last].id); err != nil {
			return err
		}
		d.parts = d.parts[:last]
	}
	return nil
}

// step makes the first request that is needed to come nearer to contents, and reports whether there are more.
func (d *delivery) step(ctx context.Context, contents []string) (more bool, err error) {
	for i, want := range contents {
		if i < len(d.parts) && d.parts[i].wanted == want {
			continue
		}
		if err := d.put(ctx, i, want); err != nil {
			return false, err
		}
		return i+1 < len(contents) || d.parts[i].wanted != want, nil
	}
	return false, nil
}

func (d *delivery) put(ctx context.Context, i int, want string) error {
	if i < len(d.parts) {
		p, err := d.to.edit(ctx, d.parts[i].id, want)
		if err != nil {
			return err
		}
		p.wanted = want
		d.parts[i] = p
		return nil
	}
	p, err := d.to.create(ctx, i, want)
	if err != nil {
		return err
	}
	p.wanted = want
	if p.content != strings.TrimSpace(want) {
		p.wanted = p.content // an attempt that seemed to fail had succeeded, with what was newest then
	}
	d.parts = append(d.parts, p)
	return nil
}

// layout is the messages that say text, with tail as the last line of the last. Parts that are blank, which
// Discord would refuse, are left out.
func layout(text, tail string, render func(piece) string) []string {
	var contents []string
	for _, p := range split(memory.Clean(text), messageLimit) {
		if strings.TrimSpace(p.body) != "" {
			contents = append(contents, render(p))
		}
	}
	if tail == "" {
		return contents
	}
	last := len(contents) - 1
	if last >= 0 && units(contents[last])+units("\n"+tail) <= messageLimit {
		contents[last] += "\n" + tail
		return contents
	}
	return append(contents, tail)
}
