package family

import (
	"slices"
	"sync"
)

// All returns every family, the specific ones first: where two families are
// equally sure of a key, the earlier one has it. Families that know only a
// shape stand last. The families are the same values at every call.
func All() []*Family { return slices.Clone(all()) }

// all is data, made once.
var all = sync.OnceValue(func() []*Family {
	return slices.Concat(
		specificFamilies(),
		jvmFamilies(),
		pythonFamilies(),
		rubyFamilies(),
		nodeFamilies(),
		phpFamilies(),
		goFamilies(),
		dotnetFamilies(),
		shapeFamilies(),
	)
})
