package sandbox

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// compileCache is a directory of compiled modules, one entry for each, under
// a directory for the version of the compiler. An entry is made in a folder of
// its own and takes its name when it is complete; nothing in it changes then.
//
// It holds wazero's own cache, see stub.go, and a seal: a checksum of the files
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
