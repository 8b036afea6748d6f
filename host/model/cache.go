package model

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

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// maxCached is how many answers a folder keeps.
const maxCached = 1 << 16

const cacheSuffix = ".answer"

// cache is a folder of answers by the digests of their questions; of no folder it is always empty. What can't be read is not there, and what
// can't be written is not kept. Several processes may use it.
type cache struct{ folder string }

// openCache makes a folder of answers, unless it is there, and checks that nobody else puts answers into it. Where it can't be made there
// is no cache.
func openCache(folder string) (cache, error) {
	if folder == "" {
		return cache{}, nil
	}
	_ = os.MkdirAll(folder, 0o700)
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return cache{}, nil
	}
	if err == nil {
		err = disk.PrivateFolder(info)
	}
	if err != nil {
		return cache{}, fmt.Errorf("the cache of answers %s: %w", folder, err)
	}
	return cache{folder}, nil
}

func (c cache) path(digest string) string { return filepath.Join(c.folder, digest+cacheSuffix) }

// read gives an answer. Files that are damaged, or are about another question, are not there.
func (c cache) read(digest string) (reply, bool) {
	if c.folder == "" {
		return reply{}, false
	}
	info, err := os.Lstat(c.path(digest))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxEntryBytes+128 {
		return reply{}, false
	}
	data, err := os.ReadFile(c.path(digest))
	if err != nil {
		return reply{}, false
	}
	e, ok := decodeCached(data)
	if !ok || e.Digest != digest {
		return reply{}, false
	}
	got, f := e.get()
	return got, f == nil
}

// decodeCached reads a file of the cache: a line with the sum of the second one, which is an entry.
func decodeCached(data []byte) (entry, bool) {
	sum, line, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(sum) != sumOf(line) {
		return entry{}, false
	}
	e, err := parseEntry(bytes.TrimSuffix(line, []byte("\n")))
	return e, err == nil
}

func sumOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

func (c cache) write(e entry) {
	if c.folder == "" {
		return
	}
	line := e.line()
	f, err := disk.Stage(c.path(e.Digest), append([]byte(sumOf(line)+"\n"), line...), 0o600)
	if err == nil && f.Commit() != nil {
		f.Discard()
	}
}

// prune removes the oldest quarter of the answers when there are too many.
func (c cache) prune(most int) {
	if c.folder == "" {
		return
	}
	type file struct {
		name string
		info fs.FileInfo
	}
	var files []file
	_, err := overCache(c.folder, func(name string, info fs.FileInfo) error {
		files = append(files, file{name, info})
		return nil
	})
	if err != nil || len(files) < most {
		return
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), cmp.Compare(a.name, b.name))
	})
	for _, f := range files[:len(files)/4] {
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
