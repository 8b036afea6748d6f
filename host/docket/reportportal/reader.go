// Package reportportal reads what ReportPortal's REST API gives into cases, one for each test item that failed.
//
// An export is one JSON text or several one after the other, in any order: pages of items and of logs as the API gives
// them ({"content": [...], "page": {...}}), a launch, the settings of a project with its defect types, or objects that
// hold these under any names. The package knows them by their fields:
//
//	an item         type, name, status; id, uuid, parent, codeRef, hasChildren, hasStats, pathNames, issue; logs in it, if any
//	a log           message, and level or itemId; the latter may be missing for a log that stands in its item
//	a defect type   locator, and typeRef or longName, under subTypes of the settings
//	statistics      of launches and items: their defects name the defect types that are in use
//
// Other fields are passed over, but a field named here has to have its type. Retries and the comments on issues are passed
// over too: a comment is somebody's conclusion.
//
// An item is a case when its status is FAILED or INTERRUPTED and it has no children of its own that count; the logs of
// nested steps (hasStats false) belong to the item that they are in. The case's id is the item's, so that what comes of it
// can be written back. Its document is "log", the messages in the order in which they stand.
//
// The labels are the defect types that the export states, without those to be investigated (ti001): first ReportPortal's
// four, pb001 product bug, ab001 automation bug, si001 system issue, nd001 no defect, which can't be deleted there, and
// then the project's own, as pb_1h7inqu51mgys.
//
// What somebody decided about an item (issue.issueType) is no part of the case. With [Reader.Truth] it is the truth beside
// it, unless the item is still to be investigated or was analysed by a machine.
package reportportal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// The most of the log of one item that is kept, by default. All items that failed are held until the stream ends, since
// their logs may follow.
const (
	DefaultHeadBytes = 64 << 10
	DefaultTailBytes = 64 << 10
)

// maxNesting is how deep objects and lists may nest: each level is scanned by itself.
const maxNesting = 32

// Reader reads exports. The zero value is ready. One Reader for several files gives every case an id of its own. Not safe
// for concurrent use.
type Reader struct {
	// HeadBytes and TailBytes are how much of the log of one item is kept. Defaults: DefaultHeadBytes, DefaultTailBytes.
	HeadBytes, TailBytes int
	// Truth takes the defect type that a person gave an item for the truth. Default: there is none.
	Truth bool

	ids   report.IDs
	held  map[int]int // items of pages, by the total that the pages state
	paged string      // the last file with such a page
}

// Account is an error, for the end of all files, where pages of items state more than were given.
func (r *Reader) Account() error {
	for _, total := range slices.Sorted(maps.Keys(r.held)) {
		if held := r.held[total]; held < total {
			return docket.NewLineError(r.paged, 0, abi.CodeBadCount, fmt.Sprintf("page.totalElements: states %d items, and the pages that were given have %d: get the others, too", total, held))
		}
	}
	return nil
}

// Read gives the items of a stream that failed as cases, in the order in which they stand there, with the number of the
// line on which an item begins. An export in which all items passed has no case, and no error.
//
// An item, a log or a defect type that is wrong is a *docket.LineError with the line and the path, and the others are
// read; these errors stand before the cases. A text that is no JSON, ends early or has more than docket.MaxReportBytes is a
// *docket.LineError with the line (0: the file as a whole), and the column in its text; it is the last, after the items of the
// texts before it. Any other error is the last, too, and comes from in.
//
// Cases are given when the stream has ended. Memory is bounded by docket.MaxReportBytes, and by the logs of the items that failed and of
// those that stand before their items, HeadBytes + 2 TailBytes each at most.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		p := &parser{
			reader: r, name: name, byID: map[string]*item{}, early: map[string]*log{},
			report: func(err error) bool { return yield(docket.Entry{}, err) },
		}
		err := p.texts(in)
		if errors.Is(err, stream.ErrStopped) {
			return
		}
		p.settle()
		for _, i := range p.items {
			if i.isCase() && !yield(p.entry(i), nil) {
				return
			}
		}
		if err != nil {
			yield(docket.Entry{}, err)
		}
	}
}

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	text   []byte // the JSON text that is read
	at     int    // an offset in it
	line   int    // of the offset

	found  int              // items and logs, those that are wrong included
	report func(error) bool // what is wrong with an object; false ends the reading
	items  []*item
	byID   map[string]*item
	early  map[string]*log // of items that were not read yet
	labels labels
}

// source counts what the decoder reads, and holds a text to its limit.
type source struct {
	io.Reader

	decoder *jsontext.Decoder
	bytes   int64
	lines   int
	err     error // of the reader below, other than its end
}

var errTooLarge = errors.New("too large")

func (s *source) Read(p []byte) (int, error) {
	if s.bytes-s.decoder.InputOffset() > docket.MaxReportBytes {
		return 0, errTooLarge
	}
	n, err := s.Reader.Read(p)
	s.bytes += int64(n)
	s.lines += bytes.Count(p[:n], []byte("\n"))
	if err != io.EOF {
		s.err = err
	}
	return n, err
}

// texts reads the JSON texts of a stream.
func (p *parser) texts(raw io.Reader) error {
	in := bufio.NewReader(raw)
	if err := stream.Open(in, "an export is UTF-8 text"); err != nil {
		return p.fault(0, err)
	}
	from := &source{Reader: in}
	// Invalid UTF-8 becomes U+FFFD: logs have what programs print.
	from.decoder = jsontext.NewDecoder(from, jsontext.AllowInvalidUTF8(true))
	for {
		value, err := from.decoder.ReadValue()
		unread := from.decoder.UnreadBuffer()
		line := 1 + from.lines - bytes.Count(unread, []byte("\n")) // on which the text ends, or begins if it is none
		switch {
		case err == nil:
			p.text, p.at, p.line = value, 0, line-bytes.Count(value, []byte("\n"))
			if err := p.value(node{value, 0}, nil, nil); err != nil {
				return err
			}
		case from.err != nil:
			return fmt.Errorf("reading %s, line %d: %w", p.name, line, from.err)
		case errors.Is(err, errTooLarge):
			return docket.NewLineError(p.name, line, abi.CodeTooLarge, "the text has more than "+strconv.Itoa(docket.MaxReportBytes>>20)+" MiB: get smaller pages")
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && len(bytes.TrimSpace(unread)) == 0:
			if p.found == 0 {
				return docket.NewLineError(p.name, 0, docket.CodeEmptyDocket, "has no test item of ReportPortal")
			}
			return nil
		default:
			return p.fault(line, stream.JSONFault(err, unread, from.decoder.InputOffset()))
		}
	}
}

// fault is what is wrong with a text that begins on a line.
func (p *parser) fault(line int, err error) error {
	fault, ok := errors.AsType[*stream.TextError](err)
	if !ok {
		return err
	}
	return docket.NewLineError(p.name, max(0, line+fault.Line-1), fault.Code, fault.Error())
}

// node is a value in the text, at an offset.
type node struct {
	jsontext.Value

	at int
}

// parts are the fields of an object, or the elements of a list without keys, in their order.
func (n node) parts() iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		d := jsontext.NewDecoder(bytes.NewBuffer(n.Value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		_, _ = d.ReadToken()
		for key := ""; d.PeekKind() != '}' && d.PeekKind() != ']'; {
			if n.Kind() == '{' {
				token, _ := d.ReadToken()
				key = token.String()
			}
			value, err := d.ReadValue()
			if err != nil || !yield(key, node{value, n.at + int(d.InputOffset()) - len(value)}) {
				return
			}
		}
	}
}

// value reads any value; parent is the object that it stands in.
func (p *parser) value(v node, path abi.Path, parent *object) error {
	kind := v.Kind()
	if len(path) >= maxNesting && (kind == '{' || kind == '[') {
		return docket.NewLineError(p.name, p.lineAt(v.at), abi.CodeTooDeep, "values nest deeper than "+strconv.Itoa(maxNesting))
	}
	switch kind {
	case '{':
		return p.object(v, path, parent)
	case '[':
		i := 0
		for _, element := range v.parts() {
			if err := p.value(element, append(slices.Clip(path), abi.Index(i)), parent); err != nil {
				return err
			}
			i++
		}
		return nil
	}
	if n := len(path); n > 1 && path[n-2].Name() == "content" {
		if _, listed := path[n-1].IsIndex(); listed { // a page of the API lists it
			return p.reject(p.lineAt(v.at), path, []fieldError{{at: v.at, code: abi.CodeWrongType, detail: "is no object"}})
		}
	}
	return nil
}

// fieldError says what is wrong with a field, by the path in its object.
type fieldError struct {
	at     int
	path   abi.Path
	code   abi.Code
	detail string
}

// lineAt is the line of an offset in the text, which is not before that of the call before.
func (p *parser) lineAt(at int) int {
	p.line += bytes.Count(p.text[p.at:at], []byte("\n"))
	p.at = at
	return p.line
}

// reject reports what is wrong with the object that is read, which is passed over.
func (p *parser) reject(line int, path abi.Path, wrong []fieldError) error {
	p.found++
	err := &docket.LineError{File: p.name, Line: line}
	for _, w := range wrong {
		err.Problems = append(err.Problems, abi.Problem{Path: slices.Concat(path, w.path), Code: w.code, Detail: w.detail})
	}
	if !p.report(err) {
		return stream.ErrStopped
	}
	return nil
}
