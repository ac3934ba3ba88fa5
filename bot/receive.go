package bot

import (
	"encoding/json"
	"time"

	"hark/bot/ingest"
)

// receive is called with each event of the gateway, in order. It must not wait. It returns whether the event will be
// logged, or doesn't matter.
func (b *Bot) receive(event string, data json.RawMessage) bool {
	raw := ingest.ReadEvent(event, data)
	if raw == nil {
		return true
	}
	b.cfg.Metrics.Events.WithLabelValues(event).Inc()
	switch event {
	case "READY", "RESUMED":
		b.cfg.Metrics.GatewayConnections.WithLabelValues(map[string]string{"READY": "new",
			"RESUMED": "resumed"}[event]).Inc()
		b.setState(nil)
		b.ingest.Log.Info().Str("event", event).Msg("connected to Discord")
		b.warnOfClock()
		if !b.ingest.Queue.Put(ingest.Item{Raw: raw}) {
			return false
		}
		if event == "READY" {
			b.commands.Ready(data)
		} else if !b.begun {
			b.commands.TakenUp(b.app)
		}
		b.begun = true
	case "INTERACTION_CREATE":
		logged := make(chan struct{})
		if !b.ingest.Queue.Put(ingest.Item{Raw: raw, Logged: logged}) {
			return false
		}
		b.commands.Put(data, logged)
	default:
		return b.ingest.Queue.Put(ingest.Item{Raw: raw})
	}
	return true
}

// maxClockSkew is how far this machine's clock may be off before its admin is told.
const maxClockSkew = 5 * time.Second

// warnOfClock logs that this machine's clock is wrong. Hark goes by Discord's then; what else runs there doesn't.
func (b *Bot) warnOfClock() {
	ahead, _ := b.ingest.Client.Clock.Ahead()
	if ahead.Abs() > maxClockSkew {
		b.ingest.Log.Warn().Str("ahead", ahead.Round(time.Second).String()).
			Msg("this machine's clock disagrees with Discord's; Hark goes by Discord's. Have it set over the network")
	}
}
