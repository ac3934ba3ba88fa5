package discordtest

import (
	"cmp"
	"slices"
	"strconv"
)

func (s *Server) getGateway(c *call) reply { return ok(object{"url": s.gatewayURL(doorOf(c.r))}) }

func (s *Server) getGatewayBot(c *call) reply {
	return ok(object{"url": s.gatewayURL(doorOf(c.r)), "shards": s.shards, "session_start_limit": object{
		"total": 1000, "remaining": max(0,
			s.sessionStarts-s.gateway.identifies), "reset_after": 86400000, "max_concurrency": s.concurrency}})
}

func (s *Server) getSelf(*call) reply {
	return ok(struct {
		User
		MFA      bool   `json:"mfa_enabled"`
		Locale   string `json:"locale"`
		Verified bool   `json:"verified"`
	}{s.Bot, true, "en-US", true})
}

func (s *Server) postDirectChannel(c *call) reply {
	var b struct {
		RecipientID ID `json:"recipient_id"`
	}
	s.read(c, &b)
	if s.users[b.RecipientID] == nil {
		return invalid("recipient_id", "USER_INVALID", "Unknown user")
	}
	return ok(s.directChannel(b.RecipientID).Channel)
}

// getMyGuilds lists guilds by id, by default 200 at a time.
func (s *Server) getMyGuilds(c *call) reply {
	q := c.r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), "200"))
	if err != nil || limit < 1 || limit > 200 {
		return invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 200.")
	}
	gs := []object{}
	for _, g := range s.sortedGuilds() {
		if g.ID <= parseID(q.Get("after")) || len(gs) == limit {
			continue
		}
		gs = append(gs, object{"id": g.ID, "name": g.Name, "icon": nil, "banner": nil, "owner": false,
			"permissions": g.base(s.Bot.ID), "features": []string{}})
	}
	return ok(gs)
}

func (s *Server) getApplication(*call) reply {
	owner := User{ID: s.AppID + 1, Username: "self-hoster", Discriminator: "0"}
	flags := s.intents.applicationFlags()
	return ok(object{"id": s.AppID, "name": s.Bot.Username, "icon": nil, "description": "", "type": nil,
		"verify_key": "00", "flags": flags, "flags_new": strconv.Itoa(flags), "redirect_uris": []string{},
		"interactions_endpoint_url": nil, "role_connections_verification_url": nil, "owner": owner,
		"approximate_guild_count": len(s.guilds), "approximate_user_install_count": 0,
		"approximate_user_authorization_count": 0, "explicit_content_filter": 0, "team": nil,
		"eligible_oauth2_scopes": []string{}, "bot_public": true, "bot": s.Bot})
}

// pathGuild returns the path's guild, if the bot is in it.
func (s *Server) pathGuild(c *call) *guild {
	g := s.guilds[c.id("guild")]
	if g == nil {
		deny(unknownGuild)
	}
	return g
}

func (s *Server) getGuild(c *call) reply { return ok(s.guildObject(s.pathGuild(c))) }

func (s *Server) getChannels(c *call) reply {
	g := s.pathGuild(c)
	cs := []any{}
	for _, id := range g.channels {
		if ch := s.channels[id]; !ch.Type.IsThread() && s.botCanView(ch) {
			cs = append(cs, ch.Channel)
		}
	}
	return ok(cs)
}

func (s *Server) getActiveThreads(c *call) reply {
	g := s.pathGuild(c)
	return s.threads(g, func(ch *channel) bool { return !ch.Thread.Archived })
}

// getArchived lists a channel's archived threads of a kind. Private ones need ManageThreads, or joined: only
// those that the bot is in.
func (s *Server) getArchived(kind ChannelType, joined bool) handler {
	return func(c *call) reply {
		need := ReadMessageHistory
		if kind == PrivateThread && !joined {
			need |= ManageThreads
		}
		parent := s.pathChannel(c, need)
		return s.threads(s.guilds[parent.GuildID], func(ch *channel) bool {
			return ch.Thread.Archived && *ch.ParentID == parent.ID && ch.Type == kind &&
				(!joined || slices.Contains(ch.Invited, s.Bot.ID))
		})
	}
}

// threads returns the guild's wanted threads that the bot can see.
func (s *Server) threads(g *guild, wanted func(*channel) bool) reply {
	found := []any{}
	for _, id := range g.channels {
		ch := s.channels[id]
		if ch.Type.IsThread() && wanted(ch) && s.permissions(ch, s.Bot.ID).Has(ViewChannel) {
			found = append(found, ch.Channel)
		}
	}
	return ok(object{"threads": found, "members": []any{}, "has_more": false})
}

func (s *Server) getMember(c *call) reply {
	g := s.pathGuild(c)
	m := g.members[c.id("user")]
	if m == nil {
		return unknownMember
	}
	return ok(*m)
}

func (s *Server) getChannel(c *call) reply {
	ch := s.pathChannel(c, 0)
	return ok(ch.Channel)
}

// patchChannel archives or unarchives a thread; other changes are misuse.
func (s *Server) patchChannel(c *call) reply {
	ch := s.pathChannel(c, 0)
	var b struct {
		Archived *bool `json:"archived"`
	}
	s.read(c, &b)
	if ch.Thread == nil || b.Archived == nil {
		s.refuse(c, BadRequest, refuse(400, 50035, "Invalid Form Body"),
			"only whether a thread is archived can be changed")
	}
	if !s.permissions(ch, s.Bot.ID).Has(SendMessagesInThreads) {
		return missingPermission
	}
	thread := *ch.Thread
	thread.Archived = *b.Archived
	ch.Thread = &thread
	s.emitChannel("UPDATE", ch)
	return ok(ch.Channel)
}

// guildObject is a guild without channels and members.
func (s *Server) guildObject(g *guild) object {
	return object{"id": g.ID, "name": g.Name, "icon": nil, "description": nil, "home_header": nil, "splash": nil,
		"discovery_splash": nil, "features": []string{}, "banner": nil, "owner_id": g.Owner.ID, "application_id": nil,
		"region": "deprecated", "afk_channel_id": nil, "afk_timeout": 300, "system_channel_id": nil,
		"system_channel_flags": 0, "widget_enabled": false, "widget_channel_id": nil, "verification_level": 1,
		"roles": slices.Clone(g.roles), "default_message_notifications": 1, "mfa_level": 0, "explicit_content_filter": 0,
		"max_presences": nil, "max_members": 500000, "max_stage_video_channel_users": 50, "max_video_channel_users": 25,
		"vanity_url_code": nil, "premium_tier": 0, "premium_subscription_count": 0, "preferred_locale": "en-US",
		"rules_channel_id": nil, "safety_alerts_channel_id": nil, "public_updates_channel_id": nil,
		"premium_progress_bar_enabled": false, "premium_progress_bar_enabled_user_updated_at": nil, "nsfw": false,
		"nsfw_level": 0, "emojis": []any{}, "stickers": []any{}, "incidents_data": nil}
}
