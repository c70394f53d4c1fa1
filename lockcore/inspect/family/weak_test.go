package family

import (
	"strings"
	"testing"
)

// A guard is weaker only where the id may come again: a constant, an owner's
// name, a process. A one-off token needs no more than itself.
func TestWeakOnlyWhereTheIDComesAgain(t *testing.T) {
	for value, weak := range map[string]bool{
		"1": true, "locked": true, "worker-1": true, "web-1:4711": true, "owner": true, "user_42": true, "12345": true, "customer-service-blue": true,
		"e56267f5ecba11f1a75c0242ac110007": false, "9de3559d-75d2-437b-96c2-4a9b87ac7d9d": false, "GxwErhZvp2QmLvacHpVgjGjA": false,
		"V1StGXR8_Z5jdHi6B-myT": false, "01ARZ3NDEKTSV4RRFFQ69G5FAV": false, "9m4e2mr0ui3e8a215n4g": false, "cjld2cjxh0000qzrmn831i7rn": false,
	} {
		main := &Sample{Key: "lock:report", Type: String, Value: value, PTTL: 60_000, Whole: true, Len: int64(len(value))}
		if r := homegrownDecode(&Facts{Main: main}); r.Weak != weak {
			t.Errorf("%q: weak %v, want %v", value, r.Weak, weak)
		}
		main.Key = "lock:report:writer"
		if r := homegrownDecodeRW(&Facts{Main: main}); r.Weak != weak && value != "1" {
			t.Errorf("the writer %q: weak %v, want %v", value, r.Weak, weak)
		}
	}
}

// Of a home-grown lock one value is all that was seen: what every holder writes
// is a guess there, and said as one. Of a known library it is known.
func TestConstantValueIsSaidAsItIsKnown(t *testing.T) {
	if text := constantText(&Found{Family: homeGrown()}); !strings.Contains(text, "looks like") {
		t.Errorf("of a home-grown lock it says %q", text)
	}
	if text := constantText(&Found{Family: &Family{ID: "redlock-fifo"}}); strings.Contains(text, "looks like") {
		t.Errorf("of a known library it says %q", text)
	}
}
