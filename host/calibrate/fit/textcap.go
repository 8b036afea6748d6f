package fit

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// textShares are hundredths of the cases with signals. A cap on the signals together is what the signals of so many tell at most.
func textShares() []int { return []int{25, 50, 75, 90, allTexts} }

const allTexts = 100

// textShare chooses how far to trust texts: as little as predicts as well, since anybody may write into a document. It is the least share whose cap is no
// worse, on cases that a blend of learners was fitted without, than the best by more than a part of the standard error.
func (c *corpus) textShare(x *crossed, by *judged, use []int) int {
	shares := textShares()
	models := make([]*linear, x.k)
	for part := range models {
		models[part] = c.mix(x.models[part], by.weights[part])
	}
	texts, rest, told := make([][]float64, len(c.samples)), make([][]float64, len(c.samples)), []float64{}
	for _, i := range use {
		s, m := &c.samples[i], models[x.part[i]]
		texts[i], rest[i] = make([]float64, len(s.labels)), m.nats(s)
		m.addText(texts[i], s)
		addTo(rest[i], texts[i], -1)
		if t := spread(texts[i]); t > 0 {
			told = append(told, t)
		}
	}
	if len(told) == 0 {
		return allTexts
	}
	slices.Sort(told)
	list := make([]judged, len(shares))
	for k, share := range shares {
		list[k].losses = make([]float64, len(c.samples))
		most := quantile(told, share)
		for _, i := range use {
			z := slices.Clone(texts[i])
			odds.Limit(z, most)
			addTo(z, rest[i], 1)
			list[k].losses[i] = lossOf(softmax(z), c.samples[i].truth)
		}
	}
	return shares[c.simplest(list, places(len(list)), use, withinLearned)]
}

// quantile gives the least of sorted figures that so many hundredths do not exceed.
func quantile(sorted []float64, share int) float64 {
	return sorted[max(int(math.Ceil(float64(len(sorted)*share)/100))-1, 0)]
}
