// Package trial is the result model: what came of a case. The court, the Light path and the audit fill it, records and
// journals keep it, and package render shows it.
//
// A [Trial] is all that is known of one case after it was tried, enough to explain the verdict step by step. Its [Result]
// is the part that programs get, with a stable JSON form. An [Audit] is the same for a judicial opinion.
//
// Texts in a trial come from cases and modules, so treat them as untrusted: render.Sanitize escapes a trial for display.
package trial

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Trial is the result of one case, and all that a report needs to explain it. A case that was not tried has no passes.
type Trial struct {
	Result Result
	Case   abi.Case
	// Members are cases that failed in the same way, for which the trial stands.
	Members []abi.Case
	// Truth is nil when nothing is known.
	Truth *Truth
	// LabelNames are the names of the case's labels for people, by label. Labels without a name are left out.
	LabelNames map[string]string
	// Personas are the identities that acted, by persona id.
	Personas map[string]abi.Persona
	// Light are the passes over the Light path, one for each answer of Light; empty where the host ran no Light path.
	Light []LightPass
	// Passes over the court's graph, one more than there were remands.
	Passes []Pass
	// Beside is the trial of the same case by a candidate court, which decides nothing; nil for none. It has no Truth of its own.
	Beside *Trial
	// Compared is set where the trial was redacted, see [Trial.Compare]. Leave it nil.
	Compared *Comparison
}

// Stand makes the trial stand for further cases.
func (t *Trial) Stand(members []abi.Case) {
	t.Members, t.Result.Members = members, nil
	for i := range members {
		t.Result.Members = append(t.Result.Members, members[i].ID)
	}
}

// Answered puts the first answer of the Light path, and the evidence that it gathered, into the case, as a court does. It is for a trial
// that was kept beside its case as it was submitted.
func (t *Trial) Answered() {
	for ; t != nil; t = t.Beside {
		if len(t.Light) == 0 {
			continue
		}
		t.Case.Light = nil
		if first := &t.Light[0]; first.Answer != nil && t.Result.Light != nil {
			answer := *first.Answer
			t.Case.Light = &answer
			if len(first.Gathered) > 0 {
				t.Case.Evidence = slices.Concat(t.Case.Evidence, first.Gathered)
			}
		}
	}
}

// Pass is one pass over the court's graph. Fields of nodes that the pass did not reach are nil or empty.
type Pass struct {
	// Light is the answer on trial in this pass.
	Light      abi.LightAnswer
	Indictment *abi.Indictment
	// Exhibits are what the host checked about the items of the Indictment.
	Exhibits  []abi.Exhibit
	Discovery *abi.Discovery
	// Contested are the challenges of the contest, before the brief.
	Contested []abi.Challenge
	Brief     *abi.DefenseBrief
	Hearing   *abi.HearingRecord
	Verdict   *abi.Verdict
	// RemandAnswer is Light's answer to the remand that this pass ended with.
	RemandAnswer *abi.RemandAnswer
	// Steps are the moves, in order.
	Steps []Step
	// Calls of modules, in order.
	Calls []Call
}

// Step is one move over a graph.
type Step struct {
	Node string
	// Edge that fired, empty for a fall-through.
	Edge string
	// To is the next node or an end.
	To string
	// Why the edge fired, in the evaluator's words.
	Why string
	// Asked are the answers for all edges that leave the node.
	Asked []abi.EdgeAnswer
}

// Call is one call of a module.
type Call struct {
	Node    string
	Persona string // its id
	// Module is its digest.
	Module string
	Call   abi.Call
	// Micros is the wall clock of the call. It is shown only when timings are asked for.
	Micros int64
	// Uses of capabilities, in order.
	Uses []Use
}

// Use is one use of a capability, with the digests ("sha256:" and 64 hex digits) of question and answer.
type Use struct {
	Capability      abi.Capability
	Request, Answer string
}

// LightPass is one pass over the Light path: the first, or one after a remand.
type LightPass struct {
	// Path has the form of that of a Result.
	Path  []string
	Steps []Step
	// Artifacts in the order in which the nodes gave them.
	Artifacts []abi.ArtifactEntry
	// Gathered is the evidence that this pass found.
	Gathered []abi.Evidence
	// Answer is nil where the pass failed.
	Answer *abi.LightAnswer
	Calls  []Call
}

// Truth is the known right answer of a case. At least one of the two is set.
type Truth struct {
	// Classification is a label of the case, or empty when no label is right or known.
	Classification string
	// ExpectedVerdict is the decision that the court should reach, or empty.
	ExpectedVerdict abi.Decision
}
