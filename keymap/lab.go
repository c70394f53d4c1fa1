package keymap

// labBindings are the keys of the lab, where stale-owner scenarios are played.
func labBindings() []Binding { return nil }
