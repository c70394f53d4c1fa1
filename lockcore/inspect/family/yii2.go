package family

// yii2 hashes the lock's name away: the key is a prefix, by default 5 digits of
// an MD5, and the MD5 of the name; the value 20 random characters (src/Mutex.php).
func yii2() *Family {
	return oneString(Family{
		ID: "yii2", Label: "yii2-redis Mutex",
		Looks: "20 random characters under 37 hexadecimal digits, or another prefix and 32",
		Named: func(key string) bool { return isHex(key, 37) },
		Match: func(s *Sample) []Claim {
			n := len(s.Key)
			if n < 32 || s.PTTL < 0 || !isHex(s.Key[n-32:], 32) || !yiiToken(s.Value) {
				return nil
			}
			if isHex(s.Key, 37) {
				return likely("20 random characters under 37 hexadecimal digits")
			}
			return nearUnique(s, "20 random characters under an MD5")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Note = "the holder works on; its release does nothing"
			return r
		},
	})
}

// yiiToken is what Yii's generateRandomString makes: URL-safe base64.
func yiiToken(v string) bool { return len(v) == 20 && looksRandom(v) && isBase64URL(v, 15) }
