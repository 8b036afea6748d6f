package trial

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Status is how a case ended.
type Status string

// The statuses.
const (
	Unreviewed Status = "unreviewed" // the court was off: Light's answer stands
	Accepted   Status = "accepted"   // Light was sure
	Rejected   Status = "rejected"   // Light was hopeless
	Affirmed   Status = "affirmed"
	Amended    Status = "amended"
	Acquitted  Status = "acquitted"
	Mistrial   Status = "mistrial"
)

// Statuses lists all statuses in display order, as a fresh copy.
func Statuses() []Status {
	return []Status{Unreviewed, Accepted, Rejected, Affirmed, Amended, Acquitted, Mistrial}
}

// Cause says why a case ended in a mistrial. The names are stable: programs may compare them.
type Cause string

// The causes.
const (
	CauseTTL              Cause = "ttl_exceeded"
	CauseHandoffs         Cause = "handoffs_exceeded"
	CauseJudge            Cause = "judge_mistrial"
	CauseRemandsExhausted Cause = "remands_exhausted"
	CauseNoEdge           Cause = "no_edge"        // no edge fired at the last node
	CauseStepLimit        Cause = "step_limit"     // the traversal took too many steps
	CauseGraph            Cause = "graph"          // the traversal ended without a verdict
	CauseLight            Cause = "light_failed"   // Light gave no usable answer
	CauseTrap             Cause = "module_trap"    // a module trapped
	CauseExit             Cause = "module_exit"    // a module left through exit()
	CauseFailure          Cause = "module_failure" // a module answered that it failed
	CauseInvalidArtifact  Cause = "invalid_artifact"
	CauseInput            Cause = "input_too_large"
	CauseOutputTooLarge   Cause = "output_too_large"
	CauseBadOutput        Cause = "bad_output" // a module returned a pointer outside of its memory
	CauseMemory           Cause = "memory_exceeded"
	CauseStack            Cause = "stack_exceeded"
	CauseFuel             Cause = "fuel_exhausted"
	CauseWallClock        Cause = "wall_clock"
	CauseDenied           Cause = "denied"       // a module used a capability without a grant
	CauseBadRequest       Cause = "bad_request"  // a module sent the host an invalid message
	CauseHost             Cause = "host_failure" // the host's own side failed, twice
)

// Result is the part of a trial that programs get, with a stable JSON form. It holds no times unless Timings is set, so
// that equal trials give equal bytes. Empty lists are written as [], missing values as null.
type Result struct {
	ID string `json:"id"`
	// Members are the ids of further cases that failed in the same way: the result is theirs, too.
	Members   []string `json:"members,omitempty"`
	Activated bool     `json:"activated"`
	// Light is Light's first answer, nil when it had none.
	Light *Answer `json:"light"`
	// LightAfter are its answers to remands, in order.
	LightAfter []Answer `json:"light_after"`
	// Verdict is the last verdict, nil when none was given.
	Verdict *Ruling `json:"verdict"`
	Final   Final   `json:"final"`
	// Path lists the arrivals: the start node, then `edge:target` for a move over an edge and the bare node for a fall-through.
	Path     []string  `json:"path"`
	Remands  int       `json:"remands"`
	Rounds   int       `json:"rounds"`
	Handoffs int       `json:"handoffs"`
	GapBrief *GapBrief `json:"gap_brief"`
	// Modules maps persona ids (and the clerk's) to the digests of the modules that played them.
	Modules map[string]string `json:"modules"`
	// Fuel that all calls used, nil until it is metered.
	Fuel *uint64 `json:"fuel"`
	// Error says what failed, nil when nothing did.
	Error *Failure `json:"error"`
	// Experiments that were run in the trial, in their order.
	Experiments []Experiment `json:"experiments,omitempty"`
	// Proposal is an experiment that would make an uncertain answer surer; nil where none is known.
	Proposal *Proposal `json:"proposed_experiment,omitempty"`
	// UnmeasuredSources name labels, and the profile doesn't know them although it measured others: they count little. Sorted.
	UnmeasuredSources []string `json:"unmeasured_sources,omitempty"`
	// ContradictoryEvidence are the references of items that the case gives for several labels. Sorted.
	ContradictoryEvidence []string `json:"contradictory_evidence,omitempty"`
	// Completions that personas asked language models for, in their order.
	Completions []Completion `json:"completions,omitempty"`
	// Statements are what language models stated of the labels at discovery, each by a line that they quoted.
	Statements []Statement `json:"statements,omitempty"`
	// Fallbacks played in place of modules that gave no usable answer, in their order.
	Fallbacks []Fallback `json:"fallbacks,omitempty"`
	// Rules of the user that the case was tried with; nil for none.
	Rules *Rules `json:"rules,omitempty"`
	// Timings are not part of the result unless asked for.
	Timings *Timings `json:"timings,omitempty"`
	// Audit of the verdict's opinion is not part of the result unless asked for.
	Audit *Audit `json:"audit,omitempty"`
}

// Answer is a classification with its stated confidence in [0, 1].
type Answer struct {
	Classification string  `json:"classification"`
	Confidence     float64 `json:"confidence"`
}

// Ruling is a verdict as the result states it. FinalClassification is empty (written as null) but for affirm and amend.
type Ruling struct {
	Decision            abi.Decision `json:"decision"`
	FinalClassification string       `json:"final_classification"`
	Confidence          float64      `json:"confidence"`
	Reasoning           string       `json:"reasoning"`
}

// Remanded is Light's last answer to a remand, if it has another label than its first one; else nil.
func (r *Result) Remanded() *Answer {
	if len(r.LightAfter) == 0 || r.Light == nil {
		return nil
	}
	last := &r.LightAfter[len(r.LightAfter)-1]
	if last.Classification == r.Light.Classification {
		return nil
	}
	return last
}

// Final is the outcome. Classification is empty (null) for rejected, acquitted and mistrial; Cause is empty (null) but for mistrial.
type Final struct {
	Status         Status  `json:"status"`
	Classification string  `json:"classification"`
	Confidence     float64 `json:"confidence"`
	Cause          Cause   `json:"cause"`
}

// GapBrief says what evidence would settle the case.
type GapBrief struct {
	CaseID          string  `json:"case_id"`
	Cause           string  `json:"cause"`
	FinalConfidence float64 `json:"final_confidence"`
	Gaps            []Gap   `json:"gaps"`
	Summary         string  `json:"summary"`
}

// Gap is one missing piece of evidence.
type Gap struct {
	Description     string          `json:"description"`
	Source          string          `json:"source"`
	Severity        abi.GapSeverity `json:"severity"`
	SuggestedAction string          `json:"suggested_action"`
	CourtPhase      abi.Family      `json:"court_phase,omitempty"`
}

// Timings of one trial, in microseconds.
type Timings struct {
	TotalMicros int64 `json:"total_micros"`
	// ModuleMicros is the part spent in modules, Calls how many calls that were.
	ModuleMicros int64 `json:"module_micros"`
	Calls        int   `json:"calls"`
	// ModelMicros is the part spent waiting for language models.
	ModelMicros int64 `json:"model_micros,omitempty"`
}

// NewRuling states a verdict as a result does; nil for nil.
func NewRuling(v *abi.Verdict) *Ruling {
	if v == nil {
		return nil
	}
	return &Ruling{v.Decision, v.FinalClassification, v.Confidence, v.Reasoning}
}

// NewGapBrief states a brief as a result does; nil for nil.
func NewGapBrief(b *abi.EvidenceGapBrief) *GapBrief {
	if b == nil {
		return nil
	}
	out := &GapBrief{
		CaseID: b.CaseID, Cause: b.Cause, FinalConfidence: b.FinalConfidence, Summary: b.Summary,
		Gaps: make([]Gap, 0, len(b.Gaps)),
	}
	for _, g := range b.Gaps {
		out.Gaps = append(out.Gaps, Gap{g.Description, g.Source, g.Severity, g.SuggestedAction, g.CourtPhase})
	}
	return out
}

// Failure says what failed during a trial, and where. Fields that do not apply are empty (null in JSON). It is an error
// on its way to the result.
type Failure struct { //nolint:errname // a result holds it as data
	Code Cause `json:"code"`
	// Message names persona, module, node and what happened.
	Message string `json:"message"`
	Node    string `json:"node"`
	Persona string `json:"persona"`
	// Module is the digest of the module that failed.
	Module string `json:"module"`
	// Problems of the rejected artifact, in path order.
	Problems []Problem `json:"problems"`

	// ModuleName, Detail (the message without who and where) and HostSide (the module is not to blame) are for the host
	// and not part of the result.
	ModuleName string `json:"-"`
	Detail     string `json:"-"`
	HostSide   bool   `json:"-"`
}

// Problem is one rule that a rejected artifact breaks.
type Problem struct {
	Path   string   `json:"path"`
	Code   abi.Code `json:"code"`
	Detail string   `json:"detail"`
}

// NewFailure composes the message of a failure. persona and digest may be empty.
func NewFailure(cause Cause, node, persona, module, digest, detail string) *Failure {
	who := cmp.Or(persona, module)
	if digest != "" {
		who += " (" + digest + ")"
	}
	return &Failure{
		Code: cause, Node: node, Persona: persona, Module: digest, ModuleName: module, Detail: detail,
		Message: who + " at " + node + ": " + detail,
	}
}

// Error gives the message.
func (f *Failure) Error() string { return f.Message }

// NewProblems converts the problems of a rejected artifact.
func NewProblems(problems []abi.Problem) []Problem {
	out := make([]Problem, 0, len(problems))
	for _, p := range problems {
		out = append(out, Problem{p.Path.String(), p.Code, p.Detail})
	}
	return out
}

// MarshalJSON writes empty lists as [] and missing values as null.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	p := plain(r)
	p.LightAfter, p.Path = append([]Answer{}, r.LightAfter...), append([]string{}, r.Path...)
	if p.Modules == nil {
		p.Modules = map[string]string{}
	}
	return encode(p)
}

// MarshalJSON writes an empty classification as null.
func (r Ruling) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Decision            abi.Decision `json:"decision"`
		FinalClassification *string      `json:"final_classification"`
		Confidence          float64      `json:"confidence"`
		Reasoning           string       `json:"reasoning"`
	}{r.Decision, orNull(r.FinalClassification), r.Confidence, r.Reasoning})
}

// MarshalJSON writes an empty classification and an empty cause as null.
func (f Final) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Status         Status  `json:"status"`
		Classification *string `json:"classification"`
		Confidence     float64 `json:"confidence"`
		Cause          *Cause  `json:"cause"`
	}{f.Status, orNull(f.Classification), f.Confidence, orNull(f.Cause)})
}

// MarshalJSON writes no gaps as [].
func (b GapBrief) MarshalJSON() ([]byte, error) {
	type plain GapBrief
	p := plain(b)
	p.Gaps = append([]Gap{}, b.Gaps...)
	return encode(p)
}

// MarshalJSON writes empty texts as null, and no problems as [].
func (f Failure) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Code     Cause     `json:"code"`
		Message  string    `json:"message"`
		Node     *string   `json:"node"`
		Persona  *string   `json:"persona"`
		Module   *string   `json:"module"`
		Problems []Problem `json:"problems"`
	}{f.Code, f.Message, orNull(f.Node), orNull(f.Persona), orNull(f.Module), append([]Problem{}, f.Problems...)})
}

func orNull[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

// encode writes a value as compact JSON that is safe to print on a terminal. `<`, `>` and `&` stay, since JSON is not HTML.
func encode(v any) ([]byte, error) {
	text, err := sanitize.EncodeJSON(v, "")
	if err != nil {
		return nil, err
	}
	return sanitize.JSON(bytes.TrimSuffix(text, []byte("\n"))), nil
}

// Rules are the rules of the user that a case was tried with, and what they matched.
type Rules struct {
	// File is the name of the file without its folder, Digest its SHA-256: "sha256:" and 64 hex digits.
	File    string      `json:"file"`
	Digest  string      `json:"digest"`
	Matches []RuleMatch `json:"matches"`
	// Error says why the rules could not be evaluated; nil where they were. The case was then tried without them.
	Error *Failure `json:"error"`
}

// RuleMatch is a rule that matched. SourceRef and Content are those of the item of evidence.
type RuleMatch struct {
	Rule       string  `json:"rule"`
	Label      string  `json:"label"`
	Reason     string  `json:"reason"`
	Owner      string  `json:"owner,omitempty"`
	Confidence float64 `json:"confidence"`
	SourceRef  string  `json:"source_ref"`
	Content    string  `json:"content"`
}

// Says tells people of a match: "rule registry-timeout of rules.yaml: the registry times out (owner @infra)".
func (r *Rules) Says(m *RuleMatch) string {
	text := "rule " + m.Rule + " of " + r.File + ": " + strings.TrimSuffix(m.Reason, ".")
	if m.Owner != "" {
		text += " (owner " + m.Owner + ")"
	}
	return text
}
