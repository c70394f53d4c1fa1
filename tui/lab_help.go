package tui

// helpWord is a word of the help: in the lab's language where the help was
// opened from one of its screens.
func (m root) helpWord(key, otherwise string) string {
	if m.inLab() {
		return m.words().Say(key)
	}
	return otherwise
}
