// Package proceeding is what personas of the court share beside weighing: what a request tells of the trial so far, for what an item can
// be challenged, which experiment is worth asking for, and how items are cited. Who may raise a ground, against which items, and what a
// persona wants of an experiment is what sets them apart. All functions are pure.
package proceeding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Challenges are those of the brief, of the earlier rounds and of this one.
func Challenges(r *abi.NodeRequest) []abi.Challenge {
	var all []abi.Challenge
	if r.DefenseBrief != nil {
		all = append(all, r.DefenseBrief.Challenges...)
	}
	if r.Hearing != nil {
		for i := range r.Hearing.Rounds {
			all = append(all, r.Hearing.Rounds[i].NewChallenges...)
		}
	}
	if r.Turn != nil {
		all = append(all, r.Turn.NewChallenges...)
	}
	return all
}

// NewItems are those that the rounds of the hearing brought.
func NewItems(r *abi.NodeRequest) []abi.IndictmentItem {
	var all []abi.IndictmentItem
	if r.Hearing != nil {
		for i := range r.Hearing.Rounds {
			all = append(all, r.Hearing.Rounds[i].NewItems...)
		}
	}
	if r.Turn != nil {
		all = append(all, r.Turn.NewItems...)
	}
	return all
}

// Findings are those of discovery, none where the trial skipped it.
func Findings(r *abi.NodeRequest) []abi.Finding {
	if r.Discovery == nil {
		return nil
	}
	return r.Discovery.Findings
}

// Matter is what lies before the court under the given challenges: the indictment's items first, then the case's others, then those of the
// hearing. Of the challenges only those count that show a ground, and as far as it goes: see [Items.Shown].
func (all *Items) Matter(challenges []abi.Challenge) *weigh.Matter {
	r := all.r
	testimony := weigh.Challenged(all.testimony, all.Shown(challenges))
	testimony = append(testimony, weigh.Unindicted(r.Case.Evidence, r.Indictment.Evidence)...)
	return &weigh.Matter{
		Labels:      r.Case.Labels,
		Subject:     r.Case.Subject,
		Light:       r.Case.Light,
		Testimony:   append(testimony, weigh.FromNewItems(NewItems(r), r.Case.Evidence, Findings(r))...),
		Findings:    Findings(r),
		Signals:     r.Case.Signals,
		Experiments: r.Case.Experiments,
		Profile:     r.Profile,
	}
}

// maxNewItems bounds what one turn brings to the table.
const maxNewItems = 5

// Bring gives the findings that want selects as items for a hearing, strongest first, but for those that lie on the table already.
func Bring(r *abi.NodeRequest, want func(*abi.Finding) bool) []abi.IndictmentItem {
	table := NewItems(r)
	items := []abi.IndictmentItem{}
	findings := Findings(r)
	for _, i := range strongest(findings) {
		f := &findings[i]
		item := abi.IndictmentItem{SourceRef: f.Document, Content: f.Quote, Weight: f.Strength, Supports: f.Supports}
		if len(items) < maxNewItems && f.Supports != "" && want(f) && !onTable(&item, r.Indictment.Evidence, table, items) {
			items = append(items, item)
		}
	}
	return items
}

func strongest(findings []abi.Finding) []int {
	order := make([]int, len(findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(findings[b].Strength, findings[a].Strength) })
	return order
}

// onTable says whether an item is there, or one that holds its line for the same label.
func onTable(item *abi.IndictmentItem, lists ...[]abi.IndictmentItem) bool {
	for _, list := range lists {
		for i := range list {
			old := &list[i]
			if old.SourceRef == item.SourceRef && old.Content == item.Content {
				return true
			}
			if old.Supports == item.Supports && strings.Contains(old.Content, item.Content) {
				return true
			}
		}
	}
	return false
}

// The parameters of a node that protect labels.
const (
	maxFalse = "max_false" // the most that the guarded labels may have together where they are denied
	minBlame = "min_blame" // the least that they have where one of them is given, while experiments were asked for in vain
)

// The defaults of the parameters.
const (
	defaultMaxFalse = 0.01
	defaultMinBlame = 0.97
)

// Guard protects labels that must not be denied by mistake, such as that a change caused a failure: all others are given only where the
// guarded ones are improbable enough, and the base was run.
type Guard struct {
	labels          []string
	maxFalse, blame float64
}

// GuardOf is what the parameters of a node protect; nil where that is nothing.
func GuardOf(list []abi.Param) *Guard {
	labels := ListParam(list, GuardedLabels)
	if len(labels) == 0 {
		return nil
	}
	return &Guard{labels, NumberParam(list, maxFalse, defaultMaxFalse), NumberParam(list, minBlame, defaultMinBlame)}
}

// Has says whether a label is guarded.
func (g *Guard) Has(label string) bool { return slices.Contains(g.labels, label) }

// Of is what the guarded labels have together.
func (g *Guard) Of(scale *weigh.Scale) float64 {
	sum := 0.0
	for _, label := range g.labels {
		sum += scale.Of(label)
	}
	return min(sum, 1)
}

// Denies says whether the guarded labels may be denied.
func (g *Guard) Denies(scale *weigh.Scale, results []abi.ExperimentResult) bool {
	return g.Of(scale) <= g.maxFalse && odds.Based(results)
}

// Blames says whether one of the guarded labels is as good as certain, and the base was tried.
func (g *Guard) Blames(scale *weigh.Scale, results []abi.ExperimentResult) bool {
	return g.Of(scale) >= g.blame && Tried(results)
}

// Tried says whether the base was run, or found to have nothing to run.
func Tried(results []abi.ExperimentResult) bool { return odds.FactsOf(results).Based }

// Top is the most probable of the labels that are guarded, or of those that are not.
func (g *Guard) Top(scale *weigh.Scale, guarded bool) (label string, p float64) {
	for j, l := range scale.Labels {
		if g.Has(l) == guarded && (label == "" || scale.Posterior[j] > p) {
			label, p = l, scale.Posterior[j]
		}
	}
	return label, p
}
