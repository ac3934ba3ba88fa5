package llm

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"hark/internal/endpoint"
)

// TranscriberConfig says which model writes down what is said.
type TranscriberConfig struct {
	BaseURL string // up to and including /v1
	APIKey  string // none is sent if empty
	Model   string
	Timeout time.Duration // of one voice message
}

// Transcriber writes down what is said in a voice message, by /audio/transcriptions of OpenAI's protocol. It is safe
// for concurrent use. A server that fails is left alone for a while; see endpoint.Breaker. Errors hold nothing of
// what is said.
type Transcriber struct {
	endpoint.Breaker
	config TranscriberConfig
	server *endpoint.Server
}

// maxTranscript bounds a server's answer, in bytes.
const maxTranscript = 1 << 20

// NewTranscriber returns a Transcriber. It makes no call.
func NewTranscriber(c TranscriberConfig) (*Transcriber, error) {
	server, err := endpoint.NewServer(endpoint.Server{
		What:    "transcription",
		URL:     strings.TrimRight(c.BaseURL, "/"),
		Limit:   maxTranscript,
		Setting: "llm.transcription.base_url",
		Secret:  "llm.transcription.api_key",
		Example: "http://localhost:8000/v1",
		Missing: "check llm.transcription.model, and that its base_url ends in /v1",
	})
	if err != nil {
		return nil, err
	}
	return &Transcriber{
		config:  c,
		server:  server,
		Breaker: endpoint.Breaker{What: "transcription server"},
	}, nil
}

// Name returns the model's name.
func (t *Transcriber) Name() string { return t.config.Model }

// Transcribe returns what is said in audio in the form Ogg.
func (t *Transcriber) Transcribe(ctx context.Context, ogg []byte) (said string, err error) {
	err = t.Do(ctx, t.config.Timeout, func(ctx context.Context) error {
		x := endpoint.Recorder{Server: t.server}
		config := openai.DefaultConfig(t.config.APIKey)
		config.BaseURL = t.server.URL
		config.HTTPClient = &x
		answer, err := openai.NewClientWithConfig(config).CreateTranscription(ctx, openai.AudioRequest{
			Model:    t.config.Model,
			FilePath: "voice-message.ogg",
			Reader:   bytes.NewReader(ogg),
			Format:   openai.AudioResponseFormatJSON,
		})
		if err != nil && x.Body != nil {
			err = fmt.Errorf("%v answers with something else than a transcript", t.server)
		}
		said = answer.Text
		return err
	})
	return said, err
}
