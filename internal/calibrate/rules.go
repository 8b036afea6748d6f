package calibrate

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// UserRule is a rule of the user, by what its figures are told with.
type UserRule struct{ Name, Label, Owner string }

// RuleSet are the rules that the cases were tried with, in the order of their file.
type RuleSet struct {
	File, Digest string
	Rules        []UserRule
	// Without are the answers of the same court without the rules, by the ID of the case. A case that is not here has the same answer:
	// nothing matched.
	Without map[string]string
}

// RulesReport says what rules are worth, over the cases with a known right label.
type RulesReport struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
	Cases  int    `json:"cases"`
	// Matched is in how many of the cases some rule matched, Failed in how many the rules could not be evaluated.
	Matched Share `json:"matched"`
	Failed  int   `json:"failed"`
	// With is how often the court is right with the rules, Without how often it is without them, and Decide how often the plainest method
	// is: the first rule that matches, the most confident ones first, decides, and elsewhere the court.
	With    Share `json:"with"`
	Without Share `json:"without"`
	Decide  Share `json:"decide"`
	// Gain is the court with the rules minus the court without them, OverDecide the court with the rules minus the plainest method.
	Gain       Difference    `json:"gain"`
	OverDecide Difference    `json:"over_decide"`
	Rules      []RuleFigures `json:"rules"`
}

// RuleFigures are what one rule is worth.
type RuleFigures struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Owner string `json:"owner"`
	// Applies is in how many cases its label is one of the case: elsewhere it can't match.
	Applies int `json:"applies"`
	// Right is in how many of the cases in which it matched its label is the right one, With and Without how often the court is right there.
	Right   Share `json:"right"`
	With    Share `json:"with"`
	Without Share `json:"without"`
}

// rulesOf measures rules; nil where there are none.
func rulesOf(list []*Observation, o *Options) *RulesReport {
	set := o.Rules
	if set == nil {
		return nil
	}
	r := &RulesReport{File: set.File, Digest: set.Digest, Cases: len(list), Rules: make([]RuleFigures, 0, len(set.Rules))}
	n := len(list)
	groups, matched, with, without, decide := make([]string, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	gaps := [][]float64{make([]float64, n), make([]float64, n)}
	for i, c := range list {
		groups[i] = c.Case.Group
		matched[i], with[i], without[i] = asNumber(len(c.Rules) > 0), asNumber(c.right()), asNumber(set.answer(c) == c.Case.Truth)
		decide[i] = without[i]
		if m := c.surestRule(); m != nil {
			decide[i] = asNumber(m.Label == c.Case.Truth)
		}
		gaps[0][i], gaps[1][i] = with[i]-without[i], with[i]-decide[i]
		if c.RulesFailed {
			r.Failed++
		}
	}
	clusters := clustersOf(groups)
	r.Matched, r.With, r.Without, r.Decide = clustered(matched, clusters), clustered(with, clusters), clustered(without, clusters), clustered(decide, clusters)
	intervals := bootstrapMeans(gaps, clusters, o.Resamples, randOf(o.Seed, "rules"))
	r.Gain, r.OverDecide = difference(gaps[0], clusters, intervals[0]), difference(gaps[1], clusters, intervals[1])
	for i := range set.Rules {
		r.Rules = append(r.Rules, set.figures(&set.Rules[i], list))
	}
	return r
}

// answer is that of the court without the rules.
func (s *RuleSet) answer(c *Observation) string {
	if answer, ok := s.Without[c.Case.ID]; ok {
		return answer
	}
	return c.Answer()
}

// figures measures one rule.
func (s *RuleSet) figures(rule *UserRule, list []*Observation) RuleFigures {
	f := RuleFigures{Name: rule.Name, Label: rule.Label, Owner: rule.Owner}
	var groups []string
	var right, with, without []float64
	for _, c := range list {
		if slices.Contains(c.Case.Labels, rule.Label) {
			f.Applies++
		}
		if !slices.ContainsFunc(c.Rules, func(m trial.RuleMatch) bool { return m.Rule == rule.Name }) {
			continue
		}
		groups = append(groups, c.Case.Group)
		right = append(right, asNumber(rule.Label == c.Case.Truth))
		with, without = append(with, asNumber(c.right())), append(without, asNumber(s.answer(c) == c.Case.Truth))
	}
	clusters := clustersOf(groups)
	f.Right, f.With, f.Without = clustered(right, clusters), clustered(with, clusters), clustered(without, clusters)
	return f
}

// surestRule is the matching rule that is believed most, the first of equal ones; nil where none matched.
func (o *Observation) surestRule() *trial.RuleMatch {
	var best *trial.RuleMatch
	for i := range o.Rules {
		if m := &o.Rules[i]; best == nil || m.Confidence > best.Confidence {
			best = m
		}
	}
	return best
}

// text says in a line what all rules together are worth.
func (r *RulesReport) text() string {
	text := fmt.Sprintf("%s: some rule matched in %s; the court is right in %s with the rules and in %s without them (%s points, 95 %% %s to %s); "+
		"if a matching rule decided: %s", sanitize.Line(r.File), shareText(r.Matched), shareText(r.With), shareText(r.Without), pointsText(r.Gain.Estimate),
		pointsText(r.Gain.Interval.Low), pointsText(r.Gain.Interval.High), shareText(r.Decide))
	if r.Failed > 0 {
		text += fmt.Sprintf("; in %d cases the rules could not be evaluated", r.Failed)
	}
	return text
}

// figures is the table of the rules.
func (r *RulesReport) figures() render.Figures {
	f := render.Figures{
		Title: "Each rule by itself",
		Head:  []string{"Rule", "Label", "Owner", "Matched", "Right", "95 %", "Court with the rules", "Without", "Note"},
	}
	for i := range r.Rules {
		rule, note := &r.Rules[i], ""
		switch {
		case rule.Applies == 0:
			note = "no case has the label"
		case rule.Right.Of == 0:
			note = "never matched"
		}
		f.Rows = append(f.Rows, []string{
			sanitize.Line(rule.Name), sanitize.Line(rule.Label), sanitize.Line(rule.Owner), strconv.Itoa(rule.Right.Of), shareOnly(rule.Right), intervalText(rule.Right),
			shareOnly(rule.With), shareOnly(rule.Without), note,
		})
	}
	return f
}

// grid is the table for a terminal.
func (r *RulesReport) grid(o render.TerminalOptions) string {
	g := render.NewGrid(
		render.Column{Name: "RULE"}, render.Column{Name: "LABEL"}, render.Column{Name: "OWNER", Goes: 1}, render.Column{Name: "MATCHED", Numbers: true}, render.Column{Name: "RIGHT"},
		render.Column{Name: "95 %"}, render.Column{Name: "COURT WITH", Goes: 3}, render.Column{Name: "WITHOUT", Goes: 2}, render.Column{Name: "NOTE"},
	)
	for _, row := range r.figures().Rows {
		g.Add(row...)
	}
	return g.Text(o)
}
