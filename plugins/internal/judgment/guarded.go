package judgment

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// guarded judges where labels must not be denied by mistake. It denies them where they are improbable enough, gives the most probable of
// them where they are more probable than not and all that was asked for was run, and else asks Light again or leaves the case open.
func guarded(r *abi.NodeRequest, items *proceeding.Items, guard *proceeding.Guard, scale *weigh.Scale, challenges []abi.Challenge, least float64) *abi.Verdict {
	yours := guard.Of(scale)
	whole := !slices.ContainsFunc(r.Case.Experiments, func(e abi.ExperimentResult) bool { return e.Outcome == abi.OutcomeNotRun && e.Made() == 0 })
	label, p := guard.Top(scale, true)
	switch {
	case guard.Denies(scale, r.Case.Experiments):
		label, p = guard.Top(scale, false)
		return decide(r, scale, challenges, label, p)
	case guard.Blames(scale, r.Case.Experiments), whole && proceeding.Tried(r.Case.Experiments) && yours >= max(least, minConfidence):
		return decide(r, scale, challenges, label, p)
	}
	if feedback := reinvestigate(r, items, scale, challenges, least); feedback != nil {
		return remand(r, scale, challenges, feedback, p)
	}
	top, nearest := scale.Top(r.Indictment.ChargedDefectType)
	return &abi.Verdict{
		Decision: abi.Acquit, Confidence: nearest,
		Reasoning: explain("What must not be denied by mistake has "+text.Share(yours)+", neither little nor much enough; "+top+" comes nearest with "+
			text.Share(nearest)+".", r, scale, challenges),
	}
}
