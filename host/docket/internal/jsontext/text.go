// Package jsontext reads JSON documents that other tools write, in bounded memory, by the fields that a reader knows.
package jsontext

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/failing"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// Text is a stream of JSON documents, one after the other. Not safe for concurrent use.
type Text struct {
	*stream.JSON

	// Wrong, if it is not nil, is told of each value of another type than is expected. Such values are skipped; null counts as absent.
	Wrong func(code abi.Code, detail string)
	// Path is that of the value that is read.
	Path abi.Path
}

// Fields are the readers of an object's fields; all other fields are skipped. A reader writes to the same place on every call. Make it
// once, outside the list that it reads: making it for each element takes longer than reading.
type Fields map[string]func() error

// New makes a reader of a stream.
func New(in io.Reader) *Text { return &Text{JSON: stream.NewJSON(in)} }

// Roots calls each before each document. each has to read it, and says whether it is of the expected format. what names the format, for
// errors; nothing is the error of a stream without such a document.
func (t *Text) Roots(what, nothing string, each func() (bool, error)) error {
	if err := t.Open(what + " is UTF-8 text"); err != nil {
		return err
	}
	for found := false; ; {
		more, err := t.More()
		switch {
		case err != nil:
			return err
		case !more && !found:
			return &stream.TextError{Code: docket.CodeEmptyDocket, Detail: nothing}
		case !more:
			return nil
		}
		one, err := each()
		if err != nil {
			return err
		}
		found = found || one
	}
}

// Fault places an error in the stream of that name: a *docket.LineError when something is wrong with the text, else an error of the
// reader below. Nil for none, and where the reading was stopped.
func (t *Text) Fault(name string, err error) error {
	if err == nil || errors.Is(err, stream.ErrStopped) {
		return nil
	}
	if fault, ok := errors.AsType[*stream.TextError](err); ok {
		return docket.NewLineError(name, fault.Line, fault.Code, fault.Error())
	}
	return fmt.Errorf("reading %s, line %d: %w", name, t.Line(), err)
}

// Under reads what stands a step further down.
func (t *Text) Under(step abi.PathElement, read func() error) error {
	t.Path = append(t.Path, step)
	err := read()
	t.Path = t.Path[:len(t.Path)-1]
	return err
}

// Is says whether the next value begins with one of these bytes. Any other value is skipped.
func (t *Text) Is(begins, expected string) (bool, error) {
	b, err := t.Next()
	if err != nil {
		return false, err
	}
	if strings.IndexByte(begins, b) >= 0 {
		return true, nil
	}
	if b != 'n' && t.Wrong != nil {
		t.Wrong(abi.CodeWrongType, "is "+stream.KindOf(b)+", expected "+expected)
	}
	return false, t.Skip()
}

// Each reads an object; each is called behind each key, and has to read the value.
func (t *Text) Each(each func(key string) error) error {
	if ok, err := t.Is("{", "an object"); !ok {
		return err
	}
	return t.Object(func(key string) error {
		t.Path = append(t.Path, abi.Field(Bounded(key)))
		err := each(key)
		t.Path = t.Path[:len(t.Path)-1]
		return err
	})
}

// Read returns a reader of an object.
func (t *Text) Read(fields Fields) func() error {
	each := func(key string) error {
		if read := fields[key]; read != nil {
			return read()
		}
		return t.Skip()
	}
	return func() error { return t.Each(each) }
}

// List returns a reader of a list; each is called before each element, and has to read it.
func (t *Text) List(each func() error) func() error {
	return func() error {
		if ok, err := t.Is("[", "a list"); !ok {
			return err
		}
		i := -1
		return t.Array(func() error {
			i++
			return t.Under(abi.Index(i), each)
		})
	}
}

// Clip returns a reader of a string that keeps its head and its tail.
func (t *Text) Clip(into *string, head, tail int) func() error {
	return func() error {
		ok, err := t.Is(`"`, "a string")
		if ok {
			*into, err = t.String(head, tail)
		}
		return err
	}
}

// Name returns a reader of a string of one line that keeps its head.
func (t *Text) Name(into *string) func() error {
	return func() error {
		text := ""
		err := t.Clip(&text, failing.MaxNameBytes*3/2, failing.MaxNameBytes/2)()
		*into = Bounded(text)
		return err
	}
}

// Number returns a reader of a number.
func (t *Text) Number(into *float64) func() error {
	return func() error {
		ok, err := t.Is("-0123456789", "a number")
		if !ok {
			return err
		}
		word, err := t.Word()
		if err == nil {
			*into, _ = strconv.ParseFloat(word, 64) // out of range: infinite
		}
		return err
	}
}

// Bounded is the first line of a name, as valid UTF-8 of bounded length.
func Bounded(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "\n")
	return failing.Bounded(name)
}
