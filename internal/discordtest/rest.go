package discordtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Request is one REST call.
type Request struct {
	Method string
	Path   string // without /api/v9
	Body   []byte // of a multipart request: payload_json
	Status int    // 0 until answered
	Door   int    // where it came in; see Server.Door
	At     time.Time
}

// Requests returns the calls so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// call is a request being handled.
type call struct {
	r         *http.Request
	path      string
	body      []byte
	files     []file
	offSchema bool // violates Discord's OpenAPI document
}

// reply is a handler's answer: a JSON body, raw bytes, or none.
type reply struct {
	status int
	body   any
	header map[string]string
}

type handler func(*call) reply

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

func noContent() reply { return reply{status: http.StatusNoContent} }

// refuse is an error in Discord's form.
func refuse(status, code int, message string) reply {
	return reply{status: status, body: object{"code": code, "message": message}}
}

// invalid is error 50035 with the field at fault.
func invalid(field, code, message string) reply {
	return reply{status: http.StatusBadRequest, body: object{"code": 50035, "message": "Invalid Form Body",
		"errors": object{
			field: object{"_errors": []object{{"code": code, "message": message}}}}}}
}

var (
	missingAccess     = refuse(http.StatusForbidden, 50001, "Missing Access")
	missingPermission = refuse(http.StatusForbidden, 50013, "Missing Permissions")
	unknownChannel    = refuse(http.StatusNotFound, 10003, "Unknown Channel")
	unknownGuild      = refuse(http.StatusNotFound, 10004, "Unknown Guild")
	unknownMember     = refuse(http.StatusNotFound, 10007, "Unknown Member")
	unknownMessage    = refuse(http.StatusNotFound, 10008, "Unknown Message")
)

var version = regexp.MustCompile(`^/api(/v\d+)?`)

// publicPaths need no bot token.
var publicPaths = regexp.MustCompile(
	`^/(gateway|attachments/.*|interactions/[^/]+/[^/]+/callback|webhooks/[^/]+/[^/]+(/.*)?)$`)

// serveREST handles a call: injected faults, checks of the request, the handler, checks of
// the answer.
func (s *Server) serveREST(w http.ResponseWriter, r *http.Request, h handler) {
	c := &call{r: r, path: r.URL.Path}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the bot aborted the request, so Discord never gets it
	}
	c.body, r.Body = body, io.NopCloser(bytes.NewReader(body))
	unread := c.read()
	came := s.change()
	if unread != nil {
		s.misuse(BadRequest, "%s %s: %v", c.r.Method, c.path, unread)
	}
	n := len(s.requests)
	s.requests = append(s.requests, Request{Method: c.r.Method, Path: c.path, Body: c.body,
		Door: doorOf(c.r), At: time.Now()})
	came()
	inj := s.takeInjection(c)
	if inj != nil && inj.fault.hang && !inj.hold(r) {
		return
	}
	var answer reply
	faulty := inj != nil && !inj.fault.hang
	if !faulty || inj.fault.performed {
		answer = s.handle(c, h)
	}
	if faulty {
		answer = inj.fault.reply
	}
	done := s.change()
	s.requests[n].Status = answer.status
	done()
	s.write(w, answer)
}

// read parses a multipart form.
func (c *call) read() error {
	kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return nil
	}
	if err := c.r.ParseMultipartForm(32 << 20); err != nil {
		return fmt.Errorf("read the form: %w", err)
	}
	c.body = []byte(c.r.FormValue("payload_json"))
	for name, files := range c.r.MultipartForm.File {
		for _, header := range files {
			f := file{name: name, header: header}
			opened, err := header.Open()
			if err == nil {
				f.content, err = io.ReadAll(opened)
			}
			if err != nil {
				return fmt.Errorf("read a file of the form: %w", err)
			}
			c.files = append(c.files, f)
		}
	}
	slices.SortFunc(c.files, func(a, b file) int { return cmp.Compare(a.number(), b.number()) })
	return nil
}

// handle checks and answers the call.
func (s *Server) handle(c *call, h handler) (answer reply) {
	defer s.change()()
	if !publicPaths.MatchString(c.path) && c.r.Header.Get("Authorization") != "Bot "+s.Token {
		return refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
	}
	if len(c.body) > 0 && !json.Valid(c.body) {
		s.misuse(BadRequest, "%s %s: the body is not JSON", c.r.Method, c.path)
		return refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	if complaint := s.schema.request(c.r.Pattern, c.body); complaint != "" {
		s.misuse(Deviation, "request %s %s: %s", c.r.Method, c.path, complaint)
		c.offSchema = true
	}
	answer = runHandler(h, c)
	if complaint := s.schema.response(c.r.Pattern, answer); complaint != "" {
		s.misuse(Deviation, "answer %d to %s %s: %s", answer.status, c.r.Method, c.path, complaint)
	}
	return answer
}

// routes wraps each handler in serveREST.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range s.table() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serveREST(w, r, h) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serveREST(w, r, func(c *call) reply {
			s.misuse(BadRequest, "%s %s: no such route", c.r.Method, c.path)
			return refuse(http.StatusNotFound, 0, "404: Not Found")
		})
	})
	return mux
}

func (s *Server) table() map[string]handler {
	return map[string]handler{
		"GET /gateway":                             s.getGateway,
		"GET /gateway/bot":                         s.getGatewayBot,
		"GET /users/@me":                           s.getSelf,
		"POST /users/@me/channels":                 s.postDirectChannel,
		"GET /users/@me/guilds":                    s.getMyGuilds,
		"GET /applications/@me":                    s.getApplication,
		"GET /guilds/{guild_id}":                   s.getGuild,
		"GET /guilds/{guild_id}/channels":          s.getChannels,
		"GET /guilds/{guild_id}/members/{user_id}": s.getMember,
		"GET /guilds/{guild_id}/threads/active":    s.getActiveThreads,

		"GET /channels/{channel_id}":                                    s.getChannel,
		"PATCH /channels/{channel_id}":                                  s.patchChannel,
		"GET /channels/{channel_id}/messages":                           s.getMessages,
		"POST /channels/{channel_id}/messages":                          s.postMessage,
		"GET /channels/{channel_id}/messages/{message_id}":              s.getMessage,
		"PATCH /channels/{channel_id}/messages/{message_id}":            s.patchMessage,
		"DELETE /channels/{channel_id}/messages/{message_id}":           s.deleteMessage,
		"POST /channels/{channel_id}/typing":                            s.postTyping,
		"GET /channels/{channel_id}/users/@me/threads/archived/private": s.getArchived(PrivateThread, true),
		"GET /channels/{channel_id}/threads/archived/public":            s.getArchived(PublicThread, false),
		"GET /channels/{channel_id}/threads/archived/private":           s.getArchived(PrivateThread, false),

		"GET /applications/{application_id}/commands":                               s.getCommands,
		"PUT /applications/{application_id}/commands":                               s.putCommands,
		"GET /applications/{application_id}/guilds/{guild_id}/commands":             s.getCommands,
		"PUT /applications/{application_id}/guilds/{guild_id}/commands":             s.putCommands,
		"GET /applications/{application_id}/guilds/{guild_id}/commands/permissions": s.getCommandPermissions,

		"POST /interactions/{interaction_id}/{interaction_token}/callback":   s.postCallback,
		"POST /webhooks/{webhook_id}/{webhook_token}":                        s.postFollowUp,
		"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original":    s.patchFollowUp,
		"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": s.patchFollowUp,

		"GET /attachments/{channel_id}/{attachment_id}/{name}": s.getFile,
	}
}

// write sends the answer. The API has rate limit headers; raw bytes, from a proxy or the CDN,
// don't.
func (s *Server) write(w http.ResponseWriter, answer reply) {
	h := w.Header()
	h.Set("Date", time.Now().Add(s.dateSkew).UTC().Format(http.TimeFormat))
	data, raw := answer.body.([]byte)
	if !raw {
		h.Set("X-RateLimit-Limit", "50")
		h.Set("X-RateLimit-Remaining", "49")
		h.Set("X-RateLimit-Reset-After", "1.000")
		h.Set("X-RateLimit-Bucket", "fake")
	}
	if !raw && answer.body != nil {
		h.Set("Content-Type", "application/json")
		data = encode(answer.body)
	}
	for name, value := range answer.header {
		h.Set(name, value)
	}
	w.WriteHeader(answer.status)
	w.Write(data)
}

// id returns the snowflake in the path; 0 if it is none.
func (c *call) id(name string) ID { return parseID(c.r.PathValue(name + "_id")) }

// deny ends a handler with an answer.
func deny(answer reply) { panic(answer) }

// runHandler returns a handler's answer, or the one it was denied with.
func runHandler(h handler, c *call) (answer reply) {
	defer func() {
		switch denied := recover().(type) {
		case nil:
		case reply:
			answer = denied
		default:
			panic(denied)
		}
	}()
	return h(c)
}

// decode parses the body.
func (s *Server) decode(c *call, v any) {
	if err := json.Unmarshal(c.body, v); err != nil {
		s.badBody(c, fmt.Errorf("read the body: %w", err))
	}
}

// read parses the body and denies one that violates the document.
func (s *Server) read(c *call, v any) {
	s.decode(c, v)
	s.checkSchema(c)
}

// checkSchema denies what violates the document. It follows the checks with more exact errors.
func (s *Server) checkSchema(c *call) {
	if c.offSchema {
		deny(invalid("_", "INVALID", "The request is not what the document describes."))
	}
}

// badBody reports and denies an unreadable body.
func (s *Server) badBody(c *call, err error) {
	_, field, _ := strings.Cut(err.Error(), "struct field .")
	s.refuse(c, BadRequest, invalid(cmp.Or(field, "_"), "BASE_TYPE_BAD", err.Error()), "%v", err)
}
