package measure

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// auditGate says which audits end the command with its own exit code.
type auditGate struct {
	words    []string           // of open.AuditFailures
	under    float64            // the score
	criteria map[string]float64 // those of criteria
}

// parseAuditGate reads --fail-on and --fail-under; all faults come at once.
func parseAuditGate(failOn, failUnder []string) (*auditGate, error) {
	g := &auditGate{criteria: make(map[string]float64)}
	var faults []error
	for _, word := range failOn {
		word = strings.TrimSpace(word)
		if !slices.Contains(open.AuditFailures, word) {
			faults = append(faults, fmt.Errorf("--fail-on %q: use %s", word, cli.OrList(open.AuditFailures)))
		}
		g.words = append(g.words, word)
	}
	for _, word := range failUnder {
		criterion, figure, of := strings.Cut(strings.TrimSpace(word), "=")
		if !of {
			figure = criterion
		}
		score, err := strconv.ParseFloat(figure, 64)
		if err != nil || !(score >= 0 && score <= 5) { // NaN too
			faults = append(faults, fmt.Errorf("--fail-under %q: use a score from 0 to 5, or CRITERION=SCORE", word))
		}
		if of {
			g.criteria[criterion] = max(score, g.criteria[criterion])
		} else {
			g.under = max(score, g.under)
		}
	}
	return g, errors.Join(faults...)
}

// check reports criteria that the rubric does not have.
func (g *auditGate) check(rubric *audit.Rubric) error {
	var faults []error
	var known []string
	for i := range rubric.Criteria {
		known = append(known, rubric.Criteria[i].ID)
	}
	for _, id := range slices.Sorted(maps.Keys(g.criteria)) {
		if !slices.Contains(known, id) {
			faults = append(faults, fmt.Errorf("--fail-under: the rubric has no criterion %q: use %s", id, cli.OrList(known)))
		}
	}
	return errors.Join(faults...)
}

// fails says whether an audit is one that the gate stops.
func (g *auditGate) fails(a *trial.Audit) bool {
	if a.GlobalScore < g.under || slices.ContainsFunc(g.words, func(word string) bool { return open.AuditFails(a, word) }) {
		return true
	}
	return slices.ContainsFunc(a.Results, func(r trial.AuditResult) bool {
		return float64(r.NumericScore) < g.criteria[r.CriterionID]
	})
}
