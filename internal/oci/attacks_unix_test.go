//go:build unix

package oci_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A pipe in a layout is not read, which would wait for ever.
func TestAccept_DI3_APipeInALayout(t *testing.T) {
	t.Parallel()
	c, dir := client(t, oci.Config{}), filepath.Join(t.TempDir(), "site")
	a := push(t, c, ref(t, "oci-layout:"+dir+":v1"))
	for _, file := range []string{blob(a.Layer.Digest), "index.json", "oci-layout"} {
		must.Do(t, os.Remove(filepath.Join(dir, file)))
		must.Do(t, syscall.Mkfifo(filepath.Join(dir, file), 0o600))
		rejected(t, c, a.Ref, "not a regular file")
	}
}
