package fit

import "math"

// mostTemperature is up to where the court tells something: beyond, the labels may be noise.
const mostTemperature = 5

// temperature is by what the court's log-odds without a profile are divided where nothing is learned of sources and texts: the court
// may tell labels apart, and be far too sure. Nil where the choice is another, and where its answers to some cases don't show both; what
// the labels show that may be noise is not believed. It is found without a part of the cases, or with all where part is nobody.
func (c *corpus) temperature(x *crossed, list []judged, chosen int, use []int, part int) *float64 {
	if chosen != courtAlone || !c.tellsMore(list[courtAlone].losses, list, use) {
		return nil
	}
	own := &list[courtAlone]
	stated := make([]float64, len(c.samples))
	for _, i := range use {
		stated[i] = lossOf(softmax(append([]float64(nil), x.nats[courtLearner][i]...)), c.samples[i].truth)
	}
	if gain, deviation := c.difference(stated, own.losses, use); gain <= certain*deviation {
		return nil
	}
	var w weights
	if part == nobody {
		w = c.blendWeights(x, &own.candidate, nobody)
	} else {
		w = own.weights[part]
	}
	t := rounded(1 / w.learner[courtLearner])
	if t <= 1 || t > mostTemperature { // nothing makes it surer
		return nil
	}
	return &t
}

// rounded keeps two decimal places.
func rounded(x float64) float64 { return math.Round(100*x) / 100 }
