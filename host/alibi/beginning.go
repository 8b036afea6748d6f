package alibi

// Ending says how the search for the commit ended that a test began to fail with.
type Ending string

// The endings.
const (
	// Found: a commit is as probable as the search asks. [Culprit.Verified] says whether it was confirmed.
	Found Ending = "found"
	// Passes: the test does not fail at the last commit.
	Passes Ending = "passes"
	// NotRun: the test can't be run at the last commit.
	NotRun Ending = "not run"
	// Before: the test fails as often before the first commit.
	Before Ending = "before"
	// Undecided: the runs don't tell, and more would not, or there was no time for more.
	Undecided Ending = "undecided"
)

// Beginning is what a search showed for the commit that a test began to fail with.
type Beginning struct {
	ID    string `json:"id"` // of the test, as in reports
	Group string `json:"group,omitempty"`
	Test  string `json:"test"`
	// Since is the commit before the first that was searched, and Until the last one; empty for changes that are not committed.
	Since   string `json:"since"`
	Until   string `json:"until,omitempty"`
	Commits int    `json:"commits"`
	Ending  Ending `json:"ending"`
	Why     string `json:"why,omitempty"` // the test can't be run, or nothing is decided
	// Before and After are all runs of Since and Until.
	Before Tally `json:"before"`
	After  Tally `json:"after"`
	// Culprit is the commit that the test began to fail with, or most probably did. Nil where there is none.
	Culprit *Culprit `json:"culprit,omitempty"`
	Message string   `json:"message,omitempty"` // what the failure says of itself
	Runs    int      `json:"runs"`              // all that told something
	Seconds float64  `json:"seconds"`
}

// Confirmed says whether one commit was found, and shown by running it and its parent again.
func (b *Beginning) Confirmed() bool {
	return b.Ending == Found && b.Culprit != nil && b.Culprit.Verified && len(b.Culprit.Beside) == 0
}
