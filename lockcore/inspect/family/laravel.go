package family

import "strings"

// laravel stands for all that Laravel locks with its Redis cache: a string with
// the owner, 16 random letters and digits unless the application names one,
// under redis prefix, cache prefix and name. What the name says tells which part
// of the framework took it (Illuminate Cache/RedisLock, Queue/Middleware/
// WithoutOverlapping, Bus/UniqueLock, Console/Scheduling/CacheEventMutex,
// CacheSchedulingMutex, Console/CacheCommandMutex; Horizon's Lock).
func laravel() *Family {
	return &Family{
		ID: "laravel", Label: "Laravel lock", Types: []Type{String},
		Looks: "16 random letters and digits under a Laravel cache key, one of the framework's own names, or 20 under the number of a funnel's slot",
		Marks: []string{"laravel-queue-overlap:", "laravel_unique_job:", "illuminate:cache:flexible:lock:", "horizon:", "framework"},
		Named: func(key string) bool { return laravelUse(key).label != "" },
		Match: func(s *Sample) []Claim {
			use := laravelUse(s.Key)
			switch {
			case use.label != "" && s.Whole && len(s.Value) <= 200 && (!use.flag || s.Value == "1"):
				return sure("the name of a " + use.label)
			case use.label != "" || !s.Whole:
				return nil
			case len(s.Value) == 20:
				if c := laravelSlot(s); c != nil {
					return c
				}
			}
			return laravelPlain(s)
		},
		Reads: func(_ Claim, main *Sample) Reads {
			if !laravelFunnel(main) {
				return Reads{}
			}
			return Reads{Keys: funnelKeys(main.Key)[1:]}
		},
		Decode: func(f *Facts) Reading {
			switch {
			case laravelFunnel(f.Main):
				return laravelFunnelRead(f)
			case f.Main.Type != String:
				return Reading{NoRow: true}
			}
			return laravelRead(f)
		},
		Release: func(t *Target) []Step {
			if laravelFunnel(t.Facts.Main) {
				return laravelFunnelRelease(t)
			}
			return releaseValue(t)
		},
	}
}

// laravelPart is a part of the framework that takes locks.
type laravelPart struct {
	label    string
	kind     Kind
	byDesign bool // without expiry unless one is set
	cooling  bool
	flag     bool // holds 1, and no owner
	note     string
}

const laravelJobNote = "the job goes on or stays queued; another one may run beside it"

// laravelUse is the part that takes locks of such a name; without a label, none.
func laravelUse(key string) laravelPart {
	switch {
	case strings.Contains(key, "laravel-queue-overlap:"):
		return laravelPart{label: "WithoutOverlapping lock", kind: Lease, byDesign: true, note: laravelJobNote}
	case strings.Contains(key, "laravel_unique_job:"):
		return laravelPart{label: "ShouldBeUnique lock", kind: Lease, byDesign: true, note: laravelJobNote}
	case strings.Contains(key, "illuminate:cache:flexible:lock:"):
		return laravelPart{label: "Cache::flexible lock", kind: Mutex, note: "the value may be refreshed twice"}
	case strings.Contains(key, "horizon"):
		if _, name, ok := after(key, "horizon:"); ok && horizonLock(name) {
			return laravelPart{label: "Horizon lock", kind: Lease, flag: true, note: "Horizon may do this once more"}
		}
		return laravelPart{}
	}
	return laravelFramework(key)
}

// horizonLock reports whether Horizon locks under this name.
func horizonLock(name string) bool {
	return name == "metrics:snapshot" || name == "monitor:time-to-clear" || strings.HasPrefix(name, "notification:")
}

// laravelFramework are the mutexes of the console: framework/schedule- and the
// SHA-1 of a task, with the hour and minute behind it where one server of many
// shall run it, and framework/command- and a name.
func laravelFramework(key string) laravelPart {
	i := strings.LastIndex(key, "framework")
	if i < 0 || len(key) < i+len("framework/") {
		return laravelPart{}
	}
	name := key[i+len("framework/"):] // a backslash on Windows
	if strings.HasPrefix(name, "command-") {
		return laravelPart{label: "isolatable command", kind: Lease, note: "the command goes on; it can be started beside itself"}
	}
	task, ok := strings.CutPrefix(name, "schedule-")
	switch {
	case ok && isHex(task, 40):
		return laravelPart{label: "scheduled task, withoutOverlapping", kind: Lease,
			note: "the task goes on; the next one may run beside it. artisan schedule:clear-cache does the same"}
	case ok && len(task) == 44 && isHex(task[:40], 40) && isDigits(task[40:]):
		return laravelPart{label: "scheduled task, onOneServer", kind: Lease, cooling: true,
			note: "it is never released on purpose: without it another server may run this minute's task again"}
	}
	return laravelPart{}
}

// laravelPlain claims a lock whose name the application chose. Cached values
// are serialized, so that bare text under a Laravel cache prefix is a lock.
func laravelPlain(s *Sample) []Claim {
	random := isAlnum(s.Value, 16) && looksRandom(s.Value)
	prefix := laravelPrefix(s.Key)
	switch {
	case random && prefix == Certain:
		return sure("16 random letters and digits under laravel's cache prefix")
	case random && prefix == Likely:
		return likely("16 random letters and digits under a cache prefix such as Laravel's")
	case random:
		return shapeOnly(s, "laravel", "16 random letters and digits")
	case prefix == Certain && short(s) && !phpValue(s.Value):
		return likely("an owner's name, not serialized, under laravel's cache prefix")
	}
	return nil
}

// laravelPrefix judges the prefixes of a key: laravel_database_laravel_cache_
// and its kin are made of the application's name, which is laravel unless set.
func laravelPrefix(key string) Confidence {
	low := strings.ToLower(key)
	cache := strings.Contains(low, "_cache") || strings.Contains(low, "-cache-")
	switch {
	case strings.Contains(low, "laravel_cache"), strings.Contains(low, "laravel-cache-"):
		return Certain
	case cache:
		return Likely
	}
	return Unlikely
}

// phpValue reports whether the text is a value as PHP's serialize writes it, or
// a number, which Laravel stores bare.
func phpValue(v string) bool {
	return isNumber(v) || v == "N;" || len(v) > 1 && v[1] == ':' && strings.IndexByte("abdisOCE", v[0]) >= 0
}

func laravelRead(f *Facts) Reading {
	use := laravelUse(f.Main.Key)
	r := token(f, Mutex)
	r.Label, r.Note = "Laravel Cache::lock", "the holder works on; its release does nothing"
	// Seconds of 0 mean no expiry, the default of Cache::lock as well.
	r.ByDesign = true
	if use.label != "" {
		r.Label, r.Kind, r.ByDesign, r.Note = "Laravel "+use.label, use.kind, use.byDesign, use.note
	}
	if use.flag || phpValue(f.Main.Value) { // cache->add(key, true) of older schedulers
		r.Holders[0].ID, r.Weak = "", true
	}
	if use.cooling {
		r.State = Cooling
	}
	r.Resource = laravelResource(f.Main.Key)
	return r
}

// laravelResource is the name behind the cache prefix, where that can be told.
func laravelResource(key string) string {
	for _, mark := range [...]string{"-cache-", "_cache_:", "_cache:", "_cache_"} {
		if i := strings.LastIndex(key, mark); i >= 0 && i+len(mark) < len(key) {
			return strings.TrimPrefix(key[i+len(mark):], ":")
		}
	}
	return key
}
