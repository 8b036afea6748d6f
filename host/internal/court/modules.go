package court

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// errUnsteady: modules changed while they were read.
var errUnsteady = errors.New("the modules change while they are read: try again when they are in place")

// How often a folder that changes is read again before it is an error, and how long to wait in between: a swap puts its
// files in place in milliseconds.
const (
	readAttempts = 100
	readPause    = 20 * time.Millisecond
)

// Sleep waits for d, or until the context ends; then it returns the context's error.
type Sleep func(ctx context.Context, d time.Duration) error

// timer is the Sleep of the real clock.
func timer(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ReadModules reads the file of each name, see [pipeline.ModuleFile], all from one generation of the folder; a nil fsys means the embedded modules.
// A missing file is left out: the registry reports it. A folder is read twice and compared, so that no half-copied set is
// accepted, and is read again while it changes. A nil sleep means the real clock.
func ReadModules(ctx context.Context, fsys fs.FS, names []string, sleep Sleep) (map[string]sandbox.File, error) {
	if fsys == nil {
		return embedded(names)
	}
	if sleep == nil {
		sleep = timer
	}
	var err error
	for range readAttempts {
		var first, second map[string][]byte
		if first, err = ReadGeneration(fsys, names); err == nil {
			second, err = ReadGeneration(fsys, names)
		}
		if err == nil && maps.EqualFunc(first, second, bytes.Equal) {
			return Files(second), nil
		}
		if err == nil {
			err = errUnsteady
		}
		if !Changing(err) {
			return nil, err
		}
		if stopped := sleep(ctx, readPause); stopped != nil {
			return nil, stopped
		}
	}
	return nil, err
}

// Files are modules in memory.
func Files(modules map[string][]byte) map[string]sandbox.File {
	files := make(map[string]sandbox.File, len(modules))
	for name, wasm := range modules {
		files[name] = sandbox.Bytes(wasm)
	}
	return files
}

// embedded gives the embedded modules of those names.
func embedded(names []string) (map[string]sandbox.File, error) {
	all, err := Embedded()
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(name string, _ sandbox.File) bool { return !slices.Contains(names, name) })
	return all, nil
}

// Embedded are all embedded modules, which are decompressed when one of them is read. The error may be bundle.ErrNotBuilt.
func Embedded() (map[string]sandbox.File, error) {
	heads, err := bundle.Heads()
	if err != nil {
		return nil, err
	}
	files := make(map[string]sandbox.File, len(heads))
	for name, head := range heads {
		files[name] = sandbox.Headed{Head: head, Read: func() ([]byte, error) {
			modules, err := bundle.FS()
			if err != nil {
				return nil, err
			}
			return readFile(modules, name+".wasm")
		}}
	}
	return files, nil
}

// Changing reports whether an error may be gone when the folder is read again.
func Changing(err error) bool {
	return errors.Is(err, errUnsteady) || errors.Is(err, moduledir.ErrMixed)
}

// ReadGeneration reads modules of a folder that no swap changes meanwhile. The error is errUnsteady if one did, and
// moduledir.ErrMixed if one has not ended.
func ReadGeneration(fsys fs.FS, names []string) (map[string][]byte, error) {
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
			return string(record.DigestOf(wasm))
		}
		return ""
	})
}

func readFiles(fsys fs.FS, names []string) (map[string][]byte, error) {
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		file := pipeline.ModuleFile(name)
		wasm, err := readFile(fsys, file)
		switch {
		case err == nil:
			files[name] = wasm
		case !errors.Is(err, fs.ErrNotExist) && fs.ValidPath(file): // the registry says which are not there, and where they are named
			return nil, fmt.Errorf("read module %q: %w", name, err)
		}
	}
	return files, nil
}

func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadModule(f, name)
}

// ReadModule reads a module, and rejects one of more than abi.DefaultModuleBytes without holding it. name is for messages.
func ReadModule(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, abi.DefaultModuleBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > abi.DefaultModuleBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, abi.DefaultModuleBytes)
	}
	return data, nil
}
