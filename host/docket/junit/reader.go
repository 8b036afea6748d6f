package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// The codes of problems that only a report can have.
const (
	// CodeNotXML: the text is no XML from some place on.
	CodeNotXML abi.Code = "not_xml"
	// CodeNotJUnit: it is XML, but not a report of JUnit.
	CodeNotJUnit abi.Code = "not_junit"

	codeDoctype abi.Code = "doctype"
)

// The bounds of a report, by default and otherwise.
const (
	// DefaultTagBytes is the longest tag, attributes included.
	DefaultTagBytes = 16 << 20
	// MaxNesting is how deep elements may nest.
	MaxNesting = 64
	// MaxDocuments is how many documents a case has at most; a last one says how many more were left out.
	MaxDocuments = 16
)

// Reader reads reports. The zero value is ready. One Reader for several files gives every case an id of its own. Not safe
// for concurrent use.
type Reader struct {
	// MaxTagBytes is the longest tag, comment or processing instruction. Default: DefaultTagBytes. A longer one is an
	// error, and is not held in memory.
	MaxTagBytes int
	// HeadBytes and TailBytes are how much of a text is kept. Defaults: 256 KiB each. All documents of a case together are
	// cut to abi.DefaultCaseDocumentBytes.
	HeadBytes, TailBytes int
	// HeldBytes is how much of the documents of cases waits for further runs of their tests. Default: DefaultHeldBytes. Beyond
	// it they are given, with the runs so far.
	HeldBytes int
	// Ended, if it is not nil, is told of every test case how it ended, those that passed included.
	Ended func(Test, End)
	// Tests is how many test cases were read, those that passed included.
	Tests int

	ids testlog.IDs
}

// Read gives the failures of a report as cases, in their order and with the number of the line on which they begin. They
// are given when their suite ends, since a test may stand in it again: of one that passed and failed an item of evidence
// tells. A report in which all tests pass has no case, and no error.
//
// An error is the last, after the cases that stand before it. It is a *docket.LineError with the line, and the column in
// its text, when something is wrong with the report (Line 0: with the file as a whole); any other error comes from in.
//
// Memory is bounded by the logs of one test case, the longest tag, and HeldBytes of cases that wait.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		limit := r.MaxTagBytes
		if limit <= 0 {
			limit = DefaultTagBytes
		}
		from, err := newSource(in, limit)
		if err != nil {
			yield(docket.Entry{}, docket.NewLineError(name, 0, docket.CodeNotText, err.Error()))
			return
		}
		p := &parser{reader: r, name: name, from: from, xml: xml.NewDecoder(from), yield: yield}
		p.xml.CharsetReader = p.charset
		err = p.reports()
		switch {
		case err == nil || errors.Is(err, errStopped):
		case from.broken != nil:
			yield(docket.Entry{}, fmt.Errorf("reading %s, line %d: %w", name, from.line, from.broken))
		default:
			yield(docket.Entry{}, p.placed(err))
		}
	}
}

// errStopped ends the reading when nobody wants more.
var errStopped = errors.New("stopped")

// charset is called when a report says that it is in another encoding than UTF-8.
func (p *parser) charset(label string, _ io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "ascii", "utf8": // ASCII is UTF-8
	case "iso-8859-1", "latin1", "latin-1", "iso8859-1":
		p.from.latin1 = true
	default:
		return nil, &stream.TextError{Code: docket.CodeNotText, Detail: "is in the encoding " + strconv.Quote(label) + ": use UTF-8 or ISO-8859-1"}
	}
	return p.from, nil
}

// placed says where an error is.
func (p *parser) placed(err error) error {
	var syntax *xml.SyntaxError
	fault := &stream.TextError{Code: CodeNotXML, Detail: "is no XML: " + err.Error()}
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		fault.Code, fault.Detail = abi.CodeTruncated, "the report ends here, and "+p.open()+" is open"
	case errors.As(err, &syntax):
		fault.Detail = "is no XML: " + syntax.Msg
	default:
		errors.As(err, &fault)
	}
	fault.Column = p.from.column
	return docket.NewLineError(p.name, p.from.line, fault.Code, fault.Error())
}
