package bot

import "encoding/json"

// receive is called with each event of the gateway, in order. It must not wait.
func (b *Bot) receive(event string, data json.RawMessage) {
	if readers[event] == nil {
		return
	}
	b.cfg.Metrics.Events.WithLabelValues(event).Inc()
	raw := &rawEvent{kind: event, data: data}
	raw.decode()
	switch event {
	case "READY", "RESUMED":
		b.cfg.Metrics.GatewayConnections.WithLabelValues(map[string]string{"READY": "new",
			"RESUMED": "resumed"}[event]).Inc()
		b.setState(nil)
		b.log.Info().Str("event", event).Msg("connected to Discord")
		if b.queue.put(item{raw: raw}) && event == "READY" {
			b.commands.ready(data)
		}
	case "INTERACTION_CREATE":
		logged := make(chan struct{})
		if b.queue.put(item{raw: raw, logged: logged}) {
			b.commands.put(data, logged)
		}
	default:
		b.queue.put(item{raw: raw})
	}
}
