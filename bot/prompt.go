package bot

import (
	"context"
	"strings"

	"hark/internal/answer"
	"hark/memory"
)

// promptFile is what the file with a prompt is called.
const promptFile = "context.txt"

// showPrompt is what /hark context shows: the prompt of what whoever asks may read, which nobody else sees and nothing keeps.
func (c *commands) showPrompt(x *exchange, q answer.Question, r answer.Recalled) sheet {
	report := r.Prompt.Report
	lines := []string{
		x.text("**The prompt for “%s”**", asSaid(q.Text, 200)),
		x.text("Of all that you may read: in an answer that others read there is only what they may read, too."),
		x.text("Mode: %s", string(r.Mode.Is)),
	}
	for _, use := range answer.SectionUses(report) {
		if line := sectionLine(x.locale, use); line != "" {
			lines = append(lines, line)
		}
	}
	lines = append(lines, x.text("**All of it**: %s of %s tokens", x.locale.number(report.Tokens), x.locale.number(report.MaxTokens)))
	if r.Settings.Model == "" && len(c.bot.cfg.Choices.Models) == 0 {
		lines = append(lines, x.text("-# No model is configured, so nobody reads it: I quote what was said."))
	}
	if r.Result.TextOnly {
		lines = append(lines, x.text("-# Found by words only: searching by meaning isn't possible at the moment."))
	}
	shown := paged(lines)
	shown.Files = []upload{{name: promptFile, description: x.text("The prompt, as the model would get it"), data: []byte(strings.TrimRight(r.Prompt.String(), "\n") + "\n")}}
	return shown
}

// sectionLine says what a section takes, and how much of it there was no room for; "" if it isn't there.
func sectionLine(l locale, use memory.TraceUse) string {
	if use.Tokens == 0 && use.Dropped == 0 {
		return ""
	}
	line := l.count(use.Tokens, "- %[2]s: %[1]s token", "- %[2]s: %[1]s tokens", use.Section)
	if use.Included > 0 {
		line += l.count(use.Included, ", %s part", ", %s parts")
	}
	if use.Dropped > 0 {
		line += l.text(", no room for %s more (%s)", l.number(use.Dropped), use.Why)
	}
	return line
}

// promptQuestion is the question of which the prompt is shown. Where nothing is logged it has the session, as one that
// mentions Hark would.
func (c *commands) promptQuestion(ctx context.Context, x *exchange) answer.Question {
	q := c.question(x)
	q.Session = c.bot.admit.session(ctx, x.guild(), memory.ChannelID(x.Channel), memory.MessageID(x.ID))
	return q
}
