package tools

import (
	"crypto/rand"
	"time"

	"hark/memory"
)

// New returns a Set of all tools.
func New(o Options) *Set {
	if o.Time <= 0 {
		o.Time = time.Minute
	}
	if len(o.RecordKey) == 0 {
		o.RecordKey = make([]byte, memory.FingerprintKeyBytes)
		rand.Read(o.RecordKey) // never fails
	}
	s := &Set{Options: o, Tools: []Tool{searchMemory(), getParticipant(), recallLore(), rememberLore(), currentTime()}}
	if !o.NoRecords {
		s.Tools = append(s.Tools, s.conversationHistory())
	}
	return s
}
