package webhook

import (
	"net/netip"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Signature signs as messages are signed.
func Signature(secrets []string, id string, at time.Time, body []byte) (string, error) {
	var list []secret
	for _, text := range secrets {
		s, err := parseSecret(text)
		if err != nil {
			return "", err
		}
		list = append(list, s)
	}
	return signature(list, id, at, body), nil
}

// Parse reads a file of webhooks.
func Parse(data []byte, getenv func(string) string) ([]*Hook, error) {
	return parse("hooks.yaml", data, getenv)
}

// Message is the body of an event.
func Message(base string, e *store.HookEvent) ([]byte, error) { return message(base, e) }

// Allowed says whether messages may be sent to an address.
func Allowed(address string, private bool) bool {
	return httplimit.AllowedAddress(netip.MustParseAddr(address), private)
}

// Pause is the time until the next attempt.
func Pause(attempt int, asked time.Duration, random float64) (time.Duration, bool) {
	return pause(DefaultDelays(), attempt, asked, random)
}

// RetryAfter reads the header of that name.
func RetryAfter(header string, now time.Time) time.Duration { return retryAfter(header, now) }
