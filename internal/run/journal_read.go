package run

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/record"
)

// reader reads what an earlier run left, one line ahead.
type reader struct {
	in     *bufio.Reader
	ahead  *line // nil behind the last
	cases  int   // up to the one ahead
	offset int64 // behind the lines that were passed
	length int   // of the line ahead
}

// countTrials reads a journal from its beginning to its end, and goes back to its beginning.
func countTrials(f *os.File, parts []record.Part) (int, error) {
	r, fault := newReader(f, parts)
	n, err := 0, fault
	if _, other := errors.AsType[*ConfigurationError](fault); other {
		err = nil
	}
	for err == nil && r != nil && r.ahead != nil {
		if r.ahead.Result != nil {
			n++
		}
		err = r.advance()
	}
	_, back := f.Seek(0, io.SeekStart)
	return n, cmp.Or(err, fault, back)
}

// newReader reads the header; nil where the file holds at most the beginning of the header of parts. With a
// *ConfigurationError there is a reader, too.
func newReader(in io.Reader, parts []record.Part) (*reader, error) {
	r := &reader{in: bufio.NewReaderSize(in, 1<<16)}
	text, err := r.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		own, err := encode(header{journalFormat, parts})
		if err == nil && !bytes.HasPrefix(own, text) {
			err = &FaultError{1, errors.New("it is cut")}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	var h header
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, &FaultError{1, err}
	}
	if h.Format != journalFormat {
		return nil, &FaultError{1, fmt.Errorf("its format is %q, not %q", h.Format, journalFormat)}
	}
	r.length = len(text)
	if err := r.advance(); err != nil {
		return nil, err
	}
	if other := differing(h.Configuration, parts); len(other) > 0 {
		return r, &ConfigurationError{other}
	}
	return r, nil
}

// advance passes the line ahead and reads the next one. One that was not written whole is the end.
func (r *reader) advance() error {
	r.offset += int64(r.length)
	r.ahead, r.length = nil, 0
	text, err := r.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if string(text) == endLine {
		return nil
	}
	r.cases++
	if r.ahead, err = decode(text); err != nil {
		return &FaultError{r.cases + 1, err}
	}
	r.length = len(text)
	return nil
}

// differing names the parts that are not the same, or only in one list.
func differing(a, b []record.Part) []string {
	var names []string
	for _, list := range [][2][]record.Part{{a, b}, {b, a}} {
		for _, p := range list[0] {
			if !slices.Contains(list[1], p) && !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}
