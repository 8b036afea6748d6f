package run

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// The limits of what is unpacked of one input.
const (
	maxUnpackedBytes = 4 << 30
	maxRatio         = 100       // of unpacked bytes to those of the input, beyond
	freeBytes        = 256 << 20 // up to here no ratio is checked
)

// gunzip unpacks a stream that begins as gzip does, and gives any other as it is. It looks when it is first read.
type gunzip struct {
	name string
	raw  io.Reader
	in   io.Reader // what is given
	read int64     // of raw
	out  int64     // that was unpacked
	gzip bool
	err  error
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.err == nil && g.in == nil {
		g.err = g.open()
	}
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.in.Read(p)
	if !g.gzip {
		return n, err
	}
	switch g.out += int64(n); {
	case g.out > maxUnpackedBytes:
		g.err = docket.NewLineError(g.name, 0, abi.CodeTooLarge, fmt.Sprintf("has more than %d MiB when it is unpacked, the limit: split it", maxUnpackedBytes>>20))
	case g.out > freeBytes && g.out/maxRatio > g.read:
		g.err = docket.NewLineError(g.name, 0, abi.CodeTooLarge,
			fmt.Sprintf("looks like a decompression bomb: it has more than %d MiB when it is unpacked, more than %d times its size", freeBytes>>20, maxRatio))
	}
	if g.err != nil {
		return 0, g.err
	}
	return n, g.fault(err)
}

// fault is the error of an input that is no whole gzip, where it is one of its bytes and not of reading them.
func (g *gunzip) fault(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if corrupt || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return docket.NewLineError(g.name, 0, docket.CodeNotText, "begins as gzip does, and can't be unpacked: "+err.Error())
	}
	return err
}

func (g *gunzip) open() error {
	buffered := bufio.NewReaderSize(&counting{g.raw, &g.read}, sniffBytes)
	g.in = buffered
	if head, _ := buffered.Peek(2); !bytes.Equal(head, []byte("\x1f\x8b")) {
		return nil // a shorter one, or one that can't be read, is its reader's
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return g.fault(err)
	}
	g.in, g.gzip = unzipped, true
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
