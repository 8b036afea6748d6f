package run

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
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
	list []*input
	// Passed are the suites in which nothing failed, as far as their formats tell; complete when all entries are read.
	Passed map[string]bool
	// tests is how many tests the reports told of; complete when all entries are read.
	Tests int
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
// tried, unless there is no other. Patterns are expanded as [Expand] does. What is compressed with gzip is unpacked, within limits.
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
		in, err := all.openInput(ctx, stdin, name, format)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if len(all.list) >= maxOpen && in.again {
			in.suspend()
		}
		all.list = append(all.list, in)
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

func (i *Dockets) openInput(ctx context.Context, stdin io.Reader, name, format string) (*input, error) {
	if name == "-" {
		in := &input{name: "stdin", format: format, live: true}
		return in, i.stream(ctx, in, stdin, func() error { return nil })
	}
	f, err := OpenFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return i.openFile(ctx, name, f, format, func() (*os.File, error) { return OpenFile(ctx, name) })
}

// openFile opens a docket. It closes the file if it can't.
func (i *Dockets) openFile(ctx context.Context, name string, f *os.File, format string, reopen func() (*os.File, error)) (*input, error) {
	in := &input{name: name, format: format}
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		_ = f.Close()
		return nil, fmt.Errorf("%s is a folder, not a docket: name the reports in it, as in '%s'", name, filepath.Join(name, "**", "*.xml"))
	case err != nil || !info.Mode().IsRegular():
		return in, i.stream(ctx, in, f, f.Close)
	}
	in.again = reopen != nil
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
	return in, i.begin(in)
}

// stream opens what can be read once.
func (i *Dockets) stream(ctx context.Context, in *input, raw io.Reader, end func() error) error {
	in.open = func() (io.Reader, func() error, error) {
		return &gunzip{name: in.name, raw: NewReader(ctx, raw)}, end, nil
	}
	return i.begin(in)
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
		in.foreign = foreignDocument(in.reader).fault(in)
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
// docket is an error.
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
	in, err := d.openFile(ctx, name, f, format, nil)
	if err != nil {
		return nil, err
	}
	if d.list = []*input{in}; in.foreign != nil {
		d.Close()
		return nil, in.foreign
	}
	return d, nil
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
		in.foreign = foreignDocument(in.reader).fault(in)
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
}

// Entries reads all dockets one after the other; with an id only that case is passed on. The end of an id will do, behind a
// dot or a slash, where no id is equal to it and only one ends so.
func (i *Dockets) Entries(id string) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		defer i.Close()
		var from readers
		defer func() { i.Tests = from.tests.Tests + from.reports.Tests }()
		i.Passed = make(map[string]bool)
		from.tests.Passed = func(suite string) { i.Passed[suite] = true }
		from.tests.Unread = func(stream string, lines gotest.Unread) { i.Unread = append(i.Unread, unreadLines{stream, lines}) }
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
		if err := from.exports.Account(); err != nil && !yield(docket.Entry{}, err) {
			return
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

// OpenFile opens a file, and gives up when the context ends: a pipe that nobody writes to opens never.
func OpenFile(ctx context.Context, name string) (*os.File, error) {
	return Await(ctx, func() (*os.File, error) { return os.Open(name) })
}

// Await does what may wait for a terminal or a pipe, and gives up when the context ends. The goroutine of what never returns stays until the
// program ends.
func Await[T any](ctx context.Context, do func() (T, error)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := do()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

// counted tells how much was read.
type counted struct {
	io.Reader

	name    string
	dockets *Dockets
	bytes   int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	before := c.bytes >> 20
	if c.bytes += int64(n); c.bytes>>20 > before && c.dockets.Read != nil {
		c.dockets.Read(c.name, c.bytes)
	}
	return n, err
}

// interruptible lets a read that waits for a terminal or a pipe end with the context.
type interruptible struct {
	ctx  context.Context //nolint:containedctx // io.Reader has no place for it
	in   io.Reader
	rest []byte
	err  error
}

// NewReader lets a read that waits for a terminal or a pipe end with the context.
func NewReader(ctx context.Context, in io.Reader) io.Reader {
	return &interruptible{ctx: ctx, in: in}
}

func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil {
		r.fill(max(len(p), 1))
	}
	if n := copy(p, r.rest); n > 0 {
		r.rest = r.rest[n:]
		return n, nil
	}
	return 0, r.err
}

func (r *interruptible) fill(size int) {
	r.rest, r.err = Await(r.ctx, func() ([]byte, error) {
		buf := make([]byte, size)
		n, err := r.in.Read(buf)
		return buf[:n], err
	})
}

// places says where the ids of dockets of several formats stand, so that none is that of two cases; each reader sees to that for its own. A
// nil one is for dockets of one format.
type places map[string]string

func (i *Dockets) places() places {
	for _, in := range i.list {
		if in.format != i.list[0].format {
			return make(places)
		}
	}
	return nil
}

// note gives the entry, or that its id was that of a case of another docket.
func (p places) note(entry docket.Entry) (docket.Entry, error) {
	if p == nil {
		return entry, nil
	}
	if first, twice := p[entry.Case.ID]; twice {
		return docket.Entry{}, &docket.LineError{File: entry.Source, Line: entry.Line, Problems: []abi.Problem{{
			Path: abi.Path{abi.Field("id")}, Code: abi.CodeDuplicateID, Detail: "the case at " + first + " has this id",
		}}}
	}
	p[entry.Case.ID] = entry.Source + ":" + strconv.Itoa(entry.Line)
	return entry, nil
}

// The bounds of a pattern: files that match it, and names that are looked at.
const (
	maxMatches = 10_000
	maxLooked  = 1_000_000
)

// Expand gives the files for names that are patterns and no files, sorted: for shells and CI that don't expand them. A pattern has *, ?
// and [a-z], which match within one name, and ** for any number of folders. As in a shell, a name that begins with a dot is matched
// by a pattern that does. A file that several patterns match is given once. An error names a pattern that is wrong, or that
// matches no file; all are named at once.
func Expand(ctx context.Context, names []string) ([]string, error) {
	var all []string
	var faults []error
	given := map[string]bool{}
	for _, name := range names {
		given[filepath.Clean(name)] = true
	}
	for _, name := range names {
		if !isPattern(name) {
			all = append(all, name)
			continue
		}
		matches, err := matching(ctx, name)
		if err != nil {
			faults = append(faults, err)
		}
		for _, match := range matches {
			if !given[match] {
				given[match] = true
				all = append(all, match)
			}
		}
	}
	return all, errors.Join(faults...)
}

// isPattern says whether a name has what a pattern has, and is no file.
func isPattern(name string) bool {
	if !strings.ContainsAny(name, "*?[") {
		return false
	}
	_, err := os.Lstat(name)
	return err != nil
}

// matching gives the files that match a pattern.
func matching(ctx context.Context, pattern string) ([]string, error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%s: the pattern is wrong: a [ has no end, or nothing between it and its end", pattern)
	}
	root := filepath.VolumeName(pattern)
	rest := pattern[len(root):]
	if rest != "" && os.IsPathSeparator(rest[0]) {
		root += string(filepath.Separator)
	}
	w := &matches{ctx: ctx, pattern: pattern}
	if err := w.below(root, strings.FieldsFunc(rest, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) })); err != nil {
		return nil, err
	}
	slices.Sort(w.files)
	if w.files = slices.Compact(w.files); len(w.files) > 0 {
		return w.files, nil
	}
	if w.folders > 0 {
		return nil, fmt.Errorf("%s matches folders and no file: a pattern for the files in them ends with /**/*.xml, or the like", pattern)
	}
	return nil, fmt.Errorf("no file matches %s", pattern)
}

// matches looks for the files of a pattern.
type matches struct {
	ctx     context.Context //nolint:containedctx // of one call of matching
	pattern string
	files   []string
	folders int
	looked  int
}

// below looks for the parts of the pattern that are left, in a folder.
func (w *matches) below(folder string, parts []string) error {
	if len(parts) == 0 {
		return nil
	}
	part, left := parts[0], parts[1:]
	if part != "**" && !strings.ContainsAny(part, "*?[") {
		return w.take(filepath.Join(folder, part), left)
	}
	entries, _ := os.ReadDir(orHere(folder)) // no folder, or one that can't be read, has no file for a pattern
	if w.looked += len(entries); w.looked > maxLooked {
		return fmt.Errorf("%s: more than %d names were looked at: begin the pattern with a folder", w.pattern, maxLooked)
	}
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if part == "**" {
		if len(left) == 0 {
			left = []string{"*"} // all files
		}
		if err := w.below(folder, left); err != nil {
			return err
		}
	}
	for _, e := range entries {
		var err error
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(part, ".")
		switch matched, _ := filepath.Match(part, e.Name()); {
		case hidden:
		case part == "**" && e.IsDir():
			err = w.below(filepath.Join(folder, e.Name()), parts)
		case part != "**" && matched:
			err = w.take(filepath.Join(folder, e.Name()), left)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take goes on in a folder that matches, or takes a file.
func (w *matches) take(name string, left []string) error {
	if len(left) > 0 {
		return w.below(name, left)
	}
	info, _ := os.Stat(name)
	switch {
	case info == nil: // it is gone, or no name at all
	case info.IsDir():
		w.folders++
	case len(w.files) == maxMatches:
		return fmt.Errorf("%s matches more than %d files", w.pattern, maxMatches)
	default:
		w.files = append(w.files, name)
	}
	return nil
}

func orHere(folder string) string { return cmp.Or(folder, ".") }
