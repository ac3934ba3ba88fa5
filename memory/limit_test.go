package memory

import (
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	for limit, fine := range map[Limit]bool{
		{}: true, {5, 7}: true, {AsConfigured, AsConfigured}: true, {-2, 0}: false, {0, -2}: false,
	} {
		if err := limit.Check(); (err == nil) != fine {
			t.Errorf("%+v: %v", limit, err)
		}
	}
	g := &Guild{Limits: []RoleLimit{{Role: 3, Limit: Limit{1, 2}}}}
	if g.LimitOf(3) != (Limit{1, 2}) || g.LimitOf(4) != (Limit{AsConfigured, AsConfigured}) {
		t.Errorf("%+v and %+v", g.LimitOf(3), g.LimitOf(4))
	}
}

func TestDaysAreThoseOfUTC(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -5*3600)
	from, until := Day(time.Date(2026, 12, 31, 20, 0, 0, 0, zone))
	if want := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC); !from.Equal(want) || !until.Equal(want.Add(24*time.Hour)) {
		t.Errorf("from %v until %v", from, until)
	}
}
