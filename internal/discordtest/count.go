package discordtest

import (
	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

// CountMessages has a discordgo session, as a baseline for benchmarks, call each for every message, until it
// is closed.
func (s *Server) CountMessages(intents int, dialer *websocket.Dialer, each func()) (closes func() error, err error) {
	session, err := discordgo.New("Bot " + s.Token)
	if err != nil {
		return nil, err
	}
	session.Client, session.Dialer, session.SyncEvents = s.Client(), dialer, true
	session.Identify.Intents, session.StateEnabled, session.LogLevel = discordgo.Intent(intents), false, -1
	session.AddHandler(func(*discordgo.Session, *discordgo.MessageCreate) { each() })
	return session.Close, session.Open()
}
