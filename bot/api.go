package bot

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/bot/markdown"
	"hark/memory"
)

// allowedMentions goes with everything that is sent: nothing Hark says pings anybody but, by name, whom it answers. An
// empty list is not the same as none, which would ping everybody named.
type allowedMentions struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users"`
	Roles       []string `json:"roles"`
	RepliedUser bool     `json:"replied_user"`
}

var nobody = allowedMentions{Parse: []string{}, Users: []string{}, Roles: []string{}}

// mentioning is nobody, or the one user if content mentions them: whoever asks may be spoken to.
func mentioning(content string, user memory.UserID) allowedMentions {
	id := user.String()
	if user == 0 || !strings.Contains(content, "<@"+id+">") && !strings.Contains(content, "<@!"+id+">") {
		return nobody
	}
	return allowedMentions{Parse: []string{}, Users: []string{id}, Roles: []string{}}
}

type reference struct {
	MessageID       string `json:"message_id"`
	ChannelID       string `json:"channel_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"`
}

// suppressEmbeds keeps Discord from fetching the links in a message. A model that was talked into it could put
// what it knows into a link's address, and nobody would have to follow it.
const suppressEmbeds = 1 << 2

// outgoing is what is said, or what a message becomes: of that an empty list takes away what it had, and nil leaves it.
type outgoing struct {
	Content         string          `json:"content"`
	Nonce           string          `json:"nonce,omitempty"`
	EnforceNonce    bool            `json:"enforce_nonce,omitempty"`
	AllowedMentions allowedMentions `json:"allowed_mentions"`
	Reference       *reference      `json:"message_reference,omitempty"`
	Flags           int             `json:"flags,omitempty"`
	Attachments     []attached      `json:"attachments,omitzero"`
	Components      []component     `json:"components,omitzero"`
}

// asText is an edit that leaves a message nothing but content, in which nobody is mentioned.
func asText(content string) outgoing {
	return outgoing{Content: content, AllowedMentions: nobody, Flags: suppressEmbeds,
		Attachments: []attached{}, Components: []component{}}
}

// Discord's codes for requests that can't succeed. https://discord.com/developers/docs/topics/opcodes-and-status-codes
const (
	codeMissingAccess     = 50001
	codeReplyNeedsHistory = 160002
	codeArchived          = 50083 // a thread
)

// thread sends the parts of the answer to one question into its channel.
type thread struct {
	client   *client
	channel  memory.ChannelID
	question memory.MessageID
	asker    memory.UserID // whom the parts may mention
	// purpose tells apart the nonces of different messages about one question.
	purpose string
	bare    bool // a reply was refused, so that the parts are sent without
}

func (t *thread) typing(ctx context.Context) error {
	return t.client.post(ctx, discordgo.EndpointChannelTyping(t.channel.String()), nil, nil)
}

func (t *thread) create(ctx context.Context, part int, content string, rows []component,
	files []markdown.File) (posted, error) {
	m := outgoing{
		Content:         content,
		Nonce:           nonce(t.purpose, t.question, part),
		EnforceNonce:    true,
		AllowedMentions: mentioning(content, t.asker),
		Flags:           suppressEmbeds,
		Components:      rows,
		Attachments:     attachments(files),
	}
	if part == 0 && !t.bare {
		m.Reference = &reference{MessageID: t.question.String(), ChannelID: t.channel.String()}
	}
	p, err := t.send(ctx, 0, m, files)
	if code(err) == codeReplyNeedsHistory && m.Reference != nil {
		t.bare = true
		return t.create(ctx, part, content, rows, files)
	}
	return p, wrap(err, "answer in channel", t.channel)
}

// post sends a message of its own, rather than a part of an answer.
func (t *thread) post(ctx context.Context, m outgoing) (posted, error) {
	p, err := t.send(ctx, 0, m, nil)
	return p, wrap(err, "write in channel", t.channel)
}

func (t *thread) edit(ctx context.Context, id memory.MessageID, content string, rows []component,
	files []markdown.File) (posted, error) {
	m := asText(content)
	m.AllowedMentions, m.Attachments = mentioning(content, t.asker), append(m.Attachments, attachments(files)...)
	if rows != nil {
		m.Components = rows
	}
	p, err := t.send(ctx, id, m, files)
	return p, wrap(err, "edit the answer in channel", t.channel)
}

func (t *thread) remove(ctx context.Context, id memory.MessageID) error {
	return wrap(t.change(ctx, "DELETE", id, nil, nil), "take back a part of the answer in channel", t.channel)
}

// change changes a message, for which a thread is taken out of the archive: nothing can be changed there.
func (t *thread) change(ctx context.Context, method string, id memory.MessageID, body, into any) error {
	do := func() error { return t.of(ctx, method, id, body, into) }
	err := do()
	if code(err) != codeArchived {
		return err
	}
	address := discordgo.EndpointChannel(t.channel.String())
	if err := t.client.call(ctx, "PATCH", address, address, map[string]bool{"archived": false}, nil); err != nil {
		return err
	}
	return do()
}

// of makes a request about a message. All those of a method in a channel have one bucket.
func (t *thread) of(ctx context.Context, method string, id memory.MessageID, body, into any) error {
	bucket := discordgo.EndpointChannelMessage(t.channel.String(), "")
	if method == http.MethodGet { // which has a limit of its own
		bucket = "GET " + bucket
	}
	address := discordgo.EndpointChannelMessage(t.channel.String(), id.String())
	return t.client.call(ctx, method, address, bucket, body, into)
}

// send posts a message, or edits the one of an id that isn't 0.
func (t *thread) send(ctx context.Context, id memory.MessageID, m outgoing, files []markdown.File) (posted, error) {
	var sent struct {
		ID          snowflake  `json:"id"`
		Content     string     `json:"content"`
		Edited      time.Time  `json:"edited_timestamp"`
		Attachments []wireFile `json:"attachments"`
	}
	var err error
	if body := withFiles(m, files); id == 0 {
		err = t.client.post(ctx, discordgo.EndpointChannelMessages(t.channel.String()), body, &sent)
	} else {
		err = t.change(ctx, "PATCH", id, body, &sent)
	}
	if len(files) > 0 && code(err) != codeReplyNeedsHistory &&
		(refusesFiles(err) || status(err) == http.StatusBadRequest) {
		err = errNoFiles
	}
	if err != nil {
		return posted{}, err
	}
	return posted{id: memory.MessageID(sent.ID), content: memory.Clean(sent.Content), edited: sent.Edited,
		files: remembered(sent.Attachments)}, nil
}

// nonce names a part of an answer in at most 25 characters, the same whenever it is sent again.
func nonce(purpose string, question memory.MessageID, part int) string {
	return purpose + strconv.FormatInt(int64(question), 36) + "-" + strconv.Itoa(part)
}

// wrap says what was attempted. A request refused for good is errGone as well.
func wrap(err error, doing string, channel memory.ChannelID) error {
	if err == nil {
		return nil
	}
	if s := status(err); s >= 400 && s < 500 {
		err = goneError{err}
	}
	return fmt.Errorf("%s %d: %w", doing, channel, err)
}

// goneError is an errGone, and why: how Discord refused what was attempted, without its words, which may quote it.
type goneError struct{ error }

func (e goneError) Error() string {
	return fmt.Sprintf("%v: HTTP %d, code %d", errGone, status(e.error), code(e.error))
}
func (e goneError) Unwrap() error        { return e.error }
func (e goneError) Is(target error) bool { return target == errGone }

// direct is the channel of direct messages with somebody.
func (c *client) direct(ctx context.Context, user memory.UserID) (memory.ChannelID, error) {
	var channel wireChannel
	who := map[string]string{"recipient_id": user.String()}
	err := c.post(ctx, discordgo.EndpointUserChannels("@me"), who, &channel)
	return memory.ChannelID(channel.ID), err
}
