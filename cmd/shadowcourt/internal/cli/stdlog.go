package cli

import (
	"bytes"
	"io"
)

// StdLog is the output of the standard library's logger. It drops what may hold the key of a provider or a token: net/http quotes there what
// a server sends out of turn, which may repeat the key of the request before, and with GODEBUG=http2debug=2 the headers of requests.
type StdLog struct{ W io.Writer }

// Write writes one message, or drops it.
func (l StdLog) Write(p []byte) (int, error) {
	for _, secret := range [...]string{
		"Unsolicited response received", `header "authorization"`, `header "proxy-authorization"`, `header "x-api-key"`, `header "cookie"`,
	} {
		if bytes.Contains(p, []byte(secret)) {
			return len(p), nil
		}
	}
	return l.W.Write(p)
}
