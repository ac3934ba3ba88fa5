package answer

import "errors"

// tooLong is an error by which a model refuses a prompt. See Model.
type tooLong interface {
	error
	TooLong() (room, asked int, is bool)
}

// smaller returns how many tokens a prompt may have after err refused one of sent tokens for its length; else
// 0. Our tokens aren't the model's: with its count of both, the ratio less a tenth for what it adds to each
// message; with its limit alone, that less a quarter; else half.
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
