package model

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/host/internal/flock"
	"github.com/shadowcourt/shadowcourt/host/outfile"
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
	err     error // of the first line that could not be written
}

// PlayCassette opens a cassette that gives recorded answers, and no others.
func PlayCassette(name string) (*Cassette, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	c := &Cassette{name: name}
	_, err = c.load(f, false)
	return c, err
}

// RecordCassette opens a cassette that is made or continued: questions that it has are answered from it, and all others are asked and
// appended. What a killed process left is kept, up to the last whole line.
func RecordCassette(name string) (*Cassette, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	c := &Cassette{name: name, file: f}
	if err := c.begin(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

func (c *Cassette) begin() error {
	if err := flock.TryLock(c.file); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	whole, err := c.load(c.file, true)
	if err != nil {
		return err
	}
	if err := c.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if whole == 0 {
		_, err = c.file.WriteString(cassetteHead)
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
			return nil, fmt.Errorf("%s:%d: the line is cut: record with the cassette again, which repairs it", name, at)
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
	if _, err := c.file.Write(e.line()); err != nil && c.err == nil {
		c.err = err
	}
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
		err = outfile.Replace(c.name, cassetteBytes(c.entries))
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
