//go:build unix && !aix && !solaris

package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Two start on one record at once: one of them writes it, and the other is told so.
func TestTwoStartsMakeOneRecord(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	dir := t.TempDir()
	for i := range 300 {
		name := filepath.Join(dir, "record"+strings.Repeat("x", i%50))
		var writers [3]*record.Writer
		var errs [3]error
		var all sync.WaitGroup
		for n := range writers {
			all.Go(func() {
				if n == 0 {
					writers[n], errs[n] = record.Create(name, key, header())
				} else {
					writers[n], errs[n] = record.Resume(name, key, header(), -1, "")
				}
			})
		}
		all.Wait()
		writing := 0
		for n, w := range writers {
			if errs[n] != nil {
				if !errors.Is(errs[n], record.ErrInUse) && !errors.Is(errs[n], os.ErrExist) {
					t.Fatalf("run %d: %v", i, errs[n])
				}
				continue
			}
			writing++
			must.Do(t, w.Finish())
		}
		must.Equal(t, writing, 1, "run", i, "write", errs)
		if report := verify(t, read(t, name), key); !report.Complete() {
			t.Fatalf("run %d: %+v", i, report)
		}
		must.Do(t, os.Remove(name))
	}
}

// Another process resumes the file that Create just made, before it is locked: it is that one's, whatever Create finds.
func TestCreateLeavesTheFileToWhoLockedIt(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	for _, done := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "record")
		var resumed *record.Writer
		finish := func() {
			must.Do(t, resumed.Finish())
		}
		_, err := record.CreateAfter(file, key, header(), func() {
			resumed = must.Get(record.Resume(file, key, header(), -1, ""))(t)
			if done {
				finish()
			}
		})
		want := record.ErrInUse
		if done {
			want = os.ErrExist
		} else {
			finish()
		}
		check.Is(t, err, want, "done", done)
		if report := verify(t, read(t, file), key); !report.Complete() || report.Entries != 2 {
			t.Errorf("done %t: %+v", done, report)
		}
	}
	// Another put its own file in the place.
	file := filepath.Join(t.TempDir(), "record")
	_, err := record.CreateAfter(file, key, header(), func() {
		must.Do(t, errors.Join(os.Remove(file), os.WriteFile(file, []byte("another's"), 0o600)))
	})
	if !errors.Is(err, os.ErrExist) || string(read(t, file)) != "another's" {
		t.Errorf("%v, %q", err, read(t, file))
	}
}

// A file that lost its name before it was locked is not the record any more.
func TestResumeTakesTheFileThatHasTheName(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "record")
		must.Do(t, os.WriteFile(file, nil, 0o600))
		err := record.OpenAfter(file, func() {
			err := os.Remove(file)
			if again {
				err = errors.Join(err, os.WriteFile(file, nil, 0o600))
			}
			must.Do(t, err)
		})
		check.Is(t, err, os.ErrNotExist, "there again", again)
	}
	file := filepath.Join(t.TempDir(), "record")
	must.Do(t, errors.Join(os.WriteFile(file, nil, 0o600), record.OpenAfter(file, func() {})))
}

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
			check.Is(t, err, record.ErrNotRegular, name)
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it waits", name)
		}
	}
	must.Get(record.OpenStore(dir).Put([]byte("a module")))(t, "put in the place of a pipe")
}
