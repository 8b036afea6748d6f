package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
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
// It holds wazero's own cache, see stub.go, and a seal: a checksum of the files in it. wazero guards its files by a checksum over the
// machine code alone; a flipped bit in a function's offset would be executed. An entry that is not as it was sealed is removed before
// wazero sees it, and the module compiled again. The seal tells of damage, not of attacks: whoever can write to the folder can seal an
// entry, so a cryptographic hash would only make each start slower.
type compileCache struct {
	dir  string
	most int64 // bytes of all entries
}

// cacheFormat changes with the layout of entries.
const cacheFormat = "v5"

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

// cacheVersion names all that entries depend on but the module.
func cacheVersion() string {
	return strings.Join([]string{cacheFormat, compilerVersion(), instrument.Version, runtime.GOOS, runtime.GOARCH}, "-")
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

// entry of a module with that code. A manifest makes no difference. Each way of metering compiles to other machine code.
func (c *compileCache) entry(code Digest, options instrument.Options, meter Metering) *cacheEntry {
	name := fmt.Sprintf("%x-%d", code[:], options.MaxTableEntries)
	switch meter {
	case MeterFuel:
	case MeterNone:
		name += "-unmetered"
	case MeterRuntime:
		name += "-interrupted"
	}
	return &cacheEntry{dir: filepath.Join(c.dir, name)}
}

type cacheEntry struct{ dir string }

const (
	sealName   = "SEAL"
	unfinished = "-new-" // ends the name of an entry that is being made, before a random number
)

// verify compares the entry with its seal, and drops one that is not as it was sealed; the error says so.
// Without an entry there are no files and no error.
func (c *cacheEntry) verify() (files []string, err error) {
	sealed, err := os.ReadFile(filepath.Join(c.dir, sealName))
	if err == nil {
		var sum string
		if files, sum, err = c.checksum(); err == nil && sum == string(sealed) {
			return files, nil
		}
	}
	if _, missing := os.Lstat(c.dir); errors.Is(missing, fs.ErrNotExist) {
		return nil, nil
	}
	c.drop()
	if err == nil {
		err = errors.New("its files are not as they were sealed")
	}
	return nil, err
}

// begin makes the folder of an entry that is not complete. One that a killed process left goes with those that were used longest ago.
func (c *cacheEntry) begin() (*cacheEntry, error) {
	dir, err := os.MkdirTemp(filepath.Dir(c.dir), filepath.Base(c.dir)+unfinished)
	return &cacheEntry{dir}, err
}

// place seals an entry that begin made, and gives it its name. One that another process placed meanwhile is as good.
func (c *cacheEntry) place(made *cacheEntry) error {
	_, sum, err := made.checksum()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(made.dir, sealName), []byte(sum), 0o600); err != nil {
		return err
	}
	err = os.Rename(made.dir, c.dir)
	if _, there := os.Stat(filepath.Join(c.dir, sealName)); there == nil {
		return nil
	}
	return err
}

// drop forgets the entry. What cannot be removed is not vouched for either.
func (c *cacheEntry) drop() { _ = os.RemoveAll(c.dir) }

// checksum of the names and bytes of all files of the entry but the seal.
func (c *cacheEntry) checksum() (files []string, sum string, err error) {
	if files, err = c.files(); err != nil {
		return nil, "", err
	}
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, name := range files {
		f, err := os.Open(filepath.Join(c.dir, name))
		if err != nil {
			return nil, "", err
		}
		n, err := io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, "", err
		}
		_, _ = fmt.Fprintf(h, "%s %d\n", name, n) // a hash has no errors
	}
	return files, fmt.Sprintf("%08x", h.Sum32()), nil
}

// files gives the paths in the entry of all its files but the seal, in order. Anything that is no plain file is an error.
func (c *cacheEntry) files() ([]string, error) {
	var names []string
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(c.dir, path)
		if err != nil || name == sealName {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is not a plain file", name)
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
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
	entries, err := cacheEntries(dir)
	return useOf(entries), err
}

// ClearCache removes all entries of the compile cache in a directory, and says what they took. Other things in it stay. Programs that use
// it at the same time compile their modules again.
func ClearCache(dir string) (CacheUse, error) {
	entries, err := cacheEntries(dir)
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, removeEntry(filepath.Dir(e.path), filepath.Base(e.path)))
	}
	return useOf(entries), errors.Join(errs...)
}

// bound removes the entries that were used longest ago, of all versions and those that were never completed, until
// the others take no more than they may. The one that was used last stays. Only what has the name of an entry is
// touched: the directory is the user's, who may keep other things there.
func (c *compileCache) bound() error {
	entries, err := cacheEntries(filepath.Dir(c.dir))
	errs := []error{err}
	left := useOf(entries).Bytes
	slices.SortFunc(entries, func(a, b sizedEntry) int { return a.used.Compare(b.used) })
	for i := 0; i < len(entries)-1 && left > c.most; i++ {
		e := &entries[i]
		errs = append(errs, removeEntry(filepath.Dir(e.path), filepath.Base(e.path)))
		left -= e.bytes
	}
	return errors.Join(errs...)
}

const removingName = ".removing-"

var (
	versionName = regexp.MustCompile(`^v[0-9]+-`)
	entryName   = regexp.MustCompile(`^(\.removing-)*[0-9a-f]{64}(-|$)`)
)

// used notes that an entry is in use, by the time of its directory. It says nothing if that fails: then the entry was used by somebody
// else, or is not there yet, and will be new.
func (c *cacheEntry) used(now time.Time) { _ = os.Chtimes(c.dir, now, now) }

// removeEntry takes an entry out of sight first, so that nobody finds a part of it under its name. A process that loses an entry
// while it loads it compiles the module again; what has been loaded needs no file any more.
func removeEntry(dir, name string) error {
	hidden := filepath.Join(dir, removingName+name)
	if err := os.Rename(filepath.Join(dir, name), hidden); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		hidden = filepath.Join(dir, name) // somebody died while removing another of that name
	}
	return os.RemoveAll(hidden)
}

type sizedEntry struct {
	path  string
	used  time.Time
	bytes int64
}

func useOf(entries []sizedEntry) CacheUse {
	use := CacheUse{Entries: len(entries)}
	for _, e := range entries {
		use.Bytes += e.bytes
	}
	return use
}

// cacheEntries lists the entries of all versions, by their names.
func cacheEntries(dir string) ([]sizedEntry, error) {
	paths, err := fs.Glob(os.DirFS(dir), "v*/*")
	var list []sizedEntry
	errs := []error{err}
	for _, name := range paths {
		path := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another process removed it
		case err != nil:
			errs = append(errs, err)
		case info.IsDir() && versionName.MatchString(filepath.Base(filepath.Dir(path))) && entryName.MatchString(info.Name()):
			list = append(list, sizedEntry{path, info.ModTime(), bytesIn(path)})
		}
	}
	return list, errors.Join(errs...)
}

// bytesIn adds the files up that are there; what vanishes meanwhile takes nothing.
func bytesIn(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // see above
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// wazero validates a module before it looks for it in its cache, which takes three times as long as reading the machine code. What was
// compiled has been validated already, and nothing else of wazero reads the functions of a module that was compiled. So an entry keeps the
// machine code of the module under the name that wazero gives to its stub: the same module, in which every function traps at once.
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

// rewrite rewrites a module, and estimates what compiling the result costs.
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
	limits := complexity.Limits{Steps: e.limits.CompileSteps, Bytes: e.limits.CompileBytes}
	if _, err := complexity.Check(rewritten, file.ImportedFuncs, limits); err != nil {
		return nil, err
	}
	return p, nil
}

// rewriting is how modules are rewritten.
func (e *Engine) rewriting() instrument.Options {
	return instrument.Options{Fuel: e.meter == MeterFuel, MaxTableEntries: e.limits.TableEntries}
}

// encodeProgram lays a program out: texts and bytes behind their length.
func encodeProgram(p *instrument.Program) []byte {
	size := len(p.Wasm) + 1<<10
	for _, s := range p.Segments {
		size += len(s.Data) + 2*binary.MaxVarintLen32
	}
	b := make([]byte, 0, size)
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	number := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	restorable := 0
	if p.Restorable {
		restorable = 1
	}
	text(p.Start)
	text(p.Fuel)
	text(p.Reason)
	number(restorable)
	number(len(p.Globals))
	for _, g := range p.Globals {
		text(g.Export)
		number(int(g.Type))
	}
	number(len(p.Segments))
	for _, s := range p.Segments {
		number(int(s.Offset))
		b = append(binary.AppendUvarint(b, uint64(len(s.Data))), s.Data...)
	}
	return append(binary.AppendUvarint(b, uint64(len(p.Wasm))), p.Wasm...)
}

var errNotRewritten = errors.New("not a rewritten module")

// decodeProgram is the inverse. The program keeps views of the data.
func decodeProgram(data []byte) (*instrument.Program, error) {
	d := programDecoder{rest: data}
	p := &instrument.Program{Start: d.text(), Fuel: d.text(), Reason: d.text(), Restorable: d.number(1) == 1}
	for n := d.count(pairBytes); n > 0 && !d.failed; n-- {
		p.Globals = append(p.Globals, instrument.Global{Export: d.text(), Type: wasmfile.ValueType(d.number(math.MaxUint8))})
	}
	segments := d.count(pairBytes)
	p.Segments = slices.Grow(p.Segments, segments)
	for n := segments; n > 0 && !d.failed; n-- {
		p.Segments = append(p.Segments, instrument.Segment{Offset: uint32(d.number(math.MaxUint32)), Data: d.bytes()})
	}
	p.Wasm = d.bytes()
	if d.failed || len(d.rest) > 0 {
		return nil, errNotRewritten
	}
	return p, nil
}

// pairBytes is the least that a global or a segment takes: a length and a number.
const pairBytes = 2

// programDecoder reads what encodeProgram wrote. After a fault all is empty.
type programDecoder struct {
	rest   []byte
	failed bool
}

func (d *programDecoder) fail() uint64 {
	d.rest, d.failed = nil, true
	return 0
}

func (d *programDecoder) number(most uint64) uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > most {
		return d.fail()
	}
	d.rest = d.rest[size:]
	return n
}

// count of things that take at least that many bytes each.
func (d *programDecoder) count(entryBytes int) int {
	n := d.number(uint64(len(d.rest)))
	if n > uint64(len(d.rest)/entryBytes) {
		n = d.fail()
	}
	return int(n)
}

func (d *programDecoder) bytes() []byte {
	n := d.count(1)
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *programDecoder) text() string { return string(d.bytes()) }
