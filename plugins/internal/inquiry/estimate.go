package inquiry

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// The caps of an estimate, in nats.
const (
	factCap     = 2.4 // of all places together
	casebookCap = 2.9 // of one earlier case
)

// Estimate are the probabilities of the labels of a case.
type Estimate struct {
	Labels    []string
	Posterior []float64
	// Spoken is how far everything together moves the labels apart, in nats.
	Spoken float64
}

// nothingNats is what counts as next to nothing, as before the court.
const nothingNats = 0.2

// Thin says whether next to nothing speaks.
func (e *Estimate) Thin() bool { return e.Spoken < nothingNats }

// levelNats is how far apart two labels may be and still be level: odds of 21 to 20.
const levelNats = 0.05

// Leads says whether something speaks, and one label is ahead of the others.
func (e *Estimate) Leads() bool {
	if e.Thin() || len(e.Posterior) < 2 {
		return false
	}
	first, second := 0.0, 0.0
	for _, p := range e.Posterior {
		first, second = max(first, p), max(second, min(first, p))
	}
	return math.Log(first/second) >= levelNats
}

// Top is the most probable label; the preferred one where it is as probable.
func (e *Estimate) Top(preferred string) (label string, probability float64) {
	label, probability = preferred, e.Of(preferred)
	for j, p := range e.Posterior {
		if p > probability {
			label, probability = e.Labels[j], p
		}
	}
	return label, probability
}

// Of is the probability of a label; 0 of what is none.
func (e *Estimate) Of(label string) float64 {
	for j := range e.Labels {
		if e.Labels[j] == label {
			return e.Posterior[j]
		}
	}
	return 0
}

// Settled is 0 for an even guess and 1 for certainty.
func (e *Estimate) Settled() float64 {
	k := float64(len(e.Labels))
	_, p := e.Top("")
	if k < 2 {
		return 1
	}
	return min(max((p*k-1)/(k-1), 0), 1)
}

// Weigh estimates the labels from the clues of a depth, from the case's evidence of other sources, from what experiments have shown, and
// from what earlier cases say. facts are further nats of what the source tells; nil for none.
func (c *Clues) Weigh(r *abi.NodeRequest, depth int, facts []float64) *Estimate {
	m := &weigh.Matter{Labels: r.Case.Labels, Subject: r.Case.Subject, Profile: r.Profile, Testimony: c.others(r), Experiments: r.Case.Experiments}
	places := make([]float64, len(c.labels))
	var quotes []string
	for _, clue := range c.Upto(depth) {
		if len(clue.signals) > 0 {
			quotes = append(quotes, clue.Quote)
			m.Findings = append(m.Findings, abi.Finding{Document: clue.Document, Quote: clue.Quote})
		}
		share := 1.0
		if len(clue.fact) > 0 && c.doubted(r, clue) {
			share = weigh.Left(abi.Weakening)
		}
		for j, x := range clue.fact {
			places[j] += x * share
		}
	}
	m.Signals = weigh.Standing(r.Profile, quotes)
	odds.Limit(places, factCap)
	nats := weigh.Weigh(m).Evidence
	add(nats, places)
	add(nats, facts)
	own := slices.Clone(nats)
	if r.File != nil {
		addPrior(nats, r)
	}
	e := &Estimate{Labels: r.Case.Labels, Spoken: odds.Spread(nats)}
	odds.AddBaseRates(nats, r.Case.Labels, r.Profile)
	e.Posterior = odds.Probabilities(nats, doubt)
	if r.File != nil {
		odds.AddBaseRates(own, r.Case.Labels, r.Profile)
		noSurer(e.Posterior, odds.Probabilities(own, doubt), r)
	}
	return e
}

// others is the evidence that is none of the clues', as testimony. Items that the court challenged count half.
func (c *Clues) others(r *abi.NodeRequest) []weigh.Testimony {
	var items []abi.Evidence
	var left []float64
	for i := range r.Case.Evidence {
		e := &r.Case.Evidence[i]
		if c.Own(e) || IsSource(e) || precedent(r, e) {
			continue
		}
		items = append(items, *e)
		share := 1.0
		if Challenged(r, i) {
			share = weigh.Left(abi.Weakening)
		}
		measured := odds.Source(r.Profile, odds.SourceKey(e.SourceRef)) != nil
		readings := c.readings(e)
		if len(readings) > 0 && measured {
			share *= e.RelevanceConfidence // another reading of lines that are read here is no second observation
		}
		for _, clue := range readings {
			share = min(share, c.beyond(clue, e, !measured))
		}
		left = append(left, share)
	}
	testimony := weigh.FromEvidence(items)
	for i := range testimony {
		testimony[i].Left = left[i]
	}
	return testimony
}

// beyond is the share of an item that counts beside a clue which reads the same label out of the same lines: what it says beyond the clue.
// Of one that weighing discounts it is a share of what that leaves.
func (c *Clues) beyond(clue *Clue, e *abi.Evidence, discounted bool) float64 {
	j := slices.Index(c.labels, e.Supports)
	word := odds.Witness(e.RelevanceConfidence, len(c.labels), casebookCap)
	if j < 0 || word == 0 || c.Item(clue).Supports != e.Supports {
		return 1
	}
	nats := c.nats(clue)
	others := 0.0
	for i, x := range nats {
		if i != j {
			others += x / float64(len(nats)-1)
		}
	}
	share := max(0, e.RelevanceConfidence-(nats[j]-others)/word)
	if discounted {
		share = min(share/e.RelevanceConfidence, 1)
	}
	return share
}

// doubted says whether the court challenged the reading of a clue.
func (c *Clues) doubted(r *abi.NodeRequest, clue *Clue) bool {
	for i := range r.Case.Evidence {
		if e := &r.Case.Evidence[i]; e.SourceRef == clue.Ref() && Challenged(r, i) && c.Own(e) {
			return true
		}
	}
	return false
}

// precedent says whether an item repeats what the casebook said, which is weighed by itself.
func precedent(r *abi.NodeRequest, e *abi.Evidence) bool {
	if r.File == nil {
		return false
	}
	recall, correlate := r.File.Recall, r.File.Correlate
	const prefix = abi.CasebookSource + ":"
	return recall != nil && e.SourceRef == prefix+recall.PriorCase ||
		correlate != nil && e.SourceRef == prefix+correlate.LinkedCase
}

// Challenged says whether the court challenged an item of the case's evidence.
func Challenged(r *abi.NodeRequest, index int) bool {
	return r.File != nil && r.File.Feedback != nil &&
		slices.ContainsFunc(r.File.Feedback.Challenged, func(ch abi.ChallengedItem) bool { return ch.EvidenceIndex == index })
}

// addPrior adds what the earlier cases say, each earlier case once.
func addPrior(nats []float64, r *abi.NodeRequest) {
	recall, correlate := r.File.Recall, r.File.Correlate
	if recall != nil && recall.Match {
		raise(nats, r.Case.Labels, recall.Classification, recall.Confidence)
	}
	if correlate != nil && correlate.LinkedCase != "" && (recall == nil || recall.PriorCase != correlate.LinkedCase) {
		raise(nats, r.Case.Labels, correlate.Classification, correlate.Confidence)
	}
}

// raise lifts the label of an earlier case to where that case's verdict puts it. The verdict rests on text like this one's, and so it is no
// second observation beside what speaks for the label already; against what speaks for another label it counts in full.
func raise(nats []float64, labels []string, says string, confidence float64) {
	if j := slices.Index(labels, says); j >= 0 {
		nats[j] += odds.Beyond(nats, j, odds.Witness(confidence, len(labels), casebookCap))
	}
}

// addWitness adds the word of a witness about whom nothing is known.
func addWitness(nats []float64, labels []string, says string, confidence float64) {
	for j := range labels {
		if labels[j] == says {
			nats[j] += odds.Witness(confidence, len(labels), casebookCap)
		}
	}
}

func addSignals(to []float64, labels []string, p *abi.Profile, signals []int) {
	if len(signals) == 0 {
		return
	}
	sum := make([]float64, len(labels))
	for _, i := range signals {
		odds.AddSignal(sum, labels, &p.Signals[i])
	}
	odds.Limit(sum, p.SignalCap)
	add(to, sum)
}

func add(to, nats []float64) {
	for j, x := range nats {
		to[j] += x
	}
}

// doubt is the probability that none of the figures means anything.
const doubt = 0.02

// noSurer holds an estimate to what its parts can say. An earlier verdict on the same failure rests on the same text: together with that
// text it makes its label as probable as the verdict was or as the text makes it, whichever is more, and no more than that. own are the
// probabilities without the earlier cases.
func noSurer(posterior, own []float64, r *abi.NodeRequest) {
	for j, label := range r.Case.Labels {
		said := saidOf(r.File, label)
		most := max(own[j], said)
		if said == 0 || posterior[j] <= most {
			continue
		}
		rest := (1 - most) / (1 - posterior[j])
		for i := range posterior {
			posterior[i] *= rest
		}
		posterior[j] = most
	}
}

// saidOf is how sure the earlier cases are of a label; 0 where none names it.
func saidOf(f *abi.LightFile, label string) float64 {
	said := 0.0
	if f.Recall != nil && f.Recall.Match && f.Recall.Classification == label {
		said = f.Recall.Confidence
	}
	if f.Correlate != nil && f.Correlate.LinkedCase != "" && f.Correlate.Classification == label {
		said = max(said, f.Correlate.Confidence)
	}
	return said
}
