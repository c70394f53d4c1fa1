package family

import "slices"

// All returns every family, the specific ones first: where two families are
// equally sure of a key, the earlier one has it. Families that know only a
// shape stand last.
func All() []*Family {
	return slices.Concat(
		ownFamilies(),
		jvmFamilies(),
		pythonFamilies(),
		rubyFamilies(),
		nodeFamilies(),
		phpFamilies(),
		goFamilies(),
		dotnetFamilies(),
		shapeFamilies(),
	)
}

// ownFamilies are this project's own locks.
func ownFamilies() []*Family { return nil }
