package main

import (
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"hark/internal/metrics"
	"hark/internal/web"
)

type runner struct {
	*flags
	wait bool
	look time.Duration // between looks at the configuration while waiting

	log     zerolog.Logger
	notify  *notifier
	ready   atomic.Pointer[func() error] // see notReady
	metrics *metrics.Metrics
	started time.Time
	now     atomic.Pointer[running] // nil before anything runs
	site    *web.Site               // nil: the inspection page is off
}
