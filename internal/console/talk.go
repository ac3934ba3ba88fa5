// Package console is a talk with Hark in the terminal. Lines are logged, indexed and answered by the same App as in
// Discord. Begin with Talk.Run; say is what becomes of a line.
package console

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
	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/digest"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
)

// Talk is a talk in one channel. The exported fields are set before Run.
type Talk struct {
	App     *setup.App
	Place   Place
	Speaker string // of lines without a name
	// Stdin has the lines. If it and Stdout are terminals, lines can be edited, and answers show as they grow.
	Stdin   io.Reader
	Stdout  io.Writer                       // what Out writes to
	Out     io.Writer                       // for answers
	Warn    io.Writer                       // for errors
	Env     func(key string) (string, bool) // looks up an environment variable
	Aside   *terminal.Interrupts            // if not nil, end an answer at a terminal
	Recall  func(*Talk) *cobra.Command      // makes the command /recall
	Context func(*Talk) *cobra.Command      // makes the command /context
	// Forget forgets a person in a guild, both given by id. It asks first, unless yes is set.
	Forget func(t *Talk, c *cobra.Command, k *archive.Archive, user, guild string, yes bool) error

	colour     terminal.Colours
	live       *terminal.Live // shows answers while they are written; nil: they are printed whole
	last       memory.MessageID
	first      bool                                  // nothing was said here before
	ask        func(question string) (string, error) // nil if nobody is at a terminal
	past       *terminal.History                     // may be nil
	interrupts *terminal.Interrupts
	unanswered bool // an answer failed
}

// Run reads lines until they end, while what is said is indexed. It returns cli.ErrShown if an answer failed.
func (t *Talk) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	now := time.Now()
	err := t.App.Store.Expire(ctx, memory.Expiry{Prompts: now.Add(-t.App.Config.Memory.KeepPrompts()),
		Records: setup.RecordRetention(t.App.Config).At(now)})
	if err == nil {
		err = t.sumUp(ctx)
	}
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	notices := t.Warn
	talking := func() error { return t.lines(ctx, t.Stdin) }
	in, isTerminal := terminal.Of(t.Stdin)
	if out, toTerminal := terminal.Of(t.Stdout); isTerminal && toTerminal {
		s := terminal.NewScreen(in, out, t.Env)
		notices = s
		talking = func() error { return t.interactive(ctx, s) }
	}
	group.Go(func() error {
		return t.App.Indexing(ctx, func(ctx context.Context, e memory.Embedder) error {
			indexer := memory.Indexer{
				Queue:    t.App.Store,
				Embedder: e,
				Failed: func(err error, wait time.Duration) {
					fmt.Fprintf(notices, "hark: %v; trying again in %v\n", err, wait)
				},
			}
			return indexer.Run(ctx)
		})
	})
	if t.App.Condenses() {
		t.App.Digest.Failed = func(_ digest.Kind, _ memory.ChannelID, err error) {
			fmt.Fprintf(notices, "hark: the older part of the session is cut off: %v\n", err)
		}
		group.Go(func() error { return t.App.Digest.Run(ctx, digest.Condensed) })
	}
	group.Go(func() error {
		defer cancel()
		return talking()
	})
	if err := group.Wait(); !errors.Is(err, io.EOF) {
		return err
	}
	if t.unanswered {
		return cli.ErrShown
	}
	return nil
}

// patience bounds the wait for the last session's summary.
const patience = 15 * time.Second

// sumUp summarises the last session, if it has ended.
func (t *Talk) sumUp(ctx context.Context) error {
	if t.App.Config.Memory.Summaries == setup.SummariesOff || !t.logs() {
		return nil
	}
	w := t.App.NewDigest()
	w.Channel = t.Place.Channel
	w.Now = time.Now
	w.Patience = patience
	w.Failed = func(_ digest.Kind, _ memory.ChannelID, err error) {
		fmt.Fprintf(t.Warn, "hark: the session before is summed up without the model: %v\n", err)
	}
	before, err := t.App.Store.Log(ctx, t.Place.Channel, 0, memory.FirstMessageID(time.Now()), 1)
	if err != nil {
		return err
	}
	t.first = len(before) == 0
	return w.Round(ctx, digest.Summaries)
}

// maxLine is the longest line taken, in bytes.
const maxLine = 1 << 20

// lines says each line of r, except those that are too long.
func (t *Talk) lines(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, maxLine+1)
	first := true
	return t.sayAll(ctx, func() (string, error) {
		line, whole, err := readLine(in)
		if !whole {
			t.unanswered = true
			fmt.Fprintf(t.Warn, "hark: skipped a line longer than %d bytes: break it up\n", maxLine)
		}
		if first {
			line = strings.TrimPrefix(line, "\ufeff")
			first = false // byte order mark
		}
		return line, err
	}, func(err error) error { return err })
}

// readLine returns the next line without its end. If it exceeds in's buffer, it returns "" and whole is false. The
// error is io.EOF after the last line.
func readLine(in *bufio.Reader) (line string, whole bool, err error) {
	part, more, err := in.ReadLine()
	whole = !more
	if whole {
		line = string(part)
	}
	for more && err == nil {
		_, more, err = in.ReadLine()
	}
	return line, whole, err
}

// sayAll says what read returns, until an error or /quit. failed gets each line's error; if it returns one, the talk
// ends.
func (t *Talk) sayAll(ctx context.Context, read func() (string, error), failed func(error) error) error {
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
		case errors.Is(err, io.EOF): // /quit
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

// say logs a line, and answers it if it mentions Hark. Commands it runs, and doesn't log.
func (t *Talk) say(ctx context.Context, line string) error {
	if is, err := t.command(ctx, line); is {
		return err
	}
	name := t.Speaker
	text := memory.Clean(line)
	if m := named.FindStringSubmatch(text); m != nil && !mention.MatchString(m[1]) { // "@hark: …" speaks to Hark
		name = m[1]
		text = m[2]
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	author, _, err := t.Place.Person(ctx, t.App.Store, name)
	if err != nil {
		return err
	}
	m := memory.Message{
		ID:      t.nextID(),
		Guild:   t.Place.Guild,
		Channel: t.Place.Channel,
		Author:  author.ID,
		Content: text,
	}
	if err := t.log(ctx, name, m); err != nil {
		return err
	}
	if !mention.MatchString(text) {
		return nil
	}
	q := t.Place.Question(strings.TrimSpace(mention.ReplaceAllString(text, "$1")), time.Now())
	q.ID = m.ID
	q.Asker = author.ID
	q.Name = name
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
	fmt.Fprintln(t.Warn, "hark:", err)
	return nil
}

// logs reports whether lines are remembered. In a channel of Discord's they aren't.
func (t *Talk) logs() bool { return t.Place.Guild == memory.LocalGuild }

func (t *Talk) log(ctx context.Context, name string, m memory.Message, more ...memory.Event) error {
	if !t.logs() {
		return nil
	}
	if t.first {
		more = append(more, memory.Summarised{
			Guild:   t.Place.Guild,
			Channel: t.Place.Channel,
			Until:   m.ID - 1,
		})
		t.first = false
	}
	return t.App.Store.Apply(ctx, append([]memory.Event{
		t.present(),
		memory.PersonSeen{Person: memory.Person{
			ID:    m.Author,
			Guild: t.Place.Guild,
			Name:  name,
		}},
		memory.Posted{Message: m},
	}, more...)...)
}

// HarkID is Hark's id outside Discord.
const HarkID memory.UserID = 1

func (t *Talk) answer(ctx context.Context, q answer.Question) error {
	if q.Text == "" {
		fmt.Fprintln(t.Out, "Ask me something about what was said: @hark when is the deadline?")
		return nil
	}
	var stream func(string)
	if t.live != nil {
		t.live.Begin()
		stream = t.live.Show
	}
	q.Using = t.using
	q.Confirms = t.ask != nil && t.logs()
	if t.ask != nil {
		q.Agree = t.letsRun
	}
	a, err := t.App.Answers.Answer(ctx, q, stream)
	if err != nil {
		err = errors.Join(err, t.recordUnanswered(context.WithoutCancel(ctx), q, a))
	}
	t.warns(a.ModelError, fallbackAnswered(a.Model, a.FallbackReason), a.Shortened, a.Unranked, a.ToolFailed)
	if err == nil || a.Text != "" || t.live != nil { // a begun answer must be ended
		t.print(a)
	}
	if err != nil {
		return err
	}
	if !t.logs() {
		return nil
	}
	m := memory.Message{
		ID:      t.nextID(),
		Guild:   q.Guild,
		Channel: q.Channel,
		Author:  HarkID,
		Kind:    memory.FromHark,
		Content: a.Text,
		ReplyTo: q.ID,
	}
	a.Trace.Answer = m.ID
	if err := t.log(ctx, "Hark", m, append([]memory.Event{memory.Answered{Trace: a.Trace}},
		t.called(a.Records, a.Trace)...)...); err != nil {
		return err
	}
	return t.propose(ctx, q, a)
}

func (t *Talk) warns(all ...error) {
	for _, err := range all {
		if err != nil {
			fmt.Fprintln(t.Warn, "hark:", err)
		}
	}
}

// fallbackAnswered adds the fallback's name to err; nil stays nil.
func fallbackAnswered(model string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s answered instead: %w", model, err)
}

func (t *Talk) called(records []memory.Record, trace memory.Trace) []memory.Event {
	if t.App.Config.Memory.KeepRecords() == 0 {
		return nil
	}
	return answer.Recorded(records, trace, time.Now())
}

// recordUnanswered keeps the records of a question whose answer isn't remembered.
func (t *Talk) recordUnanswered(ctx context.Context, q answer.Question, a answer.Answer) error {
	if !t.logs() {
		return nil
	}
	return t.App.Store.Apply(ctx, t.called(a.Records, memory.Trace{
		Guild:    q.Guild,
		Channel:  q.Channel,
		Question: q.ID,
		Asker:    q.Asker,
	})...)
}

func (t *Talk) using(tool string) {
	if t.live != nil {
		t.live.Pause()
	}
	fmt.Fprintf(t.Warn, "%shark: %s …%s\n", t.colour.Dim, terminal.Printable(tool), t.colour.Off)
}

// letsRun asks whether a tool may run.
func (t *Talk) letsRun(ctx context.Context, asks answer.ToolRequest) answer.Consent {
	if t.live != nil {
		t.live.Pause()
	}
	fmt.Fprintf(t.Warn, "May I run %s of %s? It gets:\n%s\n", terminal.OneLine(asks.Tool), terminal.OneLine(asks.Server),
		indented(asks.Arguments))
	agreed, err := t.agrees(ctx, "Run it?")
	switch {
	case err != nil:
		return answer.Unanswered
	case agreed:
		return answer.Agreed
	}
	return answer.Refused
}

// quoteNumber matches the number at the end of the line below a quote. In Discord it is a link to the message. Here it
// would lead nowhere, and the line has the author, the place and the date.
var quoteNumber = regexp.MustCompile(`(?m)^(— .+) \[\d+\]$`)

// print shows what wasn't streamed of an answer, and its sources, unless it is a quotation, which names them.
func (t *Talk) print(a answer.Answer) {
	shown := a.Text
	if a.Model == "" {
		shown = quoteNumber.ReplaceAllString(a.Text, "$1")
	}
	switch {
	case t.live == nil:
		fmt.Fprintln(t.Out, terminal.Printable(shown))
	case a.Model == "":
		t.live.Begin()
		t.live.Show(shown)
		t.live.End()
	default:
		t.live.End()
	}
	if a.Cut {
		t.warnCut()
	}
	if a.Model != "" {
		t.cite(a.Sources)
	}
	for _, name := range a.Ran {
		fmt.Fprintf(t.Out, "  with %s\n", terminal.OneLine(name))
	}
}

// warnCut says that a text has no end.
func (t *Talk) warnCut() {
	fmt.Fprintln(t.Warn, "hark: the answer reached its longest length and is cut off; llm.max_tokens sets that length")
}

func (t *Talk) cite(sources []answer.Source) {
	for _, s := range sources {
		fmt.Fprintf(t.Out, "  [%d] %s, #%s, %s\n", s.Number, terminal.OneLine(s.By()), terminal.OneLine(s.Place),
			s.Time.In(t.App.Config.Answer.Location()).Format("2 Jan 2006 15:04"))
	}
}

// nextID returns an id for a message of now, above the last.
func (t *Talk) nextID() memory.MessageID {
	t.last = max(t.last+1, memory.FirstMessageID(time.Now()))
	return t.last
}
