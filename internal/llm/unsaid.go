package llm

import (
	"sync"

	"hark/internal/chat"
	"hark/internal/tokens"
)

// unsaid learns how many tokens a server takes that refuses prompts for their length and doesn't say so. Tokens are as
// Hark counts them.
type unsaid struct {
	mu      sync.Mutex
	refused int // tokens of the prompt that was refused last; 0: none
}

// refuse notes a prompt that was refused. It returns how many tokens the next may have; 0: that isn't known. The first
// refusal teaches nothing, since a shorter prompt follows it, and what passes counts.
func (u *unsaid) refuse(sent int) (room int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.refused
	u.refused = sent
	if before == 0 || sent >= before {
		return 0
	}
	return sent * 2 / 3
}

// pass notes a prompt that was taken. It returns how many tokens the next may have; 0: that isn't known.
func (u *unsaid) pass(sent int) (room int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	const much = 3 // a prompt that is by far shorter than the refused one teaches nothing
	if u.refused == 0 || sent < u.refused/much {
		return 0
	}
	longer := sent >= u.refused
	u.refused = 0
	if longer {
		return 0
	}
	return sent
}

// waits reports whether the next prompt teaches something.
func (u *unsaid) waits() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refused > 0
}

// windowFor returns the window that leaves room for a prompt beside the longest answer.
func windowFor(room, longestAnswer int) int { return room + min(longestAnswer, room/2) }

// counted returns how many tokens the texts of a request have.
func counted(r chat.Request, counter *tokens.Counter) (n int) {
	for _, m := range r.Messages {
		n += counter.Count(m.Content)
	}
	return n
}
