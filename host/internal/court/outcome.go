package court

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
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
type Cause = invoker.Cause

// The causes that are the court's own.
const (
	CauseTTL      Cause = "ttl_exceeded"
	CauseHandoffs Cause = "handoffs_exceeded"
	CauseJudge    Cause = "judge_mistrial"
	CauseRemands  Cause = "remands_exhausted"
	CauseLight    Cause = "light_failed"
)

// Failure names the module that broke a trial, and how.
type Failure = invoker.Failure //nolint:errname // as the type that it names

// Step is one step of the walk, for people.
type Step = invoker.Step

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
	// Light's first answer, and the later ones. The first is empty where Light failed.
	Light      abi.LightAnswer
	LightAfter []abi.LightAnswer
	// Gathered is the evidence that Light's first answer brought.
	Gathered []abi.Evidence

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
