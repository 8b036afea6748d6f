package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/docket/reportportal"
)

// The input formats.
const (
	formatAuto         = "auto"
	formatJSONL        = "jsonl"
	formatGoTest       = "gotest"
	formatJUnit        = "junit"
	formatReportPortal = "reportportal"
)

// formats are all that --from takes.
func formats() []string {
	return []string{formatAuto, formatJSONL, formatGoTest, formatJUnit, formatReportPortal}
}

// input is one docket, opened, with its format known.
type input struct {
	name   string
	format string
	live   bool // the standard input, which may be written while it is read
	// foreign is what the input is instead of a docket.
	foreign *foreignError
	reader  *bufio.Reader
	close   func() error
}

// inputs are the dockets of a run.
type inputs struct {
	list []*input
	// passed are the suites in which nothing failed, as far as their formats tell; complete when all entries are read.
	passed map[string]bool
	// tests is how many tests the reports told of; complete when all entries are read.
	tests int
	// unread are the lines of test streams that are no events, a sentence for each stream; complete when all entries are read.
	unread []string
	// truth takes what people decided in an export for the truth.
	truth bool
	// passedOver are ids that were read while another was looked for, the first of those that are like it.
	passedOver []string
}

// openInputs opens every docket; all that can't be opened are named at once. One that is no docket is an entry that can't be
// tried, unless there is no other.
func openInputs(ctx context.Context, stdin io.Reader, names []string, format string) (*inputs, error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	all := &inputs{}
	var faults []error
	for _, name := range names {
		in, err := openInput(ctx, stdin, name, format)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all.list = append(all.list, in)
	}
	if len(faults) == 0 && !slices.ContainsFunc(all.list, func(in *input) bool { return in.foreign == nil }) {
		for _, in := range all.list {
			faults = append(faults, in.foreign)
		}
	}
	if len(faults) > 0 {
		all.close()
		return nil, errors.Join(faults...)
	}
	return all, nil
}

func openInput(ctx context.Context, stdin io.Reader, name, format string) (*input, error) {
	in := &input{name: name, format: format, close: func() error { return nil }}
	raw := stdin
	if name == "-" {
		in.name, in.live = "stdin", true
	} else {
		f, err := openInTime(ctx, name)
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			_ = f.Close()
			return nil, fmt.Errorf("%s is a folder, not a docket", name)
		}
		raw, in.close = f, f.Close
	}
	in.reader = bufio.NewReaderSize(newInterruptible(ctx, raw), sniffBytes)
	switch {
	case format == formatAuto:
		var other *foreign
		in.format, other = sniff(in.reader)
		in.foreign = other.fault(in)
	case !in.live:
		in.foreign = foreignDocument(in.reader).fault(in)
	}
	return in, nil
}

// look finds out whether a stream of a given format is something else. Until it is read, nothing waits for its first line.
func (in *input) look() {
	if in.live && in.foreign == nil {
		in.foreign = foreignDocument(in.reader).fault(in)
	}
}

// openInTime opens a file, and gives up when the context ends: a pipe that
// nobody writes to opens never.
func openInTime(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// only says whether every input has the format.
func (i *inputs) only(format string) bool {
	for _, in := range i.list {
		if in.format != format && in.foreign == nil {
			return false
		}
	}
	return len(i.list) > 0
}

func (i *inputs) close() {
	for _, in := range i.list {
		_ = in.close()
	}
}

// entries reads all dockets one after the other; with an id only that case
// is passed on.
func (i *inputs) entries(id string) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		defer i.close()
		var from readers
		defer func() { i.tests = from.tests.Tests + from.reports.Tests }()
		i.passed = make(map[string]bool)
		from.tests.Passed = func(suite string) { i.passed[suite] = true }
		from.tests.Unread = func(stream string, lines gotest.Unread) { i.unread = append(i.unread, unreadLines(stream, lines)) }
		from.exports.Truth = i.truth
		places := i.places()
		for _, in := range i.list {
			if in.look(); in.foreign != nil {
				if !yield(docket.Entry{}, in.foreign) {
					return
				}
				continue
			}
			for entry, err := range from.entries(in) {
				if err == nil {
					entry, err = places.note(entry)
				}
				if err == nil && id != "" && entry.Case.ID != id {
					i.passOver(entry.Case.ID, id)
					continue
				}
				if !yield(entry, err) {
					return
				}
			}
		}
	}
}

// maxNear is how many ids a message offers.
const maxNear = 3

func (i *inputs) passOver(id, wanted string) {
	if len(i.passedOver) < maxNear && strings.Contains(strings.ToLower(id), strings.ToLower(wanted)) {
		i.passedOver = append(i.passedOver, id)
	}
}

// near offers the ids that hold the one that was looked for in vain.
func (i *inputs) near() string {
	if len(i.passedOver) == 0 {
		return ""
	}
	quoted := make([]string, len(i.passedOver))
	for n, id := range i.passedOver {
		quoted[n] = strconv.Quote(id)
	}
	return "; did you mean " + orList(quoted) + "?"
}

// readers are one for each format: they know the ids of all dockets.
type readers struct {
	cases   docket.Reader
	tests   gotest.Reader
	reports junit.Reader
	exports reportportal.Reader
}

func (r *readers) entries(in *input) iter.Seq2[docket.Entry, error] {
	switch in.format {
	case formatGoTest:
		r.tests.Live = in.live
		return r.tests.Read(in.name, in.reader)
	case formatJUnit:
		return r.reports.Read(in.name, in.reader)
	case formatReportPortal:
		return r.exports.Read(in.name, in.reader)
	default:
		return r.cases.JSONL(in.name, in.reader)
	}
}

// unreadLines tells of the lines of a stream that are no events.
func unreadLines(stream string, lines gotest.Unread) string {
	numbers := make([]string, len(lines.Lines))
	for n, line := range lines.Lines {
		numbers[n] = strconv.Itoa(line)
	}
	places, more := strings.Join(numbers, ", "), ""
	if lines.Count > len(numbers) {
		more = ", ..."
	}
	return stream + ": " + count(lines.Count, "line is no event", "lines are no events") + " of go test -json, kept as output (" +
		plural(len(numbers), "line", "lines") + " " + places + more + ")"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// sayUnread tells of the lines of test streams that are no events.
func (r *tryRun) sayUnread(inputs *inputs) {
	for _, sentence := range inputs.unread {
		fmt.Fprintln(r.stderr, "note: "+inertLine(sentence))
	}
}

// sayPassed says of reports of tests why nothing was tried.
func (r *tryRun) sayPassed(ctx context.Context, inputs *inputs) {
	o := r.options
	if r.tried+r.faults+r.unread > 0 || ctx.Err() != nil || o.explain != "" || !inputs.only(formatGoTest) && !inputs.only(formatJUnit) {
		return
	}
	fmt.Fprintf(r.stderr, "no failure in %s\n", count(inputs.tests, "test", "tests"))
}
