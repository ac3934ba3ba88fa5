package memory

import "errors"

// ErrNotFound means that nothing has that id or name.
var ErrNotFound = errors.New("not found")

// ErrNoVectors means that nothing has been embedded yet in the active space, or that it isn't ready to be
// searched: only full text can find messages.
var ErrNoVectors = errors.New("no vectors yet")

// ErrRefused means that an event is invalid, or no number is left for what it adds: a retry won't help. Other
// errors may be temporary.
var ErrRefused = errors.New("refused")
