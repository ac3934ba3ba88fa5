package markdown

import (
	"slices"
	"strings"

	"hark/internal/pattern"
)

var (
	// partialToken matches the beginning of a citation, a mention or an emoji at a text's end.
	partialToken = pattern.Of(`(?:\[[0-9]{0,3}|<(?:[@#:/a-z][^<>\s]{0,80})?)$`)
	// bareFence matches an opening fence without code.
	bareFence = pattern.Of("```[A-Za-z0-9_+\\-.#]{0,20}\n?$")
	// partialFence matches the beginning of a closing fence.
	partialFence = pattern.Of("\n`{1,2}$")
	// markupOnly are marks that are hardly ever plain text.
	markupOnly = []string{"**", "***", "__", "~~", "||", "`"}
)

// CompletePartial completes a truncated text: it removes a partial mark at the end and closes what the last paragraph
// opened. split closes code blocks.
func CompletePartial(text string) string {
	if f := format(text, nil); f.inCode() {
		if at := bareFence().FindStringIndex(text); at != nil {
			return strings.TrimRight(text[:at[0]], " \n")
		}
		return partialFence().ReplaceAllString(text, "")
	}
	text = strings.TrimRight(partialToken().ReplaceAllString(text, ""), " \n")
	f := format(text, nil)
	for n := len(f.spans) - 1; n >= 0 && f.spans[n].end == len(text) && f.spans[n].kind == tokenMark &&
		f.spans[n].pair < 0; n = len(f.spans) - 1 {
		text = strings.TrimRight(text[:f.spans[n].start], " \n")
		f = format(text, nil)
	}
	shut := ""
	for _, s := range slices.Backward(f.spans) {
		if strings.Contains(text[s.end:], "\n\n") {
			break
		}
		if s.kind == tokenMark && s.pair < 0 && slices.Contains(markupOnly, s.mark) &&
			!strings.ContainsAny(text[s.end:s.end+1], " \n") {
			shut += s.mark
		}
	}
	return text + shut
}

// inCode reports whether a code block is open at f's end.
func (f *formatted) inCode() bool {
	n := len(f.spans)
	return n > 0 && f.spans[n-1].state.code != ""
}
