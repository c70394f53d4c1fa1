package wire

// Split takes a release apart whose keys cannot be in one script: in a Cluster
// some lie in other slots than the lock itself. apart says of a key that it
// does. own is what can still compare and act in one step; then are commands
// for the other keys, to be sent after it, in this order. False where that
// cannot be done without losing something, such as a permit.
func (c Call) Split(apart func(key string) bool) (own Call, then []Call, ok bool) {
	if !c.IsRelease() || apart(c.Keys[keyLock]) {
		return c, nil, false
	}
	own = c.edit()
	// Without a fence or a receipt it is less sure, not wrong.
	if apart(own.Keys[keyFence]) {
		own.Keys[keyFence], own.Args[argFence] = own.Keys[keyLock], ""
	}
	if apart(own.Keys[keyReceipt]) {
		own.Keys[keyReceipt], own.Args[argReceipt] = own.Keys[keyLock], ""
	}
	var others []string
	more := own.Keys[headKeys:]
	own.Keys = own.Keys[:headKeys:headKeys]
	for _, k := range more {
		if apart(k) {
			others = append(others, k)
		} else {
			own.Keys = append(own.Keys, k)
		}
	}
	if len(others) > 0 {
		if then, ok = own.partsAt(others); !ok {
			return c, nil, false
		}
	}
	if list := own.Keys[keyList]; apart(list) {
		then = append(then, own.Wake().Calls()...)
		own.Keys[keyList], own.Args[argVerb] = own.Keys[keyLock], string(WakeNobody)
	}
	return own, then, true
}

// partsAt are the commands that do for other keys what the script does for its own.
func (c Call) partsAt(keys []string) ([]Call, bool) {
	var then []Call
	for _, key := range keys {
		switch {
		case c.Script == scriptReleaseString && c.Args[headArgs+1] == "same":
			// Each compares on its own, and does the same in place of a release.
			part := c.edit()
			part.Keys = []string{key, key, key, key}
			part.Args[argDeadline], part.Args[argFence], part.Args[argReceipt] = "", "", ""
			if WakeVerb(part.Args[argVerb]) != verbTTL {
				part.Args[argVerb] = string(WakeNobody)
			}
			then = append(then, part)
		case c.Script == scriptReleaseString, c.Script == scriptReleaseHash:
			then = append(then, Command("DEL", key))
		default:
			return nil, false
		}
	}
	// A hold is the lock's in one step or not at all.
	return then, WakeVerb(c.Args[argVerb]) != verbHold
}

// Calls are the plain commands of a wake-up.
func (w Wake) Calls() []Call {
	var calls []Call
	switch w.Verb {
	case WakeReset:
		calls = append(calls, Command("DEL", w.Target))
		fallthrough
	case WakePush:
		calls = append(calls, Command("LPUSH", w.Target, w.Message))
		if w.LifeMS > 0 {
			calls = append(calls, Command("PEXPIRE", w.Target, lifeArg(w.LifeMS)))
		}
	case WakeBoth:
		calls = append(calls, Command("PUBLISH", w.Target, w.Message), Command("SPUBLISH", w.Target, w.Message))
	case WakePublish, WakeSPublish:
		calls = append(calls, Command(string(w.Verb), w.Target, w.Message))
	}
	return calls
}
