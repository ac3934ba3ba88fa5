package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hark/internal/config"
	"hark/internal/llm"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
)

func (d *Doctor) addModels(add func(name string, check func(context.Context) Finding)) {
	models := setup.NewModels(d.Config)
	one := func(name, section string, client *llm.Client) {
		add(name, func(ctx context.Context) Finding { return d.Model(ctx, section, client) })
	}
	for i, name := range models.Names() {
		if i == 0 {
			one("model", "llm.", models.Default().Client)
		} else {
			one(fmt.Sprintf("model %q", name), "llm.models.", models.ByName(name).Client)
		}
	}
	if fallback := models.Fallback(); fallback != nil {
		one("fallback model", "llm.fallback.", fallback)
	}
	if models.Default() == nil {
		add("model", func(context.Context) Finding {
			return passed("none is configured: answers quote what was said; set llm.model (and llm.base_url) for more")
		})
	}
}

// Model asks the model configured in section as answers do; if d.Brief, only whether it is there.
func (d *Doctor) Model(ctx context.Context, section string, client *llm.Client) Finding {
	how, err := d.ask(ctx, client)
	if err != nil {
		return Failure(err, "its server may still be loading it: look at its log, and try again").In(section)
	}
	window, _ := client.Window(ctx)
	f := d.window(client.Name(), how, window, client.LargerWindow())
	for _, learnt := range Learned(client) {
		if !strings.HasSuffix(f.Detail, learnt.Detail) { // several things may follow from one
			f.Detail += "; " + learnt.Detail
		}
		f.Advice = strings.TrimPrefix(f.Advice+"; "+learnt.Advice, "; ")
	}
	return f
}

// ask asks the model, and says how it went.
func (d *Doctor) ask(ctx context.Context, client *llm.Client) (how string, err error) {
	if d.Brief {
		return client.Check(ctx)
	}
	took, err := client.Examine(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("it answered within %v", took.Round(time.Millisecond)), client.ExamineAtOnce(ctx)
}

// window says whether a model's window has room for what is configured, and if not, how to get a larger one.
func (d *Doctor) window(model, how string, window int, larger string) Finding {
	if window == 0 {
		return passed("%s: %s; the size of its window is unknown (llm.window)", model, how)
	}
	own := setup.For(d.Config, config.Model{Model: model, Window: window})
	room := setup.QuestionTokens(own)
	tight := setup.CheckWindow(own, larger)
	f := passed("%s: %s; its window has %d tokens", model, how, window)
	if tight != nil {
		f.Detail += fmt.Sprintf(", which leaves %d for a prompt, less than builder.max_tokens", max(0, room))
		f.Advice = larger + ", or lower builder.max_tokens or llm.max_tokens: " +
			"until then prompts are shorter"
	}
	if errors.Is(tight, setup.ErrSmallWindow) {
		f.OK = false
		f.Advice = larger + ", or say in llm.window how large it is: so short a prompt has room for hardly more than " +
			"the question"
		return f
	}
	tools := setup.CheckTools(own, larger)
	switch {
	case tools != nil && tight != nil:
		f.Detail += ", and has no room for tools"
	case tools != nil:
		f.Advice = tools.Error()
	}
	return f
}

// Learned returns what Hark learned of a model's server, and what it does about it.
func Learned(client *llm.Client) (all []Finding) {
	for _, sentence := range client.Learned() {
		happened, advice := splitAdvice(sentence)
		all = append(all, advised(happened, advice).For(fmt.Sprintf("model %q", client.Name())))
	}
	return all
}

// reranker asks which of two texts answers a question.
func (d *Doctor) reranker(ctx context.Context) Finding {
	const advice = "check search.rerank_url, search.rerank_model and search.rerank_key"
	r, err := setup.NewReranker(d.Config)
	if err != nil {
		return Failure(err, advice)
	}
	if r == nil {
		return passed("none is configured, and none is needed; " +
			"one (search.rerank_url) improves the order of what is recalled")
	}
	started := time.Now()
	scores, err := r.Rerank(ctx, "What colour is the sky?",
		[]string{"Bread is baked in an oven.", "The sky is blue today."})
	if err != nil {
		return Failure(err, advice)
	}
	if scores[0] >= scores[1] {
		return Finding{Detail: r.Name() +
			" takes bread for a better answer than the sky where the sky is asked about",
			Advice: "is it a reranking model? (search.rerank_model)"}
	}
	return passed("%s ranked the test texts correctly, in %v", r.Name(), time.Since(started).Round(time.Millisecond))
}

// media says which models tell of voice messages and pictures. It asks none, as it has no file to show.
func (d *Doctor) media(context.Context) Finding {
	t, err := setup.NewTeller(d.Config, setup.NewModels(d.Config))
	if err != nil {
		return Failure(err, "check llm.transcription")
	}
	if d.Config.Memory.Pictures > 0 && t.Pictures == nil {
		return Finding{Detail: "memory.pictures is set, and no model sees",
			Advice: "set llm.vision, or vision of one of llm.models, if the model is one that sees"}
	}
	voice := "voice messages aren't written down"
	pictures := "pictures aren't described"
	if t.Voice != nil {
		voice = t.Voice.Name() + " writes voice messages down"
	}
	if t.Can(memory.ImageFile) {
		pictures = fmt.Sprintf("%s describes up to %d pictures a day for each server", t.Pictures.Name(), t.PerDay)
	}
	return passed("%s, %s, where admins agree (/hark set)", voice, pictures)
}

// addTools checks the servers of tools. It starts those that are commands.
func (d *Doctor) addTools(add func(name string, check func(context.Context) Finding)) {
	for _, s := range d.Config.Tools.MCP {
		add(fmt.Sprintf("tools of %q", s.Name), func(ctx context.Context) Finding { return d.tools(ctx, s.Name) })
	}
}

// tools counts the tools of a server.
func (d *Doctor) tools(ctx context.Context, server string) Finding {
	var left []string
	client := setup.NewMCP(d.Config, func(_, problem string) { left = append(left, problem) })
	defer client.Close()
	n, err := client.Check(ctx, server)
	switch {
	case err != nil:
		f := Failure(err, "check tools.mcp")
		if said := client.Said(server); said != "" {
			f.Detail += fmt.Sprintf("; it wrote %q", said)
		}
		return f
	case len(left) > 0:
		return advised(terminal.Plural(n, "tool"), strings.Join(left, "; "))
	}
	return passed("%s, for channels where admins choose %q (/hark set)", terminal.Plural(n, "tool"), server)
}
