package run

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
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

// The limits of a zip archive.
const (
	maxEntries        = 10_000
	maxDirectoryBytes = 8 << 20 // of its list of entries
	maxSpoolBytes     = 1 << 30 // of one that comes from a pipe
	maxEntryName      = 512
)

// Archive says what was read of an archive.
type Archive struct {
	Name string
	// Reports were read, Others were not: files that are no reports.
	Reports, Others int
	// Archives are archives in it, which are not opened; the first three.
	Archives []string
}

// zipped opens the reports in a zip archive, sorted by their names, each as an input that is called after the archive and the entry. The
// name of an entry is never that of a file here. Entries of another format than the given one are no reports.
func (i *Dockets) zipped(name string, from io.ReaderAt, size int64, format string) ([]*input, error) {
	directory := &bounded{ReaderAt: from, left: maxDirectoryBytes}
	z, err := zip.NewReader(directory, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("%s begins as a zip archive does, and can't be read: %w", name, err)
	}
	directory.left = -1
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("%s is a zip archive of %d entries, at most %d are read: give the reports in it", name, len(z.File), maxEntries)
	}
	slices.SortStableFunc(z.File, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) })
	all := newUnpacked(name, func() int64 { return size })
	said := Archive{Name: name}
	var list []*input
	for _, entry := range z.File {
		if !entry.Mode().IsRegular() {
			if !entry.Mode().IsDir() {
				said.Others++
			}
			continue
		}
		in := i.entry(all, entry, format)
		switch {
		case in != nil:
			if list = append(list, in); in.foreign == nil {
				said.Reports++
			}
			continue
		case archiveName(entry.Name) && len(said.Archives) < maxNear:
			said.Archives = append(said.Archives, entryName(entry.Name))
		}
		said.Others++
	}
	if len(list) == 0 {
		what := ""
		if len(said.Archives) > 0 {
			what = "; archives in an archive are not opened: " + strings.Join(said.Archives, ", ")
		}
		return nil, fmt.Errorf("%s has no report among its %d files%s", name, said.Others, what)
	}
	i.Archives = append(i.Archives, said)
	return list, nil
}

// entry opens an entry, nil if it is no report.
func (i *Dockets) entry(all *unpacked, entry *zip.File, format string) *input {
	if archiveName(entry.Name) {
		return nil
	}
	in := &input{name: all.name + "/" + entryName(entry.Name), format: Auto, again: true}
	in.open = func() (io.Reader, func() error, error) {
		if entry.Flags&1 != 0 {
			return nil, nil, fmt.Errorf("%s is encrypted: decrypt it, and give it by itself", in.name)
		}
		opened, err := entry.Open()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", in.name, err)
		}
		return &limited{Reader: opened, of: all}, opened.Close, nil
	}
	before := all.out
	if err := i.begin(in); err != nil {
		return &input{name: in.name, foreign: &ForeignError{text: err.Error()}}
	}
	if in.foreign != nil && in.foreign.report {
		in.suspend()
		return in // it is rejected by its name, not passed over
	}
	head, _ := in.reader.Peek(in.reader.Buffered())
	report := in.foreign == nil && certain(in.format, head) && (format == Auto || format == in.format)
	in.suspend()
	all.out = before // it is read again
	if !report {
		return nil
	}
	return in
}

func isZip(head []byte) bool { return string(head) == zipMagic || string(head) == zipEmpty }

// archiveName says whether a name is that of an archive, which is not opened in another.
func archiveName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{".zip", ".gz", ".tgz"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// entryName is the name of an entry for people.
func entryName(name string) string {
	name = strings.TrimLeft(strings.ReplaceAll(strings.ToValidUTF8(name, "\uFFFD"), `\`, "/"), "/")
	if len(name) > maxEntryName {
		name = "…" + strings.ToValidUTF8(name[len(name)-maxEntryName:], "")
	}
	return name
}

// certain says whether a text that begins so is of its format without doubt: an archive has other files beside its reports.
func certain(format string, head []byte) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte(markUTF8)))
	switch format {
	case JSONL:
		keys, _ := keysOf(firstObject(head))
		return keys["id"] && keys["labels"]
	case GoTest: // what it prints for people often stands beside its events
		return eventLine.Match(head)
	case JUnit:
		return formatOfRoot(rootElement(text)) == JUnit
	case ReportPortal: // its keys are words of every day
		keys, _ := keysOf(bytes.TrimLeft(text, "[ \t\r\n"))
		found := 0
		for key := range keys {
			if formatOfKeys(map[string]bool{key: true}) == ReportPortal {
				found++
			}
		}
		return found > 1
	}
	return true
}

// bounded reads at most so much; less than 0 is without a bound.
type bounded struct {
	io.ReaderAt

	left int64
}

var errDirectory = fmt.Errorf("its list of entries has more than %d MiB", maxDirectoryBytes>>20)

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	n, err := b.ReaderAt.ReadAt(p, at)
	if b.left >= 0 {
		if b.left -= int64(n); b.left < 0 {
			return 0, errDirectory
		}
	}
	return n, err
}

// spool keeps a zip archive that comes from a pipe in a file, which the caller closes and removes.
func spool(name string, from io.Reader, most int64) (file *os.File, size int64, err error) {
	if file, err = os.CreateTemp("", "shadowcourt-*.zip"); err != nil {
		return nil, 0, err
	}
	size, err = io.Copy(file, io.LimitReader(from, most+1))
	if err == nil && size > most {
		err = fmt.Errorf("%s is a zip archive of more than %d MiB: give it as a file", name, most>>20)
	}
	if err != nil {
		return nil, 0, errors.Join(err, discard(file))
	}
	return file, size, nil
}

// discard closes and removes a file.
func discard(file *os.File) error { return errors.Join(file.Close(), os.Remove(file.Name())) }
