package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// unknownCap is the most, in nats, by which all sources together that a profile
// doesn't know move two labels apart, where it measured others: odds of 4 to 3.
const unknownCap = 0.3

// aside says whether a statement counts beside the others, and not among them: that of a persona of the court, of a language model
// and of a source that the profile doesn't know beside measured ones. The casebook's never does: nobody but the host writes
// its items, from earlier cases.
func (w *witness) aside(p *abi.Profile) bool {
	return w.Party || w.known == nil && (odds.IsModel(w.key) || odds.Stranger(p, w.key))
}

// unknown is what sources say that count beside the others: personas, language models, and beside measured sources those that the
// profile doesn't know. Anybody can bring any number of sources, as sure as they like, a persona may be anybody's code, and whoever
// writes a log can talk to a model: so all of them together count a little, and never decide against the others.
type unknown struct {
	sum   []float64
	most  float64 // nats
	items []int
	whole []float64 // nats of all items, those that are not of these too
}

// addUnknown adds what is left of it: within the cap, and at most half of what
// the leading label is ahead of another one, if one leads.
func (s *Scale) addUnknown(u unknown) {
	share := u.share(s.read)
	for _, i := range u.items {
		s.Nats[i] *= share
		v := u.whole[len(u.sum)*i : len(u.sum)*(i+1)]
		times(v, share)
		lift(s.Support, v)
	}
	for j, x := range u.sum {
		s.Evidence[j] += share * x
		s.read[j] += share * x
	}
}

func (u unknown) share(read []float64) float64 {
	share := 1.0
	if spread := odds.Spread(u.sum); spread > u.most {
		share = u.most / spread
	}
	if odds.Spread(read) < noise {
		return share // nothing that was measured speaks
	}
	top := slices.Index(read, slices.Max(read))
	for j, x := range u.sum {
		if gains := x - u.sum[top]; gains > 0 {
			share = min(share, (read[top]-read[j])/2/gains)
		}
	}
	return share
}

// Settled is the scale without what personas state, and models that the profile doesn't know.
func (s *Scale) Settled() *Scale {
	if s.settled != nil {
		return s.settled
	}
	return s
}
