package reply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hark/bot/discord"
	"hark/bot/markdown"
	"hark/memory"
)

// wall is a sender whose requests take a while, and which notes what it was asked and what it shows.
type wall struct {
	t        *testing.T
	slow     time.Duration
	inFlight int
	requests []string // at seconds since start
	shows    []string
	start    time.Time
	fail     func(request string) error
	bare     bool   // whether a create's files are left out, as if an earlier attempt without had succeeded
	stale    string // what a create is answered with, as if an earlier attempt had succeeded
}

func (w *wall) request(ctx context.Context, what string) error {
	if w.inFlight++; w.inFlight > 1 {
		w.t.Error("two requests at the same time")
	}
	defer func() { w.inFlight-- }()
	w.requests = append(w.requests, fmt.Sprintf("%.1f %s", time.Since(w.start).Seconds(), what))
	time.Sleep(w.slow)
	if w.fail != nil {
		if err := w.fail(what); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (w *wall) Typing(ctx context.Context) error { return w.request(ctx, "typing") }

func (w *wall) Create(ctx context.Context, part int, content string, _ []discord.Component,
	files []markdown.File) (discord.Posted, error) {
	if err := w.request(ctx, "create "+short(content)); err != nil {
		return discord.Posted{}, err
	}
	if w.stale != "" {
		content, w.stale = w.stale, ""
	}
	if w.bare {
		files = nil
	}
	w.shows = append(w.shows, content)
	return discord.Posted{ID: memory.MessageID(part + 1), Content: strings.TrimSpace(content), Files: named(files)}, nil
}

func (w *wall) Edit(ctx context.Context, id memory.MessageID, content string, _ []discord.Component,
	files []markdown.File) (discord.Posted, error) {
	if err := w.request(ctx, fmt.Sprintf("edit %d %s", id, short(content))); err != nil {
		return discord.Posted{}, err
	}
	w.shows[id-1] = content
	return discord.Posted{ID: id, Content: strings.TrimSpace(content), Files: named(files)}, nil
}

// named are files as Discord tells of them.
func named(files []markdown.File) (all []memory.File) {
	for _, f := range files {
		all = append(all, memory.File{Name: f.Name, Description: f.Description})
	}
	return all
}

func (w *wall) Remove(ctx context.Context, id memory.MessageID) error {
	w.shows = w.shows[:id-1]
	return w.request(ctx, fmt.Sprintf("remove %d", id))
}

func short(s string) string {
	if len(s) > 12 {
		return fmt.Sprintf("%s…%d", s[:4], len(s))
	}
	return s
}

// deliver runs a delivery while act streams, in a bubble of synthetic time.
func deliver(t *testing.T, w *wall, act func(d *delivery), final ...string) (d *delivery, gone error) {
	t.Helper()
	w.t, w.start = t, time.Now()
	d = newDelivery(w, 1200*time.Millisecond, 8*time.Second)
	done := make(chan struct{})
	go func() {
		defer close(done)
		act(d)
	}()
	gone = d.run(t.Context(), done)
	<-done
	if gone == nil {
		if err := d.finish(t.Context(), final); err != nil {
			t.Errorf("finish: %v", err)
		}
	}
	return d, gone
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	paragraph := strings.Repeat("a", 1500) + "\n\n"
	failing := func(what string, times int) func(string) error {
		return func(request string) error {
			if strings.HasPrefix(request, what) && times > 0 {
				times--
				return errors.New("no luck")
			}
			return nil
		}
	}
	streams := func(texts ...string) func(*delivery) {
		return func(d *delivery) {
			for _, text := range texts {
				d.stream(text)
				time.Sleep(5 * time.Second)
			}
		}
	}
	for name, tt := range map[string]struct {
		wall  wall
		act   func(*delivery)
		final []string
		want  []string
	}{
		"coalesces, and keeps its pace": {wall{slow: 300 * time.Millisecond}, func(d *delivery) {
			for i := 1; i <= 30; i++ {
				time.Sleep(130 * time.Millisecond)
				d.stream(fmt.Sprint("text ", i))
			}
		}, []string{"text 30, the end"}, []string{
			"0.0 typing", "0.3 create text 2", "1.8 edit 1 text 13", "3.3 edit 1 text 25", "3.9 edit 1 text…16"}},
		"types while no text comes": {wall{}, func(d *delivery) {
			d.stream("\n") // which is none
			time.Sleep(20 * time.Second)
			d.stream("text")
			time.Sleep(21 * time.Second)
			d.stream("text goes on") // after a tool
			time.Sleep(3 * time.Second)
		}, []string{"text goes on"}, []string{"0.0 typing", "8.0 typing", "16.0 typing", "20.0 create text", "32.0 typing",
			"40.0 typing", "41.0 edit 1 text goes on"}},
		"keeps full parts as they are": {wall{}, streams(paragraph, paragraph+paragraph, paragraph+paragraph+
			paragraph), []string{paragraph, paragraph, paragraph},
			[]string{"0.0 typing", "0.0 create aaaa…1502", "5.0 create aaaa…1502", "10.0 create aaaa…1502"}},
		"takes back parts that are too many": {wall{}, streams(paragraph + paragraph), []string{"short"},
			[]string{"0.0 typing", "0.0 create aaaa…1502", "1.2 create aaaa…1502", "5.0 edit 1 short", "5.0 remove 2"}},
		"goes on after a failure": {wall{fail: failing("", 2)}, streams("text"), []string{"text"},
			[]string{"0.0 typing", "0.0 create text", "1.2 create text"}},
		"stops when its message is gone": {wall{fail: func(what string) error {
			if strings.HasPrefix(what, "edit") {
				return fmt.Errorf("edit: %w", discord.ErrGone)
			}
			return nil
		}}, streams("text", "text goes on"), nil, []string{"0.0 typing", "0.0 create text", "5.0 edit 1 text goes on"}},
		"corrects what an earlier attempt sent": {wall{stale: "te"}, streams(), []string{"text"},
			[]string{"0.0 typing", "0.0 create text", "0.0 edit 1 text"}},
		"corrects the buttons of an earlier attempt": {wall{fail: failing("create", 1)}, func(d *delivery) {
			d.buttons = func(done bool, _ []memory.MessageID) []discord.Component {
				return []discord.Component{discord.Row(discord.Button(discord.StyleGrey, fmt.Sprint(done), "x"))}
			}
			d.stream("text")
			synctest.Wait() // until it was tried
		}, []string{"text"}, []string{"0.0 typing", "0.0 create text", "0.0 create text", "0.0 edit 1 text"}},
		"trims nothing twice": {wall{}, streams(), []string{"text\n\n", "more "},
			[]string{"0.0 typing", "0.0 create text\n\n", "0.0 create more "}},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, gone := deliver(t, &tt.wall, tt.act, tt.final...)
			if got := tt.wall.requests; !slices.Equal(got, tt.want) || (gone == nil) != (tt.final != nil) {
				t.Errorf("it %s: %v, requests:\n%q\nwant:\n%q", name, gone, got, tt.want)
			}
			if shown := tt.wall.shows; gone == nil && !slices.Equal(shown, tt.final) {
				t.Errorf("it %s: Discord shows %q", name, shown)
			}
		})
	}
}

func TestDeliverySendsFilesAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, bare := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := &wall{bare: bare}
			d, _ := deliver(t, w, func(*delivery) {}, "first", "last")
			w.requests = nil
			for range 2 { // what is there isn't sent again
				if err := d.finish(t.Context(), []string{"first", "other", "last"},
					markdown.File{Name: "a.txt"}); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{"0.0 edit 2 other", "0.0 create last"}
			if bare {
				want = append(want, "0.0 edit 3 last")
			}
			if !slices.Equal(w.requests, want) {
				t.Errorf("requests %q, want %q", w.requests, want)
			}
			if n := len(d.parts[2].Files); n != 1 || len(d.parts[0].Files)+len(d.parts[1].Files) > 0 {
				t.Errorf("%d files at the end", n)
			}
		})
	}
}
