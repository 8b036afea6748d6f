package judge

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// sightings are the failures of a repository by what they look like, as public bots know them: see the README.
type sightings map[looks][]*history.Case

// looks is a failing test with its message.
type looks struct{ group, test, message string }

func looksOf(c *history.Case) looks {
	l := looks{group: c.Failure.Group, test: c.Failure.Test}
	entry, err := c.Failure.Entry()
	if err != nil {
		return l
	}
	var texts []string
	for _, e := range entry.Case.Evidence {
		if e.Element != abi.Air {
			texts = append(texts, e.Content)
		}
	}
	if len(texts) == 0 {
		for i := range entry.Case.Documents {
			texts = append(texts, entry.Case.Documents[i].Text)
		}
	}
	l.message = casebook.Take(casebook.Failure{Texts: texts}).Exact
	return l
}

func sightingsOf(r *history.Repo) sightings {
	s := sightings{}
	for i := range r.Cases {
		if l := looksOf(&r.Cases[i]); l.message != "" {
			s[l] = append(s[l], &r.Cases[i])
		}
	}
	return s
}

// judge says that a failure is not yours if the base has it, or if it was seen in a tree without the change.
func (s sightings) judge(c *history.Case) Answer {
	if onBase(c) {
		return Answer{Attribution: history.Preexisting}
	}
	if slices.ContainsFunc(s[looksOf(c)], func(other *history.Case) bool { return other != c && !contains(other, c) }) {
		return Answer{Attribution: history.ByChance}
	}
	return Answer{Attribution: history.Caused}
}

// onBase says whether the one run that continuous integration has of the base failed as the case did.
func onBase(c *history.Case) bool {
	_, before := underTest(c)
	k := c.Find(before, before, abi.OriginalEnvironment, abi.OriginalOrder)
	if runsOf(k) == "" {
		k = c.Cell(before)
	}
	runs := runsOf(k)
	return runs != "" && runs[0] == 'S'
}

// contains says whether the failing tree of another case may have the change of a case, as far as what is saved tells. Cases with one fix are
// about one fault, but a test was made flaky before it was found so.
func contains(other, c *history.Case) bool {
	there, _ := underTest(other)
	here, _ := underTest(c)
	tree, earlier := other.Trees[there], c.Kind == history.Flaky && other.Kind == history.MadeFlaky
	return tree.Start == c.Trees[here].Start || c.Culprit != "" && (tree.Start == c.Culprit || other.Culprit == c.Culprit) ||
		c.Fix != "" && other.Fix == c.Fix && !earlier
}
