package answers

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"github.com/shadowcourt/shadowcourt/host/casebook"
)

const fingerprintDigits = 32

// FingerprintOf is that of a failure: of the test, and of its message without what changes from run to run.
func FingerprintOf(id, message string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + casebook.Take(casebook.Failure{Test: id, Texts: []string{cmp.Or(message, "-")}}).Exact))
	return hex.EncodeToString(sum[:])[:fingerprintDigits]
}
