package docket

import (
	"html/template"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Trial is one case's passage through the court: its result, and all that a report needs to tell it as a story. A case
// that came to no trial has no passes.
type Trial struct {
	Result Result
	Case   abi.Case
	// Truth is nil when nothing is known.
	Truth *Truth
	// LabelNames are what people call labels of the case, by label; a label that has no name is not there.
	LabelNames map[string]string
	// Personas are the identities that acted, by persona id.
	Personas map[string]abi.Persona
	// Light are the walks of the Light path, one for each answer of Light; empty where Light is not walked here.
	Light []LightPass
	// Passes are the walks, one more than there were remands.
	Passes []Pass
	// Drawing is the walked graph as an SVG element, safe to put into a page as it is; empty draws none.
	Drawing template.HTML
	// Beside is the trial of the same case before a candidate court, which decides nothing; nil where none took part. It
	// has no Truth of its own.
	Beside *Trial
	// Compared is set where the trial was redacted, see [Trial.Compare]. Leave it nil.
	Compared *Comparison
}

// Pass is one walk of the court's graph. What it did not come to is nil or empty.
type Pass struct {
	// Light is the answer on trial in this pass.
	Light      abi.LightAnswer
	Indictment *abi.Indictment
	// Exhibits are what the host found out about the items of the Indictment.
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
	// Calls are the calls of modules, in order.
	Calls []CallInfo
}

// Step is one move of a walk.
type Step struct {
	Node string
	// Edge that fired, empty for a fall-through.
	Edge string
	// To is the next node or an end.
	To string
	// Why the edge fired, in the evaluator's words.
	Why string
	// Asked are the answers of all edges that were put to the clerk here.
	Asked []abi.EdgeAnswer
}

// How names the edge of the move, or says what happened without one.
func (s *Step) How() string {
	switch {
	case s.Edge != "":
		return s.Edge
	case s.Node == s.To:
		return "once more"
	}
	return "no edge fired"
}

// CallInfo is one call of a module.
type CallInfo struct {
	Node    string
	Persona string // its id
	// Module is its digest.
	Module string
	Call   abi.Call
	// Micros is the wall clock of the call. It is shown only when timings are asked for.
	Micros int64
	// Uses are what the module asked the host for, in order.
	Uses []Use
}

// Use is one use of a capability, with the digests ("sha256:" and 64 hex digits) of question and answer.
type Use struct {
	Capability      abi.Capability
	Request, Answer string
}

// LightPass is one walk of the Light path: the first, or one after a remand.
type LightPass struct {
	// Path is as that of a Result.
	Path  []string
	Steps []Step
	// Artifacts in the order in which the nodes gave them.
	Artifacts []abi.ArtifactEntry
	// Gathered is the evidence that the walk brought.
	Gathered []abi.Evidence
	// Answer is nil where the walk failed.
	Answer *abi.LightAnswer
	Calls  []CallInfo
}

// Writer takes trials one by one, in docket order. Close writes what comes at the end, and does not close what is below.
// Writers are not safe for concurrent use.
type Writer interface {
	Write(t *Trial) error
	Close() error
}
