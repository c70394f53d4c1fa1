package target

import (
	"fmt"
	"io"
	"strings"
)

// Secret is text that must not be shown: a password, or a URL that may hold
// one. However it is printed, "[secret]" comes out; the text itself is reached
// only by the conversion string(s), which a reader can look for.
type Secret string

// hidden is what stands for a secret.
const hidden = "[secret]"

// Format prints "[secret]" whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String returns "[secret]".
func (Secret) String() string { return hidden }

// MarshalText returns "[secret]", for JSON and its like.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// scrub takes the secrets out of a text that came from elsewhere. Servers and
// proxies that do not know a command answer with its arguments.
func scrub(text string, secrets ...Secret) string {
	if i := strings.Index(text, ", with args beginning with"); i >= 0 {
		text = text[:i]
	}
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, string(s), hidden)
		}
	}
	return text
}
