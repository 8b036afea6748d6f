package abitest

import (
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Status of a check.
type Status string

// The statuses. A check is skipped when what failed before leaves nothing to try.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// MaxFailures is how many failures of a check a report holds; the rest is counted.
const MaxFailures = 3

// Report is what the kit found. It holds no times: the same module has the same report.
type Report struct {
	// Digest of the file, "sha256:" and 64 hex digits, and its size in bytes.
	Digest string `json:"digest"`
	Size   int    `json:"size"`
	// Roles that were tried, as ParseRoles reads them.
	Roles []string `json:"roles"`
	Seed  uint64   `json:"seed"`
	Cases int      `json:"cases"`
	// Calls is how many were made.
	Calls int `json:"calls"`
	// Checks that apply to the module, in the order of the catalogue.
	Checks []Result `json:"checks"`
	// Notes are about what breaks no clause.
	Notes []Note `json:"notes"`
	Most  Most   `json:"most"`
}

// Result is a check and what came of it.
type Result struct {
	Rule
	Status Status `json:"status"`
	// Tried counts the answers that were checked.
	Tried int `json:"tried"`
	// Broken counts the failures, of which the first few are listed.
	Broken   int       `json:"broken"`
	Failures []Failure `json:"failures,omitempty"`
}

// Failure is one way in which a module broke a clause.
type Failure struct {
	// Input names what the module was given; empty if it is about the file.
	Input string `json:"input,omitempty"`
	// Call and Request can be sent again.
	Call    abi.Call `json:"call,omitempty"`
	Request []byte   `json:"-"`
	Detail  string   `json:"detail"`
	// Stderr is the beginning of what the module wrote to its standard error.
	Stderr string `json:"stderr,omitempty"`
}

// Note is about something that breaks no clause, and that the author may want to know.
type Note struct {
	Clause string `json:"clause"`
	Text   string `json:"text"`
}

// Most is what the most expensive call took.
type Most struct {
	Fuel          uint64 `json:"fuel"`
	FuelInput     string `json:"fuel_input"`
	ResponseBytes int    `json:"response_bytes"`
	ResponseInput string `json:"response_input"`
	RequestBytes  int    `json:"request_bytes"`
}

// Passed says whether no check failed, and none was skipped.
func (r *Report) Passed() bool {
	return !slices.ContainsFunc(r.Checks, func(c Result) bool { return c.Status != Passed })
}

// Failed gives the checks that failed.
func (r *Report) Failed() []Result {
	var list []Result
	for _, c := range r.Checks {
		if c.Status == Failed {
			list = append(list, c)
		}
	}
	return list
}

// NewReport begins a report on the roles: every check that applies to them is there, and skipped until it is tried.
func NewReport(roles *Roles) *Report {
	r := &Report{Checks: []Result{}, Notes: []Note{}, Roles: roles.Names()}
	for _, rule := range Catalogue() {
		if rule.applies == nil || rule.applies(roles) {
			r.Checks = append(r.Checks, Result{Rule: rule, Status: Skipped})
		}
	}
	return r
}

// Try notes that checks were tried.
func (r *Report) Try(checks ...CheckID) {
	for _, id := range checks {
		if c := r.result(id); c != nil {
			c.Tried++
			if c.Status == Skipped {
				c.Status = Passed
			}
		}
	}
}

// Fail notes a failure of a check.
func (r *Report) Fail(id CheckID, f Failure) {
	c := r.result(id)
	if c == nil { // of a role that the module does not promise, and yet broke
		i := slices.IndexFunc(Catalogue(), func(rule Rule) bool { return rule.ID == id })
		r.Checks = append(r.Checks, Result{Rule: Catalogue()[i]})
		c = &r.Checks[len(r.Checks)-1]
	}
	c.Status = Failed
	if c.Broken++; len(c.Failures) < MaxFailures {
		f.Request = slices.Clone(f.Request)
		c.Failures = append(c.Failures, f)
	}
}

// Note adds a note, once.
func (r *Report) Note(clause, format string, args ...any) {
	n := Note{clause, fmt.Sprintf(format, args...)}
	if !slices.Contains(r.Notes, n) {
		r.Notes = append(r.Notes, n)
	}
}

// broken says whether a check failed before.
func (r *Report) broken(id CheckID) bool {
	c := r.result(id)
	return c != nil && c.Status == Failed
}

func (r *Report) result(id CheckID) *Result {
	for i := range r.Checks {
		if r.Checks[i].ID == id {
			return &r.Checks[i]
		}
	}
	return nil
}
