package quarantine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// Known collects the names of all tests in reports. The zero value is empty.
type Known struct{ ids map[string]bool }

// Has says whether a report had a test by its id.
func (k *Known) Has(id string) bool { return k.ids[id] }

// maxTests of reports are remembered, and maxEvent bytes of a line are read.
const (
	maxTests = 1_000_000
	maxEvent = 16 << 20
)

// Read reads a report: go test -json, or JUnit XML. The error says why it is neither, or too large.
func (k *Known) Read(name string, r io.Reader) error {
	if k.ids == nil {
		k.ids = map[string]bool{}
	}
	in := bufio.NewReader(r)
	first, err := in.Peek(1)
	if err != nil {
		return fmt.Errorf("%s: the report is empty", name)
	}
	if first[0] != '{' {
		return k.junit(name, in)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		var e struct {
			Package string `json:"Package"`
			Test    string `json:"Test"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Package == "" {
			continue // what a build printed
		}
		id := e.Package
		if e.Test != "" {
			id += "." + e.Test
		}
		if err := k.add(id); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (k *Known) junit(name string, in io.Reader) error {
	var full error
	reader := junit.Reader{Ended: func(t junit.Test, _ junit.End) {
		// A test whose class is its name has the id without it.
		full = errors.Join(full, k.add(t.Name))
		if t.Class != "" {
			full = errors.Join(full, k.add(t.Class+"."+t.Name))
		}
	}}
	for _, err := range reader.Read(name, in) {
		if err != nil {
			return err
		}
		if full != nil {
			return fmt.Errorf("%s: %w", name, full)
		}
	}
	return full
}

var errTooMany = fmt.Errorf("more than %d tests", maxTests)

func (k *Known) add(id string) error {
	if len(k.ids) >= maxTests && !k.ids[id] {
		return errTooMany
	}
	k.ids[id] = true
	return nil
}
