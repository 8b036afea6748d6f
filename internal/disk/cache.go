package disk

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Cache is a folder of answers by the digests of their questions; the zero value is always empty. What can't be read is not there, and what
// can't be written is not kept. Several processes may use it.
type Cache struct {
	folder string
	limits CacheLimits
}

// CacheLimits bound a Cache.
type CacheLimits struct {
	Files int           // that are kept: when there are as many, the oldest quarter goes
	Bytes int64         // of an answer
	Age   time.Duration // of an answer that counts; 0 for any
	Total int64         // bytes of all answers, 0 for any: when there are more, those that were not used for longest go
}

const cacheSuffix = ".cached"

// sumBytes is the line before an answer: its SHA-256.
const sumBytes = 2*sha256.Size + 1

// OpenCache makes a folder of answers, unless it is there, and checks that nobody else puts answers into it. Without a folder, or where it
// can't be made, the cache is empty.
func OpenCache(folder string, limits CacheLimits) (Cache, error) {
	if folder == "" {
		return Cache{}, nil
	}
	_ = os.MkdirAll(folder, 0o700)
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return Cache{}, nil
	}
	if err == nil {
		err = PrivateFolder(info)
	}
	if err != nil {
		return Cache{}, fmt.Errorf("the cache of answers %s: %w", folder, err)
	}
	c := Cache{folder, limits}
	c.prune()
	return c, nil
}

func (c Cache) path(digest string) string { return filepath.Join(c.folder, digest+cacheSuffix) }

// Get gives an answer. One that is damaged, too old or too long is not there.
func (c Cache) Get(digest string, now time.Time) ([]byte, bool) {
	if c.folder == "" {
		return nil, false
	}
	info, err := os.Lstat(c.path(digest))
	if err != nil || !info.Mode().IsRegular() || info.Size() > c.limits.Bytes+sumBytes || c.limits.Age > 0 && now.Sub(info.ModTime()) > c.limits.Age {
		return nil, false
	}
	data, err := os.ReadFile(c.path(digest))
	if err != nil {
		return nil, false
	}
	sum, answer, ok := bytes.Cut(data, []byte("\n"))
	if ok = ok && string(sum) == sumOf(answer); ok && c.limits.Total > 0 {
		_ = os.Chtimes(c.path(digest), now, now)
	}
	return answer, ok
}

func sumOf(answer []byte) string {
	sum := sha256.Sum256(answer)
	return hex.EncodeToString(sum[:])
}

// Put keeps an answer.
func (c Cache) Put(digest string, answer []byte) {
	if c.folder == "" {
		return
	}
	_ = Place(c.path(digest), append([]byte(sumOf(answer)+"\n"), answer...), 0o600)
	if c.limits.Total > 0 {
		c.prune()
	}
}

// prune removes the oldest quarter of the answers when there are too many, and the oldest ones while they have too many bytes.
func (c Cache) prune() {
	type file struct {
		name  string
		bytes int64
		at    time.Time
	}
	var files []file
	use, err := overCache(c.folder, func(name string, info fs.FileInfo) error {
		files = append(files, file{name, info.Size(), info.ModTime()})
		return nil
	})
	if err != nil {
		return
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.name, b.name)) })
	tooMany := 0
	if len(files) >= c.limits.Files {
		tooMany = len(files) / 4
	}
	for i, f := range files {
		if i >= tooMany && (c.limits.Total == 0 || use.Bytes <= c.limits.Total) {
			return
		}
		use.Bytes -= f.bytes
		if err := os.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// CacheUse is what a folder of answers holds.
type CacheUse struct {
	Answers int
	Bytes   int64
}

// MeasureCache gives what a folder of answers holds; nothing where there is none.
func MeasureCache(folder string) (CacheUse, error) {
	return overCache(folder, func(string, fs.FileInfo) error { return nil })
}

// ClearCache removes all answers, and says what they took.
func ClearCache(folder string) (CacheUse, error) {
	return overCache(folder, func(name string, _ fs.FileInfo) error { return os.Remove(name) })
}

func overCache(folder string, do func(name string, info fs.FileInfo) error) (CacheUse, error) {
	var use CacheUse
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return use, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(entry.Name()) != cacheSuffix {
			continue
		}
		if err := do(filepath.Join(folder, entry.Name()), info); err != nil {
			return use, err
		}
		use.Answers++
		use.Bytes += info.Size()
	}
	return use, nil
}
