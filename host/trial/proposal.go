package trial

import (
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Proposal is the experiment that is expected to tell most of the label of an uncertain case for its seconds, and was not run.
type Proposal struct {
	Factors
	// Seconds are expected, not measured.
	Seconds float64 `json:"seconds"`
	WhyNot  string  `json:"why_not"`
	// Command runs it; empty where the command line is not known, or would come to no other end. It is no part of the JSON form, which
	// depends on the case alone.
	Command string `json:"-"`
	// PerSecond is what it is expected to tell of the label by the second, in nats. It is no part of the JSON form, either.
	PerSecond float64 `json:"-"`
}

// Reason says why the experiment was not run.
func (p *Proposal) Reason() string {
	return "an experiment would tell more, and was not run: " + p.WhyNot
}

// Action says what to run, and how long it takes.
func (p *Proposal) Action() string {
	seconds := strconv.Itoa(max(int(p.Seconds+0.5), 1)) + " seconds"
	if seconds == "1 seconds" {
		seconds = "a second"
	}
	return "run " + p.What() + ", in about " + seconds
}

// Propose states an experiment, and why it was not run. The gap brief gets it as a gap, behind what is broken.
func (r *Result) Propose(offer *abi.ExperimentOffer, perSecond float64, whyNot string) {
	p := &Proposal{Factors: factorsOf(&offer.Experiment), Seconds: offer.Seconds, WhyNot: whyNot, PerSecond: perSecond}
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
