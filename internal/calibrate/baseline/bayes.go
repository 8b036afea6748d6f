package baseline

import "math"

// fitBayes is a plain naive Bayes: the prior of a label, times the likelihood of each source's word, Light's included,
// times that of each distinct token (the multinomial model over presence, Jurafsky and Martin, Speech and Language
// Processing, ch. 4), all with Laplace's one added. A source that is silent and a token that was never seen say nothing.
// Tokens seen in one training case only are left out.
func fitBayes(training []*Case) Rule {
	m := newBayes()
	for _, c := range training {
		if c.Truth != "" {
			m.learn(c)
		}
	}
	m.prune()
	return m.answer
}

// counts are by label.
type counts map[string]float64

type bayes struct {
	cases  float64
	labels counts            // cases of a label
	words  map[saidBy]counts // how often a source says a label
	spoken map[string]counts // how often a source speaks at all
	says   map[string]counts // which labels a source is known to say
	tokens map[string]counts
	length counts // tokens of all cases of a label
}

type saidBy struct{ source, label string }

func newBayes() *bayes {
	return &bayes{
		labels: counts{}, words: map[saidBy]counts{}, spoken: map[string]counts{}, says: map[string]counts{},
		tokens: map[string]counts{}, length: counts{},
	}
}

func (m *bayes) learn(c *Case) {
	m.cases++
	m.labels[c.Truth]++
	for _, s := range withLight(c) {
		add(m.words, saidBy{s.Source, s.Label}, c.Truth)
		add(m.spoken, s.Source, c.Truth)
		add(m.says, s.Source, s.Label)
	}
	for _, token := range c.Tokens {
		add(m.tokens, token, c.Truth)
	}
}

// prune drops the tokens of a single case, and adds up the others.
func (m *bayes) prune() {
	for token, by := range m.tokens {
		total := 0.0
		for _, n := range by {
			total += n
		}
		if total < 2 {
			delete(m.tokens, token)
			continue
		}
		for label, n := range by {
			m.length[label] += n
		}
	}
}

// answer gives the most likely of the case's labels.
func (m *bayes) answer(c *Case) string {
	scores := make(map[string]float64, len(c.Labels))
	said := withLight(c)
	vocabulary := float64(len(m.tokens))
	for _, label := range c.Labels {
		score := math.Log((m.labels[label] + 1) / (m.cases + float64(len(c.Labels))))
		for _, s := range said {
			kinds := max(len(m.says[s.Source]), len(c.Labels))
			score += math.Log((m.words[saidBy{s.Source, s.Label}][label] + 1) / (m.spoken[s.Source][label] + float64(kinds)))
		}
		for _, token := range c.Tokens {
			if by, known := m.tokens[token]; known {
				score += math.Log((by[label] + 1) / (m.length[label] + vocabulary))
			}
		}
		scores[label] = score
	}
	return mostOf(c, scores)
}

func withLight(c *Case) []Statement {
	if c.Light.Label == "" {
		return c.Statements
	}
	return append([]Statement{c.Light}, c.Statements...)
}

func add[K comparable](m map[K]counts, key K, label string) {
	if m[key] == nil {
		m[key] = counts{}
	}
	m[key][label]++
}
