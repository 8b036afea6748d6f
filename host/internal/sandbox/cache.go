package sandbox

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/complexity"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// compileCache is a directory of compiled modules, one entry for each, under a directory for the version of the compiler. An entry is made
// in a folder of its own and takes its name when it is complete; nothing in it changes then.
//
// wazero validates a module before it looks for it in its own cache, which takes three times as long as reading the machine code. What was
// compiled has been validated already, and nothing else of wazero reads the functions of a module that was compiled. So an entry keeps the
// machine code of the module under the name that wazero gives to its stub: the same module, in which every function traps at once. Beside it
// is the stub, behind a checksum of both files.
//
// A stub must never be compiled in place of its module. wazero does that where it finds no machine code, for example because the processor is
// another, and then writes a file: so what it gives is used only if the entry is as it was before.
type compileCache struct {
	dir  string
	most int64 // bytes of all entries
}

// cacheVersion names what entries depend on beside the module. Its first number changes with the layout of entries.
func cacheVersion() string {
	return strings.Join([]string{"v7", compilerVersion(), instrument.Version, runtime.GOOS, runtime.GOARCH}, "-")
}

// compilerVersion is wazero's, as it is linked into this program.
func compilerVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/tetratelabs/wazero" {
				return dep.Version
			}
		}
	}
	return "unversioned"
}

func openCompileCache(dir string) (*compileCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("sandbox: compile cache: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("sandbox: compile cache: %w", err)
	}
	if err := disk.PrivateFolder(info); err != nil {
		return nil, fmt.Errorf("sandbox: compile cache %s: %w", dir, err)
	}
	version := filepath.Join(dir, cacheVersion())
	if err := os.MkdirAll(version, 0o700); err != nil {
		return nil, fmt.Errorf("sandbox: compile cache: %w", err)
	}
	return &compileCache{dir: version, most: DefaultCacheBytes}, nil
}

// entry of a module with that code. A manifest makes no difference. Each way of metering compiles to other machine code.
func (c *compileCache) entry(code Digest, options instrument.Options, meter Metering) string {
	return filepath.Join(c.dir, fmt.Sprintf("%x-%d-%d", code[:], options.MaxTableEntries, meter))
}

const (
	stubName   = "stub"
	unfinished = "-new-" // ends the name of an entry that is being made, before a random number
)

// machineCode gives the name of wazero's file in an entry, which is the only one, and what the file system says of it.
func machineCode(entry string) (name string, info fs.FileInfo, err error) {
	names, err := fs.Glob(os.DirFS(entry), "*/*")
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("wazero keeps a module in %d files, not in one", len(names))
	}
	if err != nil {
		return "", nil, err
	}
	name = filepath.Join(entry, filepath.FromSlash(names[0]))
	info, err = os.Lstat(name)
	return name, info, err
}

// checksum of the file of machine code and of its stub. It tells of damage, not of attacks: whoever can write to the folder can write another.
func checksum(name string, stub []byte) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, err = io.Copy(h, f)
	_, _ = h.Write(stub) // a hash has no errors
	return h.Sum(nil), errors.Join(err, f.Close())
}

// DefaultCacheBytes is what the entries of a compile cache may take together, 1 GiB: a module of the Go toolchain takes about 12 MiB.
const DefaultCacheBytes int64 = 1 << 30

// CacheUse is what a compile cache holds.
type CacheUse struct {
	Entries int
	Bytes   int64
}

// MeasureCache says what the compile cache in a directory holds, of all versions; nothing when there is none.
func MeasureCache(dir string) (CacheUse, error) {
	_, use, err := cacheEntries(dir)
	return use, err
}

// ClearCache removes all entries of the compile cache in a directory, and says what they took. Other things in it stay. Programs that use
// it at the same time compile their modules again.
func ClearCache(dir string) (CacheUse, error) {
	entries, use, err := cacheEntries(dir)
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, removeEntry(e.path))
	}
	return use, errors.Join(errs...)
}

// removeEntry removes an entry. One that another process makes meanwhile stays.
func removeEntry(path string) error {
	err := os.RemoveAll(path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// bound removes the entries that were used longest ago, of all versions and those that were never completed, until the others take no more
// than they may. The one that was used last stays. Only what has the name of an entry is touched: the directory is the user's, who may keep
// other things there. A process that loses an entry while it loads it compiles the module again.
func (c *compileCache) bound() error {
	entries, left, err := cacheEntries(filepath.Dir(c.dir))
	errs := []error{err}
	slices.SortFunc(entries, func(a, b sizedEntry) int { return a.used.Compare(b.used) })
	for i := 0; i < len(entries)-1 && left.Bytes > c.most; i++ {
		errs = append(errs, removeEntry(entries[i].path))
		left.Bytes -= entries[i].bytes
	}
	return errors.Join(errs...)
}

var (
	versionName = regexp.MustCompile(`^v[0-9]+-`)
	entryName   = regexp.MustCompile(`^[0-9a-f]{64}(-|$)`)
)

type sizedEntry struct {
	path  string
	used  time.Time
	bytes int64
}

// cacheEntries lists the entries of all versions, by their names, with what they take. What vanishes meanwhile takes nothing.
func cacheEntries(dir string) (list []sizedEntry, use CacheUse, err error) {
	paths, err := fs.Glob(os.DirFS(dir), "v*/*")
	for _, name := range paths {
		version, base := path.Split(name)
		entry := sizedEntry{path: filepath.Join(dir, filepath.FromSlash(name))}
		info, err := os.Lstat(entry.path)
		if err != nil || !info.IsDir() || !versionName.MatchString(version) || !entryName.MatchString(base) {
			continue
		}
		entry.used = info.ModTime()
		_ = filepath.WalkDir(entry.path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // see above
			}
			if info, err := d.Info(); err == nil {
				entry.bytes += info.Size()
			}
			return nil
		})
		list = append(list, entry)
		use.Entries, use.Bytes = use.Entries+1, use.Bytes+entry.bytes
	}
	return list, use, err
}

// cached is the program of a module that was compiled before, or nil.
func (e *Engine) cached(ctx context.Context, file *wasmfile.File, code Digest) *program {
	if e.cache == nil {
		return nil
	}
	entry := e.cache.entry(code, e.rewriting(), e.meter)
	if _, err := os.Lstat(entry); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	now := e.now()
	_ = os.Chtimes(entry, now, now) // what was used last stays longest
	p, err := e.fromEntry(ctx, entry, file)
	if err != nil {
		_ = removeEntry(entry)
		e.log.Warn("compile cache entry dropped", "code", code.String(), "error", err)
		return nil
	}
	return p
}

var errDamaged = errors.New("its files are not as they were written")

// fromEntry gives the program of an entry.
func (e *Engine) fromEntry(ctx context.Context, entry string, file *wasmfile.File) (*program, error) {
	name, before, err := machineCode(entry)
	if err != nil {
		return nil, err
	}
	stub, err := readStub(entry, name)
	if err != nil {
		return nil, err
	}
	p, err := e.compileIn(ctx, entry, stub, file)
	if err != nil {
		return nil, err
	}
	_, after, err := machineCode(entry)
	if err == nil && (!os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size()) {
		err = errDamaged
	}
	if err != nil {
		return nil, errors.Join(err, p.close(ctx))
	}
	return p, nil
}

// compileAndKeep compiles a module into the entry of its code. What is in the cache afterwards matters only to the next load.
func (e *Engine) compileAndKeep(ctx context.Context, rewritten *instrument.Program, code Digest, file *wasmfile.File) (*program, error) {
	entry := e.cache.entry(code, e.rewriting(), e.meter)
	made, err := os.MkdirTemp(filepath.Dir(entry), filepath.Base(entry)+unfinished)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(made) }()
	stub, name, err := e.makeStub(ctx, made, rewritten, file)
	if err != nil {
		return nil, err
	}
	full := filepath.Join(made, "full")
	p, err := e.compileIn(ctx, full, rewritten, file)
	if err != nil {
		return nil, err
	}
	compiled, _, err := machineCode(full)
	if err == nil {
		err = os.Rename(compiled, name)
	}
	if err = errors.Join(err, os.RemoveAll(full)); err == nil {
		err = writeStub(made, name, stub)
	}
	if err == nil {
		err = os.Rename(made, entry)
	}
	if err != nil {
		if _, there := os.Lstat(entry); there != nil { // one that another process made meanwhile is as good
			return nil, errors.Join(err, p.close(ctx))
		}
	}
	if err := e.cache.bound(); err != nil {
		e.log.Warn("compile cache not trimmed to its size", "error", err)
	}
	return p, nil
}

// makeStub compiles the stub of a module, and gives the name of wazero's file for its machine code.
func (e *Engine) makeStub(ctx context.Context, entry string, rewritten *instrument.Program, file *wasmfile.File) (*instrument.Program, string, error) {
	parsed, err := wasmfile.Parse(rewritten.Wasm)
	if err != nil {
		return nil, "", err
	}
	stub := *rewritten
	stub.Wasm = parsed.WithoutCode()
	p, err := e.compileIn(ctx, entry, &stub, file)
	if err != nil {
		return nil, "", err
	}
	name, _, err := machineCode(entry)
	return &stub, name, errors.Join(err, p.close(ctx))
}

// keptStub is a stub as it is written, but for its bytes, which follow it as they are: its module, and its segments, of which a module of
// the Go toolchain has tens of thousands.
type keptStub struct {
	Program          instrument.Program // without the module and segments
	Module           int                // bytes of the module
	Offsets, Lengths []uint32
}

// writeStub writes the stub of an entry, whose machine code has that name.
func writeStub(entry, name string, stub *instrument.Program) error {
	kept := keptStub{Program: *stub, Module: len(stub.Wasm)}
	raw := slices.Clone(stub.Wasm)
	for _, s := range stub.Segments {
		kept.Offsets, kept.Lengths = append(kept.Offsets, s.Offset), append(kept.Lengths, uint32(len(s.Data)))
		raw = append(raw, s.Data...)
	}
	kept.Program.Wasm, kept.Program.Segments = nil, nil
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&kept); err != nil {
		return err
	}
	b.Write(raw)
	sum, err := checksum(name, b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(entry, stubName), append(sum, b.Bytes()...), 0o600)
}

// readStub reads the stub of an entry that is as it was written.
func readStub(entry, name string) (*instrument.Program, error) {
	data, err := os.ReadFile(filepath.Join(entry, stubName))
	if err != nil {
		return nil, err
	}
	written := data[min(crc32.Size, len(data)):]
	sum, err := checksum(name, written)
	if err != nil {
		return nil, err
	}
	var kept keptStub
	r := bytes.NewReader(written) // of which gob reads no byte too many
	if !bytes.HasPrefix(data, sum) || gob.NewDecoder(r).Decode(&kept) != nil {
		return nil, errDamaged
	}
	take := func(n int) []byte {
		raw := written[len(written)-r.Len():][:n:n]
		_, _ = r.Seek(int64(n), io.SeekCurrent)
		return raw
	}
	stub := &kept.Program
	stub.Wasm, stub.Segments = take(kept.Module), make([]instrument.Segment, len(kept.Lengths))
	for i, n := range kept.Lengths {
		stub.Segments[i] = instrument.Segment{Offset: kept.Offsets[i], Data: take(int(n))}
	}
	return stub, nil
}

// rewrite rewrites a module, and bounds what compiling the result costs.
// The error is a *complexity.Error if it would cost too much, or a *wasmfile.Error.
func (e *Engine) rewrite(file *wasmfile.File) (*instrument.Program, error) {
	p, err := instrument.Rewrite(file, e.rewriting())
	if err != nil {
		return nil, err
	}
	rewritten, err := wasmfile.Parse(p.Wasm)
	if err != nil {
		return nil, err
	}
	limits := complexity.Cost{Steps: float64(e.limits.CompileSteps), Bytes: float64(e.limits.CompileBytes)}
	if _, err := complexity.Check(rewritten, file.ImportedFuncs, limits); err != nil {
		return nil, err
	}
	return p, nil
}

// rewriting is how modules are rewritten.
func (e *Engine) rewriting() instrument.Options {
	return instrument.Options{Fuel: e.meter == MeterFuel, MaxTableEntries: e.limits.TableEntries}
}
