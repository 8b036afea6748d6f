package experiments

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// maxResults bounds how many results one sentence lists: more than any host offers.
const maxResults = 16

// Summary says what experiments have shown and what each tells by itself, in a sentence; nothing where none was run.
func Summary(results []abi.ExperimentResult, scale *weigh.Scale) string {
	out := ""
	for i := range results {
		if i == maxResults {
			out += "; and " + text.Int(len(results)-i) + " more"
			break
		}
		if out != "" {
			out += "; "
		}
		out += results[i].Experiment.Words() + ": " + results[i].Words() + " (" + told(scale, i) + ")"
	}
	if out == "" {
		return ""
	}
	return "Experiments: " + out + "."
}

// Base says that the base fails, too, and what that means; nothing where it does not.
func Base(results []abi.ExperimentResult) string {
	switch base := odds.BaseFails(results); {
	case base == nil:
		return ""
	case base.Outcome == abi.OutcomeSame:
		return "The base fails too, in the same way, so this change did not cause it: the fault is older, or the environment is broken."
	default:
		return "The base fails too, but in another way, so comparing with it does not show what this change did."
	}
}

func told(scale *weigh.Scale, i int) string {
	speaksFor, against, nats := scale.Shown(i)
	switch {
	case nats == 0:
		return "tells nothing"
	case speaksFor == "":
		return text.Share(nats) + " nats against " + against
	}
	return text.Share(nats) + " nats for " + speaksFor + " against " + against
}
