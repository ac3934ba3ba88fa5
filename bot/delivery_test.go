package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

func (w *wall) typing(ctx context.Context) error { return w.request(ctx, "typing") }

func (w *wall) create(ctx context.Context, part int, content string, _ []component, files []upload) (posted, error) {
	if err := w.request(ctx, "create "+short(content)); err != nil {
		return posted{}, err
	}
	if w.stale != "" {
		content, w.stale = w.stale, ""
	}
	if w.bare {
		files = nil
	}
	w.shows = append(w.shows, content)
	return posted{id: memory.MessageID(part + 1), content: strings.TrimSpace(content), files: named(files)}, nil
}

func (w *wall) edit(ctx context.Context, id memory.MessageID, content string, _ []component, files []upload) (posted, error) {
	if err := w.request(ctx, fmt.Sprintf("edit %d %s", id, short(content))); err != nil {
		return posted{}, err
	}
	w.shows[id-1] = content
	return posted{id: id, content: strings.TrimSpace(content), files: named(files)}, nil
}

// named are files as Discord tells of them.
func named(files []upload) (all []memory.File) {
	for _, f := range files {
		all = append(all, memory.File{Name: f.name, Description: f.description})
	}
	return all
}

func (w *wall) remove(ctx context.Context, id memory.MessageID) error {
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

func wantRequests(t *testing.T, w *wall, want ...string) {
	t.Helper()
	if got := strings.Join(w.requests, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("requests:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func TestDeliveryCoalescesAndKeepsItsPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wall{slow: 300 * time.Millisecond}
		deliver(t, w, func(d *delivery) {
			for i := 1; i <= 30; i++ {
				time.Sleep(130 * time.Millisecond)
				d.stream(fmt.Sprint("text ", i))
			}
		}, "text 30, the end")
		wantRequests(t, w, "0.0 typing", "0.3 create text 2", "1.8 edit 1 text 13", "3.3 edit 1 text 25", "3.9 edit 1 text…16")
	})
}

func TestDeliveryTypesUntilThereIsText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wall{}
		deliver(t, w, func(d *delivery) {
			time.Sleep(20 * time.Second)
			d.stream("text")
			time.Sleep(20 * time.Second)
		}, "text")
		wantRequests(t, w, "0.0 typing", "8.0 typing", "16.0 typing", "20.0 create text")
	})
}

func TestDeliveryKeepsFullPartsAsTheyAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wall{}
		paragraph := strings.Repeat("a", 1500) + "\n\n"
		deliver(t, w, func(d *delivery) {
			text := ""
			for range 3 {
				text += paragraph
				d.stream(text)
				time.Sleep(5 * time.Second)
			}
		}, paragraph, paragraph, paragraph)
		wantRequests(t, w, "0.0 typing", "0.0 create aaaa…1502", "5.0 create aaaa…1502", "10.0 create aaaa…1502")
	})
}

func TestDeliveryTakesBackPartsThatAreTooMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wall{}
		d, _ := deliver(t, w, func(d *delivery) {
			d.stream(strings.Repeat("word ", 1000))
			time.Sleep(10 * time.Second)
		}, "short")
		if len(w.shows) != 1 || w.shows[0] != "short" || len(d.parts) != 1 {
			t.Errorf("shown: %q", w.shows)
		}
	})
}

func TestDeliveryGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failures := 2
		w := &wall{fail: func(what string) error {
			if failures--; failures >= 0 {
				return errors.New("no luck")
			}
			return nil
		}}
		deliver(t, w, func(d *delivery) {
			d.stream("text")
			time.Sleep(5 * time.Second)
		}, "text")
		wantRequests(t, w, "0.0 typing", "0.0 create text", "1.2 create text")
	})
}

func TestDeliveryStopsWhenItsMessageIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wall{fail: func(what string) error {
			if strings.HasPrefix(what, "edit") {
				return fmt.Errorf("edit: %w", errGone)
			}
			return nil
		}}
		_, gone := deliver(t, w, func(d *delivery) {
			d.stream("text")
			time.Sleep(5 * time.Second)
			d.stream("text goes on")
			time.Sleep(5 * time.Second)
		})
		if !errors.Is(gone, errGone) {
			t.Errorf("got %v", gone)
		}
		wantRequests(t, w, "0.0 typing", "0.0 create text", "5.0 edit 1 text goes on")
	})
}

func TestDeliveryCorrectsWhatAnEarlierAttemptSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wall{stale: "te"}
		deliver(t, w, func(*delivery) {}, "text")
		if w.shows[0] != "text" {
			t.Errorf("Discord shows %q", w.shows[0])
		}
	})
}

// What seemed to fail may have arrived, with the buttons of then.
func TestDeliveryCorrectsTheButtonsOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := false
		w := &wall{fail: func(what string) error {
			if !failed && strings.HasPrefix(what, "create") {
				failed = true
				return errors.New("no luck")
			}
			return nil
		}}
		deliver(t, w, func(d *delivery) {
			d.buttons = func(done bool, _ []memory.MessageID) []component {
				return []component{row(button(styleGrey, fmt.Sprint(done), "x"))}
			}
			d.stream("text")
		}, "text")
		wantRequests(t, w, "0.0 typing", "0.0 create text", "0.0 create text", "0.0 edit 1 text")
	})
}

func TestDeliverySendsFilesAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, bare := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := &wall{bare: bare}
			d, _ := deliver(t, w, func(*delivery) {}, "first", "last")
			w.requests = nil
			for range 2 { // what is there isn't sent again
				if err := d.finish(t.Context(), []string{"first", "other", "last"}, upload{name: "a.txt"}); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{"0.0 edit 2 other", "0.0 create last"}
			if bare {
				want = append(want, "0.0 edit 3 last")
			}
			wantRequests(t, w, want...)
			if n := len(d.parts[2].files); n != 1 || len(d.parts[0].files)+len(d.parts[1].files) > 0 {
				t.Errorf("%d files at the end", n)
			}
		})
	}
}

func TestDeliveryTrimsNothingTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wall{}
		deliver(t, w, func(*delivery) {}, "text\n\n", "more ")
		if len(w.requests) != 3 { // typing and two creates: what Discord trimmed isn't edited
			t.Errorf("requests: %q", w.requests)
		}
	})
}
