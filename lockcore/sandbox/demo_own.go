package sandbox

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"fencepost/lockcore/wire"
)

// ownLease is the TTL of the demo of fencepost's own lock.
const ownLease = 15 * time.Second

// playOwn takes fencepost's own lock with its own scripts.
func playOwn(s *Sandbox, key string) error {
	_, name, _, ok := wire.SplitKey(key)
	if !ok {
		return fmt.Errorf("sandbox: %q is no lock's key", key)
	}
	keys, err := wire.NewKeys(wire.DefaultPrefix, name)
	if err != nil {
		return err
	}
	return s.each([]string{"deploy-1", "deploy-2"}, func(a *actor) error {
		about := wire.About{Host: a.name + ".example.org", PID: int64(4000 + a.rng.IntN(999)), Label: "deploy"}
		token := ""
		mine := func() bool {
			value, _ := a.do("GET", key)
			text, _ := value.(string)
			return strings.HasPrefix(text, token+":")
		}
		a.join(turn{
			take: func() (bool, time.Duration) {
				token = base64.RawURLEncoding.EncodeToString(a.bytes(16))
				request := wire.Acquire{Keys: keys, Token: token, TTLMS: ownLease.Milliseconds(), About: about.String()}
				_, _ = a.do(request.Call().Argv()...)
				return mine(), 2 * time.Second
			},
			keep: func() bool {
				_, _ = a.do(wire.Renew(keys, token, ownLease.Milliseconds()).Argv()...)
				return mine()
			},
			drop:  func() { _, _ = a.do(wire.Unlock(keys, token, 60_000, keys.Channel(0)).Argv()...) },
			every: ownLease / 3, work: 40 * time.Second, rest: time.Second, listen: a.listen(keys.Channel(0)),
		})
		return nil
	})
}
