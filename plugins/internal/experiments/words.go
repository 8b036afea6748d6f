package experiments

import (
	"github.com/shadowcourt/shadowcourt/abi"
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
	return "Not run, and most likely to settle it: " + best.Experiment.Words() + " (about " + text.Count(int(best.Seconds+0.5), "second") + ")."
}
