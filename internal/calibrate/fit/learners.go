package fit

import (
	"math"
	"slices"
)

// learner makes a linear model from cases. What learners learn is blended, see
// blendWeights: none of them has to be right for every docket. courtLearner makes
// no model: it stands for the court without a profile.
type learner struct {
	name  string
	learn func(c *corpus, train []int, k *known) *linear
}

// known is what the learners of one set of cases have in common.
type known struct {
	// phrases that tell most beside what the sources say, the best first.
	phrases []int32
}

// How many phrases a learner of text sees.
const (
	fewSignals  = 50
	mostSignals = 500
)

// Penalties of phrases in a regression: many are each believed less. Few by themselves are believed readily: there is nothing else to read.
const (
	textPenalty  = 2
	jointPenalty = 10
	mostPenalty  = 20
)

// The learners, by their place in the list of [learners].
const (
	courtLearner = iota // the court without a profile
	lightLearner        // Light alone
	wordLearner         // every source is believed at its word
	alikeLearner        // every source is believed alike
	evenTrust           // each source as it deserves, the labels about as common
	trustLearner        // each source as it deserves
	looseTables
	tightTables
	bayesTables
	fewText
	fewBayes
	fewJoint
	mostText
	mostBayes
	mostJoint
)

func learners() []learner {
	return []learner{
		courtLearner: {"the court without a profile", func(*corpus, []int, *known) *linear { return nil }},
		lightLearner: {"Light's word", func(c *corpus, _ []int, _ *known) *linear { return c.word(1) }},
		wordLearner:  {"everybody's word", func(c *corpus, _ []int, _ *known) *linear { return c.word(len(c.sources)) }},
		alikeLearner: sourceLearner(sourceTerms{base: evenBase}),
		evenTrust:    sourceLearner(sourceTerms{own: 0.5, base: evenBase}),
		trustLearner: sourceLearner(sourceTerms{own: 0.5, base: freeBase}),
		looseTables:  sourceLearner(sourceTerms{own: 1, table: 2, element: 2, base: freeBase}),
		tightTables:  sourceLearner(sourceTerms{own: 1, table: 16, base: freeBase}),
		bayesTables: {"naive Bayes over statements", func(c *corpus, train []int, _ *known) *linear {
			return c.tables(train, 4)
		}},
		fewText:   textLearner(fewSignals, textPenalty),
		fewBayes:  bayesLearner(fewSignals),
		fewJoint:  jointLearner(fewSignals, jointPenalty),
		mostText:  textLearner(mostSignals, mostPenalty),
		mostBayes: bayesLearner(mostSignals),
		mostJoint: jointLearner(mostSignals, mostPenalty),
	}
}

// Penalties of base rates: nearly even ones, and what the cases show.
const (
	evenBase = 20
	freeBase = 0.5
)

// word believes the first sources, of which Light is one, at their word: who is
// right with the stated probability errs evenly otherwise.
func (c *corpus) word(sources int) *linear {
	m := newLinear(c)
	for s := range sources {
		m.offset[s], m.slope[s] = math.Log(max(float64(len(c.labels)-1), 1)), 1
	}
	return m
}

func sourceLearner(terms sourceTerms) learner {
	return learner{"regression on statements", func(c *corpus, train []int, _ *known) *linear {
		return c.regress(train, &terms, nil, 1)
	}}
}

func textLearner(most int, penalty float64) learner {
	return learner{"regression on phrases", func(c *corpus, train []int, k *known) *linear {
		return c.regress(train, nil, k.first(most), penalty)
	}}
}

func bayesLearner(most int) learner {
	return learner{"naive Bayes over phrases", func(c *corpus, train []int, k *known) *linear {
		return c.bayesText(train, k.first(most), 4)
	}}
}

func jointLearner(most int, penalty float64) learner {
	return learner{"regression on statements and phrases", func(c *corpus, train []int, k *known) *linear {
		return c.regress(train, &sourceTerms{own: 1, table: 2, element: 2, base: freeBase}, k.first(most), penalty)
	}}
}

func (k *known) first(n int) []int32 { return k.phrases[:min(n, len(k.phrases))] }

func newKnown(c *corpus, train []int) *known {
	if len(c.phrases) == 0 {
		return &known{}
	}
	return &known{c.choosePhrases(train, c.regress(train, &sourceTerms{own: 1, table: 8, base: freeBase}, nil, 1), min(mostSignals, mostFigures/len(c.labels)))}
}

// candidate is a set of learners that are blended.
type candidate struct {
	name string
	of   []int
	// base draws the correction of the base rates to none; with evenRates there is none
	base float64
}

// The candidates that learn nothing of sources and texts, by their place: what a profile has to be better than.
const (
	courtAlone = iota // the court without a profile, and how far to trust its confidences
	ratesAlone        // how common each label is
	courtRates        // both
	unprofiled        // how many these are
)

// candidates are in the order of what they presume, the simplest first.
func (c *corpus) candidates() []candidate {
	trust := []int{lightLearner, wordLearner, alikeLearner, evenTrust, trustLearner}
	sources := append(slices.Clone(trust), looseTables, tightTables, bayesTables)
	if len(c.elements) > 0 { // without those that believe each source's confidences by its own measure
		sources = []int{lightLearner, wordLearner, alikeLearner, evenTrust, looseTables, bayesTables}
	}
	with := func(more ...int) []int { return append(append([]int(nil), sources...), more...) }
	list := []candidate{
		courtAlone: {"no profile, confidence recalibrated", []int{courtLearner}, evenRates},
		ratesAlone: {"base rates alone", nil, freeBase},
		courtRates: {"no profile, confidence recalibrated with base rates", []int{courtLearner}, freeBase},
		{"Light's stated confidence", trust[:1], basePull},
		{"stated confidences, all sources alike", trust[:3], basePull},
		{"stated confidences, each source by its own trust", trust, basePull},
		{"what each source says of each label", sources, basePull},
	}
	if len(c.phrases) == 0 {
		return list
	}
	return append(list,
		candidate{"what each source says of each label, and few signals", with(fewText, fewBayes, fewJoint), basePull},
		candidate{"what each source says of each label, and many signals", with(fewText, fewBayes, fewJoint, mostText, mostBayes, mostJoint), basePull},
	)
}
