package bot

import (
	"encoding/json"

	"hark/bot/ingest"
)

// receive is called with each event of the gateway, in order. It must not wait.
func (b *Bot) receive(event string, data json.RawMessage) {
	raw := ingest.ReadEvent(event, data)
	if raw == nil {
		return
	}
	b.cfg.Metrics.Events.WithLabelValues(event).Inc()
	switch event {
	case "READY", "RESUMED":
		b.cfg.Metrics.GatewayConnections.WithLabelValues(map[string]string{"READY": "new",
			"RESUMED": "resumed"}[event]).Inc()
		b.setState(nil)
		b.ingest.Log.Info().Str("event", event).Msg("connected to Discord")
		if b.ingest.Queue.Put(ingest.Item{Raw: raw}) && event == "READY" {
			b.commands.Ready(data)
		}
	case "INTERACTION_CREATE":
		logged := make(chan struct{})
		if b.ingest.Queue.Put(ingest.Item{Raw: raw, Logged: logged}) {
			b.commands.Put(data, logged)
		}
	default:
		b.ingest.Queue.Put(ingest.Item{Raw: raw})
	}
}
