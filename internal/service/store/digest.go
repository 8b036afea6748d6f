package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// digestOf is the SHA-256 of some bytes in hexadecimal digits.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// VerdictKey is what a verdict is unique by: the digests of its case and its configuration, and the generation.
func VerdictKey(caseDigest string, generation int64, configuration string) string {
	return digestOf([]byte(caseDigest + "\n" + strconv.FormatInt(generation, 10) + "\n" + configuration))
}
