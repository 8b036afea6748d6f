package trial

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Experiment is one that was run in a trial, and what it showed.
type Experiment struct {
	// Node and Persona that asked for it.
	Node    string `json:"node"`
	Persona string `json:"persona"`
	Factors
	// The result: Passed, Same and Other count runs.
	Outcome abi.ExperimentOutcome `json:"outcome"`
	Passed  int                   `json:"passed"`
	Same    int                   `json:"same"`
	Other   int                   `json:"other"`
	Detail  string                `json:"detail,omitempty"`
	// Test says how the failing test differs from the test of the base, if that is known.
	Test abi.TestChange `json:"test,omitempty"`
	// Loaded says whether the runs loaded the code of their own tree, and Changed whether the test executes what the change touched, as far
	// as that is known.
	Loaded  abi.LoadedCode  `json:"loaded,omitempty"`
	Changed abi.ChangedCode `json:"changed,omitempty"`
}

// Factors say what is run.
type Factors struct {
	Product     abi.TreeRevision   `json:"product"`
	Tests       abi.TreeRevision   `json:"tests"`
	Environment abi.RunEnvironment `json:"environment"`
	Order       abi.RunOrder       `json:"order"`
	Runs        int                `json:"runs"`
}

// What says in words what is run: "this tree, 5 times on a busy machine".
func (f *Factors) What() string { return abi.Experiment(*f).Words() }

// NewExperiment is a result as programs get it.
func NewExperiment(node, persona string, r *abi.ExperimentResult) Experiment {
	return Experiment{
		Node: node, Persona: persona, Factors: Factors(r.Experiment),
		Outcome: r.Outcome, Passed: r.Passed, Same: r.Same, Other: r.Other, Detail: r.Detail, Test: r.Test,
		Loaded: r.Loaded, Changed: r.Changed,
	}
}

// What says in words what was run, without the number of runs where Showed has it.
func (e *Experiment) What() string {
	what := e.Factors.What()
	if e.Outcome == abi.OutcomeMixed {
		what = strings.Replace(what, ", "+strconv.Itoa(e.Runs)+" times", "", 1)
	}
	return what
}

// Showed says in words what came of it: "5 passed", "1 of 5 runs failed in the same way".
func (e *Experiment) Showed() string {
	r := e.Result()
	if e.Outcome != abi.OutcomeMixed {
		return r.Words()
	}
	said := strconv.Itoa(e.Same+e.Other) + " of " + strconv.Itoa(r.Made()) + " runs failed"
	switch {
	case e.Other == 0:
		said += " in the same way"
	case e.Same == 0:
		said += " in another way"
	default:
		said += ", " + strconv.Itoa(e.Same) + " in the same way"
	}
	if missing := e.Runs - r.Made(); missing > 0 {
		said += ", " + strconv.Itoa(missing) + " not made"
	}
	return said
}

// Result is what the host told the modules.
func (e *Experiment) Result() abi.ExperimentResult {
	return abi.ExperimentResult{
		Experiment: abi.Experiment(e.Factors), Outcome: e.Outcome, Passed: e.Passed, Same: e.Same, Other: e.Other, Detail: e.Detail, Test: e.Test,
		Loaded: e.Loaded, Changed: e.Changed,
	}
}

// Why is the first line of the detail, with the next one where it only announces that.
func (e *Experiment) Why() string {
	why, rest, _ := strings.Cut(strings.TrimSpace(e.Detail), "\n")
	if why = strings.TrimSpace(why); strings.HasSuffix(why, ":") {
		next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		why = strings.TrimSuffix(strings.TrimSpace(why+" "+strings.TrimSpace(next)), ":")
	}
	return why
}

// Proposal is the experiment that is expected to tell most of the label of an uncertain case for its seconds, and was not run, or not with
// what Allow gives its tests.
type Proposal struct {
	Factors
	// Seconds are expected, not measured.
	Seconds float64 `json:"seconds"`
	// WhyNot says why it was not run.
	WhyNot string `json:"why_not"`
	// Allow is what the tests have to be given to tell more than they did: home or network, by --experiments home or
	// --experiments network. Empty for nothing.
	Allow string `json:"allow,omitempty"`
	// Command runs it; empty where the command line is not known, or would come to no other end. It is no part of the JSON form, which
	// depends on the case alone.
	Command string `json:"-"`
}

// Reason says why the experiment was not run, or why it has to be run again.
func (p *Proposal) Reason() string {
	if p.Allow != "" {
		return "the failure may need " + p.Lacked() + " that the tests did not have"
	}
	return "an experiment would tell more, and was not run: " + p.WhyNot
}

// Action says what to run, and how long it takes.
func (p *Proposal) Action() string {
	seconds := strconv.Itoa(max(int(p.Seconds+0.5), 1)) + " seconds"
	if seconds == "1 seconds" {
		seconds = "a second"
	}
	with := ""
	if p.Allow != "" {
		with = ", with " + p.Flag()
	}
	return "run " + p.What() + with + ", in about " + seconds
}

// Lacked says in words what Allow names.
func (p *Proposal) Lacked() string {
	if p.Allow == "home" {
		return "a file or variable of yours"
	}
	return "the " + p.Allow
}

// Flag is the command's flag that gives the tests what Allow names.
func (p *Proposal) Flag() string { return "--experiments " + p.Allow }

// NewProposal states an experiment, and why it was not run.
func NewProposal(offer *abi.ExperimentOffer, whyNot string) *Proposal {
	return &Proposal{Factors: Factors(offer.Experiment), Seconds: offer.Seconds, WhyNot: whyNot}
}

// Propose proposes an experiment. The gap brief gets it as a gap, behind what is broken.
func (r *Result) Propose(p *Proposal) {
	r.Proposal = p
	if r.GapBrief == nil {
		return
	}
	at := 0
	if r.Error != nil {
		at = min(1, len(r.GapBrief.Gaps))
	}
	r.GapBrief.Gaps = slices.Insert(r.GapBrief.Gaps, at, Gap{
		Description: p.Reason(), Source: "experiment", Severity: abi.GapHigh, SuggestedAction: p.Action(), CourtPhase: abi.FamilyVerdict,
	})
}
