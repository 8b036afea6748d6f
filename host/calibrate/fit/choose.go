package fit

import "math"

// judged is a candidate with its losses on cases that it hasn't seen.
type judged struct {
	candidate
	losses []float64 // by use
	right  int
}

func (j *judged) loss() float64 {
	sum := 0.0
	for _, x := range j.losses {
		sum += x
	}
	return sum / float64(len(j.losses))
}

// tolerance is the share of a standard error by which a simpler candidate may
// be worse than the best.
const tolerance = 0.5

// compare judges all candidates and gives the place of the one to take.
func (c *corpus) compare(x *crossed, workers int) ([]judged, int) {
	candidates := c.candidates()
	list := make([]judged, len(candidates))
	each(len(list), workers, func(i int) { list[i] = c.judge(x, candidates[i]) })
	return list, c.simplest(list, x.use, tolerance)
}

// judge predicts every fold by a blend whose weights were found on the others.
func (c *corpus) judge(x *crossed, of candidate) judged {
	out := judged{candidate: of}
	blends := make([]*linear, x.k)
	for f := range blends {
		blends[f] = c.mix(x.models[f], c.blendWeights(x, of.of, f))
	}
	for _, i := range x.use {
		s := &c.samples[i]
		p := softmax(blends[x.part[i]].nats(s))
		out.losses = append(out.losses, lossOf(p, s.truth))
		if best(p) == s.truth {
			out.right++
		}
	}
	return out
}

// simplest gives the first candidate that is no worse than the best by more
// than share of the standard error of their difference.
func (c *corpus) simplest(list []judged, use []int, share float64) int {
	top := 0
	for i := range list {
		if list[i].loss() < list[top].loss() {
			top = i
		}
	}
	for i := range list[:top] {
		mean, deviation := c.difference(list[i].losses, list[top].losses, use)
		if mean <= share*deviation {
			return i
		}
	}
	return top
}

// difference gives the mean of a - b over cases and its standard error, which
// allows for what the cases of a group have in common.
func (c *corpus) difference(a, b []float64, use []int) (mean, deviation float64) {
	n := float64(len(a))
	for i := range a {
		mean += (a[i] - b[i]) / n
	}
	sums := make([]float64, c.groups)
	for at, i := range use {
		sums[c.samples[i].group] += a[at] - b[at] - mean
	}
	for _, x := range sums {
		deviation += x * x
	}
	return mean, math.Sqrt(deviation) / n
}

func best(p []float64) int {
	top := 0
	for j := range p {
		if p[j] > p[top] {
			top = j
		}
	}
	return top
}
