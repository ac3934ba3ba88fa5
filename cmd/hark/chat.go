package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"hark/internal/answer"
	"hark/internal/digest"
	"hark/internal/imports"
	"hark/internal/terminal"
	"hark/memory"
)

func (f *flags) chatCommand() *cobra.Command {
	channel, as := "", ""
	c := &cobra.Command{
		Use:   "chat",
		Short: "Talk with Hark in the terminal, without Discord",
		Long: "Talk with Hark in the terminal, without Discord. It remembers the lines that you write. \"Name: text\" speaks as\n" +
			"somebody. Hark answers a line with @hark in it. A line that begins with / is a command: /recall, /why, /context,\n" +
			"/lore, /memory, /as; /help shows them. If lines are piped in, only the answers are printed.",
		Args: noArguments,
		RunE: f.withApp(func(c *cobra.Command, a *app, _ []string) error {
			p, err := a.placeOf(c.Context(), channel)
			if err == nil { // as "hark run" does all the time
				now := time.Now()
				err = a.store.Expire(c.Context(), memory.Expiry{Prompts: now.Add(-a.config.Memory.KeepPrompts()),
					Records: recordRetention(a.config).At(now)})
			}
			if err != nil {
				return err
			}
			return f.chat(c, &conversation{flags: f, app: a, place: p, speaker: as, out: c.OutOrStdout(),
				warn: c.ErrOrStderr()})
		}),
	}
	c.Flags().StringVar(&channel, "channel", "",
		"talk in the channel of this `name` or id (default: one of the terminal's own, from which all but direct messages is found)")
	c.Flags().StringVar(&as, "as", userName(f.env.lookup), "the `name` for lines without one")
	return c
}

// userName returns the name of whoever is at the terminal.
func userName(lookup func(string) (string, bool)) string {
	for _, key := range []string{"USER", "USERNAME", "LOGNAME"} {
		if name, ok := lookup(key); ok && name != "" {
			return name
		}
	}
	return "operator"
}

// chat reads lines until they end, while what is said is indexed.
func (f *flags) chat(c *cobra.Command, talk *conversation) error {
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	if err := talk.sumUp(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	notices := c.ErrOrStderr()
	talking := func() error { return talk.lines(ctx, c.InOrStdin()) }
	in, isTerminal := terminal.Of(f.env.stdin)
	if out, toTerminal := terminal.Of(f.env.stdout); isTerminal && toTerminal {
		s := terminal.NewScreen(in, out, f.env.lookup)
		notices = s
		talking = func() error { return talk.interactive(ctx, s, f.env.interrupts) }
	}
	indexer := memory.Indexer{Queue: talk.app.store, Embedder: talk.app.embedder,
		Failed: func(err error, wait time.Duration) {
			fmt.Fprintf(notices, "hark: %v; trying again in %v\n", err, wait)
		}}
	group.Go(func() error { return indexer.Run(ctx) })
	if talk.app.condenses() {
		talk.app.digest.Failed = func(_ digest.Kind, _ memory.ChannelID, err error) {
			fmt.Fprintf(notices, "hark: the older part of the session is cut off: %v\n", err)
		}
		group.Go(func() error { return talk.app.digest.Run(ctx, digest.Condensed) })
	}
	group.Go(func() error {
		defer cancel()
		return talking()
	})
	if err := group.Wait(); !errors.Is(err, io.EOF) {
		return err
	}
	if talk.unanswered {
		return errShown
	}
	return nil
}

// sumUp summarises the session before, if it has ended.
func (t *conversation) sumUp(ctx context.Context) error {
	if t.app.config.Memory.Summaries == summariesOff || !t.logs() {
		return nil
	}
	w := t.app.newDigest()
	w.Channel, w.Now, w.Patience = t.place.channel, time.Now, chatPatience
	w.Failed = func(_ digest.Kind, _ memory.ChannelID, err error) {
		fmt.Fprintf(t.warn, "hark: the session before is summed up without the model: %v\n", err)
	}
	before, err := t.app.store.Log(ctx, t.place.channel, 0, memory.FirstMessageID(time.Now()), 1)
	if err != nil {
		return err
	}
	t.first = len(before) == 0
	return w.Round(ctx, digest.Summaries)
}

// conversation is a talk in one channel.
type conversation struct {
	flags   *flags
	app     *app
	place   place
	speaker string // of lines without a name
	out     io.Writer
	colour  terminal.Colours
	live    *terminal.Live // shows an answer while it is being written; nil if answers are printed when they are whole
	warn    io.Writer      // where it is told that an answer failed, or what it survived
	last    memory.MessageID
	// first says that nothing was ever said there: the first talk is summed up however long it is until the second.
	first bool
	// ask, if not nil, asks whoever is there something, and returns their line.
	ask  func(question string) (string, error)
	past *terminal.History // that can be called back; nil where none can
	// interrupts, if not nil, end an answer that is being written.
	interrupts *terminal.Interrupts
	// unanswered is set once an answer failed. What is said goes on being remembered.
	unanswered bool
}

// maxLine is the longest line taken, in bytes.
const maxLine = 1 << 20

// lines says every line of r, and skips those that are too long.
func (t *conversation) lines(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, maxLine+1) // with its end
	first := true
	return t.sayAll(ctx, func() (string, error) {
		line, whole, err := readLine(in)
		if !whole {
			t.unanswered = true
			fmt.Fprintf(t.warn, "hark: skipped a line longer than %d bytes: break it up\n", maxLine)
		}
		if first {
			line, first = strings.TrimPrefix(line, "\ufeff"), false // some programs begin a file with a mark
		}
		return line, err
	}, func(err error) error { return err })
}

// readLine returns the next line of in without its end; nothing of it, and whole false, if it is longer than
// in's buffer. The error is io.EOF after the last line.
func readLine(in *bufio.Reader) (line string, whole bool, err error) {
	part, more, err := in.ReadLine()
	if whole = !more; whole {
		line = string(part)
	}
	for more && err == nil {
		_, more, err = in.ReadLine()
	}
	return line, whole, err
}

// sayAll says what read returns until it returns an error or somebody ends the talk. failed gets the
// error of each line, and decides whether to go on.
func (t *conversation) sayAll(ctx context.Context, read func() (string, error), failed func(error) error) error {
	for {
		line, err := terminal.Await(ctx, read)
		if err != nil {
			return err
		}
		err = t.say(ctx, line)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF): // as /quit has it
			return err
		}
		if err := failed(err); err != nil {
			return err
		}
	}
}

var (
	named   = regexp.MustCompile(`^\s*([^:\s][^:]{0,63}?)\s*:\s+(.*)$`)
	mention = regexp.MustCompile(`(?i)(^|[^\w@])@hark\b[,:]?`)
)

// say logs a line and answers it if it speaks to Hark. It runs a command instead, without logging it.
func (t *conversation) say(ctx context.Context, line string) error {
	if is, err := t.command(ctx, line); is {
		return err
	}
	name, text := t.speaker, memory.Clean(line)
	if m := named.FindStringSubmatch(text); m != nil && !mention.MatchString(m[1]) { // "@hark: …" speaks to Hark
		name, text = m[1], m[2]
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	author, _, err := t.app.personCalled(ctx, t.place.guild, name)
	if err != nil {
		return err
	}
	m := memory.Message{ID: t.nextID(), Guild: t.place.guild, Channel: t.place.channel, Author: author.ID,
		Content: text}
	if err := t.log(ctx, name, m); err != nil {
		return err
	}
	if !mention.MatchString(text) {
		return nil
	}
	q := t.place.question(strings.TrimSpace(mention.ReplaceAllString(text, "$1")), time.Now())
	q.ID, q.Asker, q.Name = m.ID, author.ID, name
	within, done := t.interrupts.Aside(ctx)
	defer done()
	err = t.answer(within, q)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		err = errors.New("interrupted; the answer isn't remembered")
	}
	t.unanswered = true
	fmt.Fprintln(t.warn, "hark:", err)
	return nil
}

// logs reports whether what is said here is remembered: nothing is added to a channel of Discord's from outside.
func (t *conversation) logs() bool { return t.place.guild == memory.LocalGuild }

func (t *conversation) log(ctx context.Context, name string, m memory.Message, more ...memory.Event) error {
	if !t.logs() {
		return nil
	}
	if t.first {
		more, t.first = append(more, memory.Summarised{Guild: t.place.guild, Channel: t.place.channel,
			Until: m.ID - 1}), false
	}
	return t.app.store.Apply(ctx, append([]memory.Event{
		t.present(),
		memory.PersonSeen{Person: memory.Person{ID: m.Author, Guild: t.place.guild, Name: name}},
		memory.Posted{Message: m},
	}, more...)...)
}

// harkID is Hark itself where Discord gives it no id.
const harkID memory.UserID = 1

func (t *conversation) answer(ctx context.Context, q answer.Question) error {
	if q.Text == "" {
		fmt.Fprintln(t.out, "Ask me something about what was said: @hark when is the deadline?")
		return nil
	}
	var stream func(string)
	if t.live != nil {
		t.live.Begin()
		stream = t.live.Show
	}
	q.Using, q.Confirms = t.using, t.ask != nil && t.logs()
	a, err := t.app.answers.Answer(ctx, q, stream)
	if err != nil {
		err = errors.Join(err, t.recordUnanswered(context.WithoutCancel(ctx), q, a))
	}
	t.warns(a.ModelError, fallbackAnswered(a.Model, a.FallbackReason), a.Shortened, a.Unranked, a.ToolFailed)
	if err == nil || a.Text != "" || t.live != nil { // on the screen what has begun is ended
		t.print(a)
	}
	if err != nil {
		return err
	}
	if !t.logs() {
		return nil
	}
	m := memory.Message{ID: t.nextID(), Guild: q.Guild, Channel: q.Channel, Author: harkID,
		Kind: memory.FromHark, Content: a.Text, ReplyTo: q.ID}
	a.Trace.Answer = m.ID
	if err := t.log(ctx, "Hark", m, append([]memory.Event{memory.Answered{Trace: a.Trace}},
		t.called(a.Records, a.Trace)...)...); err != nil {
		return err
	}
	return t.propose(ctx, q, a)
}

// warns prints the failures that an answer survived.
func (t *conversation) warns(all ...error) {
	for _, err := range all {
		if err != nil {
			fmt.Fprintln(t.warn, "hark:", err)
		}
	}
}

// fallbackAnswered returns err with the name of the model that answered instead; nil if err is nil.
func fallbackAnswered(model string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s answered instead: %w", model, err)
}

// called returns the records of a question's calls.
func (t *conversation) called(records []memory.Record, trace memory.Trace) []memory.Event {
	if t.app.config.Memory.KeepRecords() == 0 {
		return nil
	}
	return answer.Called(records, trace, time.Now())
}

// recordUnanswered keeps that a question was asked whose answer isn't remembered.
func (t *conversation) recordUnanswered(ctx context.Context, q answer.Question, a answer.Answer) error {
	if !t.logs() {
		return nil
	}
	return t.app.store.Apply(ctx, t.called(a.Records, memory.Trace{Guild: q.Guild, Channel: q.Channel,
		Question: q.ID, Asker: q.Asker})...)
}

// using prints that the model uses a tool.
func (t *conversation) using(tool string) {
	if t.live != nil {
		t.live.Pause()
	}
	fmt.Fprintf(t.warn, "%shark: %s …%s\n", t.colour.Dim, terminal.Printable(tool), t.colour.Off)
}

// print shows an answer, as far as it wasn't streamed, and what it cites. One that quotes tells its sources itself.
func (t *conversation) print(a answer.Answer) {
	switch {
	case t.live == nil:
		fmt.Fprintln(t.out, terminal.Printable(a.Text))
	case a.Model == "":
		t.live.Begin()
		t.live.Show(a.Text)
		t.live.End()
	default:
		t.live.End()
	}
	if a.Model != "" {
		t.cite(a.Sources)
	}
}

// cite lists what a text cites.
func (t *conversation) cite(sources []answer.Source) {
	for _, s := range sources {
		fmt.Fprintf(t.out, "  [%d] %s, #%s, %s\n", s.Number, terminal.OneLine(s.Author), terminal.OneLine(s.Place),
			s.Time.In(t.app.config.Answer.Location()).Format("2 Jan 2006 15:04"))
	}
}

// nextID returns a message id of now, later than the last.
func (t *conversation) nextID() memory.MessageID {
	t.last = max(t.last+1, memory.FirstMessageID(time.Now()))
	return t.last
}

// personCalled returns the person called name in a guild; if unknown, one with the id derived from the name.
func (a *app) personCalled(ctx context.Context, guild memory.GuildID, name string) (_ memory.Person,
	known bool, err error) {
	people, err := a.store.People(ctx, guild)
	for _, p := range people {
		if strings.EqualFold(p.DisplayName(), name) || strings.EqualFold(p.Username, name) {
			return p, true, err
		}
	}
	return memory.Person{ID: imports.UserID(name), Guild: guild, Name: name}, false, err
}
