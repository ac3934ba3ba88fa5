package setup

import (
	"hark/internal/config"
	"hark/internal/mcpclient"
)

// NewMCP returns a client of the configured servers of the Model Context Protocol, which connects when it is first
// used; nil if there are none. warn, if not nil, is called with what is wrong with a server.
func NewMCP(c config.Config, warn func(server, problem string)) *mcpclient.Client {
	if len(c.Tools.MCP) == 0 {
		return nil
	}
	o := mcpclient.Options{Warn: warn}
	for _, s := range c.Tools.MCP {
		o.Servers = append(o.Servers, mcpclient.Server{
			Name:          s.Name,
			Command:       s.Command,
			Args:          s.Args,
			Env:           s.Env.Reveal(),
			Address:       s.Address,
			Key:           s.Key.Reveal(),
			TrustReadOnly: s.TrustReadOnly,
			Timeout:       s.Timeout.Duration,
		})
	}
	return mcpclient.New(o)
}
