package family

import (
	"slices"
	"strings"
	"sync"
)

// smells are texts of which every word that wordKind calls lockish has one.
func smells() []string {
	return []string{"lock", "mutex", "mtx", "lease", "leader", "election", "semaphore"}
}

// NameCandidate reports whether a key's name alone makes it worth a look. Most
// names bear no mark at all, and are done with after one pass over their bytes.
func NameCandidate(key string, own ...*Family) bool {
	n := names()
	if n.marks.in(key) && (SmellsLikeLock(key) || anyKnows(n.marked, key)) {
		return true
	}
	return anyKnows(n.others, key) || anyKnows(own, key)
}

// NamePart reports whether a key's name alone says that it stands beside a lock
// and is none itself: a queue, a signal, a counter.
func NamePart(key string) bool {
	return slices.ContainsFunc(names().parts, func(f *Family) bool { return f.Part(key) })
}

func anyKnows(families []*Family, key string) bool {
	for _, f := range families {
		if f.knows(key) {
			return true
		}
	}
	return false
}

// knows reports whether the family knows a key by its name.
func (f *Family) knows(key string) bool {
	if f.Named != nil {
		return f.Named(key)
	}
	return slices.ContainsFunc(f.Marks, func(m string) bool { return strings.Contains(key, m) })
}

// naming is how names are judged.
type naming struct {
	marks  *markTable
	marked []*Family // have marks
	others []*Family // judge every name
	parts  []*Family // know the names of what stands beside a lock
}

// names is data, made once.
var names = sync.OnceValue(func() *naming {
	n := &naming{marks: &markTable{}}
	for _, m := range smells() {
		n.marks.add(m)
	}
	for _, f := range all() {
		if f.Part != nil {
			n.parts = append(n.parts, f)
		}
		switch {
		case len(f.Marks) > 0:
			n.marked = append(n.marked, f)
			for _, m := range f.Marks {
				n.marks.add(m)
			}
		case f.Named != nil:
			n.others = append(n.others, f)
		}
	}
	return n
})

// markTable finds any of many texts in one pass, whatever their case: what begins
// with the same two bytes as a text is compared with it.
type markTable struct {
	begins [1 << 12]uint16 // by the first two bytes: a place in lists, and one more
	lists  [][]string
}

// fold makes the letters small; other bytes that it makes alike do no harm, for
// what is found is looked at again.
func fold(c byte) byte { return c | 0x20 }

// place spreads pairs of folded bytes: those of two ASCII characters that are not
// far apart have places of their own.
func place(a, b byte) int { return (int(a)<<6 ^ int(b)) & (1<<12 - 1) }

// add takes a mark of at least two bytes.
func (t *markTable) add(mark string) {
	at := &t.begins[place(fold(mark[0]), fold(mark[1]))]
	if *at == 0 {
		t.lists = append(t.lists, nil)
		*at = uint16(len(t.lists))
	}
	list := &t.lists[*at-1]
	*list = append(*list, mark)
}

// in reports whether a text contains a mark, give or take the case.
func (t *markTable) in(s string) bool {
	if len(s) < 2 {
		return false
	}
	a := fold(s[0])
	for i := 1; i < len(s); i++ {
		b := fold(s[i])
		if at := t.begins[place(a, b)]; at != 0 && t.beginsWith(s[i-1:], at-1) {
			return true
		}
		a = b
	}
	return false
}

func (t *markTable) beginsWith(s string, list uint16) bool {
	for _, m := range t.lists[list] {
		if len(s) >= len(m) && foldedEqual(s[:len(m)], m) {
			return true
		}
	}
	return false
}

func foldedEqual(a, b string) bool {
	for i := range len(b) {
		if fold(a[i]) != fold(b[i]) {
			return false
		}
	}
	return true
}
