package reply

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/bot/discord"
	"hark/bot/markdown"
	"hark/internal/pace"
	"hark/memory"
)

// poster sends the parts of one answer to the question's channel.
type poster interface {
	Typing(ctx context.Context) error
	// Create posts a part; the same part twice is one message. If Discord refuses the files, here or in Edit,
	// the error is ErrNoFiles.
	Create(ctx context.Context, part int, content string, rows []discord.Component,
		files []markdown.File) (discord.Posted, error)
	Edit(ctx context.Context, id memory.MessageID, content string, rows []discord.Component,
		files []markdown.File) (discord.Posted, error)
	Remove(ctx context.Context, id memory.MessageID) error
}

// The content and buttons of a message whose state in Discord is unknown. No real ones equal them.
const unknownContent = "\x00"

var unknownRows = []discord.Component{{}}

// sentPart is a message that shows a part of an answer.
type sentPart struct {
	discord.Posted
	wanted string // the content that we sent
	rows   []discord.Component
	with   int // how many files we sent
}

// delivery shows an answer in Discord while it is being written: one request at a time, at least pace apart,
// always with the newest text. Full parts stay as they are.
type delivery struct {
	to     poster
	pace   time.Duration
	typing time.Duration // how often typing is renewed while no text comes
	// buttons returns the buttons below the last part, given the parts before it; nil: none.
	buttons func(done bool, before []memory.MessageID) []discord.Component

	mu    sync.Mutex
	text  string
	fresh chan struct{} // holds one when there is work

	parts   []sentPart
	removed []memory.MessageID // former parts
	unsure  bool               // creating the next part failed, or seemed to
}

func newDelivery(to poster, pace, typing time.Duration) *delivery {
	return &delivery{
		to:     to,
		pace:   pace,
		typing: typing,
		fresh:  make(chan struct{}, 1),
	}
}

// stream takes the whole text so far. It never blocks; any goroutine may call it.
func (d *delivery) stream(text string) {
	d.mu.Lock()
	d.text = text
	d.mu.Unlock()
	pace.Wake(d.fresh)
}

// adopt takes over messages of an earlier answer.
func (d *delivery) adopt(ids []memory.MessageID) {
	for _, id := range ids {
		d.parts = append(d.parts, sentPart{
			Posted: discord.Posted{ID: id},
			wanted: unknownContent,
			rows:   unknownRows,
		})
	}
}

// latest returns the text streamed last.
func (d *delivery) latest() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text
}

// run delivers the streamed text until done is closed or ctx ends. It returns ErrGone if there is nowhere to.
func (d *delivery) run(ctx context.Context, done <-chan struct{}) error {
	renew := time.NewTicker(d.typing)
	defer renew.Stop()
	_ = d.to.Typing(ctx) // an ornament
	before := ""         // what had come when typing was last due
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-renew.C:
			text := strings.TrimSpace(d.latest())
			if text == before { // the model waits its turn, or thinks, perhaps after a tool
				_ = d.to.Typing(ctx)
			}
			before = text
			continue
		case <-d.fresh:
		}
		more, err := d.step(ctx, markdown.Draft(d.latest()), nil, false)
		if errors.Is(err, discord.ErrGone) {
			return err
		}
		if more || err != nil {
			pace.Wake(d.fresh)
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

// finish makes Discord show contents, with files at the last, however many requests that takes. It removes
// surplus parts, last first; one that is already gone is no error.
func (d *delivery) finish(ctx context.Context, contents []string, files ...markdown.File) error {
	for more := true; more; {
		var err error
		more, err = d.step(ctx, contents, files, true)
		if err != nil {
			return err
		}
	}
	for len(d.parts) > len(contents) {
		last := d.parts[len(d.parts)-1].ID
		if err := d.to.Remove(ctx, last); err != nil && !errors.Is(err, discord.ErrGone) {
			return err
		}
		d.drop([]memory.MessageID{last})
	}
	return nil
}

// resend shows contents in new messages and then removes the old. The old stay if the first can't be sent.
func (d *delivery) resend(ctx context.Context, to poster, contents []string) error {
	old := d.parts
	d.to = to
	d.parts = nil
	err := d.finish(ctx, contents)
	if err != nil && len(d.parts) == 0 {
		d.parts = old
		return err
	}
	for _, p := range old {
		if failed := d.to.Remove(ctx, p.ID); failed != nil && !errors.Is(failed, discord.ErrGone) {
			return errors.Join(err, failed)
		}
		d.removed = append(d.removed, p.ID)
	}
	return err
}

// drop removes messages from the parts.
func (d *delivery) drop(ids []memory.MessageID) {
	d.removed = append(d.removed, ids...)
	d.parts = slices.DeleteFunc(d.parts, func(p sentPart) bool { return slices.Contains(ids, p.ID) })
}

// oldParts returns the adopted parts that still show the earlier answer.
func (d *delivery) oldParts() (ids []memory.MessageID) {
	for _, p := range d.parts {
		if p.wanted == unknownContent {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// hasNewParts reports whether any of the new answer is shown.
func (d *delivery) hasNewParts() bool { return len(d.oldParts()) < len(d.parts) }

// ids returns the answer's messages.
func (d *delivery) ids() []memory.MessageID { return idsOf(d.posted()) }

func idsOf(posted []discord.Posted) []memory.MessageID {
	ids := make([]memory.MessageID, len(posted))
	for i, p := range posted {
		ids[i] = p.ID
	}
	return ids
}

// posted returns the answer's messages as Discord has them.
func (d *delivery) posted() []discord.Posted {
	all := make([]discord.Posted, len(d.parts))
	for i, p := range d.parts {
		all[i] = p.Posted
	}
	return all
}

// step makes the first request that brings Discord nearer to contents. more: others are needed.
func (d *delivery) step(ctx context.Context, contents []string, files []markdown.File,
	done bool) (more bool, err error) {
	for i, want := range contents {
		var rows []discord.Component
		with := files
		if i+1 < len(contents) {
			with = nil
		} else if d.buttons != nil {
			rows = d.buttons(done, d.ids()[:i])
		}
		if i < len(d.parts) && d.parts[i].matches(want, rows, with) {
			continue
		}
		if err := d.send(ctx, i, want, rows, with); err != nil {
			return false, err
		}
		return i+1 < len(contents) || !d.parts[i].matches(want, rows, with), nil
	}
	return false, nil
}

// matches reports whether a message is as wanted.
func (p *sentPart) matches(want string, rows []discord.Component, with []markdown.File) bool {
	return p.wanted == want && p.with == len(with) && reflect.DeepEqual(p.rows, rows)
}

func (d *delivery) send(ctx context.Context, i int, want string, rows []discord.Component,
	files []markdown.File) error {
	if i < len(d.parts) {
		p, err := d.to.Edit(ctx, d.parts[i].ID, want, rows, files)
		if discord.Status(err) == http.StatusNotFound && d.parts[i].wanted == unknownContent { // deleted before
			d.drop([]memory.MessageID{d.parts[i].ID})
			return d.send(ctx, i, want, rows, files)
		}
		if err != nil {
			return err
		}
		d.parts[i] = sentPart{p, want, rows, len(files)}
		return nil
	}
	sent, err := d.to.Create(ctx, i, want, rows, files)
	if err != nil {
		d.unsure = true
		return err
	}
	p := sentPart{sent, want, rows, len(sent.Files)}
	if p.Content != strings.TrimSpace(want) {
		p.wanted = p.Content // an attempt that seemed to fail had succeeded, with an older text
	}
	if d.unsure && rows != nil { // and with older buttons
		p.rows = unknownRows
	}
	d.unsure = false
	d.parts = append(d.parts, p)
	return nil
}
