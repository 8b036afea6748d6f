package calibrate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// BaselineCase is what a baseline sees of a case.
type BaselineCase struct {
	ID string
	// Group of cases that belong together, or empty.
	Group  string
	Labels []string
	Light  Statement
	// Statements of the witnesses, one for each source that names a label, by source.
	Statements []Statement
	// Words of the documents and of the items' contents, and how often each stands.
	Words map[string]int
	// Truth is the right label, or empty. A Rule does not look at it.
	Truth string
}

// Statement is that a source names a label. Confidence is in [0, 1].
type Statement struct {
	Source     string
	Label      string
	Confidence float64
}

// LightSource is the name of Light among the sources. It can't be a source_ref's, which ends before the colon.
const LightSource = ":light"

// NewBaselineCase reduces a case. truth is the right label, or empty.
func NewBaselineCase(c *abi.Case, truth string) BaselineCase {
	out := NewVoters(c, truth)
	out.Words = wordsOf(c)
	return out
}

// NewVoters reduces a case to those who vote: it has no words.
func NewVoters(c *abi.Case, truth string) BaselineCase {
	out := BaselineCase{ID: c.ID, Group: c.Group, Labels: c.Labels, Truth: truth, Statements: statementsOf(c)}
	if c.Light != nil {
		out.Light = Statement{LightSource, c.Light.Classification, c.Light.Confidence}
	}
	return out
}

// statementsOf gives each source one statement: the label for which its items state the most together, ties to the earlier label of
// the case, with the highest confidence of those items.
func statementsOf(c *abi.Case) []Statement {
	totals, most := map[string]map[string]float64{}, map[string]map[string]float64{}
	for i := range c.Evidence {
		e := &c.Evidence[i]
		if e.Supports == "" {
			continue
		}
		source := odds.SourceKey(e.SourceRef)
		if totals[source] == nil {
			totals[source], most[source] = map[string]float64{}, map[string]float64{}
		}
		totals[source][e.Supports] += e.RelevanceConfidence
		most[source][e.Supports] = max(most[source][e.Supports], e.RelevanceConfidence)
	}
	list := make([]Statement, 0, len(totals))
	for source, of := range totals {
		best := Statement{Source: source}
		for _, label := range c.Labels {
			if total, ok := of[label]; ok && (best.Label == "" || total > of[best.Label]) {
				best.Label, best.Confidence = label, most[source][label]
			}
		}
		list = append(list, best)
	}
	slices.SortFunc(list, func(a, b Statement) int { return cmp.Compare(a.Source, b.Source) })
	return list
}

// wordsOf counts runs of letters and digits with at least one letter, in lower case, of 2 to 40 bytes.
func wordsOf(c *abi.Case) map[string]int {
	seen := map[string]int{}
	add := func(text string) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(word) < 2 || len(word) > 40 || !strings.ContainsFunc(word, unicode.IsLetter) {
				continue
			}
			lower := strings.ToLower(word)
			if _, ok := seen[lower]; !ok {
				lower = strings.Clone(lower) // a part of a document would keep all of it
			}
			seen[lower]++
		}
	}
	for i := range c.Documents {
		add(c.Documents[i].Text)
	}
	for i := range c.Evidence {
		add(c.Evidence[i].Content)
	}
	return seen
}

// Rule answers a case with one of its labels. It is safe for concurrent use.
type Rule func(*BaselineCase) string

// MethodID names a method in JSON. The names are stable.
type MethodID string

// The methods.
const (
	LightAlone     MethodID = "light"
	PlainVote      MethodID = "plain_vote"
	ConfidenceVote MethodID = "confidence_vote"
	LogOddsVote    MethodID = "log_odds_vote"
	BestWitness    MethodID = "best_witness"
	NaiveBayes     MethodID = "naive_bayes"
	Logistic       MethodID = "logistic_regression"
)

// Method is a way to answer cases without a court.
type Method struct {
	ID MethodID
	// Name for people.
	Name string
	// Weight of a vote by the stated confidence and the number of labels; nil for a method that lets nobody vote.
	Weight func(confidence float64, labels int) float64
	// Fit gives the rule of a method that learns from cases with truth; nil for one that doesn't.
	Fit func(training []*BaselineCase) Rule
}

// Methods lists all methods, the simplest first: that is the order in which ties are decided.
func Methods() []Method {
	return []Method{
		{LightAlone, "Light alone", nil, nil},
		{PlainVote, "plain vote", func(float64, int) float64 { return 1 }, nil},
		{ConfidenceVote, "confidence-weighted vote", func(confidence float64, _ int) float64 { return confidence }, nil},
		{LogOddsVote, "log-odds-weighted vote", LogOddsWeight, nil},
		{BestWitness, "most reliable witness, else Light", nil, fitWitness},
		{NaiveBayes, "naive Bayes, sources and text", nil, fitBayes},
		{Logistic, "logistic regression, TF-IDF", nil, fitLogistic},
	}
}

// LogOddsWeight is the log-odds of a label against another one, where who states a confidence is right with that probability and
// errs evenly otherwise. Nobody's word is infinite: see [odds.Logit].
func LogOddsWeight(confidence float64, labels int) float64 {
	return odds.Logit(confidence) + math.Log(float64(labels-1))
}

// Rule is how the method answers after what training taught it. Cases without truth teach nothing.
func (m Method) Rule(training []*BaselineCase) Rule {
	switch {
	case m.Fit != nil:
		return m.Fit(slices.DeleteFunc(slices.Clone(training), func(c *BaselineCase) bool { return c.Truth == "" }))
	case m.Weight == nil:
		return func(c *BaselineCase) string { return c.Light.Label }
	}
	return func(c *BaselineCase) string {
		scores := make(map[string]float64, len(c.Labels))
		for j, sum := range c.Tally(m.Weight) {
			scores[c.Labels[j]] = sum
		}
		return mostOf(c, scores)
	}
}

// Tally lets Light and every witness vote for the label that it names. It gives what each label of the case has, in their order.
func (c *BaselineCase) Tally(weight func(confidence float64, labels int) float64) []float64 {
	sums := make([]float64, len(c.Labels))
	for _, s := range append([]Statement{c.Light}, c.Statements...) {
		if j := slices.Index(c.Labels, s.Label); j >= 0 {
			sums[j] += weight(s.Confidence, len(c.Labels))
		}
	}
	return sums
}

// tieWidth is how near two sums are that are a tie: sums of floats depend on the order of their terms.
const tieWidth = 1e-9

// mostOf is the label with the highest score. A tie goes to Light's answer if it is among the tied, else to the first of the
// case's labels.
func mostOf(c *BaselineCase, scores map[string]float64) string {
	most := math.Inf(-1)
	for _, score := range scores {
		most = max(most, score)
	}
	for _, label := range append([]string{c.Light.Label}, c.Labels...) {
		if score, ok := scores[label]; ok && score >= most-tieWidth {
			return label
		}
	}
	return c.Light.Label
}

// folds of the cross-validation.
const folds = 5

// crossValidate counts in how many of the cases that count each method is right. A fitted method is fitted on four fifths of all cases
// and asked about the last fifth, five times; cases of one group are never on both sides. Cases without truth are left out.
func crossValidate(all []*BaselineCase, counts func(*BaselineCase) bool, r *rand.Rand) (right []int, cases int) {
	all = slices.DeleteFunc(slices.Clone(all), func(c *BaselineCase) bool { return c.Truth == "" })
	fold := foldsOf(all, r)
	methods := Methods()
	right = make([]int, len(methods))
	for k := range folds {
		var training []*BaselineCase
		for i, c := range all {
			if fold[i] != k {
				training = append(training, c)
			}
		}
		for m := range methods {
			rule := methods[m].Rule(training)
			for i, c := range all {
				if fold[i] == k && counts(c) && rule(c) == c.Truth {
					right[m]++
				}
			}
		}
	}
	for _, c := range all {
		if counts(c) {
			cases++
		}
	}
	return right, cases
}

// foldsOf deals the groups out, in random order and each to the smallest fold; a case without a group is one of its own.
func foldsOf(cases []*BaselineCase, r *rand.Rand) []int {
	names := make([]string, len(cases))
	for i, c := range cases {
		names[i] = c.Group
	}
	var groups [][]int
	for i, g := range clustersOf(names) {
		if g == len(groups) {
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	fold, sizes := make([]int, len(cases)), make([]int, folds)
	for _, members := range groups {
		smallest := slices.Index(sizes, slices.Min(sizes))
		sizes[smallest] += len(members)
		for _, i := range members {
			fold[i] = smallest
		}
	}
	return fold
}
