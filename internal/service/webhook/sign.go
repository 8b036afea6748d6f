// Package webhook tells other programs what happened in the service: it reads the operator's file of webhooks ([Read]), makes the messages
// (JSON), signs them as the Standard Webhooks specification says, and sends them to addresses
// that are allowed ([Sender]). What happened, and which attempt is next, is in the store; package work calls the Sender.
//
// Receivers are not trusted: an attempt has a time limit, follows no redirects, reads some kilobytes of the answer, and keeps a short,
// sanitized excerpt of it. Addresses and secrets are in no error, no log and no database.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// The headers of the Standard Webhooks specification.
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

// secret is a key that signs messages.
type secret struct{ key []byte }

// String shows nothing of it.
func (secret) String() string { return "[secret]" }

// GoString shows nothing of it.
func (secret) GoString() string { return "[secret]" }

const secretPrefix = "whsec_"

// Bounds of a secret in bytes, as the specification has them.
const (
	leastSecret = 24
	mostSecret  = 64
)

var errSecret = errors.New("is no secret: write whsec_ and the base64 of 24 to 64 random bytes, such as from `echo whsec_$(head -c 32 /dev/urandom | base64)`")

// parseSecret reads a secret in the form of the specification. The error does not quote it.
func parseSecret(text string) (secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < leastSecret || len(key) > mostSecret {
		return secret{}, errSecret
	}
	return secret{key}, nil
}

// signature is the header of that name: a signature by each of the secrets, so that a receiver may know either while they are changed.
// The authors of the specification have a library for Go, of which these lines are all that is needed; `make webhook-tests` verifies them with
// the authors' library for Python.
func signature(secrets []secret, id string, at time.Time, body []byte) string {
	list := make([]string, len(secrets))
	for i, s := range secrets {
		mac := hmac.New(sha256.New, s.key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		list[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(list, " ")
}
