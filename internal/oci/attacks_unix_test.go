//go:build unix

package oci_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/oci"
)

// A pipe in a layout is not read, which would wait for ever.
func TestAccept_DI3_APipeInALayout(t *testing.T) {
	t.Parallel()
	c, dir := client(t, oci.Config{}), filepath.Join(t.TempDir(), "site")
	a := push(t, c, ref(t, "oci-layout:"+dir+":v1"))
	for _, file := range []string{filepath.Join("blobs", "sha256", strings.TrimPrefix(a.Layer.Digest, "sha256:")), "index.json", "oci-layout"} {
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, file), 0o600); err != nil {
			t.Fatal(err)
		}
		rejected(t, c, a.Ref, "not a regular file")
	}
}
