package failing

import (
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// Test is a test that failed.
type Test struct {
	// Line is where it begins in its report.
	Line int
	// Name and Group are as long as the report writes them. Without a group the name alone tells the test; without a name it is the group
	// that fails, outside of its tests.
	Name, Group string
	// File is that of the test, where the report names it beside the group.
	File    string
	Elapsed time.Duration
	// Flaky: it passed when it was run again.
	Flaky bool

	Documents
}

// Entry makes the case of a test, with an id that none had before.
func (t *Test) Entry(source string, ids *testlog.IDs) docket.Entry {
	name, group := Bounded(t.Name), Bounded(t.Group)
	id, subject := name, Subject(name, group, t.Flaky)
	switch {
	case name == "":
		id, subject = group, group+" fails outside its tests"
	case group != "":
		id = group + "." + name
	}
	if id == "" {
		subject = "a test fails"
	}
	c := abi.Case{ID: ids.Unique(id), Group: group, Subject: subject}
	file := t.File
	if file == group || Bounded(file) != file {
		file = ""
	}
	elapsed := t.Elapsed.Round(100 * time.Millisecond)
	if elapsed < Slow {
		elapsed = 0
	}
	t.Fill(&c, file, elapsed)
	if t.Flaky {
		light := testlog.Flaky()
		c.Light = &light
	}
	return docket.Entry{Case: c, Source: source, Line: t.Line}
}
