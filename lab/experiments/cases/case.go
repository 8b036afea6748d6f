// Package cases makes cases of failing Go tests whose cause is known, each with a git repository of its own.
//
// A case stands between two adjacent releases of a public module: the older one is the green revision, the newer one with a
// fault on top is head. So product and tests have changed in every case, and most of the diff has nothing to do with the failure.
package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Cause is what was done for the test to fail.
type Cause string

// The causes.
const (
	Product     Cause = "product"     // a mutation of the product
	Test        Cause = "test"        // a mutation of the tests or their fixtures
	Environment Cause = "environment" // something that the tests need was taken away
	Flaky       Cause = "flaky"       // a mutation that makes the outcome depend on chance, time or the scheduler
	Stale       Cause = "stale"       // a test of the older release that the newer release had updated
	Regression  Cause = "regression"  // code of the older release that the newer release had fixed
)

// Causes are all causes.
func Causes() []Cause { return []Cause{Product, Test, Environment, Flaky, Stale, Regression} }

// Label is the label that is right for the cause.
func (c Cause) Label() string {
	switch c {
	case Product, Regression:
		return gotest.ProductBug
	case Environment:
		return gotest.SystemIssue
	case Flaky:
		return gotest.NoDefect
	default:
		return gotest.AutomationBug
	}
}

// Case is a failing test, and what is needed to try it.
type Case struct {
	ID   string `json:"id"`
	Pair Pair   `json:"pair"`
	// Cause of the failure, the Kind of it, such as the operator of a mutation, and Where it was planted.
	Cause Cause  `json:"cause"`
	Kind  string `json:"kind"`
	Where string `json:"where"`
	// Test that fails. New: the older release does not have it.
	Test string `json:"test"`
	New  bool   `json:"new"`
	// Environment of the tests that lasts: variables by their names. Whatever else was wrong was so in the failing run alone.
	Environment map[string]string `json:"environment,omitempty"`
	// Lasting says of a broken environment that experiments meet it too.
	Lasting bool `json:"lasting"`
	// Green is the revision of the older release in the repository.
	Green string `json:"green"`

	folder string
}

// The files of a case.
const (
	caseFile     = "case.json"
	logFile      = "test.json"     // of go test -json
	outcomesFile = "outcomes.json" // of all experiments
)

// Repository is the folder with the sources.
func (c *Case) Repository() string { return filepath.Join(c.folder, "repo") }

// Outcomes is the file for the outcomes of the case's experiments.
func (c *Case) Outcomes() string { return filepath.Join(c.folder, outcomesFile) }

// Entry reads the case from its log, as users' commands do.
func (c *Case) Entry() (docket.Entry, error) {
	f, err := os.Open(filepath.Join(c.folder, logFile))
	if err != nil {
		return docket.Entry{}, err
	}
	defer func() { _ = f.Close() }()
	for entry, err := range (&gotest.Reader{}).Read(c.ID, f) {
		if bad := (*docket.LineError)(nil); err != nil && !errors.As(err, &bad) {
			return docket.Entry{}, err
		}
		if err == nil && entry.Case.ID == c.Pair.Module+"."+c.Test {
			entry.Truth = &trial.Truth{Classification: c.Cause.Label()}
			return entry, nil
		}
	}
	return docket.Entry{}, fmt.Errorf("%s: the log has no failing test %s", c.ID, c.Test)
}

// write writes the case, with what of the log is about its test if that is read as the whole log is. The file of the case is the last.
func (c *Case) write(log []byte) error {
	name := filepath.Join(c.folder, logFile)
	if err := os.WriteFile(name, log, 0o644); err != nil {
		return err
	}
	whole, err := c.Entry()
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, about(c.Test, log), 0o644); err != nil {
		return err
	}
	if short, err := c.Entry(); err != nil || !reflect.DeepEqual(short.Case, whole.Case) {
		if err := os.WriteFile(name, log, 0o644); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.folder, caseFile), data, 0o644)
}

// about keeps the events of a test, of those around and in it, and of the package.
func about(test string, log []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(log) {
		var e struct {
			Test string `json:"Test"`
		}
		err := json.Unmarshal(line, &e)
		if err != nil || e.Test == "" || strings.HasPrefix(test+"/", e.Test+"/") || strings.HasPrefix(e.Test, test+"/") {
			kept = append(kept, line...)
		}
	}
	return kept
}

func readCase(folder string) (*Case, error) {
	data, err := os.ReadFile(filepath.Join(folder, caseFile))
	if err != nil {
		return nil, err
	}
	c := &Case{folder: folder}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, err
	}
	c.Pair.Tuned = tuned(c.Pair.Module)
	return c, nil
}

// Read reads the cases of a work folder, in the order of their names.
func Read(work string) ([]*Case, error) {
	var list []*Case
	folders, err := filepath.Glob(filepath.Join(work, "cases", "*"))
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		c, err := readCase(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the generator was interrupted there
		}
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}
