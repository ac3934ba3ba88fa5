package answer

import "errors"

// tooLong is an error by which a model refuses a prompt. See Model.
type tooLong interface {
	error
	TooLong() (room, asked int, is bool)
}

// smaller is how many tokens a prompt may have after err refused one of sent tokens; 0 if it wasn't refused for its
// length. The model's tokens aren't ours, so what it counted tells how many of ours it takes; a tenth less than
// that leaves room for what it adds to each message. If it doesn't tell what it counted, a quarter less than it takes
// leaves room for tokens that are smaller than ours too. Where it tells nothing, half must do.
func smaller(sent int, err error) int {
	var refused tooLong
	if !errors.As(err, &refused) {
		return 0
	}
	room, asked, is := refused.TooLong()
	switch {
	case !is:
		return 0
	case 0 < room && room < asked:
		return max(1, int(0.9*float64(sent)*float64(room)/float64(asked)))
	case asked == 0 && 0 < room && room < sent:
		return max(1, int(0.75*float64(room)))
	}
	return max(1, sent/2)
}
