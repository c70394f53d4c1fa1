package family

import "testing"

func TestSmellsLikeLock(t *testing.T) {
	for _, key := range []string{
		"lock", "lock:x", "LOCK:X", "order-lock", "order_lock:42", "orderLock", "OrderLockKey", "myapp.migrate.lock", "a/b/lock",
		"locks:7", "mutex", "distributed-mutex", "semaphore:gpu", "scheduler:leader", "LeaderElection", "lease/9", "{lock}:x", "lock2:a",
		"RedisMutex:crashed", "RWLock", "myRLock", "joblock:55", "cron:cleanup:lock", "lock:status", "lock:\x00\xff\x01bin", "x\xfflock",
		"lock||app||res", "cache:lock:user", "mysql-lock", "app:locks:import", "\u043b\u043elock",
	} {
		if !SmellsLikeLock(key) {
			t.Errorf("%q smells of nothing", key)
		}
	}
	for _, key := range []string{
		"", ":", "block:81234", "blocked:ips", "blocklist:emails", "clock:offset", "worldclock:berlin", "unlock:level:5", "unlocked:a",
		"deadlock:report", "flock:geese", "havelock:page", "hemlock:botany", "lockscreen:wallpaper", "padlock:product:55", "stock:sku:88",
		"leaderboard:2026", "release:9", "Sherlock", "warlock", "gridlock", "interlocking", "blockchain", "lockdown", "lockout:user:7",
		"package-lock.json:sha256", "yarn.lock:etag", "Gemfile.lock", "door:lock:state", "smart-lock:battery", "leasehold", "misleader", "locker:42",
	} {
		if SmellsLikeLock(key) {
			t.Errorf("%q smells like a lock", key)
		}
	}
}

func TestNameKinds(t *testing.T) {
	for key, want := range map[string]Kind{
		"lock:x": Mutex, "scheduler:leader": Lease, "joblock:5": Lease, "semaphore:gpu": Semaphore, "lock:leader": Lease, "lease:a": Lease,
	} {
		if got := nameOf(key).kind; got != want {
			t.Errorf("%q is a %s, not a %s", key, got, want)
		}
	}
}

func TestNamingCostsNothing(t *testing.T) {
	for _, key := range []string{"user:42:profile", "lock:orders", "Session:abc:DEF", "a-very-long-key:with:many:parts:and:words:0123456789"} {
		if n := testing.AllocsPerRun(100, func() { nameHint(key) }); n > 1 {
			t.Errorf("judging %q allocates %v times", key, n)
		}
	}
}

func TestShapes(t *testing.T) {
	for name, c := range map[string]struct{ got, want bool }{
		"uuid":                        {isUUID(idA), true},
		"uuid in capitals":            {isUUID("8743C9C0-0795-4907-87FD-6C719A6B4586"), false},
		"uuid4":                       {isUUID4(idA), true},
		"uuid1 is no uuid4":           {isUUID4("3c15f100-ec91-11f1-9104-eb22f94e72b4"), false},
		"base64 of 16":                {isBase64("XeUUf1PowB9ITDGRRCRCJQ==", 16), true},
		"base64 of 16 with odd bits":  {isBase64("XeUUf1PowB9ITDGRRCRCJR==", 16), false},
		"base64 of 18":                {isBase64("ia8jIl3M5AjzSgmcgYVVYN99", 18), true},
		"base64 of 32":                {isBase64(b32, 32), true},
		"base64 of 32 with odd bits":  {isBase64(b32[:42]+"B=", 32), false},
		"base64url of 16":             {isBase64URL("IthX_nFZhIkvGMLlIFETIw", 16), true},
		"base64url with plain base64": {isBase64URL("IthX/nFZhIkvGMLlIFETIw", 16), false},
		"hex":                         {isHex(hexID, 32), true},
		"hex of no length":            {isHex("", 0), false},
		"digits":                      {isDigits("0123"), true},
		"no digits":                   {isDigits(""), false},
		"negative":                    {isInt("-3"), true},
		"only a sign":                 {isInt("-"), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"1796024038": 1796024038000, "1796024038.5": 1796024038500, "1796024038.7355428": 1796024038735,
	} {
		if got, ok := epochS(text); !ok || got != want {
			t.Errorf("epochS(%s) = %d, %v", text, got, ok)
		}
	}
	if got, ok := epochMS("1796024038735.5"); !ok || got != 1796024038735 {
		t.Errorf("epochMS = %d, %v", got, ok)
	}
	for _, text := range []string{"", "1", "17960240380", "1e9", "+1796024038", "179602403x", "1796024038.", "99999999999999999999", "-1796024038", "1.796024038e9"} {
		if got, ok := epochS(text); ok {
			t.Errorf("epochS(%q) = %d", text, got)
		}
		if got, ok := epochMS(text); ok {
			t.Errorf("epochMS(%q) = %d", text, got)
		}
	}
	for text, want := range map[string]int64{"9223372036854775807": 9223372036854775807, "-5": -5, "0": 0} {
		if got, ok := parseInt(text); !ok || got != want {
			t.Errorf("parseInt(%s) = %d, %v", text, got, ok)
		}
	}
	if _, ok := parseInt("9223372036854775808"); ok {
		t.Error("a number that does not fit was read")
	}
	if got, ok := parseDecimal("-1.25"); !ok || got != -1250 {
		t.Errorf("parseDecimal = %d, %v", got, ok)
	}
}
