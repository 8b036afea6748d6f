package work

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Message is the body of an event, ErrLasting says that it is not sent again.
var (
	Message    = message
	ErrLasting = errLasting
)

// Signature signs as messages are signed.
func Signature(secrets []string, id string, at time.Time, body []byte) (string, error) {
	var keys [][]byte
	for _, text := range secrets {
		s, err := parseSecret(text)
		if err != nil {
			return "", err
		}
		keys = append(keys, s)
	}
	return signature(keys, id, at, body), nil
}

// ParseHooks reads a file of webhooks.
func ParseHooks(data []byte, getenv func(string) string) ([]*Hook, error) {
	return parseHooks("hooks.yaml", data, getenv)
}

// Sender makes attempts to send.
func Sender(c *Config, resolver *net.Resolver, roots *tls.Config) func(context.Context, *store.MessageArgs) error {
	return newSender(c, resolver, roots).send
}
