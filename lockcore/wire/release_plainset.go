package wire

import "strconv"

// hash is release_hash.lua.
func (p *plainCall) hash() func([]any) (ReleaseReply, []Call) {
	lock, args := p.Keys[keyLock], p.Args[headArgs:]
	n, _ := strconv.Atoi(args[2]) // written by hashArgs
	fields := make([]Field, n)
	values := make([]func([]any) any, n)
	for i := range fields {
		f := args[3+3*i:]
		fields[i] = Field{Name: f[0], Exact: f[1] == "=", Value: f[2]}
		values[i] = p.read("HGET", lock, f[0])
	}
	size := p.read("HLEN", lock)
	return func(replies []any) (ReleaseReply, []Call) {
		there, differs, now := 0, false, ""
		for i, f := range fields {
			v := values[i](replies)
			if wrongType(v) {
				return plainChanged(WhyType, ""), nil
			}
			text, ok := v.(string)
			if ok {
				there++
			}
			if !ok || f.Exact && text != f.Value {
				differs = true
				if ok {
					now = f.Name + "=" + text
				}
			}
		}
		count, _ := size(replies).(int64)
		switch {
		case count == 0, differs && there == 0 && args[0] == "HDEL":
			return plainGone, nil
		case differs:
			return plainChanged(WhyHolder, now), nil
		case args[1] != "" && strconv.FormatInt(count, 10) != args[1]:
			return plainChanged(WhyOthers, ""), nil
		}
		return plainDone, p.leaveHash(fields, args[3+3*n:])
	}
}

// leaveHash is what happens to the hash, or to its fields.
func (p *plainCall) leaveHash(fields []Field, also []string) []Call {
	lock, ms := p.Keys[keyLock], p.Args[argLife]
	var writes []Call
	switch verb := WakeVerb(p.Args[argVerb]); {
	case verb == verbTTL:
		return []Call{Command("PEXPIRE", lock, ms)}
	case verb == verbHold:
		writes = append(writes, Command("HSET", lock, p.Args[argChannel], "1"))
		for _, f := range fields {
			if !f.Exact {
				writes = append(writes, Command("HDEL", lock, f.Name))
			}
		}
		return append(writes, Command("PEXPIRE", lock, ms), Command("SET", p.Keys[keyList], p.Args[argMessage], "PX", ms))
	case p.Args[headArgs] == "DEL":
		for _, k := range append([]string{lock}, p.Keys[headKeys:]...) {
			writes = append(writes, Command("DEL", k))
		}
		return writes
	}
	for _, f := range fields {
		writes = append(writes, Command("HDEL", lock, f.Name))
	}
	for _, name := range also {
		writes = append(writes, Command("HDEL", lock, name))
	}
	return writes
}

// members is release_members.lua, but for the TTL of a sorted set whose scores
// are deadlines: it is left as it is, and so ends no earlier than the last.
func (p *plainCall) members() func([]any) (ReleaseReply, []Call) {
	lock, args := p.Keys[keyLock], p.Args[headArgs:]
	n, _ := strconv.Atoi(args[3]) // written by Members
	has, count := "ZSCORE", "ZCARD"
	if args[0] == "SREM" {
		has, count = "SISMEMBER", "SCARD"
	}
	seen, all := args[4:4+n], args[4:]
	there := make([]func([]any) any, n)
	for i, m := range seen {
		there[i] = p.read(has, lock, m)
	}
	size := p.read(count, lock)
	return func(replies []any) (ReleaseReply, []Call) {
		missing := 0
		for _, found := range there {
			switch v := found(replies); {
			case wrongType(v):
				return plainChanged(WhyType, ""), nil
			case v == nil || v == any(int64(0)) || v == any(false):
				missing++
			}
		}
		total, _ := size(replies).(int64)
		switch {
		case total == 0, missing == n && args[1] == "":
			return plainGone, nil
		case missing > 0:
			return plainChanged(WhyHolder, ""), nil
		case args[1] != "" && strconv.FormatInt(total, 10) != args[1]:
			return plainChanged(WhyOthers, ""), nil
		}
		if WakeVerb(p.Args[argVerb]) == verbTTL {
			return plainDone, []Call{Command("PEXPIRE", lock, p.Args[argLife])}
		}
		var writes []Call
		for _, key := range append([]string{lock}, p.Keys[headKeys:]...) {
			for _, m := range all {
				writes = append(writes, Command(args[0], key, m))
			}
		}
		return plainDone, writes
	}
}
