package family

// redlockPHP is ronnylt's redlock-php: uniqid() under any key, which tells when
// it was taken (src/RedLock.php).
func redlockPHP() *Family {
	return oneString(Family{
		ID: "redlock-php", Label: "redlock-php",
		Looks: "PHP's uniqid(), made about now",
		Match: func(s *Sample) []Claim {
			if ms, ok := uniqid(s.Value); !ok || s.PTTL < 0 || !near(s, ms, saneAge) {
				return nil
			}
			return nearUnique(s, "PHP's uniqid(), made about now")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Note = "release it on all servers of the group; the holder works on, its release does nothing"
			if ms, ok := uniqid(f.Main.Value); ok {
				r.Holders[0].Since = sinceMS(f, ms)
			}
			return r
		},
	})
}

// uniqid reads PHP's uniqid(): eight hexadecimal digits of seconds and five of
// microseconds.
func uniqid(v string) (ms int64, ok bool) {
	if !isHex(v, 13) {
		return 0, false
	}
	secs, micros := hexValue(v[:8]), hexValue(v[8:])
	ms = secs*1000 + micros/1000
	return ms, micros < 1_000_000 && ms >= firstMS && ms < lastMS
}
