package sqlstore

import "testing"

// A value in one place can't take another's: all that names a place is part of what it is bound to.
func TestPlacesAreBoundToDifferentBytes(t *testing.T) {
	t.Parallel()
	seen := map[string]Place{}
	for _, p := range []Place{
		{table: "trace", column: "body", a: 1, b: 2},
		{table: "prompt", column: "body", a: 1, b: 2},
		{table: "trace", column: "parts", a: 1, b: 2},
		{table: "trace", column: "body", a: 2, b: 1},
		{table: "trace", column: "body", a: 1},
		{table: "trace", column: "body", b: 2},
		{table: "trace", column: "body", a: 1, b: 2, key: "body"},
		{table: "tracebody", a: 1, b: 2},
		{table: "", column: "tracebody", a: 1, b: 2},
	} {
		bytes := string(p.bytes())
		if other, known := seen[bytes]; known {
			t.Errorf("%v and %v are bound to the same", p, other)
		}
		seen[bytes] = p
	}
}
