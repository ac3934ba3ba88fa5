package answer

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// leastParts is how many calls of one tool there are at the least where a task was broken into parts.
const leastParts = 3

// partsOf is how many calls were made for one question to break its task into parts: calls of one tool, three or more, that
// either narrow one another down, each with all that an earlier one had and something more, or take one thing piece by piece,
// alike but for their times, or but for one other condition that isn't a text. Another text is another search, and no part.
func partsOf(calls []toolCall) int {
	parts := map[int]bool{}
	byMethod := map[string][]int{}
	for i, c := range calls {
		byMethod[c.Method] = append(byMethod[c.Method], i)
	}
	for _, of := range byMethod {
		if len(of) < leastParts {
			continue
		}
		for _, i := range narrowing(calls, of) {
			parts[i] = true
		}
		for _, i := range slicing(calls, of) {
			parts[i] = true
		}
	}
	return len(parts)
}

// narrowing are those of calls that narrow an earlier one down, with that, if there are two at least.
func narrowing(calls []toolCall, of []int) (parts []int) {
	broad := map[int]bool{}
	for n, i := range of {
		for _, earlier := range of[:n] {
			if narrows(calls[i].conditions, calls[earlier].conditions) {
				parts, broad[earlier] = append(parts, i), true
				break
			}
		}
	}
	if len(parts) < leastParts-1 {
		return nil
	}
	return append(parts, slices.Collect(maps.Keys(broad))...)
}

// narrows reports whether one has all conditions of another, as they are or with times further in, and more than that.
func narrows(one, other map[string]string) bool {
	more := len(one) > len(other)
	for path, value := range other {
		now, ok := one[path]
		switch {
		case !ok:
			return false
		case now == value:
		case isTime(now) && isTime(value) && (isBegin(path) && now > value || isEnd(path) && now < value): // of one form
			more = true
		default:
			return false
		}
	}
	return more
}

func isBegin(path string) bool {
	return slices.Contains([]string{"from", "since", "after"}, last(path))
}

// isTime reports whether a value begins as a day does.
func isTime(value string) bool { return beginsAsDay.MatchString(value) }

var beginsAsDay = regexp.MustCompile(`^"\d{4}-\d\d-\d\d`)

func isEnd(path string) bool { return slices.Contains([]string{"until", "before"}, last(path)) }

// slicing are the calls that are alike but for one condition, or for their times, in each of which there is another.
func slicing(calls []toolCall, of []int) (parts []int) {
	varied := map[string]bool{}
	for _, i := range of {
		for path, value := range calls[i].conditions {
			if !isText(value) {
				varied[aspect(path, value)] = true
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(varied)) {
		pieces := map[string]map[string]int{} // by what is alike, the first call with each value
		for _, i := range of {
			alike, value := split(calls[i].conditions, what)
			if value == "" {
				continue
			}
			if pieces[alike] == nil {
				pieces[alike] = map[string]int{}
			}
			if _, known := pieces[alike][value]; !known {
				pieces[alike][value] = i
			}
		}
		for _, values := range pieces {
			if len(values) >= leastParts {
				parts = append(parts, slices.Collect(maps.Values(values))...)
			}
		}
	}
	return parts
}

// aspect is what a condition is about: all times are one.
func aspect(path, value string) string {
	if isTime(value) && (isBegin(path) || isEnd(path)) {
		return "time"
	}
	return path
}

// split is what conditions say of an aspect, and all else of them.
func split(conditions map[string]string, what string) (alike, value string) {
	var rest, of strings.Builder
	for _, path := range slices.Sorted(maps.Keys(conditions)) {
		to := &rest
		if aspect(path, conditions[path]) == what {
			to = &of
		}
		to.WriteString(path + "=" + conditions[path] + " ")
	}
	return rest.String(), of.String()
}
