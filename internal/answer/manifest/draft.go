package manifest

import (
	"regexp"
	"strings"

	"hark/internal/pattern"
)

// Draft returns what can be shown of an answer that is being written: citations in any notation as [n], as Citations
// has them in the end. A notation, a link or a definition that has only begun is held back, so that what was shown
// only grows. Unlike Citations, it keeps invented numbers and tags.
type Draft struct {
	Of Numbers

	taken  string // the part of the text that can't change any more
	shown  string // as it is shown
	latest string // the last draft
}

// Show returns the draft of the whole text so far. done means that no more follows.
func (d *Draft) Show(text string, done bool) string {
	if !strings.HasPrefix(text, d.taken) { // the model took something back
		d.taken = ""
		d.shown = ""
		d.latest = ""
	}
	rest := text[len(d.taken):]
	if !done {
		rest = strings.TrimRight(rest, "`") // more may come, and they count together
		rest = rest[:settled(rest)]
	}
	if end := lastLine(rest); end > 0 {
		d.shown += d.normalized(rest[:end])
		d.taken += rest[:end]
		rest = rest[end:]
	}
	shown := d.shown + d.normalized(rest)
	if done || !strings.HasPrefix(d.latest, shown) { // what was shown isn't held back again
		d.latest = shown
	}
	return d.latest
}

func (d *Draft) normalized(text string) string {
	return outsideCode(text, func(prose string, begins bool) string {
		prose, _ = withoutDefinitions(prose, begins)
		return normalized(prose, d.Of)
	})
}

// lastLine returns where the last line of text begins, if nothing before it can change any more; else 0.
func lastLine(text string) int {
	all := parts(text)
	last := all[len(all)-1]
	prose := text[last.start:]
	separator := "\n"
	if code := openCode(text, all); code >= 0 {
		prose = text[last.start:max(code, last.start)]
		separator = "\n\n"
	}
	at := strings.LastIndex(prose, separator)
	if at < 0 {
		return 0
	}
	return last.start + at + len(separator)
}

var (
	// begunDefinition is a definition at a text's end that may go on, also in the next line.
	begunDefinition = pattern.Of(`(?:^|\n)[ \t>]*(?:[-*+•][ \t]*|[0-9]{1,2}[.)]?[ \t]*)?(?:\\?[\[［【](?:[^\]］】\n]*` +
		`|` + `\^?[ \t]*` + word + `[#＃]?` + digits + `[ \t]*\\?[\]］】]` +
		`(?:[ \t]*[:：](?:[^\n]*|[ \t]*\n[^\n]*)|[ \t]*[-–—=→]?[ \t]*(?:[<\[hHwW][^\n]*)?)))?$`)
	// begunCitation has no end yet, or one that an address may follow.
	begunCitation = pattern.Of(`(?:` + opening + `)+[^\[\]［］【】〔〕\n<]*$` +
		`|(?:` + opening + `)+` + list + `(?:` + closing + `)*[ \t]*\\?` +
		`(?:[ \t]?(?:[(（][^()（）\n]*(?:\([^()\n]*\)?[^()\n]*)*|<[^<>\n]*)?)?$` +
		`|(?:` + opening + `)+` + opening + numbers + closing + inBrackets + `?(?:` + comma + nested + `)*[ \t,;，；、|&]*` +
		`(?:\pL+[ \t]*)?(?:` + opening + `[^\[\]\n]*)?$` +
		`|[(（][ \t]*(?:\pL+[ \t.:：#＃№_-]*)?[0-9,;、|&†–— -]*$` +
		`|<[/sup]*$|[\\^]+$`)
	// begunNaming are numbers at a text's end behind "Sources:".
	begunNaming = pattern.Of(`(?i:` + sourceWords + `)[ \t]*[:：]\*{0,2}[ \t]*([0-9][0-9,;，；、&～〜–— -]*[.。*_]*[ \t]*)$`)
)

// maxHeld is the longest end of a text that is held back, in bytes.
const maxHeld = 600

// settled returns how much of an unfinished text can be shown.
func settled(text string) int {
	all := parts(text)
	last := all[len(all)-1]
	from := max(last.start, len(text)-maxHeld)
	end := len(text)
	for _, begun := range []*regexp.Regexp{begunDefinition(), begunCitation()} {
		if at := begun.FindStringIndex(text[from:]); at != nil {
			end = min(end, from+at[0])
		}
	}
	if code := openCode(text, all); code >= 0 {
		at := strings.IndexAny(text[code:], "[［【〔(（<^\\")
		if at >= 0 {
			before := text[:code+at]
			line := before[strings.LastIndexByte(before, '\n')+1:]
			if definition().MatchString(line) {
				before = strings.TrimRight(before, " \t,;–—-") // goes with an address, see inDefinition
			}
			end = min(end, len(before))
		}
	}
	from = min(from, end)
	if at := begunNaming().FindStringSubmatchIndex(text[from:end]); at != nil {
		end = from + at[2]
	}
	return end
}

// openCode returns where inline code may begin whose end hasn't come yet; -1 if there is none.
func openCode(text string, all []part) int {
	paragraph := strings.LastIndex(text, "\n\n") // which ends any
	for _, p := range all {
		from := max(p.start, paragraph, 0)
		if p.code || from > p.end {
			continue
		}
		if at := strings.IndexByte(text[from:p.end], '`'); at >= 0 {
			return from + at
		}
	}
	return -1
}
