package web

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"hark/internal/ttl"
)

// Bounds of tries of the password.
const (
	triesAtOnce   = 5 // from one address; then one each triesEvery
	triesEvery    = 2 * time.Second
	allTries      = 100 // from all addresses together, so that many of them don't guess it; then one each allTriesEvery
	allTriesEvery = 100 * time.Millisecond
	knownFor      = time.Minute // after its last try an address counts as new
	maxAddresses  = 1 << 12
)

// tries bounds tries of the password by address: nobody uses up those of another. Login links aren't bounded.
type tries struct {
	mu   sync.Mutex
	from *ttl.Cache[netip.Prefix, *rate.Limiter]
	all  *rate.Limiter
}

func newTries() *tries {
	return &tries{from: ttl.New[netip.Prefix, *rate.Limiter](maxAddresses),
		all: rate.NewLimiter(rate.Every(allTriesEvery), allTries)}
}

// allow counts a try from a remote address, and reports whether it may be made.
func (t *tries) allow(remote string, now time.Time) bool {
	at := networkOf(remote)
	t.mu.Lock()
	defer t.mu.Unlock()
	limit, known := t.from.Get(at, now)
	if !known {
		limit = rate.NewLimiter(rate.Every(triesEvery), triesAtOnce)
	}
	t.from.Put(at, limit, now, now.Add(knownFor))
	return limit.AllowN(now, 1) && t.all.AllowN(now, 1)
}

// networkOf returns what one client has of addresses: an address of IPv4, a network of IPv6. What isn't an address
// counts as one.
func networkOf(remote string) netip.Prefix {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr := from.Addr().Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	return netip.PrefixFrom(addr, bits).Masked()
}
