package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestTheStoreGivesWhatItsNamesSay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := record.OpenStore(dir)
	d := must.Get(s.Put([]byte("a module")))(t)
	if _, err := s.Put([]byte("a module")); err != nil {
		t.Error(err)
	}
	if wasm, err := s.Get(d); err != nil || string(wasm) != "a module" {
		t.Errorf("%q, %v", wasm, err)
	}
	if _, err := s.Get(record.DigestOf([]byte("another"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another: %v", err)
	}
	name := filepath.Join(dir, "sha256-"+d.Hex()+".wasm")
	must.Do(t, os.WriteFile(name, []byte("a wodule"), 0o600))
	if _, err := s.Get(d); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a module that was changed: %v", err)
	}
	if _, err := s.Put([]byte("a module")); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(d); err != nil {
		t.Errorf("put again: %v", err)
	}
}
