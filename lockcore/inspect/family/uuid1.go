package family

import "time"

// uuid1 is what a UUID of version 1 tells: when it was made, and on which host
// (RFC 9562, section 5.1).
type uuid1 struct {
	ms   int64  // since 1970
	node string // 12 hexadecimal digits: a MAC address, or random
}

// gregorianMS is how many milliseconds lie between the start of the Gregorian
// calendar, from which these UUIDs count, and 1970.
const gregorianMS = 12_219_292_800_000

// parseUUID1 reads a UUID of version 1 from 32 lower-case hexadecimal digits.
func parseUUID1(hex string) (uuid1, bool) {
	if !isHex(hex, 32) || hex[12] != '1' || !variant(hex[16]) {
		return uuid1{}, false
	}
	low, mid, high := hexValue(hex[:8]), hexValue(hex[8:12]), hexValue(hex[13:16])
	ms := (high<<48|mid<<32|low)/10_000 - gregorianMS
	return uuid1{ms, hex[20:]}, ms >= firstMS && ms < lastMS
}

// parseDashedUUID1 is parseUUID1 for the form with hyphens.
func parseDashedUUID1(s string) (uuid1, bool) {
	if !isUUIDv(s, '1') {
		return uuid1{}, false
	}
	return parseUUID1(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
}

func variant(c byte) bool { return c == '8' || c == '9' || c == 'a' || c == 'b' }

func hexValue(s string) int64 {
	var n int64
	for i := range len(s) {
		c := s[i]
		if c >= 'a' {
			c -= 'a' - 10 - '0'
		}
		n = n<<4 | int64(c-'0')
	}
	return n
}

// saneAge bounds how far from now the time in an identifier may lie: what was
// acquired longer ago has rarely been left in place, and of random digits
// fewer than one in 100,000 pass.
const saneAge = 400 * day

// fresh reports whether the UUID was made about when a lock could have been.
func (u uuid1) fresh(s *Sample) bool { return near(s, u.ms, saneAge) }

// since is when the UUID was made, or zero where that lies in the future by the
// server's clock, so that no age can be told from it.
func (u uuid1) since(f *Facts) time.Time { return sinceMS(f, u.ms) }

// host describes the host: the MAC address, unless its group bit says that it
// is none but random digits, as libraries use that may not or cannot read it.
func (u uuid1) host() string {
	if hexValue(u.node[:2])&1 == 1 {
		return "host id " + u.node + " (random, one for each process)"
	}
	mac := make([]byte, 0, 17)
	for i := 0; i < 12; i += 2 {
		if i > 0 {
			mac = append(mac, ':')
		}
		mac = append(mac, u.node[i:i+2]...)
	}
	return "host MAC " + string(mac)
}

// sinceMS is a time in milliseconds as the start of a hold; zero where it lies
// in the future, by more than clocks may differ.
func sinceMS(f *Facts, ms int64) time.Time {
	if ms > f.NowMS()+2*second {
		return time.Time{}
	}
	return at(ms)
}
