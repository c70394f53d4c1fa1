package family

import "testing"

func TestNamesOfWhatStandsBesideALock(t *testing.T) {
	for key, part := range map[string]bool{
		"lock-signal:mail": true, "app:lock-signal:mail": true, "lock.event:mail": true, "rql:lock_queue:a": true,
		"redisson_lock_queue:{x}": true, "redisson_lock_timeout:{x}": true, "redisson_lock_token:{x}": true,
		"{x}:9de3559d-75d2-437b-96c2-4a9b87ac7d9d:1:rwlock_timeout:1": true,
		"lock:{pay}:fence": true, "lock:{pay}:queue": true, "lock:{pay}:alive": true, "lock:{pay}:dead:abc": true,
		"SEMAPHORE:print:AVAILABLE": true, "{a}:count:b": true,
		"lock:{pay}": false, "lock:mail": false, "rql:lock:a": false, "SEMAPHORE:print:GRABBED": false, "x:timeout": false, "mylock-signal:x": false,
		"{svc}:lock": false, "redisson_lock": false,
	} {
		if NamePart(key) != part {
			t.Errorf("%s: %v", key, !part)
		}
	}
}
