package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// DefaultCacheBytes is what the entries of a compile cache may take together,
// 1 GiB: a module of the Go toolchain takes about 12 MiB.
const DefaultCacheBytes int64 = 1 << 30

// CacheUse is what a compile cache holds.
type CacheUse struct {
	Entries int
	Bytes   int64
}

// MeasureCache says what the compile cache in a directory holds, of all
// versions; nothing when there is none.
func MeasureCache(dir string) (CacheUse, error) {
	entries, err := cacheEntries(dir)
	return useOf(entries), err
}

// ClearCache removes all entries of the compile cache in a directory, and says
// what they took. Other things in it stay. Programs that use it at the same
// time compile their modules again.
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

// used notes that an entry is in use, by the time of its directory. It says
// nothing if that fails: then the entry was used by somebody else, or is not
// there yet, and will be new.
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
