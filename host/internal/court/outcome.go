package court

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Status is how a case ended.
type Status string

// The statuses.
const (
	Unreviewed Status = "unreviewed" // the court is off: Light's answer stands
	Accepted   Status = "accepted"   // Light is sure enough
	Rejected   Status = "rejected"   // Light is not sure enough for a trial
	Affirmed   Status = "affirmed"
	Amended    Status = "amended"
	Acquitted  Status = "acquitted"
	Mistrial   Status = "mistrial"
)

// Cause says why a trial was a mistrial. Causes are stable: programs may compare them.
type Cause string

// The causes.
const (
	CauseTTL             Cause = "ttl_exceeded"
	CauseHandoffs        Cause = "handoffs_exceeded"
	CauseJudge           Cause = "judge_mistrial"
	CauseRemands         Cause = "remands_exhausted"
	CauseNoEdge          Cause = "no_edge"
	CauseSteps           Cause = "step_limit"
	CauseGraph           Cause = "graph"
	CauseLight           Cause = "light_failed"
	CauseTrap            Cause = "module_trap"
	CauseExit            Cause = "module_exit"
	CauseWallClock       Cause = "wall_clock"
	CauseFuel            Cause = "fuel_exhausted"
	CauseMemory          Cause = "memory_exceeded"
	CauseStack           Cause = "stack_exceeded"
	CauseDenied          Cause = "denied"
	CauseOutputTooLarge  Cause = "output_too_large"
	CauseBadOutput       Cause = "bad_output"
	CauseInput           Cause = "input_too_large"
	CauseInvalidArtifact Cause = "invalid_artifact"
	CauseModuleFailure   Cause = "module_failure"
	CauseHost            Cause = "host_failure"
)

// Failure names the module that broke a trial, and how.
type Failure struct { //nolint:errname // the outcome holds it as data, and it is an error on the way there
	Cause   Cause
	Node    string
	Persona string
	Module  string
	Digest  string
	Call    abi.Call
	Message string
	// Problems of the refused artifact, in path order.
	Problems []abi.Problem
}

// Error names persona, module, node and message.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(f.Persona)
	if f.Persona == "" {
		b.WriteString(f.Module)
	}
	b.WriteString(" (" + f.Digest + ") at " + f.Node + ": " + f.Message)
	return b.String()
}

// Step is one step of the walk, for people.
type Step struct {
	Node string
	// Edge that fired; empty for a fall-through.
	Edge string
	To   string
	// Why is what the evaluator said of the edge that fired.
	Why string
	// Asked are all edges that were put to the clerk, with their answers.
	Asked []abi.EdgeAnswer
}

// Pass is one walk of the graph: the first, or the one after a remand.
type Pass struct {
	Light        abi.LightAnswer
	Indictment   *abi.Indictment
	Exhibits     []abi.Exhibit
	Discovery    *abi.Discovery
	Contested    []abi.Challenge
	Brief        *abi.DefenseBrief
	Hearing      *abi.HearingRecord
	Verdict      *abi.Verdict
	RemandAnswer *abi.RemandAnswer
	Steps        []Step
}

// Outcome is all that is known of a case after it was tried.
type Outcome struct {
	Activated bool
	// Light's first answer, and the later ones.
	Light      abi.LightAnswer
	LightAfter []abi.LightAnswer

	Status         Status
	Classification string // empty where the status carries none
	Confidence     float64
	Cause          Cause
	Verdict        *abi.Verdict // the last one

	Path     []string
	Remands  int
	Rounds   int
	Handoffs int

	GapBrief *abi.EvidenceGapBrief
	Failure  *Failure
	Passes   []Pass
	// State after the last merge.
	State abi.Snapshot
}
