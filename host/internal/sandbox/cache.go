package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// compileCache is a directory of compiled modules, one entry for each, under
// a directory for the version of the compiler. An entry is made in a folder of
// its own and takes its name when it is complete; nothing in it changes then.
//
// It holds wazero's own cache, see stub.go, and a seal: a checksum of each file
// in it. wazero guards its files by a checksum over the machine code alone; a
// flipped bit in a function's offset would be executed. An entry that is not as
// it was sealed is removed before wazero sees it, and the module compiled again.
// The seal tells of damage, not of attacks: whoever can write to the folder can
// seal an entry, so a cryptographic hash would only make each start slower.
type compileCache struct {
	dir  string
	most int64 // bytes of all entries
}

// cacheFormat changes with the layout of entries.
const cacheFormat = "v4"

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

// verify compares the entry with its seal, and drops one that is not as it was sealed; the error says what is wrong with it.
// Without an entry there are no files and no error.
func (c *cacheEntry) verify() (files []string, err error) {
	sealed, err := c.readSeal()
	if err == nil {
		var found map[string]string
		if found, err = c.checksums(); err == nil {
			if err = differences(found, sealed); err == nil {
				return slices.Sorted(maps.Keys(found)), nil
			}
		}
	}
	if _, missing := os.Lstat(c.dir); errors.Is(missing, fs.ErrNotExist) {
		return nil, nil
	}
	c.drop()
	return nil, err
}

func differences(found, sealed map[string]string) error {
	var errs []error
	for name, sum := range found {
		if sealed[name] != sum {
			errs = append(errs, fmt.Errorf("%s is not as it was sealed", name))
		}
	}
	for name := range sealed {
		if found[name] == "" {
			errs = append(errs, fmt.Errorf("%s is missing", name))
		}
	}
	return errors.Join(errs...)
}

// begin makes the folder of an entry that is not complete. One that a killed process left is pruned.
func (c *cacheEntry) begin() (*cacheEntry, error) {
	dir, err := os.MkdirTemp(filepath.Dir(c.dir), filepath.Base(c.dir)+unfinished)
	return &cacheEntry{dir}, err
}

// place seals an entry that begin made, and gives it its name. One that another process placed meanwhile is as good.
func (c *cacheEntry) place(made *cacheEntry) error {
	found, err := made.checksums()
	if err != nil {
		return err
	}
	var seal strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		seal.WriteString(found[name] + " " + name + "\n")
	}
	if err := os.WriteFile(filepath.Join(made.dir, sealName), []byte(seal.String()), 0o600); err != nil {
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

func (c *cacheEntry) readSeal() (map[string]string, error) {
	f, err := os.Open(filepath.Join(c.dir, sealName))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	sealed := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return nil, errors.New("the seal cannot be read")
		}
		sealed[name] = sum
	}
	return sealed, lines.Err()
}

// checksums gives the checksum of every file of the entry but the seal.
func (c *cacheEntry) checksums() (map[string]string, error) {
	names, err := c.files()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	buffer := make([]byte, 256<<10)
	for _, name := range names {
		if found[name], err = fileChecksum(filepath.Join(c.dir, name), buffer); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// files gives the paths in the entry of all its files but the seal, in order.
// Anything that is no plain file is an error.
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

// fileChecksum is the 64-bit xxHash of a file, in hexadecimal digits.
func fileChecksum(path string, buffer []byte) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := xxhash.New()
	// A plain reader, because that of os.File would bring a small buffer of its own.
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buffer); err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x", h.Sum64()), nil
}
