//go:build unix && !aix && !solaris

package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A pipe in the place of a file is rejected, and nobody waits for who has its other end.
func TestPipesAndDevicesAreRejected(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	dir := t.TempDir()
	digest := record.DigestOf([]byte("a module"))
	pipe, module := filepath.Join(dir, "pipe"), filepath.Join(dir, "sha256-"+digest.Hex()+".wasm")
	must.Do(t, errors.Join(syscall.Mkfifo(pipe, 0o600), syscall.Mkfifo(module, 0o600)))
	for name, open := range map[string]func() error{
		"resume a pipe":      func() error { _, err := record.Resume(pipe, key, header(), -1, ""); return err },
		"resume a device":    func() error { _, err := record.Resume(os.DevNull, key, header(), -1, ""); return err },
		"a module that is a": func() error { _, err := record.OpenStore(dir).Get(digest); return err },
	} {
		done := make(chan error, 1)
		go func() { done <- open() }()
		select {
		case err := <-done:
			if !errors.Is(err, record.ErrNotRegular) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it waits", name)
		}
	}
	if _, err := record.OpenStore(dir).Put([]byte("a module")); err != nil {
		t.Errorf("put in the place of a pipe: %v", err)
	}
}
