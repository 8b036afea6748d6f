//go:build unix && !aix && !solaris

package strictyaml_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A pipe that nobody writes to is rejected at once, and one that somebody writes to is read, as <(command) of a shell is.
func TestPipesAreReadOnlyIfSomebodyWrites(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	check.Fails(t, check.Err(strictyaml.ReadFile(pipe, 100, strictyaml.Open)), "a pipe that nobody writes to", "a pipe")
	writer := must.Get(os.OpenFile(pipe, os.O_RDWR, 0))(t)
	go func() {
		_, _ = writer.WriteString("name: x\n")
		_ = writer.Close()
	}()
	if data, err := strictyaml.ReadFile(pipe, 100, strictyaml.Open); string(data) != "name: x\n" {
		t.Errorf("%q, %v", data, err)
	}
	check.Fails(t, check.Err(strictyaml.ReadFile(os.DevNull, 100, strictyaml.Open)), "neither a file nor a pipe", "a device")
}
