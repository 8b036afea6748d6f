package court

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxOpenLabels is how many labels a brief asks to be told apart.
const maxOpenLabels = 4

// tellApart is what to do about labels of which the pipeline knows nothing.
const tellApart = "add evidence that one of them explains and the others do not"

// openLabels are the labels between which the case is open: Light's, and those that
// another item, or the defense, speaks for. Where nothing speaks for any label
// they all are, Light's first.
func (t *Trial) openLabels() (labels []string, spoken bool) {
	speaking := make(map[string]bool)
	for _, items := range [][]abi.Evidence{t.subject.Evidence, t.gathered} {
		for i := range items {
			speaking[items[i].Supports] = true
		}
	}
	if t.pass != nil && t.pass.Brief != nil && t.pass.Brief.AlternativeHypothesis != nil {
		speaking[t.pass.Brief.AlternativeHypothesis.Label] = true
	}
	spoken = slices.ContainsFunc(t.subject.Labels, func(l string) bool { return speaking[l] })
	charge := t.current().Classification
	labels = []string{charge}
	for _, l := range t.subject.Labels {
		if l != charge && (speaking[l] || !spoken) {
			labels = append(labels, l)
		}
	}
	return labels[:min(len(labels), maxOpenLabels)], spoken
}

// labelGaps: what would show each of the labels between which the case is open.
// It gives these labels.
func (t *Trial) labelGaps(g *gaps) []string {
	if t.current().Classification == "" {
		return nil // Light failed, which is the gap
	}
	labels, _ := t.openLabels()
	if len(t.subject.Evidence) == 0 && len(t.gathered) == 0 {
		g.add(abi.FamilyIndict, abi.GapHigh, "evidence", "the case has no evidence besides Light's own word",
			"add what was observed, or what a witness says about the cause")
	}
	if len(t.subject.Documents) == 0 {
		g.add(abi.FamilyDiscover, abi.GapMedium, "documents", "the case has no raw document", "add the document that the classification was made from")
	}
	known := false
	for i, l := range labels {
		if proof := t.court.label(l).Proof; proof != (pipeline.Proof{}) {
			known = true
			severity := abi.GapMedium
			if i == 0 {
				severity = abi.GapHigh
			}
			g.add(abi.FamilyVerdict, severity, l, proof.Evidence+" would show "+t.court.named(l), proof.Action)
		}
	}
	if !known {
		g.add(abi.FamilyVerdict, abi.GapMedium, "evidence", "nothing tells "+t.names(labels)+" apart clearly enough", tellApart)
	}
	return labels
}

// kindGaps: the kinds of evidence of which nothing speaks for a label, and
// which were not given, either: a diff that speaks for none is there. The
// pipeline's words for them are those of its labels' field: a case of other
// labels is told none.
func (t *Trial) kindGaps(g *gaps) {
	known := t.court.graph.Definition().Labels
	if len(known) > 0 && !slices.ContainsFunc(known, func(l pipeline.Label) bool { return slices.Contains(t.subject.Labels, l.ID) }) {
		return
	}
	have := make(map[abi.Element]bool)
	for _, element := range t.answeredElements() {
		have[element] = true
	}
	if slices.ContainsFunc(t.subject.Documents, func(d abi.Document) bool { return earlierRun.MatchString(d.Name) }) {
		have[abi.Air] = true
	}
	for _, items := range [][]abi.Evidence{t.subject.Evidence, t.gathered} {
		for i := range items {
			if items[i].Supports != "" {
				have[cmp.Or(items[i].Element, abi.Earth)] = true
			}
		}
	}
	for _, k := range t.court.graph.Definition().Kinds {
		if !have[abi.Element(k.Element)] {
			g.add(abi.FamilyDiscover, abi.GapMedium, string(k.Element), "nothing in the case speaks of "+k.Proof.Evidence, k.Proof.Action)
		}
	}
}

// earlierRun is what a document of another run is called.
var earlierRun = regexp.MustCompile(`(?i)\b(green|earlier|previous|passed)\b`)

// gapSummary says in a sentence or two why the case is open.
func (t *Trial) gapSummary(cause string, list []abi.CourtEvidenceGap) string {
	light := t.current()
	switch {
	case cause == string(trial.Rejected):
		s := "Light says " + t.court.named(light.Classification) + " at only " + below(light.Confidence, t.court.limits.RejectionThreshold) +
			", and a trial needs " + exact(t.court.limits.RejectionThreshold) + "."
		if light.Reasoning != "" {
			s += " Its reason: " + light.Reasoning
		}
		return s
	case cause != causeAcquitted:
		return cause + ": " + list[0].Description + "."
	}
	labels, spoken := t.openLabels()
	nearest := " The nearest label came to " + trial.Number(t.result.Final.Confidence) + "."
	switch {
	case !spoken:
		return "Nothing in the case speaks for any label." + nearest
	case len(labels) == 1:
		return "Too little speaks for " + t.names(labels) + "." + nearest
	}
	return "The evidence does not tell " + t.names(labels) + " apart." + nearest
}

// below shows a number with two digits, or with all that it has where the two would reach the bound.
func below(v, bound float64) string {
	s := trial.Number(v)
	if shown, err := strconv.ParseFloat(s, 64); err == nil && shown < bound {
		return s
	}
	return exact(v)
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// causeAcquitted is the cause of a brief that comes with an acquittal.
const causeAcquitted = "acquitted"

// label is what the pipeline tells of a label.
func (c *Court) label(id string) pipeline.Label { return c.graph.Definition().Label(id) }

// named is a label with its name, if it has one.
func (c *Court) named(id string) string {
	if name := c.label(id).Name; name != "" {
		return id + " (" + name + ")"
	}
	return id
}

func (t *Trial) names(labels []string) string {
	list := make([]string, len(labels))
	for i, l := range labels {
		list[i] = t.court.named(l)
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}
