package run

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// The limits of what is unpacked, of one archive.
const (
	maxUnpackedBytes = 4 << 30
	maxRatio         = 100       // of unpacked bytes to those of the archive, beyond
	freeBytes        = 256 << 20 // which no archive of reports is held to
)

// unpacked counts what comes out of an archive, and what went into it.
type unpacked struct {
	name string
	out  int64
	in   func() int64
	free int64 // freeBytes, but for tests
	most int64 // maxUnpackedBytes, but for tests
}

func newUnpacked(name string, in func() int64) *unpacked {
	return &unpacked{name: name, in: in, free: freeBytes, most: maxUnpackedBytes}
}

// add counts bytes that were unpacked.
func (u *unpacked) add(n int) error {
	u.out += int64(n)
	switch {
	case u.out > u.most:
		return fmt.Errorf("%s has more than %d MiB when it is unpacked, the limit: unpack it, and give the reports in it", u.name, u.most>>20)
	case u.out > u.free && u.out/maxRatio > u.in():
		return fmt.Errorf("%s is taken for a bomb: it has more than %d MiB when it is unpacked, more than %d times its size", u.name, u.free>>20, maxRatio)
	}
	return nil
}

// limited is a stream out of an archive.
type limited struct {
	io.Reader

	of    *unpacked
	count int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	l.count += int64(n)
	if over := l.of.add(n); over != nil {
		return 0, over
	}
	return n, err
}

const (
	gzipMagic = "\x1f\x8b"
	zipMagic  = "PK\x03\x04"
	zipEmpty  = "PK\x05\x06"
)

// gunzip unpacks a stream that begins as gzip does, and gives any other as it is. It looks when it is first read.
type gunzip struct {
	name string
	raw  io.Reader
	in   io.Reader // what is given
	read int64     // of raw
	err  error
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.err == nil && g.in == nil {
		g.err = g.open()
	}
	if g.err != nil {
		return 0, g.err
	}
	return g.in.Read(p)
}

func (g *gunzip) open() error {
	buffered := bufio.NewReaderSize(&counting{g.raw, &g.read}, sniffBytes)
	g.in = buffered
	head, _ := buffered.Peek(2) // a shorter one, or one that can't be read, is its reader's
	if !bytes.HasPrefix(head, []byte(gzipMagic)) {
		return nil
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return fmt.Errorf("%s begins as gzip does, and can't be unpacked: %w", g.name, err)
	}
	g.in = &limited{Reader: unzipped, of: newUnpacked(g.name, func() int64 { return g.read })}
	return nil
}

// counting counts what is read.
type counting struct {
	io.Reader

	bytes *int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.bytes += int64(n)
	return n, err
}
