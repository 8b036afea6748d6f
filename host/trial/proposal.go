package trial

import (
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

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
	// PerSecond is what it is expected to tell of the label by the second, in nats. It is no part of the JSON form, either.
	PerSecond float64 `json:"-"`
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
	return &Proposal{Factors: factorsOf(&offer.Experiment), Seconds: offer.Seconds, WhyNot: whyNot}
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
