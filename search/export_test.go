package search

import "hark/memory"

// Known is all that s tells.
func (s *RoleSets) Known() (all [][]memory.RoleID, own map[memory.UserID][]memory.RoleID) {
	return s.all, s.own
}
