package markdown

import (
	"regexp"
	"slices"
	"strings"

	"hark/internal/pattern"
)

// innerFence stands for a fence within code until the code is in a file or a message. It is no character.
const innerFence = "\uFDD0"

// otherFence matches a line that opens code in a way that Discord doesn't know: four backticks or more, or tildes.
var otherFence = pattern.Of("^[ \\t]{0,8}(`{4,}|~{3,})[ \\t]*([A-Za-z0-9_+\\-.#]{0,20})[ \\t]*$")

// discordBlocks returns text with blocks that Discord doesn't know as ones that it does: code between other fences as
// code, and tables as lists. A fence within such code becomes innerFence; see shownFences.
func discordBlocks(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, innerFence, ""), "\n")
	var out []string
	inCode := false
	for i := 0; i < len(lines); {
		line := lines[i]
		n := 1
		changed := lines[i : i+1]
		if m := otherFence().FindStringSubmatch(line); m != nil && !inCode {
			changed, n = fenced(lines[i:], m[1], m[2])
		} else if rows := tableAt(lines[i:]); len(rows) > 0 && !inCode {
			changed = listOf(rows)
			n = len(rows) + 1 // the line below the head
		} else if strings.Count(line, fence)%2 == 1 {
			inCode = !inCode
		}
		out = append(out, changed...)
		i += n
	}
	return strings.Join(out, "\n")
}

// fenced returns the code that lines begin with, between Discord's fences, and the number of its lines. Without an end
// it is all of them.
func fenced(lines []string, open, language string) (code []string, n int) {
	end := slices.IndexFunc(lines[1:], func(line string) bool {
		rest := strings.TrimSpace(line)
		return len(rest) >= len(open) && strings.Trim(rest, open[:1]) == ""
	})
	body := lines[1:]
	n = len(lines)
	if end >= 0 {
		body = lines[1 : 1+end]
		n = end + 2
	}
	code = []string{fence + language}
	for _, line := range body {
		code = append(code, strings.ReplaceAll(line, fence, innerFence))
	}
	if end >= 0 {
		code = append(code, fence)
	}
	return code, n
}

// fencesWithin returns code with its own fences, for a file.
func fencesWithin(code string) string { return strings.ReplaceAll(code, innerFence, fence) }

// shownFences returns a text whose code has quotes in place of its own fences, which would end it.
func shownFences(text string) string { return strings.ReplaceAll(text, innerFence, "'''") }

// belowHead matches the line below a table's head.
var belowHead = pattern.Of(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// tableAt returns the cells of the table that lines begin with, the head first; nil if there is none.
func tableAt(lines []string) (rows [][]string) {
	if len(lines) < 2 || !strings.Contains(lines[0], "|") || !strings.Contains(lines[1], "|") ||
		!belowHead().MatchString(lines[1]) {
		return nil
	}
	head := cellsOf(lines[0])
	if len(head) != len(cellsOf(lines[1])) {
		return nil
	}
	rows = append(rows, head)
	for _, line := range lines[2:] {
		if !strings.Contains(line, "|") || strings.Contains(line, fence) {
			break
		}
		rows = append(rows, cellsOf(line))
	}
	return rows
}

// separator matches what parts two cells, and the character before it.
var separator = regexp.MustCompile(`(^|[^\\])\|`)

// cellsOf returns the cells of a table's line.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if !strings.HasSuffix(line, `\|`) {
		line = strings.TrimSuffix(line, "|")
	}
	const parting = "\x00"
	var cells []string
	for _, cell := range strings.Split(separator.ReplaceAllString(line, "$1"+parting), parting) {
		cells = append(cells, strings.TrimSpace(strings.ReplaceAll(cell, `\|`, "|")))
	}
	return cells
}

// listOf returns a table as a list: an item has the head's words beside its cells, so that it can be read alone. The
// head is there itself if some of its words are beside no cell.
func listOf(rows [][]string) (lines []string) {
	head := rows[0]
	for i, title := range head {
		beside := func(cells []string) bool { return i < len(cells) && cells[i] != "" }
		if title != "" && !slices.ContainsFunc(rows[1:], beside) {
			lines = []string{strings.Join(head, " · ")}
		}
	}
	for _, cells := range rows[1:] {
		var parts []string
		for i, cell := range cells {
			title := ""
			if i < len(head) {
				title = head[i]
			}
			if cell == "" {
				continue
			}
			if i == 0 {
				cell = strong(cell)
			}
			if title != "" {
				cell = title + ": " + cell
			}
			parts = append(parts, cell)
		}
		if len(parts) > 0 {
			lines = append(lines, "- "+strings.Join(parts, " · "))
		}
	}
	return lines
}

// strong returns a cell in bold, unless it has formatting of its own.
func strong(cell string) string {
	if strings.ContainsAny(cell, "*_`~|[]<>\\") {
		return cell
	}
	return "**" + cell + "**"
}
