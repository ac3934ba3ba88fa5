package search

import (
	"maps"
	"slices"

	"hark/memory"
)

// Known is all that s tells: the sets, as far as channels name their roles, and those of people named.
func (s *RoleSets) Known() (all [][]memory.RoleID, own map[memory.UserID][]memory.RoleID) {
	all = make([][]memory.RoleID, len(s.roles))
	for _, role := range slices.Sorted(maps.Keys(s.with)) {
		for i, w := range s.with[role] {
			for j := range 64 {
				if w>>j&1 == 1 {
					all[64*i+j] = append(all[64*i+j], role)
				}
			}
		}
	}
	return all, s.own
}
