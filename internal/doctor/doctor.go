// Package doctor checks what Hark needs and says what to do. It changes nothing. Begin with Doctor.Examine.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"hark/internal/config"
	"hark/internal/endpoint"
	"hark/internal/llm"
	"hark/internal/store"
	"hark/internal/terminal"
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Advice string `json:"advice"` // what to do; if OK, what could be better
	// KeyRefused says that a server of models refused the key.
	KeyRefused bool `json:"-"`
}

func (f Finding) String() string {
	mark := "✗"
	switch {
	case f.OK && f.Advice != "":
		mark = "!"
	case f.OK:
		mark = "✓"
	}
	line := mark + " " + f.Check + ": " + f.Detail
	if f.Advice != "" {
		line += " → " + f.Advice
	}
	return terminal.OneLine(line)
}

// passed returns a good finding. doctor.checks names it, unless a check has several findings.
func passed(format string, args ...any) Finding {
	return Finding{OK: true, Detail: fmt.Sprintf(format, args...)}
}

// advised returns a good finding with advice.
func advised(detail, advice string) Finding {
	return Finding{
		OK:     true,
		Detail: detail,
		Advice: advice,
	}
}

// failed returns the finding of an error without advice of its own.
func failed(err error, advice string) Finding { return Finding{Detail: err.Error(), Advice: advice} }

// For returns f as the finding of a check.
func (f Finding) For(check string) Finding {
	f.Check = check
	return f
}

// In returns f, which speaks of the settings of the default model, as the finding of the model in another section, such
// as "embedding.".
func (f Finding) In(section string) Finding {
	own := strings.NewReplacer("llm.api_key", section+"api_key", "llm.base_url", section+"base_url",
		"llm.model", section+"model")
	f.Detail = own.Replace(f.Detail)
	f.Advice = own.Replace(f.Advice)
	return f
}

// Failure returns the finding of err. advice applies if err has none of its own.
func Failure(err error, advice string) Finding {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	for _, server := range []string{"the rerank server", "the embedding server"} {
		text = text[max(0, strings.Index(text, server)):] // cut what was attempted
	}
	detail, own := splitAdvice(text)
	refused, is := errors.AsType[*endpoint.Refusal](err)
	if is && refused.Said() != "" {
		detail += fmt.Sprintf("; it says: %s", refused.Said())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		detail = "there was no answer in time"
		own = ""
	}
	return Finding{
		Detail:     detail,
		Advice:     cmp.Or(own, advice),
		KeyRefused: refusesKey(err),
	}
}

// refusesKey reports whether a server of models or embeddings refused the key.
func refusesKey(err error) bool {
	if model, is := errors.AsType[*llm.Error](err); is {
		return model.RefusesKey()
	}
	embedder, is := errors.AsType[*endpoint.Refusal](err)
	return is && embedder.Status == http.StatusUnauthorized
}

// splitAdvice splits a sentence at its first colon outside parentheses: what happened, and what to do.
func splitAdvice(sentence string) (happened, advice string) {
	depth := 0
	for i, r := range sentence {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ':' && depth == 0 && strings.HasPrefix(sentence[i:], ": "):
			return sentence[:i], sentence[i+2:]
		}
	}
	return sentence, ""
}

// Timeout bounds each check.
const Timeout = 30 * time.Second

// Doctor checks what a configuration needs.
type Doctor struct {
	Config  config.Config
	Version string // Hark's
	// Brief leaves out what costs money or much time.
	Brief   bool
	Discord http.RoundTripper
	// Space, if not nil, replaces diskSpace in tests.
	Space func(dir string) (free, total uint64, err error)
}

// checks returns all checks, in the order of their findings.
func (d *Doctor) checks() (all []func(context.Context) []Finding) {
	add := func(name string, check func(context.Context) Finding) {
		all = append(all, func(ctx context.Context) []Finding { return []Finding{check(ctx).For(name)} })
	}
	add("versions", d.versions)
	if store.Of(d.Config).IsFile() {
		add("data directory", d.dataDirectory)
		add("database", d.database)
	} else {
		all = append(all, d.postgres)
	}
	add("sealed", d.sealed)
	all = append(all, d.secretFiles)
	if !d.Brief && d.Config.Web.Listen != "" {
		add("health checks", d.health)
	}
	all = append(all, d.discord)
	d.addModels(add)
	if d.Config.Memory.Pictures > 0 || d.Config.LLM.Transcription.Model != "" {
		add("voice and pictures", d.media)
	}
	if !d.Brief {
		d.addTools(add)
	}
	add("reranker", d.reranker)
	add("embedder", d.Embedder)
	return all
}

// Examine runs all checks at once, each within Timeout, and calls tell with the findings in a fixed order. path is the
// configuration file. If wrong, which says why it can't be used, isn't nil, only the versions are checked.
func (d *Doctor) Examine(ctx context.Context, path string, wrong error, tell func(Finding)) {
	tell(configuration(path, wrong).For("configuration"))
	if wrong != nil {
		tell(d.versions(ctx).For("versions"))
		return
	}
	var work sync.WaitGroup
	defer work.Wait()
	var found []chan []Finding
	for _, check := range d.checks() {
		of := make(chan []Finding, 1)
		found = append(found, of)
		work.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, Timeout)
			defer cancel()
			of <- check(ctx)
		})
	}
	for _, of := range found {
		for _, f := range <-of {
			if ctx.Err() != nil {
				return
			}
			tell(f)
		}
	}
}
