package discordtest

import (
	"slices"
	"time"
)

// ScheduledEvents is the intent for a guild's calendar.
const ScheduledEvents Intents = 1 << 16

// The states of a scheduled event.
const (
	Scheduled = 1 + iota
	Active
	Completed
	Canceled
)

// Where a scheduled event takes place.
const (
	entityVoice    = 2
	entityExternal = 3
)

// ScheduledEvent is an event in a guild's calendar.
type ScheduledEvent struct {
	ID          ID        `json:"id"`
	GuildID     ID        `json:"guild_id"`
	ChannelID   *ID       `json:"channel_id"` // a voice channel; nil: Metadata says where
	CreatorID   *ID       `json:"creator_id"`
	Name        string    `json:"name"`
	Description *string   `json:"description"`
	Image       *string   `json:"image"`
	Start       time.Time `json:"scheduled_start_time"`
	End         time.Time `json:"scheduled_end_time"`
	Status      int       `json:"status"`
	EntityType  int       `json:"entity_type"`
	EntityID    *ID       `json:"entity_id"`
	Metadata    Location  `json:"entity_metadata"`
	Recurrence  *struct{} `json:"recurrence_rule"`
	Privacy     int       `json:"privacy_level"`
	Exceptions  []object  `json:"guild_scheduled_event_exceptions"`
}

// Location is where an event outside Discord takes place.
type Location struct {
	Location string `json:"location,omitempty"`
}

// Schedule adds an event to a guild's calendar, or changes the one with its ID. One that is over leaves the calendar.
func (s *Server) Schedule(guildID ID, e ScheduledEvent) ScheduledEvent {
	defer s.change()()
	g := s.guild(guildID)
	what := "UPDATE"
	if e.ID == 0 {
		what = "CREATE"
		e.ID = s.clock.nextID()
		e.Status = Scheduled
	}
	e.GuildID = guildID
	e.EntityType = entityExternal
	if e.ChannelID != nil {
		e.EntityType = entityVoice
	}
	e.Privacy = 2 // members only
	e.Exceptions = []object{}
	g.scheduled = slices.DeleteFunc(g.scheduled, func(old ScheduledEvent) bool { return old.ID == e.ID })
	if e.Status == Scheduled || e.Status == Active {
		g.scheduled = append(g.scheduled, e)
	}
	s.emitScheduled(what, e)
	return e
}

// Unschedule deletes an event of a guild's calendar.
func (s *Server) Unschedule(guildID, id ID) {
	defer s.change()()
	g := s.guild(guildID)
	i := slices.IndexFunc(g.scheduled, func(e ScheduledEvent) bool { return e.ID == id })
	if i < 0 {
		s.fatalf("guild %d has no event %d", guildID, id)
	}
	gone := g.scheduled[i]
	g.scheduled = slices.Delete(g.scheduled, i, i+1)
	s.emitScheduled("DELETE", gone)
}

func (s *Server) emitScheduled(what string, e ScheduledEvent) {
	kind := "ExternalScheduledEventResponse"
	if e.EntityType == entityVoice {
		kind = "VoiceScheduledEventResponse"
	}
	if s.schema != nil {
		complaint := s.schema.violation(s.schema.schema([]string{"components", "schemas", kind}), encode(e))
		if complaint != "" {
			s.fatalf("event %q isn't as Discord documents it: %s", e.Name, complaint)
		}
	}
	s.emit(event{name: "GUILD_SCHEDULED_EVENT_" + what, guild: e.GuildID, intents: ScheduledEvents, payload: e})
}
