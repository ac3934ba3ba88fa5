package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"hark/internal/config"
	"hark/internal/setup"
	"hark/internal/store"
	"hark/memory"
)

// samples is the number of texts to embed. They are as long as segments.
const samples = 16

const sentence = "The party was in May, and the garden was full. "

// longSample is a text of some 1,650 tokens: few segments are longer.
var longSample = strings.Repeat(sentence, 150)

// Embedder asks for some vectors, and compares their space with the stored ones.
func (d *Doctor) Embedder(ctx context.Context) Finding {
	use, next, _ := store.Of(d.Config).Spaces(ctx) // the check of the database reports errors
	n := samples
	if d.Brief {
		n = 1
	}
	advice := "check embedding.base_url, embedding.model and embedding.api_key"
	if d.Config.Embedding.Path != "" {
		advice = "check embedding.path; docs/models.md says which models there are"
	}
	var limit atomic.Int64
	e, err := setup.NewEmbedder(ctx, d.Config, func(_, tokens int) { limit.Store(int64(tokens)) }, next, use)
	if err != nil {
		return Failure(err, advice)
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("Is anybody there? %d. ", i) + strings.Repeat(sentence, 6)
	}
	started := time.Now()
	if _, err := e.Embed(ctx, memory.ForStorage, texts); err != nil {
		f := Failure(err, advice)
		if strings.Contains(f.Detail, "vectors of length") {
			f.Advice = "name the model that made the stored vectors, or give embedding.dimensions the new length: " +
				"\"hark reindex\" then makes all anew"
		}
		return f
	}
	took := max(time.Since(started), time.Microsecond)
	space := e.Space()
	f := passed("%s gives %d dimensions, %.0f texts a second", cmp.Or(d.Config.Embedding.Model, space.Name),
		space.Dimensions, float64(n)/took.Seconds())
	f.add(prefixes(d.Config.Embedding))
	if !d.Brief && d.Config.Embedding.Model != "" {
		_, _ = e.Embed(ctx, memory.ForStorage, []string{longSample}) // only its length may be refused
		f.add(shortened(int(limit.Load())))
	}
	f.add(replaced(space, use, next))
	return f
}

// add adds to a finding what else was found. Both may be empty.
func (f *Finding) add(detail, advice string) {
	if detail != "" {
		f.Detail += "; " + detail
	}
	if f.Advice != "" && advice != "" {
		f.Advice += "; "
	}
	f.Advice += advice
}

// prefixes says what is put before texts for an embedding server.
func prefixes(e config.Embedding) (detail, advice string) {
	if e.Model == "" {
		return "", ""
	}
	sent, wanted, known := setup.Prefixes(e)
	unset := e.QueryPrefix == nil && e.DocumentPrefix == nil
	detail = "questions begin with " + orNothing(sent.Query) + ", stored texts with " + orNothing(sent.Document)
	lacks := sent.Query == "" && wanted.Query != "" || sent.Document == "" && wanted.Document != ""
	switch {
	case lacks:
		return detail, fmt.Sprintf("it is known to need %s before questions and %s before stored texts: leave out "+
			"embedding.query_prefix and embedding.document_prefix", orNothing(wanted.Query), orNothing(wanted.Document))
	case known && sent == wanted && sent.None():
		return "it needs no prefixes", ""
	case known && sent == wanted:
		return detail + ", as it needs", ""
	case !known && unset:
		return "Hark knows no prefixes for it; its page says whether it needs any (embedding.query_prefix)", ""
	}
	return detail, ""
}

func orNothing(prefix string) string {
	if prefix == "" {
		return "nothing"
	}
	return fmt.Sprintf("%q", prefix)
}

// shortened says how many tokens of a text a server takes; 0 means enough.
func shortened(tokens int) (detail, advice string) {
	if tokens == 0 {
		return "", ""
	}
	return fmt.Sprintf("it takes about %d tokens of a text, so only the beginning of a longer one is found by its meaning",
			tokens), "have it take longer texts (llama.cpp: --ubatch-size), if the model does, or use a model that does; " +
			"then run \"hark reindex\""
}

// replaced says what becomes of the stored vectors, which are in use, or are to be in next.
func replaced(space, use, next memory.Space) (detail, advice string) {
	switch {
	case use == (memory.Space{}) || use == space:
		return "", ""
	case next == space:
		return fmt.Sprintf("its vectors replace those of %s, %d, when all are made", use.Name, use.Dimensions), ""
	}
	return fmt.Sprintf("the stored vectors are those of %s, with %d dimensions", use.Name, use.Dimensions),
		"\"hark run\" makes them anew and uses the old ones meanwhile, \"hark reindex\" at once; or name the embedder " +
			"that made them"
}
