package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// The input formats.
const (
	formatAuto   = "auto"
	formatJSONL  = "jsonl"
	formatGoTest = "gotest"
)

// input is one docket, opened, with its format known.
type input struct {
	name   string
	format string
	reader *bufio.Reader
	close  func() error
}

// inputs are the dockets of a run.
type inputs struct{ list []*input }

// sniffBytes is how much of an input is looked at to tell its format.
const sniffBytes = 64 << 10

// openInputs opens every docket; all that can't be opened are named at once.
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
		in.name = "stdin"
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
	if format == formatAuto {
		in.format = sniff(in.reader)
	}
	return in, nil
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

// sniff tells `go test -json` from a JSONL docket by the first line that is a
// JSON object: test events have an Action, cases have labels. It reads no
// further than that line, so that a stream that comes slowly is not held up.
func sniff(r *bufio.Reader) string {
	for {
		have := r.Buffered()
		_, err := r.Peek(min(have+1, sniffBytes))
		head, _ := r.Peek(r.Buffered())
		all := err != nil || len(head) == sniffBytes
		whole := head
		if !all {
			whole = head[:bytes.LastIndexByte(head, '\n')+1]
		}
		if line := firstObject(whole); line != nil {
			return formatOf(line)
		}
		if all {
			return formatJSONL
		}
	}
}

// firstObject is the first line that begins with a brace, or nil.
func firstObject(head []byte) []byte {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		if len(line) > 0 && line[0] == '{' {
			return line
		}
	}
	return nil
}

func formatOf(line []byte) string {
	var event struct {
		Action *string `json:"Action"`
	}
	if json.Unmarshal(line, &event) == nil && event.Action != nil {
		return formatGoTest
	}
	return formatJSONL
}

// only says whether every input has the format.
func (i *inputs) only(format string) bool {
	for _, in := range i.list {
		if in.format != format {
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
		var cases docket.Reader
		var tests gotest.Reader
		for _, in := range i.list {
			for entry, err := range in.entries(&cases, &tests) {
				if err == nil && id != "" && entry.Case.ID != id {
					continue
				}
				if !yield(entry, err) {
					return
				}
			}
		}
	}
}

func (in *input) entries(cases *docket.Reader, tests *gotest.Reader) iter.Seq2[docket.Entry, error] {
	if in.format == formatGoTest {
		return tests.Read(in.name, in.reader)
	}
	return cases.JSONL(in.name, in.reader)
}
