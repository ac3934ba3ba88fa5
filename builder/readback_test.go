package builder

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"hark/builder/escape"
	"hark/memory"
)

// readBack parses p and checks that it has the items that its report counts, in order, whole or cut, and nothing
// else, and that members' texts stay readable.
func readBack(t failer, b *Builder, in Input, p Prompt) parsed {
	t.Helper()
	p = takeFiles(t, b, in, p)
	got, err := parsePrompt(b.options, p.Messages)
	if err != nil {
		t.Errorf("%v in\n%s", err, p)
		return got
	}
	r := &reader{failer: t, b: b, w: b.begin(in), in: in, p: p, got: got}
	included := items(p)
	r.people(included[SectionParticipants])
	r.history(included[SectionHistory])
	r.condensed()
	turns := included[SectionSession]
	if got.condensed != "" {
		turns--
	}
	r.turns(turns)
	summaries, lore := r.summaries(included[SectionPreviousContext]), in.Lore[:included[SectionLore]]
	if b.options.Layout == LayoutPlain {
		r.texts("summary or lore", append(got.summaries, got.lore...), append(summaries, lore...))
	} else {
		r.texts("summary", got.summaries, summaries)
		r.texts("lore", got.lore, lore)
	}
	r.query()
	recalled := len(got.people) + len(got.history) + len(got.summaries) + len(got.lore)
	if got.nothing != (recalled == 0) && b.options.Layout != LayoutPlain {
		t.Errorf("nothing: %t, with %d items recalled", got.nothing, recalled)
	}
	return got
}

type reader struct {
	failer
	b   *Builder
	w   *work
	in  Input
	p   Prompt
	got parsed
}

func (r *reader) same(what string, got, want any) {
	r.Helper()
	if got != want {
		r.Errorf("%s is %q, want %q in\n%s", what, got, want, r.p)
	}
}

func (r *reader) people(n int) {
	if len(r.got.people) != n {
		r.Errorf("%d participants of %d in\n%s", len(r.got.people), n, r.p)
		return
	}
	for i, p := range r.got.people {
		want := &r.in.Participants[i]
		r.same("participant", memory.UserID(p.id), want.ID)
		r.name(p.name, want.Name)
		active := ""
		if !want.LastActive.IsZero() {
			active = string(r.b.labels.appendAgo(nil, want.LastActive, r.in.Now))
		}
		r.same("activity", p.active, active)
		if p.data != "" || strings.TrimSpace(want.Data) != "" {
			r.text("data", p.data, want.Data, escape.InLine)
		}
	}
}

// name checks a name that has an id before it.
func (r *reader) name(got, want string) {
	r.Helper()
	r.same("name", got, string(r.w.name(want)))
	if !strings.HasSuffix(got, ellipsis) && letters(got) != letters(want) {
		r.Errorf("the name %q is shown as %q", want, got)
	}
}

func (r *reader) history(n int) {
	shown := r.p.Shown
	if len(r.got.history) != len(shown) {
		r.Errorf("%d lines of history of %d in\n%s", len(r.got.history), len(shown), r.p)
		return
	}
	dropped := 0
	for _, s := range r.p.Report.Sections {
		if s.Type == SectionHistory {
			dropped = s.Dropped
		}
	}
	if r.got.more >= 0 && r.got.more != dropped {
		r.Errorf("the prompt says that %d items were left out of %d", r.got.more, dropped)
	}
	found, last, line := 0, -1, 0 // line of the item that is read
	for i, got := range r.got.history {
		if line++; shown[i].Item != last {
			last, line = shown[i].Item, 0
		}
		item := &r.in.History[last]
		want := &item.Lines[line]
		r.same("whether it was found", got.found, line == item.lead())
		if got.found {
			found++
			r.found(found, got, item)
		}
		r.same("author", got.author, string(r.w.appendAuthor(nil, want.Author, r.w.authorName(want))))
		r.same("whom it replies to", got.reply, r.replyTo(want.ReplyTo))
		stamp := string(appendStamp(nil, want.Time, r.in.Now, false))
		switch r.w.apart(want.Time, item.found().Time) {
		case apartMinutes:
			stamp = want.Time.In(r.in.Now.Location()).Format("[15:04]")
		case apartNot:
			if !got.found {
				stamp = ""
			}
		}
		r.same("time", got.stamp, stamp)
		r.same("message", shown[i].Message, want.Message)
		if whole := r.text("content", got.text, want.Content, escape.InLine); whole != (shown[i].Fraction == 1) {
			r.Errorf("%v of %q shown as %q", shown[i].Fraction, want.Content, got.text)
		}
	}
	r.same("number of items", found, n)
}

// found checks what stands before the n-th message that was found.
func (r *reader) found(n int, got parsedLine, want *Item) {
	if r.b.options.Citations {
		r.same("number", got.number, n)
		r.same("numbered", r.p.Numbers[n-1].N, n)
	}
	channel := ""
	if want.isElsewhere() {
		channel = string(r.w.place(want.Channel, want.Title))
	}
	r.same("channel", got.channel, channel)
	if r.b.options.Layout == LayoutPlain {
		return
	}
	marks := ""
	for i, on := range r.w.marks(want) {
		if on {
			marks += r.b.marks[i]
		}
	}
	r.same("marks", got.marks, marks)
}

// replyTo is a name as it stands behind the sign of a reply.
func (r *reader) replyTo(name string) string {
	return strings.TrimPrefix(string(r.w.appendReply(nil, name)), " "+replySign+" ")
}

func (r *reader) turns(n int) {
	r.Helper()
	if len(r.got.turns) != n {
		r.Errorf("%d turns of %d in\n%s", len(r.got.turns), n, r.p)
		return
	}
	if !slices.IsSorted(r.p.Turns) || len(r.p.Turns) != n {
		r.Errorf("turns %v, want %d of them in order", r.p.Turns, n)
		return
	}
	for i, got := range r.got.turns {
		want := &r.in.Session[r.p.Turns[i]]
		how := escape.Indented
		if r.b.options.Layout == LayoutChat {
			r.same("role", got.role == RoleAssistant, want.Role == RoleAssistant)
			how = r.w.turnBlock(want)
		}
		if got.role != RoleAssistant {
			r.speaker(got, want)
			r.stamp(got, want)
			if want.Role != RoleAssistant {
				r.same("whom it replies to", got.reply, r.replyTo(want.ReplyTo))
			}
		}
		r.text("turn", got.text, want.Content, how)
	}
}

// condensed checks the summary of the session's older part: without it, only the newest turn is there, and
// what the question replies to.
func (r *reader) condensed() {
	r.Helper()
	r.same("whether there is a summary", r.got.condensed != "", r.p.Condensed)
	if r.p.Condensed {
		r.text("the summary", r.got.condensed, r.in.Condensed, escape.BareLine)
		return
	}
	if strings.TrimSpace(r.in.Condensed) == "" {
		return
	}
	kept := map[int]bool{}
	for start := 0; start < len(r.in.Session); {
		turns := r.w.exchange(start)
		for i := range turns {
			kept[start+i] = start+len(turns) == len(r.in.Session) ||
				slices.ContainsFunc(turns, func(t Turn) bool { return t.Replied })
		}
		start += len(turns)
	}
	for _, i := range r.p.Turns {
		if !kept[i] {
			r.Errorf("turn %d of %d is there without the summary", i, len(r.in.Session))
		}
	}
}

func (r *reader) stamp(got parsedTurn, want *Turn) {
	r.Helper()
	stamp := ""
	if r.w.isStamped(want) {
		stamp = strings.Trim(string(appendStamp(nil, want.Time, r.in.Now, false)), "[]")
	}
	r.same("time", got.stamp, stamp)
}

func (r *reader) speaker(got parsedTurn, want *Turn) {
	r.Helper()
	named := r.b.options.Layout == LayoutPlain && r.w.isOnly(want.Author, want.Speaker)
	if want.Author != 0 && want.Role != RoleAssistant && !named {
		r.same("speaker", memory.UserID(got.id), want.Author)
		r.name(got.speaker, want.Speaker)
		return
	}
	speaker := got.speaker
	if got.reply != "" {
		speaker += " " + replySign + " " + got.reply
	}
	r.same("speaker", speaker+": ", string(r.w.appendSpeaker(nil, want)))
	r.same("speaker's id", got.id, int64(0))
}

// summaries are the texts of the n summaries that must be shown, in order. It takes their times from what was
// read.
func (r *reader) summaries(n int) (texts []string) {
	kept := slices.Clone(r.w.earlierByRelevance()[:n])
	slices.Sort(kept)
	for i, k := range kept {
		e := &r.in.PreviousContext[k]
		texts = append(texts, e.Text)
		if !e.Time.IsZero() && i < len(r.got.summaries) {
			stamp := string(r.w.appendEarlierTime(nil, e.Time))
			text, ok := strings.CutPrefix(r.got.summaries[i], stamp)
			if !ok {
				r.Errorf("summary %q doesn't begin with %q", r.got.summaries[i], stamp)
			}
			r.got.summaries[i] = text
		}
	}
	return texts
}

func (r *reader) texts(what string, got, want []string) {
	r.Helper()
	if len(got) != len(want) {
		r.Errorf("%d times %s, want %d in\n%s", len(got), what, len(want), r.p)
		return
	}
	for i := range got {
		r.text(what, got[i], want[i], escape.BareLine)
	}
}

func (r *reader) query() {
	r.Helper()
	q := r.in.Query
	r.w.queryHead = r.got.query.stamp != "" || r.got.query.id != 0
	if asker := string(r.w.appendSpeaker(nil, &q)); r.b.options.Layout == LayoutPlain && r.w.isAsked() {
		rest, named := strings.CutPrefix(r.got.query.text, asker) // a bare name, of which the parser knows nothing
		if r.w.queryHead = r.w.queryHead || named; named {
			r.got.query.text = rest
		}
		if !r.w.queryHead && r.p.Report.MaxTokens > 1000 {
			r.Errorf("nobody asks in\n%s", r.p)
		}
	}
	if r.b.options.Layout != LayoutPlain && (r.got.query.stamp != "" || r.p.Report.MaxTokens > 1000) {
		r.speaker(r.got.query, &q)
		r.same("time", "["+r.got.query.stamp+"]", string(appendStamp(nil, r.in.Now, r.in.Now, true)))
	}
	asked := r.b.options.Layout != LayoutPlain || r.w.isAsked()
	switch place := string(r.w.place(r.in.Channel, r.in.Title)); {
	case r.in.Title.Name == "":
		r.same("place", r.got.place, "")
	case r.got.place != "" || asked && r.p.Report.MaxTokens > 2000:
		r.same("place", r.got.place, place)
	}
	head, tail, cut := strings.Cut(r.got.query.text, strings.TrimSpace(middleMark))
	if !cut {
		head, tail, cut = strings.Cut(r.got.query.text, strings.TrimSpace(shortMark))
	}
	if r.p.Report.section(SectionQuery).Cut == 0 {
		if !r.text("query", r.got.query.text, q.Content, r.w.queryBlock()) {
			r.Errorf("the query %q is cut", r.got.query.text)
		}
	} else if !cut && len(q.Content) > 0 || len(q.Content) < 200 && !emojiTag.MatchString(q.Content) &&
		!r.areEnds(head, tail, q.Content) {
		r.Errorf("the query %q is shown as %q", q.Content, r.got.query.text)
	}
}

// areEnds reports whether head and tail are the ends of a text by their letters, with or without those of links.
func (r *reader) areEnds(head, tail, text string) bool {
	ends := func(of func(string) string) bool {
		return strings.HasPrefix(of(text), of(head)) && strings.HasSuffix(of(text), of(tail))
	}
	return ends(letters) || ends(bareLetters)
}

// text checks that got is source, escaped, with its letters and digits in order, or a part cut between two
// graphemes. It reports whether got is complete.
func (r *reader) text(what, got, source string, how *escape.Block) bool {
	r.Helper()
	source = strings.TrimSpace(source)
	safe := string(r.b.escape.AppendSafe(nil, source, how))
	shown := got
	if how == escape.Indented || how == escape.BareText || how == escape.FileText {
		shown = strings.ReplaceAll(got, "\n", how.Newline) // the parser takes the indent
	}
	switch shown {
	case safe:
		r.legible(what, safe, source, how)
		return true
	case r.b.labels.NoText:
		r.same(what, safe, "")
		return true
	}
	cut, ok := strings.CutSuffix(shown, ellipsis)
	if !ok || len(cut) > 0 && !r.isBeginning(cut, source, how) {
		r.Errorf("%s is shown as\n%.300q …%q, not\n%.300q", what, shown, shown[max(0, len(shown)-100):], safe)
	}
	return false
}

// isBeginning reports whether cut is the beginning of source up to a grapheme boundary, escaped.
func (r *reader) isBeginning(cut, source string, how *escape.Block) bool {
	last := lastLetter(cut)
	for rest, state := source, -1; rest != ""; {
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		begins := source[:len(source)-len(rest)]
		if lastLetter(begins) != last && !strings.HasSuffix(begins, ">") && !strings.HasSuffix(begins, ")") {
			continue // only to be quick: nothing but an emoji's tag, and a link, loses its last letters
		}
		if string(r.b.escape.AppendSafe(nil, begins, how)) == cut {
			return true
		}
	}
	return false
}

func lastLetter(s string) rune {
	i := strings.LastIndexFunc(s, func(r rune) bool {
		return !escape.IsHidden(r) && (unicode.IsLetter(r) || unicode.IsDigit(r))
	})
	if i < 0 {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r
}

func (r *reader) legible(what, safe, source string, how *escape.Block) {
	r.Helper()
	var want []string
	for _, line := range escape.SplitLines(strings.ToValidUTF8(source, escape.HiddenMark)) {
		if strings.TrimSpace(line) != "" {
			want = append(want, line)
		}
	}
	got := strings.Split(safe, how.Newline)
	if len(got) != len(want) && len(want) > 0 {
		r.Errorf("%s has %d lines of %d: %q", what, len(got), len(want), safe)
		return
	}
	for i := range want {
		if letters(got[i]) != letters(want[i]) {
			r.Errorf("%s can't be read any more: %q became %q", what, want[i], got[i])
		}
	}
}

var (
	emojiTag   = regexp.MustCompile(`[<＜﹤]a?:(\w{1,32}) ?:\d+>`)
	linkedText = regexp.MustCompile(`\[\\\[([\d, \t]+)\\\]\]\([<‹][^ <]{0,170}?>\)`)
)

// letters returns the visible letters and digits of s, without the ids of emoji and linked messages.
func letters(s string) string {
	s = linkedText.ReplaceAllString(emojiTag.ReplaceAllString(s, "$1"), "$1")
	return bareLetters(s)
}

func bareLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if escape.IsHidden(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
}
