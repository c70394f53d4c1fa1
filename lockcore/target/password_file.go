package target

import "os"

// fileWarning says that others on this machine can read the password file.
func fileWarning(path string) string {
	if path == "" {
		return ""
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm()&0o077 == 0 {
		return "" // reading it has its own error
	}
	return "password_file can be read by others on this machine: chmod 600"
}
