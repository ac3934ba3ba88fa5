package discord

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

// The errors that end Run. Each says what to do about it.
var (
	ErrNoToken = errors.New("no valid bot token: set HARK_DISCORD_TOKEN or discord.token, or run \"hark init\"; the token " +
		"is on the Bot page of your application (https://discord.com/developers/applications)")
	ErrToken = errors.New("Discord refuses the token: copy it anew from the Bot page of your application " +
		"in the Developer Portal (https://discord.com/developers/applications), with Reset Token if need be, and set " +
		"HARK_DISCORD_TOKEN or discord.token, or run \"hark init\"")
	ErrIntents = errors.New("Discord refuses an intent: switch on \"Message Content Intent\" on the Bot page " +
		"of your application in the Developer Portal (https://discord.com/developers/applications)")
	ErrShards = errors.New("Discord demands more shards, as the bot is in too many servers: set discord.shards to " +
		"\"auto\" or to a greater number")
	ErrVersion     = errors.New("Discord doesn't speak this version of its gateway's protocol any more: use a newer Hark")
	ErrUnreachable = errors.New("Discord can't be reached: check the network, and discord.api_url if you set it")
)

// The gateway's close codes after which retrying is useless.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes
const (
	closeAuthenticationFailed = 4004
	closeShardingRequired     = 4011
	closeInvalidVersion       = 4012
	closeInvalidIntents       = 4013
	closeDisallowedIntents    = 4014
)

func unreachable(err error) error { return fmt.Errorf("%w: %w", ErrUnreachable, Redact(err)) }

// fatal returns the error that ends Run because of err, or nil if a retry may help.
func fatal(err error) error {
	if closed, is := errors.AsType[*websocket.CloseError](err); is {
		switch closed.Code {
		case closeAuthenticationFailed:
			return fmt.Errorf("%w (close code %d)", ErrToken, closed.Code)
		case closeShardingRequired:
			return fmt.Errorf("%w (close code %d)", ErrShards, closed.Code)
		case closeInvalidVersion:
			return fmt.Errorf("%w (close code %d)", ErrVersion, closed.Code)
		case closeInvalidIntents, closeDisallowedIntents:
			return fmt.Errorf("%w (close code %d)", ErrIntents, closed.Code)
		}
	}
	if Status(err) == 401 {
		return fmt.Errorf("%w (HTTP 401)", ErrToken)
	}
	return nil
}

// Status returns the HTTP status of a refused request; 0 for other errors.
func Status(err error) int {
	if refused, is := errors.AsType[*discordgo.RESTError](err); is && refused.Response != nil {
		return refused.Response.StatusCode
	}
	return 0
}

// Code returns Discord's error code of a refused request; 0 if there is none.
func Code(err error) int {
	if refused, is := errors.AsType[*discordgo.RESTError](err); is && refused.Message != nil {
		return refused.Message.Code
	}
	return 0
}

// ErrUnreadable means that a channel looks empty because Hark may not read its history.
var ErrUnreadable = errors.New("the channel's history may not be read")

// Denied reports whether Discord answered 403 or 404.
func Denied(err error) bool {
	s := Status(err)
	return s == http.StatusForbidden || s == http.StatusNotFound
}
