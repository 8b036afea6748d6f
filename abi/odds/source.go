package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// SourceKey is a source_ref up to its first ':' or '#': what a profile knows a
// source by. The name of a language model belongs to it: "model:NAME".
func SourceKey(ref string) string {
	from := 0
	if IsModel(ref) {
		from = len(abi.ModelSource)
	}
	for i := from; i < len(ref); i++ {
		if ref[i] == ':' || ref[i] == '#' {
			return ref[:i]
		}
	}
	return ref
}

// IsModel says whether a source is a language model.
func IsModel(ref string) bool {
	return len(ref) > len(abi.ModelSource) && ref[:len(abi.ModelSource)] == abi.ModelSource
}

// Source finds what a profile knows of a source; nil where it knows nothing.
func Source(p *abi.Profile, key string) *abi.SourceReliability {
	if p == nil {
		return nil
	}
	for i := range p.Sources {
		if p.Sources[i].Source == key {
			return &p.Sources[i]
		}
	}
	return nil
}

// Measures says whether a profile tells sources that it knows from others. Light is one.
func Measures(p *abi.Profile) bool {
	return p != nil && (len(p.Sources) > 0 || p.Light != nil || len(p.Seen) > 0)
}

// Stranger says whether nothing is known of a source, where something is known of others. The casebook is none, nor is a rule of the
// user: nobody but the host writes their items.
func Stranger(p *abi.Profile, key string) bool {
	if !Measures(p) || abi.IsReserved(key) || Source(p, key) != nil {
		return false
	}
	return !slices.Contains(p.Seen, key)
}

// ElementOf is the element of an item; one without any counts as earth.
func ElementOf(e abi.Element) abi.Element {
	if e == "" {
		return abi.Earth
	}
	return e
}

// AddStatement adds what it tells of the labels that a known source says something, stating a confidence. A statement that the table
// doesn't have tells nothing but by the stated confidence; a label that a statement doesn't list gets the mean of those that it lists.
func AddStatement(to []float64, labels []string, s *abi.SourceReliability, says string, stated float64) {
	if statement := statementOf(s, says); statement != nil {
		addGiven(to, labels, statement.Given, s.Share)
	}
	if s.Stated == nil || says == "" {
		return
	}
	for j, label := range labels {
		if label == says {
			to[j] += s.Stated.Offset + s.Stated.Slope*Logit(within(s.Stated.Range, stated))
		}
	}
}

// statementOf finds what a profile knows of a statement; nil where it knows nothing.
func statementOf(s *abi.SourceReliability, says string) *abi.SourceStatement {
	for i := range s.Statements {
		if s.Statements[i].Says == says {
			return &s.Statements[i]
		}
	}
	return nil
}

// AddElement adds what it tells of the labels, beside the statement itself, that a known source makes it by an item of an
// element. One that is not listed tells nothing; an item without an element counts as earth.
func AddElement(to []float64, labels []string, s *abi.SourceReliability, says string, element abi.Element) {
	statement := statementOf(s, says)
	if statement == nil {
		return
	}
	element = ElementOf(element)
	for i := range statement.Elements {
		if x := &statement.Elements[i]; x.Element == element {
			addGiven(to, labels, x.Given, s.Share)
			return
		}
	}
}

// within is the nearest confidence of a range.
func within(r *abi.ConfidenceRange, stated float64) float64 {
	if r == nil {
		return stated
	}
	return max(min(stated, r.Most), r.Least)
}

// addGiven adds the logs of likelihoods, each as far as it is above their mean, which a label has that is not listed.
func addGiven(to []float64, labels []string, given []abi.LabelWeight, share float64) {
	if len(given) == 0 {
		return
	}
	var room [8]float64
	logs, mean := room[:0], 0.0
	for i := range given {
		x := math.Log(given[i].Weight)
		logs, mean = append(logs, x), mean+x
	}
	mean /= float64(len(given))
	for j, label := range labels {
		i := j // profiles mostly list labels in their order
		if j >= len(given) || given[j].Label != label {
			i = slices.IndexFunc(given, func(w abi.LabelWeight) bool { return w.Label == label })
		}
		if i >= 0 {
			to[j] += share * (logs[i] - mean)
		}
	}
}

// Temper divides the nats of everything but experiments by a profile's temperature.
func Temper(nats []float64, p *abi.Profile) {
	if p == nil || p.Temperature == nil {
		return
	}
	for i := range nats {
		nats[i] /= *p.Temperature
	}
}

// AddBaseRates adds the logs of the base rates; a label without one gets the smallest that is listed.
func AddBaseRates(to []float64, labels []string, p *abi.Profile) {
	if p == nil || len(p.BaseRates) == 0 {
		return
	}
	least := math.Inf(1)
	for i := range p.BaseRates {
		least = min(least, math.Log(p.BaseRates[i].Weight))
	}
	for j, label := range labels {
		to[j] += logWeight(p.BaseRates, label, least)
	}
}

func logWeight(list []abi.LabelWeight, label string, fallback float64) float64 {
	for i := range list {
		if w := &list[i]; w.Label == label && w.Weight >= 0 {
			return math.Log(w.Weight)
		}
	}
	return fallback
}

// Logit of a probability, taken within [0.001, 0.999].
func Logit(p float64) float64 {
	p = min(max(p, 0.001), 0.999)
	return math.Log(p / (1 - p))
}

// Limit scales nats so that no two labels lie further apart than most.
func Limit(nats []float64, most float64) {
	if r := Spread(nats); r > most {
		for i := range nats {
			nats[i] *= most / r
		}
	}
}

// Spread is how far nats move two labels apart, 0 for none.
func Spread(nats []float64) float64 {
	least, most := Extremes(nats)
	return most - least
}

// Extremes are the least and the largest of some nats, 0 for none.
func Extremes(nats []float64) (least, most float64) {
	if len(nats) == 0 {
		return 0, 0
	}
	least, most = nats[0], nats[0]
	for _, x := range nats {
		if x < least { // min and max are calls in WebAssembly
			least = x
		}
		if x > most {
			most = x
		}
	}
	return least, most
}

// Attributed is a source_ref of an item that somebody else than the case brings, named after who does: its source is the bringer, or
// begins with the bringer's name and "-". Another name gets that in front, so that nobody speaks in the name of a source that was
// measured as another's: "log:L2" of the module reader is "reader-log:log:L2".
func Attributed(ref, bringer string) string {
	key, own := SourceKey(ref), bringer+"-"
	switch {
	case key == bringer, len(key) >= len(own) && key[:len(own)] == own:
		return ref
	case key == ref:
		return bringer + "-" + ref
	default:
		return bringer + "-" + key + ":" + ref
	}
}
