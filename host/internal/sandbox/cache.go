package sandbox

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/outfile"
)

// compileCache is a directory of compiled modules, one entry for each, under
// a directory for the version of the compiler. An entry is wazero's own cache
// and a seal: the SHA-256 of each file in it. wazero guards its files by a
// checksum over the machine code alone; a flipped bit in a function's offset
// would be executed. What the seal does not vouch for is removed before wazero
// sees it, and the module compiled again.
type compileCache struct {
	dir  string
	most int64 // bytes of all entries
}

// cacheFormat changes with the layout of entries.
const cacheFormat = "v2"

func openCompileCache(dir string) (*compileCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("sandbox: compile cache: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("sandbox: compile cache: %w", err)
	}
	if err := private(info); err != nil {
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

// entry of a module with that code. A manifest makes no difference.
func (c *compileCache) entry(code Digest, options instrument.Options) *cacheEntry {
	name := fmt.Sprintf("%x-%d", code[:], options.MaxTableEntries)
	if !options.Fuel {
		name += "-unmetered"
	}
	return &cacheEntry{dir: filepath.Join(c.dir, name)}
}

type cacheEntry struct {
	dir      string
	verified []string // the files that the seal vouches for, as verify found them

	rewritten bool // the rewritten module is one of them
}

const (
	sealName   = "SEAL"
	tempSuffix = ".tmp"
)

// writingAge is far beyond what a module takes to be compiled and written.
const writingAge = time.Hour

// verify removes what the seal does not vouch for. The error says what that
// was; the entry can be used in any case.
func (c *cacheEntry) verify(now time.Time) error {
	sealed, err := c.readSeal()
	if err == nil {
		var found map[string]string
		if found, err = c.digests(); err == nil {
			return c.removeStrangers(found, sealed, now)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Lstat(c.dir); missing != nil {
			return nil //nolint:nilerr // nothing is cached yet
		}
	}
	c.drop()
	return err
}

func (c *cacheEntry) removeStrangers(found, sealed map[string]string, now time.Time) error {
	var errs []error
	for name, digest := range found {
		if sealed[name] == digest {
			c.verified = append(c.verified, name)
			continue
		}
		path := filepath.Join(c.dir, name)
		if !strings.HasSuffix(name, tempSuffix) {
			errs = append(errs, fmt.Errorf("%s is not as it was sealed", name), os.Remove(path))
		} else if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > writingAge {
			_ = os.Remove(path) // a killed process left it; if it is young, another process is just writing it
		}
	}
	return errors.Join(errs...)
}

// seal vouches for the files that are there now. Those that were verified are
// not read again: wazero adds files and removes them, it changes none.
func (c *cacheEntry) seal() error {
	names, err := c.files()
	if err != nil {
		return err
	}
	slices.Sort(c.verified)
	if slices.Equal(names, c.verified) && len(names) > 0 {
		return nil
	}
	found, err := c.digests()
	if err != nil {
		return err
	}
	var lines []string
	for name, digest := range found {
		if !strings.HasSuffix(name, tempSuffix) {
			lines = append(lines, digest+" "+name+"\n")
		}
	}
	slices.Sort(lines)
	return c.write(sealName, []byte(strings.Join(lines, "")))
}

// write puts a file in the entry, whole.
func (c *cacheEntry) write(name string, data []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := outfile.Stage(filepath.Join(c.dir, name), data, 0o600)
	if err != nil {
		return err
	}
	return f.Commit()
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
		digest, name, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return nil, errors.New("the seal cannot be read")
		}
		sealed[name] = digest
	}
	return sealed, lines.Err()
}

// digests gives the SHA-256 of every file of the entry but the seal.
func (c *cacheEntry) digests() (map[string]string, error) {
	names, err := c.files()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range names {
		if found[name], err = fileDigest(filepath.Join(c.dir, name)); err != nil {
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

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
