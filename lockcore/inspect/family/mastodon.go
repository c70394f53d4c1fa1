package family

import "strings"

// mastodon is Mastodon's with_redis_lock, by way of mario-redis-lock: lock: and
// what is done to what (app/models/concerns/lockable.rb). Its names tell.
func mastodon() *Family {
	return oneString(Family{
		ID: "mastodon", Label: "Mastodon with_redis_lock",
		Looks: "a random UUID under lock: and one of Mastodon's own names",
		Match: func(s *Sample) []Claim {
			_, name, ok := after(s.Key, "lock:")
			if !ok || !isUUID4(s.Value) {
				return nil
			}
			what, _, ok := strings.Cut(name, ":")
			if ok && mastodonName(what) {
				return likely("a random UUID under one of Mastodon's lock names")
			}
			return shapeOnly(s, "mastodon", "a random UUID under lock:")
		},
		Decode: func(f *Facts) Reading {
			r := token(f, Mutex)
			r.Resource = rest(f.Main.Key, "lock:")
			r.Note = "the holder works on; its release does nothing"
			return r
		},
	})
}

func mastodonName(what string) bool {
	switch what {
	case "announce", "create", "delete_upon_arrival", "relationship", "vote", "resolve", "process_account", "process_status_refs",
		"push_subscription", "account_migration", "reblog", "favourite", "distribute", "collection", "process_status_ids":
		return true
	}
	return false
}
