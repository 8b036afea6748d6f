// Package bundle holds the modules that are built into the program. They are
// not committed: `make plugins` builds them into dist with the Go toolchain
// alone, and the next build of the program embeds them.
package bundle

import (
	"embed"
	"errors"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// ErrNotBuilt: this program was built before its modules.
var ErrNotBuilt = errors.New("the modules are not built into this program: run `make plugins` and build it again")

// FS holds NAME.wasm for every embedded module. The error is ErrNotBuilt when
// there are none.
func FS() (fs.FS, error) {
	modules, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, err
	}
	found, err := fs.Glob(modules, "*.wasm")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ErrNotBuilt
	}
	return modules, nil
}
