package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// TokenPrefix begins every token, so that scanners of secrets find one that was committed somewhere.
const TokenPrefix = "sct_"

// secretBytes of randomness are in a token and in the ID of a session.
const secretBytes = 32

// Hash is the SHA-256 of a token or of the ID of a session: all of it that is kept.
type Hash [sha256.Size]byte

// String is the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// HashOf is the hash of a secret.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// NewToken makes a token from 256 random bits. It is shown once; keep its hash.
func NewToken(random io.Reader) (string, error) {
	secret, err := newSecret(random)
	return TokenPrefix + secret, err
}

func newSecret(random io.Reader) (string, error) {
	b := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// ErrNoToken says that a text is not one of our tokens, whatever the store has.
var ErrNoToken = errors.New("not a token: one begins with " + TokenPrefix + " and 43 letters, digits, - or _ follow")

// CheckToken says whether a text has the form of a token.
func CheckToken(text string) error {
	secret, ok := strings.CutPrefix(text, TokenPrefix)
	if !ok || !isSecret(secret) {
		return ErrNoToken
	}
	return nil
}

// isSecret checks the form of a secret before it costs a look into the store.
func isSecret(text string) bool {
	if len(text) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil
}
