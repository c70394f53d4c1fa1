package family

import (
	"fmt"
	"testing"
)

// mixedKeys are keys as a real database has them: mostly ordinary data, a few
// locks of every family in the corpus.
func mixedKeys(b *testing.B, n int) []*Sample {
	var locks []*Sample
	for _, c := range readCorpus(b) {
		locks = append(locks, c.samples()...)
	}
	out := make([]*Sample, n)
	for i := range out {
		switch i % 10 {
		case 0, 1, 2:
			out[i] = text(fmt.Sprintf("user:%d:profile", i), `{"name":"Ann","email":"ann@example.org","plan":"free"}`, NoTTL)
		case 3:
			out[i] = text(fmt.Sprintf("session:%x", i*7919), fmt.Sprintf("%032x", i*104729), 1800000)
		case 4:
			out[i] = coll(fmt.Sprintf("cart:%d", i), Hash, 86400000, "sku-1", "2", "sku-2", "1", "updated", "1796024038")
		case 5:
			out[i] = text(fmt.Sprintf("count:page:%d", i), fmt.Sprint(i), NoTTL)
		case 6:
			out[i] = coll(fmt.Sprintf("feed:%d", i), ZSet, NoTTL, "post-1", "1796024038000", "post-2", "1796024039000")
		case 7:
			out[i] = coll(fmt.Sprintf("tags:%d", i), Set, NoTTL, "red", "green")
		case 8:
			out[i] = text(fmt.Sprintf("idempotency:%d", i), fmt.Sprintf("7b49a250-1bdb-492b-9692-%012x", i), 86400000)
		default:
			out[i] = locks[i/10%len(locks)]
		}
	}
	return out
}

// BenchmarkRecognise is the cost of one key among 100,000 of mixed kinds.
func BenchmarkRecognise(b *testing.B) {
	keys := mixedKeys(b, 100_000)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		Recognise(keys[i%len(keys)])
		i++
	}
}

// BenchmarkNameCandidate is the cost of one key where only names are looked at.
func BenchmarkNameCandidate(b *testing.B) {
	keys := mixedKeys(b, 100_000)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		NameCandidate(keys[i%len(keys)].Key)
		i++
	}
}
