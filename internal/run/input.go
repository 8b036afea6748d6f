package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// input is one docket, with its format known.
type input struct {
	name   string
	format string
	live   bool // the standard input, which may be written while it is read
	// foreign is what the input is instead of a docket.
	foreign *ForeignError
	// open opens it from its beginning; more than once if again says so.
	open   func() (io.Reader, func() error, error)
	again  bool
	reader *bufio.Reader // nil while it is not open
	close  func() error
}

// Dockets are opened dockets, to be read once. Not safe for concurrent use.
type Dockets struct {
	list    []*input
	closers []func() error // of archives
	// Archives are those that were opened.
	Archives []Archive
	// passed are the suites in which nothing failed, as far as their formats tell; complete when all entries are read.
	Passed map[string]bool
	// tests is how many tests the reports told of; complete when all entries are read.
	Tests int
	// Texts are inputs that `go test` printed for people.
	Texts []string
	// unread are the lines of test streams that are no events; complete when all entries are read.
	Unread []unreadLines
	// Read, if it is not nil, is told how many bytes of a docket were read, at every further megabyte.
	Read func(name string, bytes int64)
	// Truth takes what people decided in an export for the truth.
	Truth bool
	// passedOver are ids that contain the one that was looked for, the first three.
	PassedOver []string
}

// unreadLines are the lines of a stream that are no events.
type unreadLines struct {
	Stream string
	Lines  gotest.Unread
}

// maxOpen is how many inputs stay open until they are read. Others are opened again.
const maxOpen = 64

// OpenDockets opens every docket; all that can't be opened are named at once. One that is no docket is an entry that can't be
// tried, unless there is no other. Patterns are expanded as [Expand] does. What is compressed with gzip is unpacked, and of a zip archive
// the reports in it are opened, both within limits.
func OpenDockets(ctx context.Context, stdin io.Reader, names []string, format string) (*Dockets, error) {
	names, err := Expand(ctx, names)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	all := &Dockets{}
	var faults []error
	for _, name := range names {
		list, err := all.openInput(ctx, stdin, name, format)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		for _, in := range list {
			if len(all.list) >= maxOpen && in.again {
				in.suspend()
			}
			all.list = append(all.list, in)
		}
	}
	if len(faults) == 0 && !slices.ContainsFunc(all.list, func(in *input) bool { return in.foreign == nil }) {
		for _, in := range all.list {
			faults = append(faults, in.foreign)
		}
	}
	if len(faults) > 0 {
		all.Close()
		return nil, errors.Join(faults...)
	}
	return all, nil
}

func (i *Dockets) openInput(ctx context.Context, stdin io.Reader, name, format string) ([]*input, error) {
	if name == "-" {
		in := &input{name: "stdin", format: format, live: true}
		return i.stream(ctx, in, stdin, func() error { return nil }, format == Auto)
	}
	f, err := OpenFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return i.openFile(ctx, name, f, format, func() (*os.File, error) { return OpenFile(ctx, name) })
}

// openFile opens a docket, or those of an archive. It closes the file if it can't.
func (i *Dockets) openFile(ctx context.Context, name string, f *os.File, format string, reopen func() (*os.File, error)) ([]*input, error) {
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		_ = f.Close()
		return nil, fmt.Errorf("%s is a folder, not a docket: name the reports in it, as in '%s'", name, filepath.Join(name, "**", "*.xml"))
	case err != nil || !info.Mode().IsRegular():
		return i.stream(ctx, &input{name: name, format: format}, f, f.Close, true)
	}
	head := make([]byte, len(zipMagic))
	if n, _ := f.ReadAt(head, 0); isZip(head[:n]) {
		i.closers = append(i.closers, f.Close)
		return i.archive(name, f, info.Size(), format), nil
	}
	in := &input{name: name, format: format, again: reopen != nil}
	in.open = func() (io.Reader, func() error, error) {
		file := f
		if f == nil {
			var err error
			if file, err = reopen(); err != nil {
				return nil, nil, err
			}
		}
		f = nil // it is closed by what opened it
		return &gunzip{name: name, raw: NewReader(ctx, file)}, file.Close, nil
	}
	return []*input{in}, i.begin(in)
}

// stream opens what can be read once. A zip archive is kept in a file, if it may be waited for.
func (i *Dockets) stream(ctx context.Context, in *input, raw io.Reader, end func() error, wait bool) ([]*input, error) {
	from := bufio.NewReaderSize(NewReader(ctx, raw), sniffBytes)
	if wait {
		if head, _ := from.Peek(len(zipMagic)); isZip(head) {
			defer func() { _ = end() }()
			file, size, err := spool(in.name, from, maxSpoolBytes)
			if err != nil {
				return nil, err
			}
			i.closers = append(i.closers, func() error { return discard(file) })
			return i.archive(in.name, file, size, in.format), nil
		}
	}
	in.open = func() (io.Reader, func() error, error) { return &gunzip{name: in.name, raw: from}, end, nil }
	return []*input{in}, i.begin(in)
}

// archive are the reports in a zip archive; one that can't be read is no docket.
func (i *Dockets) archive(name string, from io.ReaderAt, size int64, format string) []*input {
	list, err := i.zipped(name, from, size, format)
	if err != nil {
		return []*input{{name: name, foreign: &ForeignError{text: err.Error()}}}
	}
	return list
}

// begin opens an input, and finds out the format unless it was given.
func (i *Dockets) begin(in *input) error {
	if err := i.resume(in); err != nil {
		return err
	}
	switch {
	case in.format == Auto:
		var other *foreign
		in.format, other = sniff(in.reader)
		in.foreign = other.fault(in)
	case !in.live:
		in.foreign = foreignDocument(in.reader, in.format).fault(in)
	}
	return nil
}

// resume opens an input that is not open.
func (i *Dockets) resume(in *input) (err error) {
	if in.reader == nil && in.foreign == nil {
		var raw io.Reader
		raw, in.close, err = in.open()
		in.reader = bufio.NewReaderSize(&counted{Reader: raw, name: in.name, dockets: i}, sniffBytes)
	}
	return err
}

// suspend closes an input.
func (in *input) suspend() {
	if in.close != nil {
		_ = in.close()
	}
	in.reader, in.close = nil, nil
}

// One is a docket that a reader gives. The name is what faults call it: no file is opened, whatever the name is. What is no
// docket is an error, and so is an archive.
func One(name string, r io.Reader, format string) (*Dockets, error) {
	in := &input{name: name, format: format}
	in.open = func() (io.Reader, func() error, error) { return r, nil, nil }
	d := &Dockets{list: []*input{in}}
	if err := d.begin(in); err != nil {
		return nil, err
	}
	if in.foreign != nil {
		return nil, in.foreign
	}
	return d, nil
}

// File is OpenDockets for a file that is open, and that is closed with the dockets.
func File(ctx context.Context, name string, f *os.File, format string) (*Dockets, error) {
	d := &Dockets{}
	var err error
	if d.list, err = d.openFile(ctx, name, f, format, nil); err == nil {
		for _, in := range d.list {
			if in.foreign == nil {
				return d, nil
			}
			err = in.foreign
		}
	}
	d.Close()
	return nil, err
}

// Format is that of the first docket; empty if that is none.
func (i *Dockets) Format() string {
	if len(i.list) == 0 {
		return ""
	}
	return i.list[0].format
}

// look finds out whether a stream of a given format is something else. Until it is read, nothing waits for its first line.
func (in *input) look() {
	if in.live && in.foreign == nil {
		in.foreign = foreignDocument(in.reader, in.format).fault(in)
	}
}

// Only says whether every input has the format.
func (i *Dockets) Only(format string) bool {
	for _, in := range i.list {
		if in.format != format && in.foreign == nil {
			return false
		}
	}
	return len(i.list) > 0
}

// OfTests says whether all inputs are reports of tests.
func (i *Dockets) OfTests() bool {
	return !slices.ContainsFunc(i.list, func(in *input) bool { return in.foreign == nil && !OfTests(in.format) })
}

// OfRunners says whether all inputs are reports of test runners, in which every test stands.
func (i *Dockets) OfRunners() bool {
	return len(i.list) > 0 && !slices.ContainsFunc(i.list, func(in *input) bool { return in.foreign == nil && !OfRunners(in.format) })
}

// Close closes the files. Entries does that, too.
func (i *Dockets) Close() {
	for _, in := range i.list {
		in.suspend()
	}
	for _, end := range i.closers {
		_ = end()
	}
	i.closers = nil
}

// Entries reads all dockets one after the other; with an id only that case is passed on. The end of an id will do, behind a
// dot or a slash, where no id is equal to it and only one ends so.
func (i *Dockets) Entries(id string) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		defer i.Close()
		var from readers
		defer func() { i.Tests = from.testCount() }()
		i.Passed = make(map[string]bool)
		from.tests.Passed = func(suite string) { i.Passed[suite] = true }
		from.tests.Unread = func(stream string, lines gotest.Unread) { i.Unread = append(i.Unread, unreadLines{stream, lines}) }
		from.texts = func(name string) { i.Texts = append(i.Texts, name) }
		from.exports.Truth = i.Truth
		places := i.places()
		var short []docket.Entry
		exact := false
		for _, in := range i.list {
			err := i.resume(in)
			if err == nil {
				if in.look(); in.foreign != nil {
					err = in.foreign
				}
			}
			if err != nil {
				if !yield(docket.Entry{}, err) {
					return
				}
				continue
			}
			for entry, err := range from.entries(in) {
				if err == nil {
					entry, err = places.note(entry)
				}
				if err == nil && id != "" && entry.Case.ID != id {
					i.PassedOver = PassOver(i.PassedOver, entry.Case.ID, id)
					if len(short) < 2 && EndsWith(entry.Case.ID, id) {
						short = append(short, entry)
					}
					continue
				}
				exact = exact || err == nil
				if !yield(entry, err) {
					return
				}
			}
			in.suspend()
		}
		if len(short) == 1 && !exact {
			yield(short[0], nil)
		}
	}
}

// EndsWith says whether an id ends with a name, as the ids of tests do: "example.com/shop.TestGone" with "TestGone".
func EndsWith(id, name string) bool {
	before, ok := strings.CutSuffix(id, name)
	return ok && (strings.HasSuffix(before, ".") || strings.HasSuffix(before, "/"))
}

// maxNear is how many ids are kept that contain the one that is looked for.
const maxNear = 3

// PassOver adds an id to those that contain the one that is looked for, or whose last part is spelled much like its last part: the first
// three are kept.
func PassOver(list []string, id, wanted string) []string {
	has, want := strings.ToLower(id), strings.ToLower(wanted)
	if len(list) < maxNear && (strings.Contains(has, want) || alike(lastPart(has), lastPart(want))) {
		list = append(list, id)
	}
	return list
}

// lastPart is what stands in an id behind the last dot or slash: the name of a test.
func lastPart(id string) string { return id[strings.LastIndexAny(id, "./")+1:] }

// alike says whether at most two letters are wrong, too many, or missing in one of two names.
func alike(a, b string) bool {
	const most, longest = 2, 200
	if len(a) > longest || len(b) > longest || max(len(a), len(b))-min(len(a), len(b)) > most || min(len(a), len(b)) <= most {
		return false
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)] <= most
}
