package baseline

import (
	"maps"
	"slices"
)

// fitWitness follows the one witness that is most reliable on the training cases, and Light where it is silent.
//
// The reliability of a witness is the smoothed share of cases that the rule has right which follows it: right words over
// words, with one right and one wrong word added (Laplace's rule of succession), and Light's smoothed share where it is
// silent, each weighted by how often it speaks. So a witness that was right the three times it spoke does not come before
// one that is right nine times in ten, always. A witness whose rule is not better than Light's is not followed. Ties go to
// the witness whose name sorts first.
func fitWitness(training []*Case) Rule {
	var cases, lightRight float64
	said := map[string]*tally{}
	for _, c := range training {
		if c.Truth == "" {
			continue
		}
		cases++
		lightIsRight := c.Light.Label == c.Truth
		if lightIsRight {
			lightRight++
		}
		for _, s := range c.Statements {
			if said[s.Source] == nil {
				said[s.Source] = &tally{}
			}
			said[s.Source].add(s.Label == c.Truth, lightIsRight)
		}
	}
	best, most, found := "", smoothed(lightRight, cases), false
	for _, source := range slices.Sorted(maps.Keys(said)) {
		t := said[source]
		silent := cases - t.words
		rule := (t.words*smoothed(t.right, t.words) + silent*smoothed(lightRight-t.lightRight, silent)) / cases
		if rule > most {
			best, most, found = source, rule, true
		}
	}
	return func(c *Case) string {
		for _, s := range c.Statements {
			if found && s.Source == best {
				return s.Label
			}
		}
		return c.Light.Label
	}
}

// tally counts the words of a witness, the right ones, and how often Light was right in the same cases.
type tally struct{ words, right, lightRight float64 }

func (t *tally) add(right, lightRight bool) {
	t.words++
	if right {
		t.right++
	}
	if lightRight {
		t.lightRight++
	}
}

func smoothed(right, of float64) float64 { return (right + 1) / (of + 2) }
