package fit

// learner makes a linear model from cases. What learners learn is blended, see
// blendWeights: none of them has to be right for every docket.
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
	someSignals = 200
	mostSignals = 500
)

// The learners, by their place in the list of [learners].
const (
	alikeLearner = iota // every source is believed alike
	trustLearner        // each source as it deserves
	looseTables
	tightTables
	bayesTables
	fewText
	fewBayes
	fewJoint
	someText
	someBayes
	someJoint
	mostText
	mostBayes
)

func learners() []learner {
	return []learner{
		alikeLearner: sourceLearner(0, 0),
		trustLearner: sourceLearner(0.5, 0),
		looseTables:  sourceLearner(1, 2),
		tightTables:  sourceLearner(1, 16),
		bayesTables: {"naive Bayes over sayings", func(c *corpus, train []int, _ *known) *linear {
			return c.tables(train, 4)
		}},
		fewText:   textLearner(fewSignals, 2),
		fewBayes:  bayesLearner(fewSignals),
		fewJoint:  jointLearner(fewSignals),
		someText:  textLearner(someSignals, 2),
		someBayes: bayesLearner(someSignals),
		someJoint: jointLearner(someSignals),
		mostText:  textLearner(mostSignals, 5),
		mostBayes: bayesLearner(mostSignals),
	}
}

func sourceLearner(own, table float64) learner {
	return learner{"regression on sayings", func(c *corpus, train []int, _ *known) *linear {
		return c.regress(train, &sourceTerms{own, table}, nil, 1)
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

func jointLearner(most int) learner {
	return learner{"regression on sayings and phrases", func(c *corpus, train []int, k *known) *linear {
		return c.regress(train, &sourceTerms{1, 8}, k.first(most), 2)
	}}
}

func (k *known) first(n int) []int32 { return k.phrases[:min(n, len(k.phrases))] }

func newKnown(c *corpus, train []int) *known {
	if len(c.phrases) == 0 {
		return &known{}
	}
	return &known{c.choosePhrases(train, c.regress(train, &sourceTerms{own: 1, table: 8}, nil, 1), mostSignals)}
}

// candidate is a set of learners that are blended.
type candidate struct {
	name string
	of   []int
}

// candidates are in the order of what they presume, the simplest first.
func (c *corpus) candidates() []candidate {
	sources := []int{alikeLearner, trustLearner, looseTables, tightTables, bayesTables}
	with := func(more ...int) []int { return append(append([]int(nil), sources...), more...) }
	list := []candidate{
		{"stated confidences, all sources alike", sources[:1]},
		{"stated confidences, each source by its own trust", sources[:2]},
		{"what each source says of each label", sources},
	}
	if len(c.phrases) == 0 {
		return list
	}
	return append(list,
		candidate{"and few signals", with(fewText, fewBayes, fewJoint)},
		candidate{"and some signals", with(someText, someBayes, someJoint)},
		candidate{"and many signals", with(mostText, mostBayes)},
		candidate{"all of these", with(fewText, fewBayes, fewJoint, someText, someBayes, someJoint, mostText, mostBayes)},
	)
}
