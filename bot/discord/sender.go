package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/bot/markdown"
	"hark/memory"
)

// allowedMentions goes with every message: Hark pings only whom it answers. An empty list pings nobody, a missing
// one everybody named.
type allowedMentions struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users"`
	Roles       []string `json:"roles"`
	RepliedUser bool     `json:"replied_user"`
}

// NoMentions pings nobody.
var NoMentions = allowedMentions{
	Parse: []string{},
	Users: []string{},
	Roles: []string{},
}

// mentionOnly pings user if content mentions them, and nobody else.
func mentionOnly(content string, user memory.UserID) allowedMentions {
	id := user.String()
	if user == 0 || !strings.Contains(content, "<@"+id+">") && !strings.Contains(content, "<@!"+id+">") {
		return NoMentions
	}
	return allowedMentions{
		Parse: []string{},
		Users: []string{id},
		Roles: []string{},
	}
}

type messageReference struct {
	MessageID       string `json:"message_id"`
	ChannelID       string `json:"channel_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"`
}

// SuppressEmbeds keeps Discord from fetching the links in a message. A tricked model could leak what it knows
// through a link's address otherwise, without anybody following it.
const SuppressEmbeds = 1 << 2

// Outgoing is a new message or an edit. In an edit an empty list removes what there was, and nil leaves it.
type Outgoing struct {
	Content         string            `json:"content"`
	Nonce           string            `json:"nonce,omitempty"`
	EnforceNonce    bool              `json:"enforce_nonce,omitempty"`
	AllowedMentions allowedMentions   `json:"allowed_mentions"`
	Reference       *messageReference `json:"message_reference,omitempty"`
	Flags           int               `json:"flags,omitempty"`
	Attachments     []uploadRef       `json:"attachments,omitzero"`
	Components      []Component       `json:"components,omitzero"`
}

// Saying is a message with content that pings nobody, and whose links Discord doesn't fetch.
func Saying(content string) Outgoing {
	return Outgoing{
		Content:         content,
		AllowedMentions: NoMentions,
		Flags:           SuppressEmbeds,
	}
}

// AsText is an edit that leaves nothing but content.
func AsText(content string) Outgoing {
	m := Saying(content)
	m.Attachments = []uploadRef{}
	m.Components = []Component{}
	return m
}

// Discord's codes for requests that can't succeed. https://discord.com/developers/docs/topics/opcodes-and-status-codes
const (
	CodeUnknownChannel    = 10003
	codeMissingAccess     = 50001
	codeReplyNeedsHistory = 160002
	codeArchived          = 50083 // a thread
)

// Sender sends the parts of the answer to one question into its channel.
type Sender struct {
	Client   *Client
	Channel  memory.ChannelID
	Question memory.MessageID
	Asker    memory.UserID // the only user the parts may ping
	// Purpose keeps the nonces of a question's different messages apart.
	Purpose string
	noReply bool // Discord refused a reply, so parts are sent as plain messages
}

// Typing shows that Hark is typing.
func (s *Sender) Typing(ctx context.Context) error {
	return s.Client.post(ctx, discordgo.EndpointChannelTyping(s.Channel.String()), nil, nil)
}

// Create posts a part of an answer; the same part twice is one message.
func (s *Sender) Create(ctx context.Context, part int, content string, rows []Component,
	files []markdown.File) (Posted, error) {
	m := Outgoing{
		Content:         content,
		Nonce:           Nonce(s.Purpose, s.Question, part),
		EnforceNonce:    true,
		AllowedMentions: mentionOnly(content, s.Asker),
		Flags:           SuppressEmbeds,
		Components:      rows,
		Attachments:     Attachments(files),
	}
	if part == 0 && !s.noReply {
		m.Reference = &messageReference{MessageID: s.Question.String(), ChannelID: s.Channel.String()}
	}
	p, err := s.send(ctx, 0, m, files)
	if Code(err) == codeReplyNeedsHistory && m.Reference != nil {
		s.noReply = true
		return s.Create(ctx, part, content, rows, files)
	}
	return p, Wrap(err, "answer in channel", s.Channel)
}

// Post sends a message that isn't part of an answer.
func (s *Sender) Post(ctx context.Context, m Outgoing) (Posted, error) {
	p, err := s.send(ctx, 0, m, nil)
	return p, Wrap(err, "write in channel", s.Channel)
}

// Edit replaces a part's content, buttons and files.
func (s *Sender) Edit(ctx context.Context, id memory.MessageID, content string, rows []Component,
	files []markdown.File) (Posted, error) {
	m := AsText(content)
	m.AllowedMentions, m.Attachments = mentionOnly(content, s.Asker), append(m.Attachments, Attachments(files)...)
	if rows != nil {
		m.Components = rows
	}
	p, err := s.send(ctx, id, m, files)
	return p, Wrap(err, "edit the answer in channel", s.Channel)
}

// Remove deletes a part.
func (s *Sender) Remove(ctx context.Context, id memory.MessageID) error {
	return Wrap(s.Change(ctx, "DELETE", id, nil, nil), "take back a part of the answer in channel", s.Channel)
}

// Change changes a message. It unarchives a thread first, because nothing can be changed in the archive.
func (s *Sender) Change(ctx context.Context, method string, id memory.MessageID, body, into any) error {
	do := func() error { return s.Request(ctx, method, id, body, into) }
	err := do()
	if Code(err) != codeArchived {
		return err
	}
	address := discordgo.EndpointChannel(s.Channel.String())
	if err := s.Client.call(ctx, "PATCH", address, address, map[string]bool{"archived": false}, nil); err != nil {
		return err
	}
	return do()
}

// Request makes a request about a message. Requests of one method in one channel share a bucket.
func (s *Sender) Request(ctx context.Context, method string, id memory.MessageID, body, into any) error {
	bucket := discordgo.EndpointChannelMessage(s.Channel.String(), "")
	if method == http.MethodGet { // it has its own limit
		bucket = "GET " + bucket
	}
	address := discordgo.EndpointChannelMessage(s.Channel.String(), id.String())
	return s.Client.call(ctx, method, address, bucket, body, into)
}

// send posts a message, or edits the one with an id other than 0.
func (s *Sender) send(ctx context.Context, id memory.MessageID, m Outgoing, files []markdown.File) (Posted, error) {
	var sent struct {
		ID          Snowflake  `json:"id"`
		Content     string     `json:"content"`
		Edited      time.Time  `json:"edited_timestamp"`
		Attachments []wireFile `json:"attachments"`
	}
	var err error
	if body := withFiles(m, files); id == 0 {
		err = s.Client.post(ctx, discordgo.EndpointChannelMessages(s.Channel.String()), body, &sent)
	} else {
		err = s.Change(ctx, "PATCH", id, body, &sent)
	}
	if len(files) > 0 && Code(err) != codeReplyNeedsHistory &&
		(RefusesFiles(err) || Status(err) == http.StatusBadRequest) {
		err = ErrNoFiles
	}
	if err != nil {
		return Posted{}, err
	}
	return Posted{
		ID:      memory.MessageID(sent.ID),
		Content: memory.Clean(sent.Content),
		Edited:  sent.Edited,
		Files:   Remembered(sent.Attachments),
	}, nil
}

// Nonce names a part of an answer in at most 25 characters, the same for every attempt.
func Nonce(purpose string, question memory.MessageID, part int) string {
	return purpose + strconv.FormatInt(int64(question), 36) + "-" + strconv.Itoa(part)
}

// Wrap says what was attempted. A request refused for good is ErrGone as well.
func Wrap(err error, doing string, channel memory.ChannelID) error {
	if err == nil {
		return nil
	}
	if s := Status(err); s >= 400 && s < 500 {
		err = goneError{err}
	}
	return fmt.Errorf("%s %d: %w", doing, channel, err)
}

// goneError is an ErrGone with Discord's codes, but without its words, which may quote what was attempted.
type goneError struct{ error }

func (e goneError) Error() string {
	return fmt.Sprintf("%v: HTTP %d, code %d", ErrGone, Status(e.error), Code(e.error))
}
func (e goneError) Unwrap() error        { return e.error }
func (e goneError) Is(target error) bool { return target == ErrGone }

// Posted is a message as Discord has it.
type Posted struct {
	ID      memory.MessageID
	Content string
	Edited  time.Time
	Files   []memory.File
}

// ErrGone means that an answer can't be delivered: its message was deleted, or the channel is closed to Hark.
var ErrGone = errors.New("the answer has nowhere to go")
