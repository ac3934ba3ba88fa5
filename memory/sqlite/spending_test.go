package sqlite

import (
	"testing"

	"hark/memory"
)

// spent is what the question of that slot took.
func spent(user memory.UserID, n, tokens int) memory.Spent {
	return memory.Spent{Guild: guild, User: user, Question: id(n), Tokens: tokens}
}

// What was spent survives the death of the process, like the limits; who forgot themselves while the answer was on its way
// is counted nowhere by name.
func TestSpendingSurvivesAndIsForgotten(t *testing.T) {
	t.Parallel()
	s := populated(t)
	apply(t, s, spent(1, 2000, 7), spent(2, 2001, 5))
	forget(t, s, memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyMember, At: idAt(2002)})
	apply(t, s, spent(1, 2000, 9))
	dir := s.dir
	closed(t, s)
	s = open(t, dir)
	got, err := s.Spending(bg, guild, idAt(2000))
	if err != nil || len(got) != 2 || got[0] != 9 || got[2] != 5 {
		t.Errorf("%v, %v", got, err)
	}
	if n, err := s.ForgetSpending(bg, idAt(2001)); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
