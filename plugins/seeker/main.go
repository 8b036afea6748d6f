// Command seeker investigates on the Light path: it gathers evidence, quoted from the documents and the source, and classifies by it.
package main

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

func init() {
	node.Handle(seeker{capability.Source}.play)
	node.HandleOffers(proceeding.OnRemand)
}

func main() {}

// seeker plays investigate. source asks for the files that a text names.
type seeker struct {
	source func(abi.SourceQuery) (abi.SourceAnswer, *abi.Failure)
}

// contextLines of source stand around a place that the diff touches.
const contextLines = 2

func (s seeker) play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyInvestigate {
		return nil, guest.Fail(guest.WrongFamily, "the seeker doesn't play "+string(r.Family))
	}
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "the case has no labels")
	}
	source, failure := s.source(inquiry.Query(r, contextLines))
	if failure != nil {
		return nil, failure
	}
	return &abi.Artifact{Investigate: investigate(r, &source)}, nil
}

// readOut is the convergence of a conclusion that a deeper look can't change, since there is no more to read.
const readOut = 0.70

// investigate reads the documents as deep as this pass goes, and classifies by what it found. Its evidence is what the case's own does not
// hold already. How settled that is says how far the most probable label stands above an even guess; a conclusion is settled, too, when the
// documents hold no more.
//
// When the case comes back from the court it reads deeper than in any traversal before, and looks for what the questions ask about. Its
// evidence then is what is new; without any, and without experiments, it is no surer than before.
func investigate(r *abi.NodeRequest, source *abi.SourceAnswer) *abi.InvestigateArtifact {
	clues := inquiry.Read(r, source)
	depth := inquiry.DepthOf(r.File)
	items, facts := inquiry.SourceItems(r, source, clues.Weigh(r, depth, nil))
	items = append(items, clues.Unheld(clues.Items(depth), r.Case.Evidence)...)
	remanded := r.File != nil && r.File.Feedback != nil
	if remanded {
		items = fresh(r, append(items, clues.Unheld(searched(r, clues), r.Case.Evidence)...))
	}
	estimate := clues.Weigh(r, depth, facts)
	v := &abi.InvestigateArtifact{
		Component: component(r, clues), ConvergenceScore: estimate.Settled(), Evidence: bounded(items),
	}
	if estimate.Leads() && len(clues.Upto(depth)) == len(clues.List) { // another loop would find the same, and use up the budget of loops
		v.ConvergenceScore = max(v.ConvergenceScore, proceeding.NumberParam(r.Params, "read_out", readOut))
	}
	if !estimate.Thin() {
		v.Classification, _ = estimate.Top(standing(r))
	}
	if remanded && len(v.Evidence) == 0 && len(r.Case.Experiments) == 0 && r.File.Investigate != nil {
		v.ConvergenceScore = min(v.ConvergenceScore, r.File.Investigate.ConvergenceScore)
	}
	v.Summary = summary(r, v, estimate)
	return v
}

// standing is what was concluded before, which stays where another label is only as probable.
func standing(r *abi.NodeRequest) string {
	switch {
	case r.File == nil:
		return ""
	case r.File.Investigate != nil:
		return r.File.Investigate.Classification
	case r.File.Triage != nil:
		return r.File.Triage.ClassificationHypothesis
	}
	return ""
}

func searched(r *abi.NodeRequest, clues *inquiry.Clues) []abi.Evidence {
	var out []abi.Evidence
	topics := inquiry.Topics(r)
	for i := range topics {
		out = append(out, clues.Search(&topics[i])...)
	}
	return out
}

// fresh leaves what did not lie before the court, each item once. What an earlier pass of the same traversal brought is new still.
func fresh(r *abi.NodeRequest, items []abi.Evidence) []abi.Evidence {
	var pass []abi.Evidence
	if f := r.File.Investigate; f != nil && strings.HasPrefix(f.Summary, remandOpening) {
		pass = f.Evidence
	}
	var out []abi.Evidence
	for i := range items {
		if has(out, &items[i]) || has(r.Case.Evidence, &items[i]) && !has(pass, &items[i]) {
			continue
		}
		out = append(out, items[i])
	}
	return out
}

func has(list []abi.Evidence, e *abi.Evidence) bool {
	return abi.FindEvidence(list, e.SourceRef, e.Content) != nil
}

// maxItems bounds what one pass brings.
const maxItems = 96

func bounded(items []abi.Evidence) []abi.Evidence {
	if items == nil {
		return []abi.Evidence{}
	}
	return items[:min(len(items), maxItems)]
}

// component is the first that resolve selected, or the first file of the product that the log names, or without any the first of the tests.
func component(r *abi.NodeRequest, clues *inquiry.Clues) string {
	if r.File != nil && r.File.Resolve != nil && len(r.File.Resolve.Selected) > 0 {
		return r.File.Resolve.Selected[0].Name
	}
	first := ""
	for _, clue := range clues.Upto(inquiry.Deepest) {
		path := clue.Place.Path
		if path == "" || sourcefile.Foreign(path) {
			continue
		}
		if sourcefile.KindOf(path) == abi.SourceProduct {
			return path
		}
		if first == "" {
			first = path
		}
	}
	return first
}

// remandOpening begins the summary of a pass after a remand.
const remandOpening = "On remand: "

// maxCited is how many items a summary quotes.
const maxCited = 4

// summary tells what was found: the items that speak for the classification, and those that name no label.
func summary(r *abi.NodeRequest, v *abi.InvestigateArtifact, estimate *inquiry.Estimate) string {
	var b strings.Builder
	if r.File != nil && r.File.Feedback != nil {
		b.WriteString(remandOpening + text.Count(len(v.Evidence), "new item"))
		if n := len(r.File.Feedback.Challenged); n > 0 {
			b.WriteString("; " + text.Count(n, "challenged item") + " counted for less")
		}
		b.WriteString(". ")
	}
	if v.Classification == "" {
		b.WriteString("Next to nothing speaks for any label.")
	} else {
		b.WriteString(v.Classification + " at " + text.Share(estimate.Of(v.Classification)) + ".")
	}
	if told := proceeding.Experimented(r.Case.Experiments, weigh.Weigh(&weigh.Matter{Labels: r.Case.Labels, Profile: r.Profile, Experiments: r.Case.Experiments})); told != "" {
		b.WriteString(" " + told)
	}
	for _, e := range cited(v) {
		b.WriteString(" " + text.InLine(e.SourceRef) + ": " + text.FirstLine(e.Content) + ".")
	}
	return b.String()
}

func cited(v *abi.InvestigateArtifact) []abi.Evidence {
	var speaking, silent []abi.Evidence
	for _, e := range v.Evidence {
		switch e.Supports {
		case "":
			silent = append(silent, e)
		case v.Classification:
			speaking = append(speaking, e)
		}
	}
	speaking = append(speaking, silent...)
	return speaking[:min(len(speaking), maxCited)]
}
