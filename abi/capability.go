package abi

import "strconv"

// What modules ask the host for through granted capabilities: see SPEC.md §2.12.

// PriorCase is an earlier case of the casebook.
type PriorCase struct {
	CaseID  string `abi:"case_id,nonempty"`
	Subject string `abi:"subject,opt"`
	// Classification of its final verdict; absent where it has none.
	Classification string  `abi:"classification,opt"`
	Status         string  `abi:"status,nonempty"`
	Confidence     float64 `abi:"confidence,min=0,max=1"`
	// Similarity to this case: 1 where the fingerprints are equal.
	Similarity float64 `abi:"similarity,min=0,max=1"`
	// Seen is how often the failure was seen.
	Seen int `abi:"seen,min=1"`
	// Confirmed: the classification is known to be right. Else it is what a machine decided.
	Confirmed bool `abi:"confirmed"`
	// Absent counts the runs of its suite, since it was last seen, that did not have it: 0 where it never went away.
	Absent int `abi:"absent,min=0"`
}

// RecallQuery asks the casebook for cases that have the fingerprint of this one, or nearly.
type RecallQuery struct {
	Limit int `abi:"limit,min=1,max=100"`
}

// CorrelateQuery searches the casebook by text. Words count, nothing in the text is syntax.
type CorrelateQuery struct {
	Text  string `abi:"text"`
	Limit int    `abi:"limit,min=1,max=100"`
}

// PriorCases answers a RecallQuery or a CorrelateQuery, the most similar first. Without a casebook it is empty.
type PriorCases struct {
	Cases []PriorCase `abi:"cases"`
}

// SourceKind says what a file of the source is for.
type SourceKind string

// The kinds of files.
const (
	SourceProduct SourceKind = "product"
	SourceTest    SourceKind = "test"
	SourceFixture SourceKind = "fixture"
	SourceOther   SourceKind = "other"
)

// SourceQuery asks which files of the source a text names, as a log does in its frames.
type SourceQuery struct {
	Text  string `abi:"text"`
	Limit int    `abi:"limit,min=1,max=100"`
	// Lines of context around each place.
	Lines int `abi:"lines,min=0,max=50"`
}

// SourceFrame is a place in the source that a text names.
type SourceFrame struct {
	Path string     `abi:"path,nonempty"`
	Line int        `abi:"line,min=0"`
	Kind SourceKind `abi:"kind"`
	// Function that encloses the line, where the language is known.
	Function string `abi:"function,opt"`
	// Changed: the diff touches the file; ChangedNear: it touches lines near this one.
	Changed     bool   `abi:"changed"`
	ChangedNear bool   `abi:"changed_near"`
	Excerpt     string `abi:"excerpt,opt"`
}

// SourceReach says how a changed file bears on the tests that a text tells of.
type SourceReach string

// The reaches, the nearest first.
const (
	// ReachPackage: it belongs to the tests' package, or where the language has none, to their folder or by its name to them.
	ReachPackage SourceReach = "package"
	// ReachImported: the package imports it, directly or not.
	ReachImported SourceReach = "imported"
	// ReachDependencies: it says which versions of others' packages are used, or how the tests are built and run.
	ReachDependencies SourceReach = "dependencies"
	// ReachNone: it does not bear on them.
	ReachNone SourceReach = "none"
	// ReachUnknown: the tests were not found, or what they import is not known.
	ReachUnknown SourceReach = "unknown"
)

// ChangedFile is a file that the diff touches.
type ChangedFile struct {
	Path    string      `abi:"path,nonempty"`
	Kind    SourceKind  `abi:"kind"`
	Added   int         `abi:"added,min=0"`
	Removed int         `abi:"removed,min=0"`
	Reach   SourceReach `abi:"reach"`
	// Distance is how many imports lie between the tests and the file: 0 for their own package, and where none is known.
	Distance int `abi:"distance,min=0"`
	// Named are functions that the diff touches and that the text or the body of a failing test names.
	Named []string `abi:"named"`
	// Code: the diff changes more of the file than comments and formatting.
	Code bool `abi:"code"`
	// Hunk is the change that is nearest to what the text names; absent of files that do not bear on the tests.
	Hunk *SourceHunk `abi:"hunk"`
}

// SourceHunk is a place that the diff changes.
type SourceHunk struct {
	// Line is the first one that was added, or the one before which lines were removed; 0 where Text is no file's.
	Line int `abi:"line,min=0"`
	// Text has at most six lines, removed ones behind a minus, added ones behind a plus. Of a commit it is the message.
	Text string `abi:"text,nonempty"`
	// Commit that made the change, the latest of several, and its Author. Absent where it is not committed, or not known.
	Commit string `abi:"commit,opt"`
	Author string `abi:"author,opt"`
}

// FailingTest is a test that the text tells of.
type FailingTest struct {
	Name string `abi:"name,nonempty"`
	Path string `abi:"path,nonempty"`
	// New: the revision that the diff begins at does not have it.
	New bool `abi:"new"`
	// Changed: the diff changes the code of the test itself.
	Changed bool `abi:"changed"`
}

// IntentKind says what tells that a change was meant.
type IntentKind string

// The kinds of intent.
const (
	// IntentValue: the value that the test got stands in added lines of the product, or the one that it wanted in removed ones.
	IntentValue IntentKind = "value"
	// IntentTests: tests were changed from the value that this one wants to the one that it got.
	IntentTests IntentKind = "tests"
	// IntentExpectation: the failing tests were changed in the line or in a value that they report.
	IntentExpectation IntentKind = "expectation"
	// IntentDocuments: added lines of a document name the changed function or value.
	IntentDocuments IntentKind = "documents"
	// IntentMessage: the message of the commit that changed a function names it.
	IntentMessage IntentKind = "message"
)

// SourceIntent tells that somebody meant to change what the tests check.
type SourceIntent struct {
	Kind IntentKind `abi:"kind"`
	// Path of the file with the hunk; absent of messages.
	Path string     `abi:"path,opt"`
	Hunk SourceHunk `abi:"hunk"`
	// Names are the values or the functions that both have.
	Names []string `abi:"names"`
}

// SourceAnswer answers a SourceQuery. Without a source Known is false and the rest empty.
type SourceAnswer struct {
	Known  bool          `abi:"known"`
	Frames []SourceFrame `abi:"frames"`
	// Diff: there is a revision to compare with. Without it changes are not reported.
	Diff bool `abi:"diff"`
	// Located: the tests that the text tells of, or without any the code that failed, stand in the source.
	Located bool `abi:"located"`
	// Changed are the files that the diff touches, those that bear on the tests first. Of the others there may be more.
	Changed []ChangedFile `abi:"changed"`
	// Tests that the text tells of, as far as the source defines them.
	Tests []FailingTest `abi:"tests"`
	// Intent tells of changes that were meant.
	Intent []SourceIntent `abi:"intent"`
}

// TreeRevision names a state of the sources of the module under test.
type TreeRevision string

// The revisions.
const (
	// Base is the last revision before the change, at which the tests are taken to have passed.
	Base TreeRevision = "base"
	// Head is the tree under test, changes included that are not committed.
	Head TreeRevision = "head"
	// Target is the revision that the change will be merged into.
	Target TreeRevision = "target"
	// Merge is head merged into the target.
	Merge TreeRevision = "merge"
)

// RunEnvironment is the environment of a run.
type RunEnvironment string

// The environments.
const (
	// OriginalEnvironment is that of the host, with the variables that the host allows.
	OriginalEnvironment RunEnvironment = "original"
	// CleanEnvironment has an empty home and temporary folder, and no variable beside those that the tools need.
	CleanEnvironment RunEnvironment = "clean"
	// StarvedEnvironment is the original one beside programs that keep the processors busy.
	StarvedEnvironment RunEnvironment = "starved"
	// CoverageEnvironment was that of runs that told which code they execute. Records have it, and no host offers it.
	CoverageEnvironment RunEnvironment = "coverage"
)

// RunOrder says what else runs beside the tests of the case.
type RunOrder string

// The orders.
const (
	// Alone: nothing else runs in the process.
	Alone RunOrder = "alone"
	// OriginalOrder: with all tests of their package, in the order of the package.
	OriginalOrder RunOrder = "original"
)

// Experiment runs the tests of a case again. Product and Tests say from which revisions the files of the product, and those of
// the tests with their fixtures, are taken.
type Experiment struct {
	Product     TreeRevision   `abi:"product"`
	Tests       TreeRevision   `abi:"tests"`
	Environment RunEnvironment `abi:"environment"`
	Order       RunOrder       `abi:"order"`
	Runs        int            `abi:"runs,min=1,max=1000"`
}

// String names the experiment in one word for each factor: "head/base/original/alone/5" is the product of head with the tests of the base.
func (e Experiment) String() string {
	return string(e.Product) + "/" + string(e.Tests) + "/" + string(e.Environment) + "/" + string(e.Order) + "/" + strconv.Itoa(e.Runs)
}

// ExperimentOutcome is what all runs of an experiment together show.
type ExperimentOutcome string

// The outcomes.
const (
	// OutcomePassed: every run passed.
	OutcomePassed ExperimentOutcome = "passed"
	// OutcomeSame: every run failed as the case did, by the fingerprint of the failure.
	OutcomeSame ExperimentOutcome = "same_failure"
	// OutcomeOther: every run failed, not all of them as the case did.
	OutcomeOther ExperimentOutcome = "other_failure"
	// OutcomeMixed: some runs passed and some failed.
	OutcomeMixed ExperimentOutcome = "mixed"
	// OutcomeNotBuilt: the combination of product and tests does not build.
	OutcomeNotBuilt ExperimentOutcome = "not_built"
	// OutcomeNoTest: the tree does not have the test.
	OutcomeNoTest ExperimentOutcome = "no_test"
	// OutcomeNotRun: nothing was run, no run came to an end, or the runs tell nothing of the failure, and their counts say what they were. Detail
	// says why.
	OutcomeNotRun ExperimentOutcome = "not_run"
)

// ExperimentOffer is an experiment that the host can run for this case.
type ExperimentOffer struct {
	Experiment Experiment `abi:"experiment"`
	// Seconds are expected, not measured: they are the same for the same case.
	Seconds float64 `abi:"seconds,min=0,max=86400"`
}

// ExperimentResult is what an experiment has shown. The host writes it; all nodes of the trial see it from then on.
type ExperimentResult struct {
	Experiment Experiment        `abi:"experiment"`
	Outcome    ExperimentOutcome `abi:"outcome"`
	// Passed, Same and Other count the runs that passed, that failed as the case did, and that failed in another way.
	Passed int `abi:"passed,min=0,max=1000"`
	Same   int `abi:"same,min=0,max=1000"`
	Other  int `abi:"other,min=0,max=1000"`
	// Detail is the other failure, what the compiler said, why nothing was run, or what the runs did not see of what the failure may need.
	Detail string `abi:"detail,opt"`
	// Test says how the failing test differs from the test of the base; absent where it is not known.
	Test TestChange `abi:"test,opt"`
	// Loaded says whether the runs loaded the code of their own tree; absent where nothing was run.
	Loaded LoadedCode `abi:"loaded,opt"`
	// Changed said whether the failing test executes code that the change touched. Records have it, and no host measures it.
	Changed ChangedCode `abi:"changed,opt"`
}

// LoadedCode says whether runs loaded the code of the tree that they are about.
type LoadedCode string

// What is known of it.
const (
	// Certified: what was loaded is known, and is of this tree.
	Certified LoadedCode = "certified"
	// NotCertified: it is not known what was loaded.
	NotCertified LoadedCode = "not_certified"
	// Contradicted: code of another tree was loaded, so that the runs tell nothing of this one.
	Contradicted LoadedCode = "contradicted"
)

// ChangedCode said whether a test executes code that the change touched.
type ChangedCode string

// Whether it does.
const (
	CodeExecuted    ChangedCode = "executed"
	CodeNotExecuted ChangedCode = "not_executed"
)

// TestChange says how a failing test of head differs from the test of the base, with all code and fixtures of tests that it uses.
type TestChange string

// The ways in which it may differ.
const (
	TestUnchanged TestChange = "unchanged"
	TestChanged   TestChange = "changed"
	// TestNew: the base does not have it.
	TestNew TestChange = "new"
)

// ExperimentQuery asks for an experiment, or without one what experiments the host offers. Records have it; modules ask by
// the experiment in their answer to a node call.
type ExperimentQuery struct {
	Experiment *Experiment `abi:"experiment"`
}

// ExperimentAnswer answers an ExperimentQuery: with the offers, the cheapest first, or with the result.
type ExperimentAnswer struct {
	Offers []ExperimentOffer `abi:"offers,opt"`
	// Why nothing is offered, or not every experiment.
	Why    string            `abi:"why,opt"`
	Result *ExperimentResult `abi:"result"`
}

// LogLine is a line for the host's log.
type LogLine struct {
	Message string `abi:"message,nonempty"`
}
