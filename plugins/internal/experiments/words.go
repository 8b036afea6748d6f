package experiments

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Describe names an experiment: "run 5 times on the tree under test, on busy processors".
func Describe(e *abi.Experiment) string {
	out := "run once"
	if e.Runs > 1 {
		out = "run " + text.Int(e.Runs) + " times"
	}
	out += " " + trees(e)
	switch e.Environment {
	case abi.CleanEnvironment:
		out += ", in a clean environment"
	case abi.StarvedEnvironment:
		out += ", on busy processors"
	case abi.OriginalEnvironment:
	}
	if e.Order == abi.OriginalOrder {
		out += ", with all tests of the package"
	}
	return out
}

func trees(e *abi.Experiment) string {
	switch {
	case e.Product != e.Tests:
		return "with the product of " + string(e.Product) + " and the tests of " + string(e.Tests)
	case e.Product == abi.Green:
		return "on the green revision"
	default:
		return "on the tree under test"
	}
}

// outcome says what the runs of an experiment have shown.
func outcome(r *abi.ExperimentResult) string {
	runs := r.Experiment.Runs
	switch r.Outcome {
	case abi.OutcomePassed:
		return text.Agree(runs, "passed", "every run passed")
	case abi.OutcomeSame:
		return text.Agree(runs, "failed in the same way", "every run failed in the same way")
	case abi.OutcomeOther:
		return text.Agree(runs, "failed in another way", "every run failed, some in another way")
	case abi.OutcomeMixed:
		return text.Int(r.Passed) + " of " + text.Count(r.Passed+r.Same+r.Other, "run") + " passed"
	case abi.OutcomeNotBuilt:
		return "does not build"
	case abi.OutcomeNoTest:
		return "the test is not there"
	default:
		return "nothing was run"
	}
}

// maxResults bounds how many results one sentence lists: more than any host offers.
const maxResults = 16

// Account says what experiments have shown and what each tells by itself, in a sentence; nothing where none was run.
func Account(results []abi.ExperimentResult, scale *weigh.Scale) string {
	out := ""
	for i := range results {
		if i == maxResults {
			out += "; and " + text.Int(len(results)-i) + " more"
			break
		}
		if out != "" {
			out += "; "
		}
		out += Describe(&results[i].Experiment) + ": " + outcome(&results[i]) + " (" + told(scale, i) + ")"
	}
	if out == "" {
		return ""
	}
	return "Experiments: " + out + "."
}

func told(scale *weigh.Scale, i int) string {
	speaksFor, against, nats := scale.Shown(i)
	if nats == 0 {
		return "tells nothing"
	}
	return text.Share(nats) + " nats for " + speaksFor + " against " + against
}

// Untried names the offer that would tell most about the label for its seconds, in a sentence; nothing where none would.
func Untried(r *abi.NodeRequest, scale *weigh.Scale) string {
	best := Best(r, scale, Neutral(), 0)
	if best == nil {
		return ""
	}
	return "Not run, and most likely to settle it: " + Describe(&best.Experiment) + " (about " + text.Count(int(best.Seconds+0.5), "second") + ")."
}
