package builder

import (
	"regexp"
	"strings"
)

// grouped are the lines of a session, by turn: what is indented belongs to the line before.
func (p *parser) grouped(lines []string) (turns [][]string) {
	for _, line := range lines {
		if strings.HasPrefix(line, "  ") && len(turns) > 0 {
			turns[len(turns)-1] = append(turns[len(turns)-1], line)
			continue
		}
		turns = append(turns, []string{line})
	}
	return turns
}

// afterCondensed are the turns after the summary of the session's older part, if it begins with one.
func (p *parser) afterCondensed(turns [][]string) [][]string {
	if len(turns) == 0 || turns[0][0] != p.labels.Condensed || p.condensed != "" {
		return turns
	}
	if len(turns[0]) != 2 {
		p.fail("%q is no summary", turns[0])
		return turns
	}
	p.condensed = strings.TrimPrefix(p.indented(turns[0][1:]), "\n")
	return turns[1:]
}

// turn reads "[07-24 12:30] <@1> (Name): text" and the indented lines that follow.
func (p *parser) turn(lines []string) (t parsedTurn) {
	rest := lines[0]
	if m := stampText.FindStringSubmatch(rest); m != nil {
		t.stamp, rest = m[1], rest[len(m[0]):]
	}
	var ok bool
	if tagText.MatchString(rest) {
		t.id, t.speaker, rest = p.person(rest)
		t.reply, rest = p.replyIn(rest)
		rest, ok = strings.CutPrefix(rest, ": ")
	} else {
		t.speaker, rest, ok = strings.Cut(rest, ": ")
		t.speaker, t.reply, _ = strings.Cut(t.speaker, " "+replySign+" ")
		p.own(t.speaker, true)
	}
	if !ok || rest == "" || t.id == 0 && t.speaker == "" {
		p.fail("nobody says %q", lines[0])
	}
	t.text = p.own(rest, false) + p.indented(lines[1:])
	return t
}

// indented are the later lines of a text.
func (p *parser) indented(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		own, ok := strings.CutPrefix(line, "  ")
		if !ok || strings.TrimSpace(own) == "" {
			p.fail("%q isn't indented", line)
		}
		text.WriteString("\n" + p.own(own, true))
	}
	return text.String()
}

func (p *parser) readTurnMessage(m ChatMessage) {
	switch lines := strings.Split(m.Content, "\n"); m.Role {
	case RoleAssistant:
		for _, line := range lines {
			if strings.TrimSpace(line) == "" {
				p.fail("an empty line in %q", m.Content)
			}
			p.own(line, true)
		}
		p.turns = append(p.turns, parsedTurn{role: RoleAssistant, text: m.Content})
	case RoleUser:
		if len(p.turns) == 0 && len(p.afterCondensed(p.grouped(lines))) == 0 {
			return
		}
		t := p.turn(lines)
		t.role = RoleUser
		p.turns = append(p.turns, t)
	default:
		p.fail("role %q", m.Role)
	}
}

// readPlain reads the user's message of the plain layout, whose summaries and lore are told apart by the
// history.
func (p *parser) readPlain(list [][]string) {
	if first(list) == plainPrevious {
		list[0] = list[0][1:]
		for ; len(list) > 0 && first(list) != plainSession && first(list) != plainQuery; list = list[1:] {
			p.readParagraph(list[0])
		}
	}
	if first(list) == plainSession {
		if list[0] = list[0][1:]; len(list[0]) == 0 {
			p.fail("an empty session")
		}
		for ; len(list) > 0 && first(list) != plainQuery; list = list[1:] {
			groups := p.grouped(list[0])
			if len(p.turns) == 0 {
				groups = p.afterCondensed(groups)
			}
			for i, lines := range groups {
				t := p.turn(lines)
				if hark := t.speaker == "Assistant" && t.id == 0; hark != (i > 0) && len(p.turns) > 0 {
					p.fail("%q stands where none of its kind does", lines)
				}
				p.turns = append(p.turns, t)
			}
		}
	}
	p.readQuery(list, plainQuery)
}

func (p *parser) readParagraph(lines []string) {
	if len(lines) == 0 {
		p.fail("a paragraph without lines")
		return
	}
	start := lines[0]
	if m := numText.FindString(start); m != "" && p.o.Citations {
		start = strings.TrimPrefix(start[len(m):], " ")
	}
	switch {
	case (stampText.MatchString(start) || strings.HasPrefix(start, p.labels.Neighbour)) && len(p.lore) == 0 && p.more < 0:
		p.readHistory(lines)
	case len(lines) > 1 || lines[0] == "":
		p.fail("%q are no paragraph", lines)
	case len(p.history) > 0:
		p.lore = append(p.lore, p.own(lines[0], true))
	default:
		date := dateText.FindString(lines[0])
		p.summaries = append(p.summaries, date+p.own(lines[0][len(date):], true))
	}
}

// dateText is when the session was that a summary of the plain layout tells of.
var dateText = regexp.MustCompile(`^\(-?\d{4,}-\d\d-\d\d\) `)
