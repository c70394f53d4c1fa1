package family

import (
	"encoding/binary"
	"strings"
)

// railsCache is Rails.cache.write(key, value, unless_exist: true) used as a
// lock: the value is a cache entry, marshalled, or packed since Rails 7. Every
// cache entry looks like that, so the name has to say lock.
func railsCache() *Family {
	return oneString(Family{
		ID: "rails-cache", Label: "Rails.cache unless_exist lock",
		Looks: "a Rails cache entry of a string, number or truth, under a name that says lock",
		Match: func(s *Sample) []Claim {
			if len(s.Value) < 4 || s.Value[0] > 4 || !s.Whole || !SmellsLikeLock(s.Key) {
				return nil
			}
			if _, ok := railsEntry(s.Value); !ok {
				return nil
			}
			return likely("a Rails cache entry under a name that says lock")
		},
		Decode: func(f *Facts) Reading {
			text, _ := railsEntry(f.Main.Value)
			r := owned(Mutex, text)
			r.Note = "the holder works on, and deletes the key at its end without looking whose it is by then"
			return r
		},
	})
}

// railsEntry reads the value of a cache entry: "" for a number or a truth.
// Up to 6.1 it is an ActiveSupport::Cache::Entry, marshalled; in 7.0 the byte 0
// and a marshalled array of the value and its times; since 7.1 the bytes 0, 17,
// the type, the expiry, the length of the version, the version and the value
// (ActiveSupport::Cache::Coder).
func railsEntry(s string) (text string, ok bool) {
	const header = 2 + 1 + 8 + 4
	if strings.HasPrefix(s, "\x00\x11") {
		if len(s) < header {
			return "", false
		}
		version := int32(binary.LittleEndian.Uint32([]byte(s[11:15])))
		from := header + int(max(version, 0))
		if from > len(s) {
			return "", false
		}
		if kind := s[2]; kind >= 1 && kind <= 3 { // a string as it is
			return s[from:], true
		}
		return marshalled(strings.TrimPrefix(s[from:], "\x04\x08"))
	}
	if array, ok := strings.CutPrefix(s, "\x00\x04\x08["); ok && len(array) > 1 {
		return marshalled(array[1:])
	}
	const entry = "\x04\x08o: ActiveSupport::Cache::Entry"
	if !strings.HasPrefix(s, entry) {
		return "", false
	}
	for _, name := range [...]string{":\x0b@value", ":\x07@v"} {
		if i := strings.Index(s[:min(len(s), 200)], name); i > 0 {
			return marshalled(s[i+len(name):])
		}
	}
	return "", false
}

// marshalled reads a string at the start of a Ruby Marshal text, or accepts a
// number, a truth or nil, which is "".
func marshalled(s string) (text string, ok bool) {
	s = strings.TrimPrefix(s, "I")
	if s == "" {
		return "", false
	}
	switch s[0] {
	case 'T', 'F', '0', 'i', 'f':
		return "", true
	case '"':
		size, body := marshalledLen(s[1:])
		if size < 0 || size > len(body) {
			return "", false
		}
		return body[:size], true
	}
	return "", false
}

// marshalledLen reads a length as Marshal writes it: up to 122 in one byte,
// more in one byte that says how many follow.
func marshalledLen(s string) (size int, body string) {
	if s == "" {
		return -1, ""
	}
	switch c := int(int8(s[0])); {
	case c == 0:
		return 0, s[1:]
	case c > 4:
		return c - 5, s[1:]
	case c > 0 && len(s) > c:
		for i := c; i > 0; i-- {
			size = size<<8 | int(s[i])
		}
		return size, s[1+c:]
	}
	return -1, ""
}
