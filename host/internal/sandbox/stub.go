package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// wazero validates a module before it looks for it in its cache, which takes three times as long as reading the machine code.
// What was compiled has been validated already, and nothing else of wazero reads the functions of a module that was compiled. So an
// entry keeps the machine code of the module under the name that wazero gives to its stub: the same module, in which every
// function traps at once.
//
// A stub must never be compiled in place of its module. wazero does that where it finds no machine code, for example because the
// processor is another, and then writes a file: so what it gives is used only if the entry is as it was before.

// stubName is the file of an entry that holds the stub, and how its module was rewritten.
const stubName = "stub"

// cached is the program of a module that was compiled before, or nil.
func (e *Engine) cached(ctx context.Context, file *wasmfile.File, code Digest) *program {
	if e.cache == nil {
		return nil
	}
	entry := e.cache.entry(code, e.rewriting(), e.meter)
	files, err := entry.verify()
	if err == nil && len(files) == 0 {
		return nil
	}
	entry.used(e.now())
	var p *program
	if err == nil {
		p, err = e.load(ctx, entry, files, file)
	}
	if err != nil {
		entry.drop()
		e.log.Warn("compile cache entry dropped", "code", code.String(), "error", err)
	}
	return p
}

// load gives the program of an entry whose files were verified.
func (e *Engine) load(ctx context.Context, entry *cacheEntry, files []string, file *wasmfile.File) (*program, error) {
	data, err := os.ReadFile(filepath.Join(entry.dir, stubName))
	if err != nil {
		return nil, err
	}
	stub, err := decodeProgram(data)
	if err != nil {
		return nil, err
	}
	before, err := entry.stat(files)
	if err != nil {
		return nil, err
	}
	p, err := e.compileIn(ctx, entry.dir, stub, file)
	if err != nil {
		return nil, err
	}
	after, err := entry.files()
	if err == nil && !slices.Equal(after, files) {
		err = fmt.Errorf("the files are %q instead of %q", after, files)
	}
	if err == nil {
		err = entry.same(before, files)
	}
	if err != nil {
		return nil, errors.Join(err, p.close(ctx))
	}
	return p, nil
}

// stat gives what the file system says of files.
func (c *cacheEntry) stat(files []string) ([]fs.FileInfo, error) {
	infos := make([]fs.FileInfo, len(files))
	for i, name := range files {
		var err error
		if infos[i], err = os.Lstat(filepath.Join(c.dir, name)); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// same reports a file that was written or replaced since stat.
func (c *cacheEntry) same(before []fs.FileInfo, files []string) error {
	after, err := c.stat(files)
	for i := range after {
		if was := before[i]; !os.SameFile(was, after[i]) || was.Size() != after[i].Size() || !was.ModTime().Equal(after[i].ModTime()) {
			return fmt.Errorf("%s was replaced", files[i])
		}
	}
	return err
}

// compileAndKeep compiles a module into the entry of its code. What is in the cache afterwards matters only to the next load.
func (e *Engine) compileAndKeep(ctx context.Context, rewritten *instrument.Program, code Digest, file *wasmfile.File) (*program, error) {
	entry := e.cache.entry(code, e.rewriting(), e.meter)
	made, err := entry.begin()
	if err != nil {
		return nil, err
	}
	defer made.drop()
	name, err := e.keepStub(ctx, made, rewritten, file)
	if err != nil {
		return nil, err
	}
	full := &cacheEntry{filepath.Join(made.dir, "full")}
	p, err := e.compileIn(ctx, full.dir, rewritten, file)
	if err != nil {
		return nil, err
	}
	machine, err := full.only()
	if err == nil {
		err = os.Rename(filepath.Join(full.dir, machine), filepath.Join(made.dir, name))
	}
	full.drop()
	if err == nil {
		err = entry.place(made)
	}
	if err != nil {
		return nil, errors.Join(err, p.close(ctx))
	}
	if err := e.cache.bound(); err != nil {
		e.log.Warn("compile cache not trimmed to its size", "error", err)
	}
	return p, nil
}

// keepStub writes the stub of a module, and gives the name of wazero's file for its machine code.
func (e *Engine) keepStub(ctx context.Context, made *cacheEntry, rewritten *instrument.Program, file *wasmfile.File) (string, error) {
	parsed, err := wasmfile.Parse(rewritten.Wasm)
	if err != nil {
		return "", err
	}
	stub := *rewritten
	stub.Wasm = parsed.WithoutCode()
	p, err := e.compileIn(ctx, made.dir, &stub, file)
	if err != nil {
		return "", err
	}
	name, err := made.only()
	if err = errors.Join(err, p.close(ctx)); err == nil {
		err = os.WriteFile(filepath.Join(made.dir, stubName), encodeProgram(&stub), 0o600)
	}
	return name, err
}

// only is the name of the one file.
func (c *cacheEntry) only() (string, error) {
	files, err := c.files()
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("wazero keeps a module in %d files, not in one", len(files))
	}
	if err != nil {
		return "", err
	}
	return files[0], nil
}
