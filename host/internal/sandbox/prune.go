package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Compiled modules that nobody uses are removed: an entry after a month, and
// the entries of another version of the compiler or of the rewriting after a
// week, in which somebody may go back to it. An entry that was never completed
// goes after an hour, far beyond what a module takes to be compiled.
//
// Other processes may use the directory at the same time. What they use is
// young. If one is slow enough to lose an entry while it loads it, it compiles
// the module again, as it does with any entry that is not as it was sealed; what
// has been loaded needs no file any more.
const (
	unusedAge    = 30 * 24 * time.Hour
	otherAge     = 7 * 24 * time.Hour
	incomplete   = time.Hour
	pruneEvery   = 24 * time.Hour
	pruneMark    = "PRUNED" // its time is when the directory was last pruned
	removingName = ".removing-"
)

var (
	versionName = regexp.MustCompile(`^v[0-9]+-`)
	entryName   = regexp.MustCompile(`^(\.removing-)*[0-9a-f]{64}(-|$)`)
)

// used notes that an entry is in use, by the time of its directory. It says
// nothing if that fails: then the entry was used by somebody else, or is not
// there yet, and will be new.
func (c *cacheEntry) used(now time.Time) { _ = os.Chtimes(c.dir, now, now) }

// prune removes what has not been used for long, at most once a day. dir holds
// a directory for each version.
func (c *compileCache) prune(now time.Time) error {
	dir := filepath.Dir(c.dir)
	mark := filepath.Join(dir, pruneMark)
	if info, err := os.Stat(mark); err == nil && now.Sub(info.ModTime()).Abs() < pruneEvery {
		return nil
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	errs := []error{os.Chtimes(mark, now, now)}
	versions, err := os.ReadDir(dir)
	errs = append(errs, err)
	for _, version := range versions {
		path := filepath.Join(dir, version.Name())
		if !version.IsDir() || !versionName.MatchString(version.Name()) {
			continue
		}
		age := otherAge
		if path == c.dir {
			age = unusedAge
		}
		left, err := pruneEntries(path, now, age)
		if err == nil && left == 0 && path != c.dir {
			err = os.Remove(path) // fails if somebody has begun to use it, which is right
			if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
				err = nil
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, c.bound())...)
}

// pruneEntries removes the entries that were not used for as long, and
// gives how many other things are left. Only what has the name of an entry is
// touched: the directory is the user's, who may keep other things there.
func pruneEntries(dir string, now time.Time, unused time.Duration) (left int, err error) {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process removed it
		}
		age := unused
		if strings.Contains(entry.Name(), unfinished) {
			age = incomplete
		}
		if err != nil || !entryName.MatchString(entry.Name()) || !info.IsDir() || now.Sub(info.ModTime()) < age {
			left++
			errs = append(errs, err)
			continue
		}
		errs = append(errs, removeEntry(dir, entry.Name()))
	}
	return left, errors.Join(errs...)
}

// removeEntry takes an entry out of sight first, so that nobody finds a part of
// it under its name.
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
