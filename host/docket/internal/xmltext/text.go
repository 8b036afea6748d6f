// Package xmltext walks XML documents of others with encoding/xml in bounded memory: the report, its tags and its nesting have limits, a
// DOCTYPE is rejected, so that no entity is ever defined or fetched, and characters that XML does not allow become U+FFFD.
package xmltext

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// The codes of problems that only XML can have.
const (
	// CodeNotXML: the text is no XML from some place on.
	CodeNotXML abi.Code = "not_xml"

	codeDoctype abi.Code = "doctype"
)

// MaxNesting is how deep elements may nest.
const MaxNesting = 64

// Text is a stream of XML documents, one after the other. Not safe for concurrent use.
type Text struct {
	from *source
	xml  *xml.Decoder
	path []string // the open elements
}

// New makes a reader of a stream of at most docket.MaxReportBytes. The error tells of bytes that are no text in UTF-8.
func New(in io.Reader) (*Text, error) {
	from, err := newSource(in)
	if err != nil {
		return nil, err
	}
	t := &Text{from: from, xml: xml.NewDecoder(from)}
	t.xml.CharsetReader = t.charset
	return t, nil
}

// Line is that of the last character that was read.
func (t *Text) Line() int { return t.from.line }

// charset is called when a document says that it is in another encoding than UTF-8.
func (t *Text) charset(label string, _ io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "ascii", "utf8": // ASCII is UTF-8
	case "iso-8859-1", "latin1", "latin-1", "iso8859-1":
		t.from.latin1 = true
	default:
		return nil, &stream.TextError{Code: docket.CodeNotText, Detail: "is in the encoding " + strconv.Quote(label) + ": use UTF-8 or ISO-8859-1"}
	}
	return t.from, nil
}

// token gives the next token. The path is that behind it.
func (t *Text) token() (xml.Token, error) {
	token, err := t.xml.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case xml.StartElement:
		if len(t.path) == MaxNesting {
			return nil, &stream.TextError{Code: abi.CodeTooDeep, Detail: "elements nest deeper than " + strconv.Itoa(MaxNesting)}
		}
		t.path = append(t.path, token.Name.Local)
	case xml.EndElement:
		t.path = t.path[:len(t.path)-1]
	}
	return token, nil
}

// Roots calls each for the root element of each document, which it has to read to its end. nothing is the error of a stream without one.
func (t *Text) Roots(nothing string, each func(xml.StartElement) error) error {
	found := false
	for {
		token, err := t.token()
		if errors.Is(err, io.EOF) {
			if !found {
				return &stream.TextError{Code: docket.CodeEmptyDocket, Detail: nothing}
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			found = true
			if err := each(token); err != nil {
				return err
			}
			t.from.latin1 = false
		case xml.CharData:
			if strings.TrimSpace(string(token)) != "" {
				return &stream.TextError{Code: CodeNotXML, Detail: "is no XML: text stands where a report should"}
			}
		}
	}
}

// Children calls each for the elements in the open one, which has to read them to their ends, and text for its text; nil
// passes over what is there. It returns behind the end of the open element.
func (t *Text) Children(each func(xml.StartElement) error, text func(string)) error {
	for {
		token, err := t.token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if each == nil {
				err = t.Skip()
			} else {
				err = each(token)
			}
			if err != nil {
				return err
			}
		case xml.CharData:
			if text != nil {
				text(string(token))
			}
		case xml.EndElement:
			return nil
		}
	}
}

// Skip passes over the open element.
func (t *Text) Skip() error {
	for depth := len(t.path); len(t.path) >= depth; {
		if _, err := t.token(); err != nil {
			return err
		}
	}
	return nil
}

// Fault is an error of the reading with its place in the stream of that name: a *docket.LineError when something is wrong with the text,
// else an error of the reader below. Nil for none, and where the reading was stopped.
func (t *Text) Fault(name string, err error) error {
	switch {
	case err == nil || errors.Is(err, stream.ErrStopped):
		return nil
	case t.from.broken != nil:
		return fmt.Errorf("reading %s, line %d: %w", name, t.from.line, t.from.broken)
	}
	var syntax *xml.SyntaxError
	fault := &stream.TextError{Code: CodeNotXML, Detail: "is no XML: " + err.Error()}
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		fault.Code, fault.Detail = abi.CodeTruncated, "the report ends here, and "+t.open()+" is open"
	case errors.As(err, &syntax):
		fault.Detail = "is no XML: " + syntax.Msg
	default:
		errors.As(err, &fault)
	}
	fault.Column = t.from.column
	return docket.NewLineError(name, t.from.line, fault.Code, fault.Error())
}

// open names the innermost open element.
func (t *Text) open() string {
	if len(t.path) == 0 {
		return "a tag"
	}
	return "<" + t.path[len(t.path)-1] + ">"
}

// Attribute is the value of an attribute that is in no name space; empty where there is none.
func Attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
