package alibi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
)

// policy says which answers fail a build.
type policy []condition

// condition is met by answers of a verdict or an attribution with at least this confidence.
type condition struct {
	word  string
	least float64
}

// policyWords are what a condition may name: verdicts and attributions.
var policyWords = []string{"yours", "open", "not-yours", alibi.Caused, alibi.Conflict, alibi.Preexisting, alibi.Flaky, alibi.Environment}

// parsePolicy reads --fail-on.
func parsePolicy(list []string) (policy, error) {
	if len(list) == 1 && strings.TrimSpace(list[0]) == "none" {
		return policy{}, nil
	}
	var p policy
	var faults []error
	for _, said := range list {
		word, bound, bounded := strings.Cut(strings.TrimSpace(said), ">=")
		c := condition{word: strings.TrimSpace(word)}
		var err error
		if bounded {
			c.least, err = strconv.ParseFloat(strings.TrimSpace(bound), 64)
		}
		switch {
		case !slices.Contains(policyWords, c.word):
			faults = append(faults, fmt.Errorf("--fail-on %q: use %s, with a bound of the confidence as in yours>=0.99, or none", said, cli.OrList(policyWords)))
		case err != nil || !(c.least >= 0 && c.least <= 1):
			faults = append(faults, fmt.Errorf("--fail-on %q: the bound of a confidence is a number from 0 to 1", said))
		}
		p = append(p, c)
	}
	return p, errors.Join(faults...)
}

// fails says whether an answer fails the build.
func (p policy) fails(a *alibi.Answer) bool {
	verdict := strings.ReplaceAll(string(a.Verdict), " ", "-")
	return slices.ContainsFunc(p, func(c condition) bool {
		return (c.word == verdict || c.word == a.Label) && a.Confidence >= c.least
	})
}

// doubts names what makes answers worse: a clone that lacks commits, and a base that is a guess.
func doubts(ctx context.Context, c *investigate.Change) error {
	var faults []error
	if c.Repository.Shallow(ctx) {
		faults = append(faults, errors.New("the clone is shallow: run `git fetch --unshallow`, or check out with fetch-depth: 0"))
	}
	if c.Base.Guessed {
		faults = append(faults, fmt.Errorf("no base is known, only %s: name it with --base", c.Base.Why))
	}
	return errors.Join(faults...)
}

// notRun says why nothing of a failing test was run; empty where something was.
func notRun(a *alibi.Answer) string {
	if a.Verdict != alibi.IsOpen {
		return ""
	}
	for i := range a.Runs {
		if e := &a.Runs[i]; e.Passed+e.Same+e.Other > 0 {
			return ""
		}
	}
	return a.Why
}
