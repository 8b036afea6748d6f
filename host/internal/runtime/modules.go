package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
)

// errUnsteady: modules changed while they were read.
var errUnsteady = errors.New("the modules change while they are read: try again when they are in place")

// How often a folder that changes is read again before it is an error, and how long to wait in between: a swap puts its
// files in place in milliseconds.
const (
	readAttempts = 100
	readPause    = 20 * time.Millisecond
)

// readModules reads NAME.wasm for each name, all of one generation; nil means the embedded modules. A file that is not there
// is left out: the registry names it. Folders are read twice, and compared, so that files which something else than
// `plugin swap` copies are not taken while it does.
func readModules(fsys fs.FS, names []string) (map[string][]byte, error) {
	if fsys == nil {
		embedded, err := bundle.FS()
		if err != nil {
			return nil, err
		}
		return readFiles(embedded, names)
	}
	var err error
	for range readAttempts {
		var first, second map[string][]byte
		if first, err = readGeneration(fsys, names); err == nil {
			second, err = readGeneration(fsys, names)
		}
		if err == nil && maps.EqualFunc(first, second, bytes.Equal) {
			return second, nil
		}
		if err == nil {
			err = errUnsteady
		}
		if !changing(err) {
			return nil, err
		}
		time.Sleep(readPause)
	}
	return nil, err
}

// changing says whether an error may be gone at the next look.
func changing(err error) bool {
	return errors.Is(err, errUnsteady) || errors.Is(err, moduledir.ErrMixed)
}

// readGeneration reads modules of a folder that no swap changes meanwhile. The error is errUnsteady if one did, and
// moduledir.ErrMixed if one has not ended.
func readGeneration(fsys fs.FS, names []string) (map[string][]byte, error) {
	before, err := moduledir.ReadGeneration(fsys)
	if err != nil {
		return nil, err
	}
	files, err := readFiles(fsys, names)
	if err != nil {
		return nil, err
	}
	after, err := moduledir.ReadGeneration(fsys)
	if err != nil {
		return nil, err
	}
	if !before.Equal(after) {
		return nil, errUnsteady
	}
	return files, after.Check(func(name string) string {
		if wasm, ok := files[name]; ok {
			return digest(wasm)
		}
		return ""
	})
}

func readFiles(fsys fs.FS, names []string) (map[string][]byte, error) {
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		wasm, err := readBounded(fsys, name+".wasm", abi.DefaultModuleBytes)
		switch {
		case err == nil:
			files[name] = wasm
		case !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(name, `/\`):
			return nil, fmt.Errorf("read module %q: %w", name, err)
		}
	}
	return files, nil
}
