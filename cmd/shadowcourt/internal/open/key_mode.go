package open

import (
	"fmt"
	"io"
	"os"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// WarnOfKey warns of the file of a secret key that others than its owner may
// read or write. Keys of variables, public keys, and what is no file of its own
// such as a pipe, have no mode that says so.
func WarnOfKey(stderr io.Writer, name string) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	mode := info.Mode().Perm()
	if mode&modeOfOthers == 0 {
		return
	}
	if key, err := Key(name); err != nil || !key.Signs() {
		return
	}
	shown := sanitize.Line(name)
	fmt.Fprintf(stderr, "warning: others may read or write the secret key %s (mode %04o); `chmod 600 %s` keeps it to its owner\n", shown, mode, shown)
}
