package family

// FieldGlob is the pattern of fields that may be locks in a large hash of this
// name, or "". The first family that knows the name decides.
func FieldGlob(key string) string {
	for _, f := range all() {
		if f.Fields == nil {
			continue
		}
		if glob := f.Fields(key); glob != "" {
			return glob
		}
	}
	return ""
}
