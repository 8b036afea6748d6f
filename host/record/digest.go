package record

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Digest is a SHA-256 as text: "sha256:" and 64 hex digits.
type Digest string

const digestPrefix = "sha256:"

// DigestOf gives the digest of data.
func DigestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return DigestOfSum(sum)
}

// DigestOfSum gives the digest that a SHA-256 is.
func DigestOfSum(sum [sha256.Size]byte) Digest {
	var text [len(digestPrefix) + 2*sha256.Size]byte
	copy(text[:], digestPrefix)
	hex.Encode(text[len(digestPrefix):], sum[:])
	return Digest(text[:])
}

// Hex gives the 64 digits alone.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), digestPrefix) }

// valid says whether the digest is one.
func (d Digest) valid() bool {
	digits, ok := strings.CutPrefix(string(d), digestPrefix)
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}
