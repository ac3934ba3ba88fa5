package discord

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/rs/zerolog"
)

// However often sessions end, Discord doesn't take the token away.
func TestSessionsADay(t *testing.T) {
	t.Parallel()
	var starts sessionStarts
	n := 0
	for now := time.Now(); starts.next.Before(now.Add(24*time.Hour)) && n < 1000; n++ {
		starts.pause(now)
	}
	if pause := starts.pause(time.Now()); n >= 800 || pause < maxReconnectWait {
		t.Errorf("%d sessions in a day, the next after %s", n, pause)
	}
	if pause := starts.pause(time.Now().Add(72 * time.Hour)); pause != 0 {
		t.Errorf("a pause of %s after a calm day", pause)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		(&Gateway{Log: zerolog.Nop(), Now: time.Now}).waitToStart(t.Context(), time.Hour)
		if waited := time.Since(began); waited != time.Hour {
			t.Errorf("waited %s, not an hour", waited)
		}
	})
}

// A slot that passed while the process stood still isn't used: another is reserved, up to a limit. One that comes late
// is kept for a later connection.
func TestSlotsThatPass(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		took []time.Duration // reserving each slot
		wait time.Duration   // until each slot
		want int             // slots
		err  error
	}{
		"in time":  {took: []time.Duration{slotSlack}, wait: time.Second, want: 1},
		"passed":   {took: []time.Duration{slotSlack + 1, 0}, wait: time.Second, want: 2},
		"far away": {took: []time.Duration{time.Hour, time.Hour, time.Hour, time.Hour}, want: slotTries},
		"late":     {took: []time.Duration{0}, wait: slotPatience + 1, want: 1, err: errEarly},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reserved := 0
				g := &Gateway{Slot: func(context.Context, int) (time.Duration, error) {
					time.Sleep(tt.took[reserved])
					reserved++
					return tt.wait, nil
				}}
				err := g.waitSlot(t.Context(), 1)
				if err != tt.err || reserved != tt.want {
					t.Errorf("%v after %d slots, not %v after %d", err, reserved, tt.err, tt.want)
				}
				if kept := g.slot != (slot{}); kept != (err != nil) {
					t.Errorf("kept a slot: %t", kept)
				}
			})
		})
	}
}

func TestCloseCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]error{4004: ErrToken, 4011: ErrShards, 4012: ErrVersion, 4013: ErrIntents,
		4014: ErrIntents, 4000: nil, 4009: nil} {
		err := fmt.Errorf("open: %w", &websocket.CloseError{Code: code})
		if got := fatal(err); !errors.Is(got, want) {
			t.Errorf("%d is %v", code, got)
		}
	}
	for code, want := range map[int]bool{1006: true, 4000: true, 4008: true, 4007: false, 4009: false} {
		if got := resumable(&websocket.CloseError{Code: code}); got != want {
			t.Errorf("%d: %t", code, got)
		}
	}
	if resumable(errTimedOut) || resumable(nil) || !resumable(errors.New("no route")) {
		t.Error("wrong about what may be resumed")
	}
}

// However long the gateway was away: once it has said that it doesn't know the session, the next attempt comes as soon
// as Discord asks for.
func TestBackoffBeginsAnewOnceTheGatewayHasSpoken(t *testing.T) {
	t.Parallel()
	const first = 500 * time.Millisecond
	away := errors.New("connection refused")
	b := backoff{first: first, next: first}
	for range 20 {
		wait := b.after(away, false)
		if wait > maxReconnectWait {
			t.Fatalf("a wait of %s", wait)
		}
	}
	if wait := b.after(away, false); wait < maxReconnectWait/2 {
		t.Errorf("after many failures a wait of only %s", wait)
	}
	for range 100 {
		wait := b.after(errInvalidSession, false)
		if wait < time.Second || wait > 5*time.Second {
			t.Fatalf("Discord asks for one to five seconds, not %s", wait)
		}
	}
	if wait := b.after(away, false); wait > first {
		t.Errorf("a wait of %s after the gateway had spoken", wait)
	}
	for range 20 {
		b.after(away, false)
	}
	if wait := b.after(away, true); wait > first {
		t.Errorf("a wait of %s after a connection that was up", wait)
	}
}
