package model

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// MaxCassetteBytes is the size limit of a cassette, 256 MiB.
const MaxCassetteBytes = 256 << 20

// cassetteHead is the first line of every cassette.
const cassetteHead = `{"cassette":1}` + "\n"

// Cassette is a file of answers by the digests of their questions: a line of JSON each. It records what models answer, or plays it: then
// nothing is asked. Safe for concurrent use.
type Cassette struct {
	name    string
	file    *os.File // nil where it plays
	mu      sync.Mutex
	entries map[string]entry
	size    int   // of the file
	most    int   // that it may have
	err     error // of the first line that could not be written
}

// PlayCassette opens a cassette that gives recorded answers, and no others.
func PlayCassette(name string) (*Cassette, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := disk.TryLockShared(f); err != nil {
		return nil, fmt.Errorf("%s: %w, and may be recording answers still", name, err)
	}
	c := &Cassette{name: name}
	_, err = c.load(f, false)
	return c, err
}

// RecordCassette opens a cassette that is made or continued: questions that it has are answered from it, and all others are asked and
// appended. What a killed process left is kept, up to the last whole line.
func RecordCassette(name string) (*Cassette, error) {
	f, err := lockedFile(name)
	if err != nil {
		return nil, err
	}
	c := &Cassette{name: name, file: f, most: MaxCassetteBytes}
	if err := c.begin(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

// lockedFile opens a file for this process alone. Whoever recorded before replaces the file at the end, maybe after it was opened here:
// then the new one is opened.
func lockedFile(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		if err := disk.TryLock(f); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
		}
		opened, errOpened := f.Stat()
		there, errThere := os.Stat(name)
		if err := cmp.Or(errOpened, errThere); err == nil && os.SameFile(opened, there) {
			return f, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, f.Close())
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

func (c *Cassette) begin() error {
	whole, err := c.load(c.file, true)
	if err != nil {
		return err
	}
	if err := c.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if c.size = whole; whole == 0 {
		c.size, err = c.file.WriteString(cassetteHead)
	}
	return err
}

// load reads all entries, and says how many bytes are whole lines. cut allows a last line that is not.
func (c *Cassette) load(f *os.File, cut bool) (whole int, err error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, cmp.Or(err, fmt.Errorf("%s is no regular file", c.name))
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxCassetteBytes+1))
	if err != nil {
		return 0, err
	}
	if len(data) > MaxCassetteBytes {
		return 0, fmt.Errorf("%s: a cassette has at most %d bytes", c.name, MaxCassetteBytes)
	}
	whole = bytes.LastIndexByte(data, '\n') + 1
	if cut && strings.HasPrefix(cassetteHead, string(data)) { // nothing, or what a killed process wrote of its first line
		c.entries = map[string]entry{}
		return whole, nil
	}
	if cut && whole > 0 {
		data = data[:whole]
	}
	c.entries, err = parseCassette(c.name, data)
	return whole, err
}

// parseCassette reads the lines of a cassette. Its error names the line.
func parseCassette(name string, data []byte) (map[string]entry, error) {
	entries, lines := map[string]entry{}, map[string]int{}
	at := 0
	for line := range bytes.Lines(data) {
		at++
		if at == 1 {
			if string(line) != cassetteHead {
				return nil, fmt.Errorf("%s:1: this is no cassette: its first line is not %.14s", name, cassetteHead)
			}
			continue
		}
		text, ok := bytes.CutSuffix(line, []byte("\n"))
		if !ok {
			return nil, fmt.Errorf("%s:%d: the line is cut: remove it, or record a new cassette", name, at)
		}
		e, err := parseEntry(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, at, err)
		}
		if first := lines[e.Digest]; first > 0 {
			return nil, fmt.Errorf("%s:%d: has the digest of line %d", name, at, first)
		}
		entries[e.Digest], lines[e.Digest] = e, at
	}
	if at == 0 {
		return nil, fmt.Errorf("%s: the cassette is empty", name)
	}
	return entries, nil
}

// plays says whether all answers come from the cassette.
func (c *Cassette) plays() bool { return c != nil && c.file == nil }

// find gives what came of a question.
func (c *Cassette) find(digest string) (reply, *failure, bool) {
	if c == nil {
		return reply{}, nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[digest]
	got, f := e.get()
	return got, f, ok
}

// add records what came of a question, and gives it. Where another trial was first, it gives what came of that.
func (c *Cassette) add(e entry) (reply, *failure) {
	if c == nil {
		return e.get()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if first, ok := c.entries[e.Digest]; ok {
		return first.get()
	}
	c.entries[e.Digest] = e
	line := e.line()
	if c.err == nil && c.size+len(line) > c.most {
		c.err = fmt.Errorf("%s: the cassette is full: it has at most %d bytes, and not all answers", c.name, c.most)
	}
	if c.err != nil { // what follows a line that is missing, or cut, would be no recording of the run
		return e.get()
	}
	n, err := c.file.Write(line)
	c.size, c.err = c.size+n, err
	return e.get()
}

// close sorts the lines of a cassette that records: the same answers make the same bytes, in whatever order they came.
func (c *Cassette) close() error {
	if c == nil || c.file == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.err
	if err == nil {
		err = disk.Replace(c.name, cassetteBytes(c.entries))
	}
	return errors.Join(err, c.file.Close())
}

func cassetteBytes(entries map[string]entry) []byte {
	var b bytes.Buffer
	b.WriteString(cassetteHead)
	for _, digest := range slices.Sorted(maps.Keys(entries)) {
		e := entries[digest]
		b.Write(e.line())
	}
	return b.Bytes()
}
