package alibi

import (
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// Repeated tells failures of one test from each other, as a report has them of a test that was run several times. The zero value is ready. Not
// safe for concurrent use.
type Repeated struct {
	// Count is how many entries were repetitions.
	Count int

	seen map[testOf]bool
}

// testOf is a test. Without the file of a test, tests of two reports are two.
type testOf struct{ group, name, file string }

// Has says whether an entry is about a test that an earlier one is about.
func (r *Repeated) Has(e *docket.Entry) bool {
	key := testOf{group: e.Case.Group}
	if tests := gotest.TestsOf(&e.Case); len(tests) == 1 {
		key.name = tests[0].Name
	} else if key.name = gotest.UnbuiltOf(&e.Case); key.name == "" {
		t, named := junit.Named(&e.Case)
		if !named {
			return false
		}
		if key.name, key.file = t.Name, "file "+t.File; t.File == "" {
			key.file = "report " + e.Source
		}
	}
	if r.seen[key] {
		r.Count++
		return true
	}
	if r.seen == nil {
		r.seen = map[testOf]bool{}
	}
	r.seen[key] = true
	return false
}
